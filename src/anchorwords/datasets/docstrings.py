"""A real corpus that every installation already holds: the docstrings of scientific Python.

One document a docstring (module, class or function) of NumPy, SciPy, scikit-learn and the standard library, read
from their source files without importing or running them.
"""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import json
import logging
import os
import platform
import re
import sysconfig
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from ..corpus.corpus import Corpus
from ..exceptions import InputError
from .stopwords import DOCSTRING_WORDS, ENGLISH_WORDS

logger = logging.getLogger("anchorwords.datasets")

DEFAULT_PACKAGES = ("numpy", "scipy", "sklearn", "stdlib")
_DISTRIBUTIONS = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
_SKIPPED_FOLDERS = frozenset(
    {"tests", "test", "idlelib", "site-packages", "__pycache__", "lib2to3", "turtledemo", "_examples"}
)
_FORMAT = 4
_MIN_TOKENS = 20
_MIN_DF = 5
_WORD = re.compile(r"[a-z]{3,}")
# Sections of a numpydoc docstring that name authors and other functions rather than explain.
_APPARATUS = re.compile(
    r"^[ \t]*(?:References|See Also)\n[ \t]*-{3,}\n.*?(?=^[^\n]+\n[ \t]*-{3,}[ \t]*\n|\Z)", re.M | re.S
)
_EXAMPLE = re.compile(r"^\s*(>>>|\.\.\.).*$", re.MULTILINE)
_MARKUP = re.compile(r":[a-z:]+:`[^`]*`|``[^`]*``|https?://\S+|\.\. \w+::")


def load_docstrings(packages: Sequence[str] = DEFAULT_PACKAGES, *, cache: bool = True) -> Corpus:
    """Corpus of the docstrings of installed packages; no network.

    Parameters
    ----------
    packages : sequence of str
        Importable package names; "stdlib" is the standard library. Those not installed are left out.
    cache : bool
        Keep the result in the user's cache folder (``ANCHORWORDS_CACHE``, else the system's) for the next call; it is
        rebuilt when a version changes, the file is damaged, or the folder cannot be used.

    Returns
    -------
    Corpus
        Words in at least five docstrings, common English and docstring boilerplate left out; documents of
        at least twenty such tokens, named by where they stand (``scipy.stats._kde.gaussian_kde``).
    """
    if isinstance(packages, str):
        raise InputError(f"packages must be a sequence of package names, but is the single string {packages!r}.")
    roots = {name: root for name in packages if (root := _root(name)) is not None}
    if not roots:
        raise InputError(f"none of the packages {list(packages)!r} is installed with source files: name others.")
    if not cache:
        return _build(roots)
    file = _cache_file(roots)
    if file is None:
        return _build(roots)
    corpus = _read_cache(file)
    if corpus is None:
        corpus = _build(roots)
        _write_cache(file, corpus)
    return corpus


def docstrings_called(names: Iterable[str]) -> dict[str, str]:
    """The docstrings behind names of documents of :func:`load_docstrings`; those that are not found are left out."""
    wanted = set(names)
    found: dict[str, str] = {}
    for module, file in sorted({_file_of(name) for name in wanted} - {None}):  # type: ignore[type-var, misc]
        for name, text in _docstrings_in(file, module):
            if name in wanted:
                found.setdefault(name, text)
    return found


def _file_of(name: str) -> tuple[str, Path] | None:
    """The module that a document is of, and its file."""
    package, *parts = name.split(".")
    if (folder := _root(package)) is None:
        return None
    for i, part in enumerate(parts):
        module = ".".join([package, *parts[:i]])
        if (file := folder / f"{part}.py").is_file():
            return f"{module}.{part}", file
        if not (folder / part).is_dir():
            break
        folder /= part
    else:
        module = name
    file = folder / "__init__.py"
    return (module, file) if file.is_file() else None


