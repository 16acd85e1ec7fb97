"""What the benchmark scripts share: their options, and tables written as Markdown and JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path


def arguments(description: str) -> argparse.ArgumentParser:
    """Parser with --data and --output."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--output", type=Path, help="write OUTPUT.md and OUTPUT.json")
    return parser


def write_tables(output: Path | None, rows: list[dict], markdown: Callable[[list[dict]], str]) -> None:
    """Write the rows as OUTPUT.md and OUTPUT.json, if an output was asked for."""
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.with_suffix(".md").write_text(markdown(rows))
        output.with_suffix(".json").write_text(json.dumps(rows, indent=1) + "\n")
