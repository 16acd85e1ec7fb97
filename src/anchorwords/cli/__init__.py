"""Command line: each sub-command parses, calls the public API and sets the exit code."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of ``anchorwords``."""
    try:
        from .app import run

        run()
    except KeyboardInterrupt:  # before the command has begun, which otherwise says so itself
        print("interrupted", file=sys.stderr)
        sys.exit(130)
