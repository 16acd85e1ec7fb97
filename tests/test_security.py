"""Promises of SECURITY.md that hold for the package as a whole: nothing is unpickled, nothing from a file is run."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import anchorwords as aw
from tests.fixtures import model_v4

ROOT = Path(aw.__file__).parent
PROJECT = Path(__file__).resolve().parents[1]
MODULES = sorted(ROOT.rglob("*.py"))
# Modules that turn bytes into objects or commands, and what is called by a name that a file could give.
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "yaml", "subprocess", "pty",
    "urllib.request", "http.client", "ftplib", "requests", "httpx",
}  # fmt: skip
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "system", "popen"}
# Where a name becomes a module: the tokenizer that the user types on the command line, packages that a frame is asked of,
# from a list of ours, IPython's display in a notebook, and our own modules.
IMPORTING = {"cli/options.py": 1, "export/frames.py": 1, "__init__.py": 2, "kernels/__init__.py": 1,
             "kernels/ahead.py": 2, "_progress.py": 1, "model.py": 1, "records/record.py": 1}  # fmt: skip


# Python itself, which compiles our kernels: see test_processes_run_python_and_our_own_module.
STARTS_PROCESSES = ("kernels/ahead.py",)


def imported(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def calls(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
            yield name, function, node


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_unpickles_runs_or_fetches(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set(imported(tree))
    if path.relative_to(ROOT).as_posix() in STARTS_PROCESSES:
        names -= {"subprocess"}
    assert not {name for name in names if name in FORBIDDEN_MODULES or name.split(".")[0] in FORBIDDEN_MODULES}
    found = [
        ast.unparse(node) for name, function, node in calls(tree)
        if name in FORBIDDEN_CALLS and not (name == "compile" and ast.unparse(function) == "re.compile")
    ]  # fmt: skip
    assert found == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_arrays_are_read_without_objects(path):
    for name, function, node in calls(ast.parse(path.read_text(encoding="utf-8"))):
        reads = ast.unparse(function) in (
            "np.load",
            "numpy.load",
            "np.lib.format.read_array",
            "np.lib.format.open_memmap",
        )
        if reads or name == "read_array":
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            assert keywords.get("allow_pickle", "False") == "False", ast.unparse(node)
            if ast.unparse(function).endswith(".load"):
                assert "allow_pickle" in keywords, ast.unparse(node)


def test_processes_run_python_and_our_own_module(monkeypatch, tmp_path):
    """No shell, no module of the current folder, and on the command line nothing but names of our kernels."""
    from anchorwords.kernels import ahead

    started = []

    def popen(command, **options):
        started.append((command, options))
        raise OSError

    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", popen)
        with ahead.Compilation(["text._scan"], 1):
            pass
    ((command, options),) = started
    assert command == [sys.executable, "-P", "-m", "anchorwords.kernels.ahead", "text._scan"]
    assert "shell" not in options
    (tmp_path / "numba.py").write_text("open('read', 'w')", encoding="utf-8")
    done = subprocess.run([*command[:-1], "text._fill_slots"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "text._fill_slots\n"
    assert not (tmp_path / "read").exists()
    with pytest.raises(ValueError, match="no kernels"):
        ahead.kernel_called("os.system")


def test_names_become_modules_where_we_know_it():
    found = {}
    for path in MODULES:
        number = sum(name == "import_module" for name, *_ in calls(ast.parse(path.read_text(encoding="utf-8"))))
        if number:
            found[path.relative_to(ROOT).as_posix()] = number
    assert found == IMPORTING


LOADING = """
import sys
found = []
sys.addaudithook(lambda event, arguments: found.append(event) if event.startswith(("pickle.", "marshal.", "os.exec",
                 "os.system", "subprocess.", "os.posix_spawn", "socket.")) else None)
import anchorwords as aw
# Modules load when they are first asked for; with older versions of SciPy that runs lscpu, in numpy.testing.
aw.load_model, aw.open_corpus, aw.load_sketch, aw.read_corpus
del found[:]
folder = sys.argv[1]
aw.load_model(folder + "/model")
corpus = aw.open_corpus(folder + "/corpus")
corpus.vocabulary, list(corpus.blocks())
for method in ("linear", "incremental"):
    aw.load_sketch(folder + "/" + method)
for name in ("counts.npz", "counts.npy", "bad.npy", "bad.npz"):
    try:
        aw.read_corpus(folder + "/" + name)
    except aw.exceptions.AnchorwordsError as error:
        assert name.startswith("bad"), error
    else:
        assert not name.startswith("bad")
print([event for event in found if event != "marshal.loads"])  # of modules that are imported
"""


class Trap:
    def __reduce__(self):
        return print, ("trapped",)


def test_nothing_is_unpickled_when_folders_and_matrices_are_read(tmp_path, sampled):
    import shutil

    import scipy.sparse as sp

    shutil.copytree(model_v4.FOLDER, tmp_path / "model")
    sampled.corpus.save(tmp_path / "corpus")
    for method in ("linear", "incremental"):
        aw.CooccurrenceSketch(2, method=method).update(sampled.corpus).save(tmp_path / method)
    sp.save_npz(tmp_path / "counts.npz", sp.csr_array(sampled.corpus.counts))
    np.save(tmp_path / "counts.npy", sampled.corpus.counts.toarray())
    np.save(tmp_path / "bad.npy", np.array([[Trap()]], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "bad.npz", np.array([[Trap()]], dtype=object), allow_pickle=True)
    command = [sys.executable, "-c", LOADING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"


def test_every_dependency_has_been_reviewed():
    """SECURITY.md says of each direct dependency what it is for and what input of strangers reaches it."""
    import re
    import tomllib

    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = declared["dependencies"] + [
        entry for extra in ("io", "plot", "frames") for entry in declared["optional-dependencies"][extra]
    ]
    text = (PROJECT / "SECURITY.md").read_text(encoding="utf-8")
    for entry in needed:
        name = re.match(r"[\w.-]+", entry)[0]
        assert re.search(rf"^\| {re.escape(name)} \|", text, re.MULTILINE), name
