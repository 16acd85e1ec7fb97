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
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ..corpus.corpus import Corpus
from ..corpus.read import read_corpus
from ..exceptions import InputError
from .stopwords import DOCSTRING_STOP_WORDS

logger = logging.getLogger("anchorwords.datasets")

DEFAULT_PACKAGES = ("numpy", "scipy", "sklearn", "stdlib")
_DISTRIBUTIONS = {"numpy": "numpy", "scipy": "scipy", "sklearn": "scikit-learn"}
_SKIPPED_FOLDERS = frozenset(
    {"tests", "test", "idlelib", "site-packages", "__pycache__", "lib2to3", "turtledemo", "_examples"}
)
_FORMAT = 7
_MIN_WORDS = 20
_MIN_DF = 5
# Sections of a numpydoc docstring that name authors and other functions rather than explain.
_APPARATUS = re.compile(
    r"^[ \t]*(?:References|See Also)\n[ \t]*-{3,}\n.*?(?=^[^\n]+\n[ \t]*-{3,}[ \t]*\n|\Z)", re.M | re.S
)
_EXAMPLE = re.compile(r"^\s*(>>>|\.\.\.).*$", re.MULTILINE)
# Roles, literals, addresses, directives, names of code such as n_samples, and lines under headings.
_MARKUP = re.compile(r":[a-z:]+:`[^`]*`|``[^`]*``|https?://\S+|\.\. \w+::|\w*_\w*|[-=~^]{3,}")


def docstring_texts(packages: Sequence[str] = DEFAULT_PACKAGES, *, cache: bool = True) -> dict[str, str]:
    """Docstrings of installed packages as texts; no network.

    Parameters
    ----------
    packages : sequence of str
        Importable package names; "stdlib" is the standard library. Those not installed are left out.
    cache : bool
        Keep the result in the user's cache folder (``ANCHORWORDS_CACHE``, or the system's) for the next call; it is
        rebuilt when a version changes, the file is damaged, or the folder cannot be used.

    Returns
    -------
    dict
        Prose by where it stands (``scipy.stats._kde.gaussian_kde``): docstrings of at least twenty words, without examples,
        markup, names of code, references and copies.
    """
    if isinstance(packages, str):
        raise InputError(f"packages must be a sequence of package names, but is the single string {packages!r}.")
    roots = {name: root for name in packages if (root := _root(name)) is not None}
    if not roots:
        raise InputError(f"none of the packages {list(packages)!r} is installed with source files: name others.")
    file = _cache_file(roots) if cache else None
    texts = None if file is None else _read_cache(file)
    if texts is None:
        texts = _build(roots)
        if file is not None:
            _write_cache(file, texts)
    if not texts:
        raise InputError(f"the packages {', '.join(roots)} have no docstrings of {_MIN_WORDS} words: name larger ones.")
    return texts


def load_docstrings(packages: Sequence[str] = DEFAULT_PACKAGES, *, cache: bool = True) -> Corpus:
    """Corpus of the docstrings of installed packages; no network.

    Parameters
    ----------
    packages : sequence of str
    cache : bool
        As in :func:`docstring_texts`.

    Returns
    -------
    Corpus
        Words in at least five docstrings, except common English and docstring boilerplate; documents of at least twenty
        such tokens, named by where they stand (``scipy.stats._kde.gaussian_kde``).
    """
    texts = docstring_texts(packages, cache=cache)
    rows = [{"name": name, "text": text} for name, text in texts.items()]
    corpus = read_corpus(rows, id_column="name", min_length=3)
    return corpus.prune(min_df=_MIN_DF, stop_words=DOCSTRING_STOP_WORDS, min_tokens=_MIN_WORDS)


def _build(roots: dict[str, Path]) -> dict[str, str]:
    texts: dict[str, str] = {}
    seen: set[str] = set()
    for package, root in roots.items():
        for name, text in _docstrings(package, root):
            if text in seen:  # aliases and inherited copies
                continue
            seen.add(text)
            plain = prose(text)
            if plain.count(" ") + 1 >= _MIN_WORDS:
                texts.setdefault(name, plain)
    logger.info("docstrings: %d texts", len(texts))
    return texts


def prose(text: str) -> str:
    """Return a docstring without examples, markup and sections that explain nothing, on one line."""
    return " ".join(_MARKUP.sub(" ", _EXAMPLE.sub(" ", _APPARATUS.sub(" ", text))).split())


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
    key = json.dumps([_FORMAT, versions])
    return Path(base) / "anchorwords" / f"docstrings-{zlib.crc32(key.encode()):08x}.npz"


def _read_cache(file: Path) -> dict[str, str] | None:
    try:
        with np.load(file, allow_pickle=False) as saved:
            texts = json.loads(saved["texts"].tobytes())
    except Exception:  # whatever is wrong with a cache, building anew is the answer
        return None
    return {str(name): str(text) for name, text in texts.items()} if isinstance(texts, dict) else None


def _write_cache(file: Path, texts: dict[str, str]) -> None:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, partial = tempfile.mkstemp(suffix=".npz", dir=file.parent)
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez_compressed(stream, texts=np.frombuffer(json.dumps(texts).encode(), dtype=np.uint8))
            os.replace(partial, file)
        finally:
            Path(partial).unlink(missing_ok=True)
    except OSError as error:
        logger.info("docstrings: not cached (%s)", error)
