"""The page's scripts, styles and template: nothing in them fetches, or makes markup or code out of text.

Words and documents are hostile. What is never done to any text needs no escaping, so it is looked for in the sources.
"""

from __future__ import annotations

import re
from importlib import resources

import pytest

import anchorwords.exploring

PAGE = resources.files(anchorwords.exploring) / "sources"
SOURCES = {path.name: path.read_text(encoding="utf-8") for path in PAGE.iterdir() if path.is_file()}
SCRIPTS = sorted(name for name in SOURCES if name.endswith(".js"))

# Markup out of text, code out of text, and requests.
FORBIDDEN = {
    name: re.compile(pattern)
    for name, pattern in {
        "innerHTML": r"innerHTML",
        "outerHTML": r"outerHTML",
        "insertAdjacentHTML": r"insertAdjacentHTML",
        "setHTML": r"setHTML",
        "srcdoc": r"srcdoc",
        "createContextualFragment": r"createContextualFragment",
        "DOMParser": r"DOMParser",
        "document.write": r"document\s*\.\s*write",
        "eval": r"\beval\b",
        "Function": r"\bFunction\s*\(",
        "timers of text": r"\bset(?:Timeout|Interval)\s*\(\s*[\"'`]",
        "javascript:": r"javascript:",
        "handlers of text": r"setAttribute(?:NS)?\([^)]*[\"'`]on",
        "fetch": r"\bfetch\s*\(",
        "XMLHttpRequest": r"XMLHttpRequest",
        "WebSocket": r"WebSocket",
        "EventSource": r"EventSource",
        "sendBeacon": r"sendBeacon",
        "Worker": r"\bnew\s+(?:Shared)?Worker\b",
        "import()": r"\bimport\s*\(",
    }.items()
}
ADDRESS = re.compile(r"(?:https?|wss?|ftp):/+[^\s\"'`)]*", re.IGNORECASE)
# Names of languages, which nobody asks for.
NAMESPACES = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml", "http://www.w3.org/1999/xlink"}

IMPORT = re.compile(r"^import\b[^;]*;", re.MULTILINE)
EXPORT = re.compile(r"^export (?:(?:async )?function|class|const) (?P<name>\w+)", re.MULTILINE)


def offences(script):
    """What a script does that none may."""
    found = [name for name, pattern in FORBIDDEN.items() if pattern.search(script)]
    return found + [address for address in ADDRESS.findall(script) if address not in NAMESPACES]


def test_the_sources_are_there():
    assert {"index.html", "style.css", "main.js"} <= set(SOURCES)
    assert all(name.endswith((".js", ".css", ".html")) for name in SOURCES)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts_make_no_markup_no_code_and_no_request(name):
    assert offences(SOURCES[name]) == []


@pytest.mark.parametrize(
    "script",
    [
        "a.innerHTML = b", "a.outerHTML=b", "a.insertAdjacentHTML('x', b)", "document.write(b)", "eval(b)", "(0, eval)(b)",
        "new Function(b)", "setTimeout('b', 1)", "fetch(b)", "window.fetch (b)", "new XMLHttpRequest()",
        "new WebSocket(b)", "import('./b.js')", "await import(b)", "navigator.sendBeacon(b)", "new Worker(b)",
        "image.src = 'http://example.org/b.png'", "a.href = `https://example.org`", "a.setAttribute('onclick', b)",
        "'HTTPS://example.org'", "'http://www.w3.org/2000/svg/../b'", "location = 'javascript:b'",
    ],
)  # fmt: skip
def test_the_check_sees_what_is_wrong(script):
    assert offences(script)


@pytest.mark.parametrize(
    "script",
    [
        'document.createElementNS("http://www.w3.org/2000/svg", "g");', "prefetch(x);", "function evaluate(x) {}",
        'import { a } from "./a.js";', 'setTimeout(() => draw("x"), 1);', 'node.setAttribute("fill", "none");',
    ],
)  # fmt: skip
def test_the_check_lets_pass_what_is_right(script):
    assert offences(script) == []


def test_styles_ask_for_nothing():
    style = SOURCES["style.css"]
    assert ADDRESS.findall(style) == []
    assert "@import" not in style
    assert re.findall(r"url\(\s*[\"']?(?!data:|#)", style) == []
    assert "</style" not in style.lower()


def test_the_template_asks_for_nothing_and_runs_one_script():
    template = SOURCES["index.html"]
    assert ADDRESS.findall(template) == []
    assert re.findall(r"\s(?:src|srcset|srcdoc|action|ping|on\w+)\s*=", template) == []
    assert re.findall(r"\shref=(?!\"(?:#|data:,))", template) == []
    assert sorted(re.findall(r"\{\{(\w+)\}\}", template)) == ["data", "policy", "script", "style", "title"]
    assert len(re.findall(r"<script\b", template)) == 2  # the data, and the script


def test_scripts_do_not_end_their_element():
    for name in SCRIPTS:
        assert re.search(r"</script|<!--", SOURCES[name], re.IGNORECASE) is None


# ---- Modules become functions of one script: what they import and export must be what that can do.


def test_what_is_imported_is_exported():
    # In one script a name that is not there would be undefined, and no error before it is used.
    exported = {name: {match["name"] for match in EXPORT.finditer(SOURCES[name])} for name in SCRIPTS}
    imported = 0
    for name in SCRIPTS:
        for statement in IMPORT.findall(SOURCES[name]):
            found = re.fullmatch(r'import\s+\{(?P<names>[\w\s,]*)\}\s+from\s+"\./(?P<module>[\w-]+\.js)";', statement)
            assert found, f"{name}: {statement}"
            names = set(re.findall(r"\w+", found["names"]))
            assert names <= exported[found["module"]], f"{name}: {statement}"  # "as" is no name that anyone exports
            imported += len(names)
    assert imported > 0


@pytest.mark.parametrize("name", SCRIPTS)
def test_exports_are_declarations_that_do_not_change(name):
    # A function returns the values that its names have at its end: a let that changes later would not be followed.
    script = SOURCES[name]
    assert len(re.findall(r"^\s*export\b", script, re.MULTILINE)) == len(EXPORT.findall(script))
