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
# Page -> marker -> file whose content stands behind it.
TABLES = {
    page: {name: f"docs/tables/{name}.md" for name in names}
    for page, names in {
        "docs/algorithms.md": ("agreement", "limit", "one_pass", "tolerance"),
        "docs/benchmarks.md": ("peers", "converged", "scaling", "floor", "ablation", "side_by_side"),
        "docs/corpora.md": ("reading", "large"),
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
    """Python blocks of the README that do not run, in order, in one namespace, in an empty folder."""
    namespace: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number, block in enumerate(PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8")), start=1):
            try:
                exec(compile(block, f"README.md, block {number}", "exec"), namespace)
            except Exception as error:
                return [f"README.md, Python block {number}: {type(error).__name__}: {error}"]
    return []


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
    problems = stale_tables(parser.parse_args().write) + broken_links() + failing_blocks()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"docs: {len(pages())} pages, {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
