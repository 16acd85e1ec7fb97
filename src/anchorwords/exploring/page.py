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
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from ..exceptions import InputError
from ..storage.writing import file_written_whole, require_writable_file
from .data import FORMAT, explorer_data

_IMPORT = re.compile(r'^import \{(?P<names>[^}]*)\} from "\./(?P<module>[\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|const|let|class) (?P<name>\w+))", re.MULTILINE)
_MAIN = "main.js"


def explorer(model: Any, path: str | os.PathLike[str], corpus: Any = None, **options: Any) -> Path:
    """Write a page on which a model can be looked at: one HTML file, for any browser, without a network.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    path : path
        File to write, whole or not at all; one that is there is replaced.
    corpus : Corpus or (M, N) counts, optional
        Documents to list for each topic and to measure on, usually those of the fit; a list of texts for a
        :class:`TextTopicModel`.
    **options
        ``title``, ``labels``, ``texts``, ``time``, ``freq``, ``by``, ``separator``, ``n_jobs`` and ``progress``, as in
        :func:`explorer_data`.

    Returns
    -------
    Path
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target} cannot be written: the folder {target.parent} does not exist; make it first.")
    if target.is_dir():
        raise InputError(f"{target} is a folder: give the name of a file to write, such as {target / 'topics.html'}.")
    require_writable_file(target)
    page = rendered(explorer_data(model, corpus, **options))
    with file_written_whole(target) as partial:
        partial.write_text(page, encoding="utf-8", newline="\n")
    return target


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
