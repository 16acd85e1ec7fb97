"""Command line: each sub-command parses, calls the public API and sets the exit code."""

from __future__ import annotations


def main() -> None:
    """Entry point of ``anchorwords``."""
    from .app import run

    run()
