"""Check the documentation: links lead somewhere, code blocks run, generated tables are the committed ones.

python docs/check.py [--write]      --write puts the generated tables into their pages
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
# Pages whose Python blocks are run.
RUN = (
    "README.md",
    "docs/choosing.md",
    "docs/coming-from.md",
    "docs/documents.md",
    "docs/editing.md",
    "docs/effects.md",
    "docs/explorer.md",
    "docs/guidance.md",
    "docs/items.md",
    "docs/reading.md",
    "docs/refinement.md",
    "docs/stability.md",
    "docs/time-and-groups.md",
)
# Page -> marker -> file whose content stands behind it.
TABLES = {
    page: {name: f"docs/tables/{name}.md" for name in names}
    for page, names in {
        "README.md": ("readers_in_short",),
        "docs/algorithms.md": ("agreement", "limit", "one_pass", "precision", "tolerance"),
        "docs/benchmarks.md": (
            "peers",
            "converged",
            "scaling",
            "floor",
            "ablation",
            "faster",
            "before_after",
            "side_by_side",
            "gpu",
        ),
        "docs/corpora.md": ("reading", "large"),
        "docs/front-door.md": ("front_door", "vectorizer", "import_columns"),
        "docs/metrics.md": ("readings", "metrics", "evaluate"),
        "docs/documents.md": ("composition_error", "second_moment", "transform", "labelled"),
        "docs/refinement.md": ("readers", "readers_seconds", "refinement", "largest"),
        "docs/guidance.md": ("guidance",),
        "docs/choosing.md": ("choosing", "scan"),
        "docs/stability.md": ("stability",),
        "docs/explorer.md": ("explorer",),
        "docs/editing.md": ("splits",),
        "docs/effects.md": ("effects",),
        "docs/items.md": ("items",),
        "docs/time-and-groups.md": ("trends",),
        "docs/platforms.md": ("first_use",),
        "docs/reliability.md": ("campaign",),
    }.items()
}


def pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def broken_links() -> list[str]:
    """Relative links to files that are not there."""
    found = []
    for page in pages():
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                found.append(f"{page.relative_to(ROOT)}: {target} does not exist")
    return found


def failing_blocks() -> list[str]:
    """Python blocks that do not run: those of a page in order, in one namespace, in an empty folder."""
    return [problem for page in RUN for problem in _failing_block(page)]


def _failing_block(page: str) -> list[str]:
    namespace: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number, block in enumerate(PYTHON.findall((ROOT / page).read_text(encoding="utf-8")), start=1):
            try:
                exec(compile(block, f"{page}, block {number}", "exec"), namespace)
            except Exception as error:
                return [f"{page}, Python block {number}: {type(error).__name__}: {error}"]
    return []


def stale_metrics(write: bool) -> list[str]:
    """The tables of metrics, where they are not what the package says of them."""
    found = []
    for name, wanted in metric_tables().items():
        path = ROOT / "docs" / "tables" / f"{name}.md"
        if path.is_file() and path.read_text(encoding="utf-8") == wanted:
            continue
        if write:
            path.write_text(wanted, encoding="utf-8")
        else:
            found.append(f"docs/tables/{name}.md is not what anchorwords.metrics says: run docs/check.py --write")
    return found


def metric_tables() -> dict[str, str]:
    """How metrics are read, and how they are defined."""
    from anchorwords._markdown import markdown_table
    from anchorwords.metrics import METRICS
    from anchorwords.metrics.catalogue import sureness_metrics

    defined = [
        [f"`{m.name}`", m.title, f"`{m.formula}`".replace("|", "\\|"), m.direction, m.measured_on, m.per_topic]
        for m in METRICS
    ]
    read = [[f"`{m.name}`", m.direction, m.reading] for m in (*METRICS, *sureness_metrics(20, 32, 0.9))]
    return {
        "metrics": markdown_table(["name", "metric", "formula", "direction", "measured on", "per topic"], defined)
        + "\n",
        "readings": markdown_table(["name", "direction", "in plain words"], read) + "\n",
    }


def stale_tables(write: bool) -> list[str]:
    """Generated tables that differ from what stands in their page."""
    found = []
    for name, markers in TABLES.items():
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        for marker, source in markers.items():
            if not (ROOT / source).is_file():
                found.append(f"{name}: the table {source} is missing: run its benchmark")
                continue
            table = (ROOT / source).read_text(encoding="utf-8").strip()
            wanted = f"<!-- {marker} -->\n{table}\n<!-- /{marker} -->"
            pattern = re.compile(rf"<!-- {marker} -->(?:.*?<!-- /{marker} -->)?", re.DOTALL)
            if wanted not in text:
                found.append(f"{name}: the table {marker} is not that of {source}: run docs/check.py --write")
                text = pattern.sub(lambda _, wanted=wanted: wanted, text, count=1)
        if write:
            page.write_text(text, encoding="utf-8")
    return [] if write else found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the generated tables into their pages")
    write = parser.parse_args().write
    problems = stale_metrics(write) + stale_tables(write) + broken_links() + failing_blocks()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(pages())} pages, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
