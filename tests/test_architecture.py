"""Data flows one way: a module imports only from rooms to its left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import anchorwords

ROOT = Path(anchorwords.__file__).parent
# Room or module -> place in the line; the longest name that fits counts. The record `model` stands before `anchors`, which
# fill it. Of `storage`, the layouts stand beside what they hold.
ORDER = {
    "_printable": -1, "_convergence": -0.5,
    "_version": 0, "_typing": 0, "exceptions": 0, "_namespace": 0.25, "_memory": 0.5, "_validation": 0.5,
    "_markdown": 0, "_lazy": 0, "records": 0.1, "_progress": 0.1, "storage": 0.6,
    "linalg.limits": 0.65, "linalg.parallel": 0.7, "linalg.sparse": 0.75,
    "linalg.tall": 0.75, "kernels": 0.8, "devices": 0.9, "linalg": 1,
    "corpus.files": 1.8, "corpus.columns": 1.85, "storage.column_file": 1.87, "corpus.parts": 1.9,
    "storage.corpus_folder": 1.95, "storage.corpus_writer": 1.97,
    "corpus": 2, "sources": 2.5, "datasets": 3, "statistics": 3, "rectify": 4, "provenance": 4.3,
    "stability_record": 4.4, "topic_flag": 4.4, "model": 4.5,
    "storage.model_folder": 4.6, "anchors": 5, "infer": 5, "refine": 5.5, "learn": 6, "interpret": 7, "trends": 7.2,
    "metrics": 7.5, "fit_time": 7.5,
    "fitting": 8, "compare": 8, "presets": 8, "resampling": 8.2, "effects": 8.3, "scanning": 8.3,
    "edit": 8.35, "estimation": 8.4, "estimator": 8.5, "text_vectorizer": 8.55, "text_model": 8.6, "loading": 8.7,
    "plot": 9, "export": 9, "exploring": 9.3, "reproduce": 9.5, "cli": 10, "__main__": 11,
}  # fmt: skip
OPTIONAL = {
    "IPython",
    "torch",
    "triton",
    "dask",
    "formulaic",
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


def place_of(name: str) -> float | None:
    """Place of a dotted module, without the package, in the line."""
    parts = name.split(".")
    known = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((ORDER[prefix] for prefix in known if prefix in ORDER), None)


def imported_modules(path: Path, root: Path) -> list[str]:
    """Dotted names, without the package, of what a module imports of our own, absolute or relative."""
    package = ["anchorwords", *path.relative_to(root).parts[:-1]]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            full = [*base, *(node.module.split(".") if node.module else [])]
            # A name may be a module of the package that it is imported from.
            targets = [[*full, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            targets = [alias.name.split(".") for alias in node.names]
        else:
            continue
        found += [".".join(parts[1:]) for parts in targets if parts[0] == "anchorwords" and len(parts) > 1]
    return found


def wrong_imports(path: Path, root: Path = ROOT) -> list[str]:
    """Imports that point to the right, or to what has no place."""
    name = ".".join(path.relative_to(root).with_suffix("").parts)
    room, here = name.split(".")[0], place_of(name)
    if here is None:
        return [f"{room} has no place in the line: give it one here and in docs/architecture.md"]
    wrong = []
    for other in imported_modules(path, root):
        there = place_of(other)
        if room == "cli" and there is None:
            continue  # the command line uses the public names
        if there is None or not (there < here or (there == here and other.split(".")[0] == room)):
            wrong.append(f"{name} imports {other}")
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_left(path):
    assert wrong_imports(path) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("from ..estimator import AnchorTopicModel", ["linalg.made imports estimator.AnchorTopicModel"]),
        ("from anchorwords.cli.app import run", ["linalg.made imports cli.app.run"]),
        ("import anchorwords.plot.style", ["linalg.made imports plot.style"]),
        ("def late():\n    from .. import model", ["linalg.made imports model"]),
        ("from ..nowhere import thing", ["linalg.made imports nowhere.thing"]),
        ("from .tall import gram\nfrom .._typing import FloatArray\nimport numpy", []),
    ],
)
def test_a_wrong_import_is_noticed(tmp_path, source, found):
    (tmp_path / "linalg").mkdir()
    made = tmp_path / "linalg" / "made.py"
    made.write_text(source, encoding="utf-8")
    assert wrong_imports(made, tmp_path) == found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_optional_package_at_module_level(path):
    # The kernels for GPUs are themselves imported only when an array on a GPU asks for them.
    allowed = {"torch", "triton"} if path.is_relative_to(ROOT / "kernels" / "gpu") else set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    assert not names & OPTIONAL - allowed


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_pickle(path):
    text = path.read_text(encoding="utf-8")
    assert "import pickle" not in text
    assert "allow_pickle=True" not in text
    assert "joblib.dump" not in text
