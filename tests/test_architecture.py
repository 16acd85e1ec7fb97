"""Data flows one way: a module imports only from rooms to its left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import anchorwords

ROOT = Path(anchorwords.__file__).parent
# Room -> place in the line. The record `model` stands before `anchors`, which fill it.
ORDER = {
    "_version": 0, "_typing": 0, "exceptions": 0, "_namespace": 0.25, "_memory": 0.5, "_validation": 0.5,
    "_folders": 0.5, "_safetensors": 0.5, "_markdown": 0,
    "linalg": 1, "corpus": 2, "datasets": 3, "statistics": 3, "rectify": 4,
    "model": 4.5, "anchors": 5, "infer": 5, "persist": 6, "interpret": 7, "metrics": 7.5,
    "pipeline": 8, "compare": 8, "presets": 8, "resampling": 8.2, "scanning": 8.3, "estimator": 8.5, "plot": 9, "export": 9,
    "exploring": 9.3,
    "reproduce": 9.5, "cli": 10, "__main__": 11,
}  # fmt: skip
OPTIONAL = {
    "torch",
    "dask",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "zstandard",
    "narwhals",
    "networkx",
    "pyLDAvis",
}
MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def room_of(path: Path) -> str:
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported_modules(path: Path) -> list[tuple[str, str]]:
    """(room, dotted name) of each import of our own package, absolute or relative."""
    package = ["anchorwords", *path.relative_to(ROOT).parts[:-1]]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split(".") if node.module else [])]
            targets = [full] if len(full) > 1 else [[*full, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found += [(parts[1], ".".join(parts)) for parts in targets if parts[0] == "anchorwords" and len(parts) > 1]
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path):
    room = room_of(path)
    assert room in ORDER, f"{room} has no place in the line: give it one here and in docs/architecture.md"
    for other, name in imported_modules(path):
        if room == "cli" and other not in ORDER:
            continue  # the command line uses the public names
        assert other in ORDER, name
        assert other == room or ORDER[other] < ORDER[room], f"{path.name} imports {name} from its right"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_optional_package_at_module_level(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    assert not names & OPTIONAL


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pickle(path):
    text = path.read_text(encoding="utf-8")
    assert "import pickle" not in text
    assert "allow_pickle=True" not in text
    assert "joblib.dump" not in text


def test_the_check_sees_a_wrong_import(tmp_path, monkeypatch):
    # A guard of the guard: an import to the right is noticed.
    wrong = ROOT / "linalg" / "randomized.py"
    assert ("_typing", "anchorwords._typing") in imported_modules(wrong)
    assert ORDER["estimator"] > ORDER["linalg"]