def _build(roots: dict[str, Path]) -> Corpus:
    names: list[str] = []
    bags: list[Counter[str]] = []
    seen: set[str] = set()
    for package, root in roots.items():
        for name, text in _docstrings(package, root):
            if text in seen:  # aliases and inherited copies
                continue
            seen.add(text)
            bag = Counter(tokens(text))
            if sum(bag.values()) >= _MIN_TOKENS:
                names.append(name)
                bags.append(bag)
    df = Counter(word for bag in bags for word in bag)
    vocabulary = sorted(word for word, n in df.items() if n >= _MIN_DF)
    column = {word: i for i, word in enumerate(vocabulary)}
    if not vocabulary:
        raise InputError(f"the docstrings of {', '.join(roots)} share no words: name larger packages.")
    entries = [(m, column[w], n) for m, bag in enumerate(bags) for w, n in bag.items() if w in column]
    rows, columns, values = (np.array(part) for part in zip(*entries, strict=True))
    counts = sp.csr_array((values.astype(np.float64), (rows, columns)), shape=(len(bags), len(vocabulary)))
    logger.info("docstrings: %d documents, %d words", len(bags), len(vocabulary))
    return Corpus(counts, vocabulary, names).prune(min_tokens=_MIN_TOKENS)


def tokens(text: str) -> list[str]:
    """Words of a docstring: prose only, without examples, markup, stop words and boilerplate."""
    prose = _MARKUP.sub(" ", _EXAMPLE.sub(" ", _APPARATUS.sub(" ", text))).lower()
    return [word for word in _WORD.findall(prose) if word not in ENGLISH_WORDS and word not in DOCSTRING_WORDS]


def _docstrings(package: str, root: Path) -> Iterator[tuple[str, str]]:
    for file in sorted(root.rglob("*.py")):
        inside = file.relative_to(root)
        if _SKIPPED_FOLDERS.intersection(inside.parts[:-1]) or inside.name.startswith(("test_", "conftest")):
            continue
        parts = [part for part in (*inside.parts[:-1], inside.stem) if part != "__init__"]
        yield from _docstrings_in(file, ".".join([package, *parts]))


def _docstrings_in(file: Path, module: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(file.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return
    yield from _walk(tree, module)


def _walk(node: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        text = ast.get_docstring(node, clean=False)
        if text:
            yield name, text
        for child in node.body:
            if isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from _walk(child, f"{name}.{child.name}")


def _root(package: str) -> Path | None:
    if package == "stdlib":
        return Path(sysconfig.get_paths()["stdlib"])
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    # Packages only: the folder of a single-file module holds its neighbours too.
    return Path(spec.submodule_search_locations[0]) if spec is not None and spec.submodule_search_locations else None


def _cache_file(roots: dict[str, Path]) -> Path | None:
    """Where the corpus of these packages is kept; None for a user who has no home folder."""
    base = os.environ.get("ANCHORWORDS_CACHE") or os.environ.get("XDG_CACHE_HOME")
    if not base:
        try:
            base = str(Path.home() / ".cache")
        except RuntimeError:
            return None
    versions = {}
    for name in roots:
        try:
            versions[name] = importlib.metadata.version(_DISTRIBUTIONS.get(name, name))
        except importlib.metadata.PackageNotFoundError:
            versions[name] = platform.python_version()
    key = json.dumps([_FORMAT, versions, sorted(ENGLISH_WORDS), sorted(DOCSTRING_WORDS)])
    return Path(base) / "anchorwords" / f"docstrings-{zlib.crc32(key.encode()):08x}.npz"


def _read_cache(file: Path) -> Corpus | None:
    try:
        with np.load(file, allow_pickle=False) as saved:
            counts = sp.csr_array((saved["data"], saved["indices"], saved["indptr"]), shape=tuple(saved["shape"]))
            return Corpus(counts, json.loads(str(saved["vocabulary"])), json.loads(str(saved["doc_ids"])))
    except Exception:  # whatever is wrong with a cache, building anew is the answer
        return None


def _write_cache(file: Path, corpus: Corpus) -> None:
    counts = corpus.counts
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(suffix=".npz", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(
                    stream, data=counts.data, indices=counts.indices, indptr=counts.indptr, shape=counts.shape,
                    vocabulary=json.dumps(corpus.vocabulary), doc_ids=json.dumps(corpus.doc_ids),
                )  # fmt: skip
            os.replace(partial, file)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        logger.info("docstrings: not cached (%s)", error)
