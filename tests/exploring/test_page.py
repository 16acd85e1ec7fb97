"""The page: the dict inside is the dict given, nothing of it is markup, and the policy lets run what is there alone."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring import page as module
from anchorwords.exploring.data import explorer_data
from anchorwords.exploring.page import bundled, explorer, json_for_html, rendered

from .made import fitted, made_model, sampled
from .test_data import HOSTILE, hostile_model


class Elements(HTMLParser):
    """Elements of a page with their attributes and text, as a browser would find them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found = []
        self.open = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes), []))
        self.open.append(self.found[-1])

    def handle_endtag(self, tag):  # noqa: ARG002
        self.open = self.open[:-1]

    def handle_data(self, data):
        if self.open:
            self.open[-1][2].append(data)

    def of(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.found if name == tag]


def data_in(page):
    """The dict in a page."""
    (text,) = [text for attributes, text in Elements(page).of("script") if attributes.get("type") == "application/json"]
    return json.loads(text)


def sha256(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


@pytest.fixture(scope="module")
def hostile():
    model, corpus = hostile_model()
    texts = [f"<script>alert({m})</script>" + HOSTILE[m % len(HOSTILE)] for m in range(301)]
    return explorer_data(model, corpus, texts=texts, title="</title><script>alert(1)</script>", labels=HOSTILE[:5])


@pytest.fixture(scope="module")
def plain():
    return explorer_data(fitted("stable"), sampled())


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_a_page_holds_its_data(name, request):
    data = request.getfixturevalue(name)
    assert data_in(rendered(data)) == data


def test_pages_differ_in_their_data_alone(plain, hostile):
    # What is given to a page makes no element, no attribute and no comment: all pages have the same.
    def skeleton(data):
        return [(tag, attributes) for tag, attributes, _ in Elements(rendered(data)).found]

    assert skeleton(plain) == skeleton(hostile)


def test_nothing_of_the_data_is_markup(hostile):
    page = rendered(hostile)
    parts = Elements(page)
    (title,) = parts.of("title")
    assert title[1] == hostile["title"]
    start = page.index('<script type="application/json" id="data">') + len('<script type="application/json" id="data">')
    end = page.index("</script>", start)
    inside = page[start:end]
    assert not set("<>&\u2028\u2029") & set(inside)
    assert json.loads(inside) == hostile
    # Outside of it and of the title nothing came from the data.
    other = page[:start] + page[end:]
    assert other.replace("&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;", "TITLE").count("alert") == 0
    assert "onerror" not in other


def test_the_policy_names_what_is_there(hostile):
    parts = Elements(rendered(hostile))
    (policy,) = [
        attributes["content"]
        for attributes, _ in parts.of("meta")
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (style,) = parts.of("style")
    scripts = [text for attributes, text in parts.of("script") if "type" not in attributes]
    assert len(scripts) == 1
    assert len(parts.of("script")) == 2
    assert rules["script-src"] == sha256(scripts[0])
    assert rules["style-src"] == sha256(style[1])
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    # A policy in an element holds for what comes after it.
    tags = [tag for tag, *_ in parts.found]
    assert tags.index("meta") < tags.index("style") < tags.index("script")
    assert "\r" not in scripts[0] + style[1]  # which a browser would turn into \n, and the hash with it


def test_the_policy_does_not_depend_on_the_data(plain, hostile):
    policies = [Elements(rendered(data)).of("meta")[1][0]["content"] for data in (plain, hostile)]
    assert policies[0] == policies[1]


def test_titles_are_text(plain):
    for title in ("{{data}}", "</title>", "&lt;", "a & b", "\\1 \\g<0>"):
        assert Elements(rendered(plain | {"title": title})).of("title") == [({}, title)]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_json_that_can_stand_in_a_page(value):
    text = json_for_html(value)
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == value
    text.encode("utf-8")


def test_json_of_what_json_cannot_hold():
    assert json.loads(json_for_html(["\ud800<"])) == ["?<"]
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_for_html([float("nan")])


def test_other_dicts_are_refused():
    for data in ({}, {"format": "other"}, {"format": None}):
        with pytest.raises(InputError, match="explorer_data"):
            rendered(data)


# ---- Modules become one script


def test_modules_come_after_what_they_import():
    script = bundled()
    begun = re.findall(r"^const module_(\w+) = \(\(\) => \{$", script, re.MULTILINE)
    assert len(set(begun)) == len(begun)
    assert begun[-1] == "main"
    for source in re.findall(r"^const \{[^}]*\} = module_(\w+);$", script, re.MULTILINE):
        assert source in begun
    bodies = re.split(r"^const module_\w+ = \(\(\) => \{$", script, flags=re.MULTILINE)[1:]
    for i, body in enumerate(bodies):
        used = re.findall(r"= module_(\w+);$", body, re.MULTILINE)
        assert set(used) <= set(begun[:i])
    assert not re.findall(r"^(?:import|export)\b", script, re.MULTILINE)
    sources = {path.name for path in (module.resources.files("anchorwords.exploring") / "sources").iterdir()}
    assert {f"{name}.js" for name in begun} == {name for name in sources if name.endswith(".js")}


def with_sources(monkeypatch, sources):
    monkeypatch.setattr(module, "_source", sources.__getitem__)
    bundled.cache_clear()


@pytest.fixture
def fresh():
    yield
    bundled.cache_clear()


@pytest.mark.usefixtures("fresh")
def test_modules_as_functions(monkeypatch):
    with_sources(
        monkeypatch,
        {
            "main.js": 'import { a } from "./one.js";\nimport {\n  b,\n} from "./two-parts.js";\na(b);\n',
            "one.js": 'import { b } from "./two-parts.js";\nexport function a() {}\nexport const c = b;\n',
            "two-parts.js": "export const b = 1;\nconst inside = 'export const no = 1';\n",
        },
    )
    script = bundled()
    assert script.index("module_two_parts = ") < script.index("module_one = ") < script.index("module_main = ")
    assert "return { a, c };" in script
    assert "return { b };" in script
    assert "const { a } = module_one;" in script


@pytest.mark.usefixtures("fresh")
def test_modules_that_import_each_other(monkeypatch):
    with_sources(
        monkeypatch, {"main.js": 'import { a } from "./one.js";\n', "one.js": 'import { b } from "./main.js";\n'}
    )
    with pytest.raises(AssertionError, match=r"main\.js imports itself by way of main\.js -> one\.js"):
        bundled()


# ---- Files


def test_a_file_is_written(tmp_path, plain):
    path = explorer(fitted("stable"), tmp_path / "page.html", sampled())
    assert path == tmp_path / "page.html"
    content = path.read_bytes()
    assert content.decode("utf-8") == rendered(plain)
    assert b"\r" not in content
    assert os.listdir(tmp_path) == ["page.html"]
    explorer(fitted(), os.fspath(path), title="Another")
    assert data_in(path.read_text(encoding="utf-8"))["title"] == "Another"
    assert os.listdir(tmp_path) == ["page.html"]


def test_hostile_pages_are_written(tmp_path):
    model, corpus = hostile_model()
    explorer(model, tmp_path / "page.html", corpus, title="\ud800")
    assert data_in((tmp_path / "page.html").read_text(encoding="utf-8"))["n_topics"] == 5


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("when", ["data", "page", "disk"])
def test_a_failure_leaves_what_was_there(tmp_path, monkeypatch, there, when):
    path = tmp_path / "page.html"
    if there:
        path.write_text("old")

    def failing(*_, **__):
        raise OSError("disk full") if when == "disk" else RuntimeError("no")

    if when == "disk":
        monkeypatch.setattr("pathlib.Path.write_text", failing)
    else:
        monkeypatch.setattr(module, "explorer_data" if when == "data" else "rendered", failing)
    with pytest.raises((OSError, RuntimeError)):
        explorer(fitted(), path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == (["page.html"] if there else [])
    assert not there or path.read_text() == "old"


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="make it first"):
        explorer(fitted(), tmp_path / "nowhere" / "page.html")
    with pytest.raises(InputError, match="is a folder"):
        explorer(fitted(), tmp_path)
    assert os.listdir(tmp_path) == []


# ---- Size


@pytest.mark.slow
def test_a_page_of_many_topics_words_and_documents_is_small():
    # K 100 and 100,000 words of eight letters; documents with long names and texts, all there is to show.
    K, N, M = 100, 100_000, 1000
    rng = np.random.default_rng(0)
    letters = rng.integers(97, 123, (N, 8), dtype=np.uint8)
    letters[:, :4] = np.array(list(np.ndindex(18, 18, 18, 18)), dtype=np.uint8)[:N] + 97  # no word twice
    model = made_model(N, K, vocabulary=[bytes(row).decode() for row in letters])
    chosen = rng.integers(0, K, M)
    rows = np.repeat(np.arange(M), 60)
    columns = np.concatenate([rng.choice(N, 60, p=model.B[:, k]) for k in chosen])
    counts = sp.csr_array((np.ones(rows.size), (rows, columns)), shape=(M, N))
    corpus = aw.Corpus(counts, model.vocabulary, [f"document {m} " + "with a name " * 20 for m in range(M)])
    data = explorer_data(model, corpus, texts=["A long text, of many words. " * 1000] * M)
    listed = [entry for topic in data["topics"] for entry in topic["documents"]]
    assert len(listed) > 700
    assert all(len(entry["text"]) > 300 and len(entry["name"]) >= 70 for entry in listed)
    size = len(rendered(data).encode("utf-8"))
    # With room for words of other alphabets, which take more bytes: 5 MB is what is promised.
    assert size < 3_000_000, f"{size:,} bytes"
