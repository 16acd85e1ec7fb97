"""``python -m anchorwords``."""

from .cli import main

main()
