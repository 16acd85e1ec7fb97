"""The page: a template, its styles and scripts, and the data, in one file that opens from disk and asks nobody for anything.

Sources lie in ``sources/``: ``index.html`` with places to fill, ``style.css``, and ECMAScript modules, which are linted as
such. A page opened from disk may not import modules, so that they become one script here: each a function that returns
what it exports, called in the order in which they import each other.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from collections.abc import Callable
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, overload

from .._validation import check_positive_integer
from ..exceptions import InputError
from ..storage.writing import file_written_whole, require_writable_file
from .data import FORMAT, explorer_data
from .frame import HEIGHT, framed

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (?P<name>\w+))", re.MULTILINE)
_MAIN = "main.js"


@overload
def explorer(
    model: Any, path: None = None, corpus: Any = None, *, height: int = HEIGHT, **options: Any
) -> InlineExplorer: ...


@overload
def explorer(model: Any, path: str | os.PathLike[str], corpus: Any = None, **options: Any) -> Path: ...


def explorer(
    model: Any,
    path: str | os.PathLike[str] | None = None,
    corpus: Any = None,
    *,
    height: int | None = None,
    **options: Any,
) -> Path | InlineExplorer:
    """Write a page to explore a model: one HTML file for any browser, without a network. Without a path, display it inline.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    path : path, optional
        File to write, whole or not at all; a file that is there is replaced. Without a path, the page is displayed in the
        output of a notebook cell.
    corpus : Corpus or (M, N) counts, optional
        Documents to list for each topic and to measure on, usually those of the fit; a list of texts for a
        :class:`TextTopicModel`.
    height : int, optional
        Height of the page in a notebook, in pixels; 720 by default.
    **options
        ``title``, ``labels``, ``texts``, ``time``, ``freq``, ``by``, ``separator``, ``n_jobs`` and ``progress``, as in
        :func:`explorer_data`.

    Returns
    -------
    Path or InlineExplorer
        The file that was written. Without a path, an object that a notebook shows as the page, with a method ``save(path)``.
    """
    if path is None:
        return InlineExplorer(explorer_data(model, corpus, **options), HEIGHT if height is None else height)
    if height is not None:
        raise InputError("height is about the page in a notebook: leave it out, or leave the path out.")
    return write_page(path, lambda: explorer_data(model, corpus, **options))


def write_page(path: str | os.PathLike[str], data: Callable[[], dict[str, Any]]) -> Path:
    """Write the page of the data that a function returns, after a check that it can be written."""
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: the folder {target.parent} does not exist; make it first.")
    if target.is_dir():
        raise InputError(f"{target} is a folder: give the name of a file to write, such as {target / 'topics.html'}.")
    require_writable_file(target)
    page = rendered(data())
    with file_written_whole(target) as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")
    return target


class InlineExplorer:
    """The explorer page in the output of a notebook cell; see :func:`explorer`.

    Parameters
    ----------
    data : dict
        From :func:`explorer_data`.
    height : int
        In pixels.
    """

    def __init__(self, data: dict[str, Any], height: int = HEIGHT) -> None:
        self.data, self.height = data, check_positive_integer(height, "height")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as a file, whole or not at all."""
        return write_page(path, lambda: self.data)

    def _repr_html_(self) -> str:
        return framed(rendered(self.data), self.data["title"], self.height)

    def __repr__(self) -> str:
        return (
            f"Explorer page of {self.data['n_topics']} topics: a notebook displays it; elsewhere, write it with "
            ".save('topics.html') and open that file in a browser."
        )


def rendered(data: dict[str, Any]) -> str:
    """The page of a dict of :func:`explorer_data`."""
    if data.get("format") != FORMAT:
        raise InputError(f"data must be what explorer_data returns, but its format is {data.get('format')!r}.")
    style, script = _source("style.css"), bundled()
    # The browser runs and fetches nothing but what is named here by its hash, whatever words and documents hold.
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    parts = {
        "policy": policy,
        "title": _escaped(data["title"]),
        "style": style,
        "data": json_for_html(data),
        "script": script,
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _source("index.html"))


def json_for_html(data: Any) -> str:
    """JSON that can stand in a script element: nothing in it ends the element or begins another."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def bundled() -> str:
    """All modules as one script, each after those it imports."""
    order: list[str] = []

    def visit(module: str, above: tuple[str, ...]) -> None:
        if module in above:
            raise AssertionError(f"{module} imports itself by way of {' -> '.join(above)}")
        if module in order:
            return
        for match in _IMPORT.finditer(_source(module)):
            visit(match["module"], (*above, module))
        order.append(module)

    visit(_MAIN, ())
    return '"use strict";\n(() => {\n' + "\n".join(_as_function(module) for module in order) + "})();\n"


def _as_function(module: str) -> str:
    source = _source(module)
    exported = ", ".join(match["name"] for match in _EXPORT.finditer(source))
    body = _IMPORT.sub(lambda match: f"const {{{match['names']}}} = {_variable(match['module'])};\n", source)
    return f"const {_variable(module)} = (() => {{\n{_EXPORT.sub('', body)}return {{ {exported} }};\n}})();\n"


def _variable(module: str) -> str:
    return "module_" + module.removesuffix(".js").replace("-", "_")


def _hash(source: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(source.encode("utf-8")).digest()).decode("ascii")


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@cache
def _source(file: str) -> str:
    return (resources.files(__package__) / "sources" / file).read_text(encoding="utf-8")
