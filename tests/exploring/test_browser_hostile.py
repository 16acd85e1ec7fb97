"""Words, labels, names and texts that are made to do harm, in a browser: they show as text, and nothing else happens."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from urllib.parse import quote

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer
from anchorwords.exploring.plain import name
from anchorwords.interpret.naming import topic_names

from .conftest import Written, drawn_model, go, heading_of, overflow_of, rows_of, texts_of, view_of
from .test_browser_kinds import PHONE

pytestmark = pytest.mark.browser

MARKUP = [
    "</script><img src=x onerror=window.hacked=1>",
    "<script>window.hacked=1</script>",
    "<svg onload=window.hacked=1>",
    '"><b>bold</b>',
    "' onmouseover='window.hacked=1",
    "<!--<script>",
    "]]>",
    "javascript:window.hacked=1",
    "&lt;i&gt;&amp;&#x41;",
    "</style><style>*{display:none}",
    "</title><h1>",
    "<a href=//example.org>",
    "`${window.hacked=1}`",
]
TEMPLATES = [
    "{{data}}",
    "{{script}}",
    "{{title}}",
    "{{nothing}}",
    "$&",
    "$1",
    "\\g<0>",
    "\\1",
    "%s",
    "{0}",
    "\\",
    "\\u003c",
]
NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "null", "undefined", "NaN", "true", "0", "-1", "--2"]
ADDRESSES = ["#topic-1", "../..", "a/b?c=d&e#f", "100%", "%E0%A4%A", "%00", "space", "word-x", "+", "a b", "?"]
SCRIPTS = [
    "שלום עולם", "مرحبا", "فارسی\u200cزبان", "日本語", "ไทย", "é", "e\u0301\u0302\u0303", "a" + "\u0336" * 60, "ß", "İ", "ſ",
]  # fmt: skip
EMOJI = ["👩\u200d👩\u200d👧\u200d👦", "🏳\ufe0f\u200d🌈", "👍🏽", "🇫🇷", "😀" * 79]
CONTROLS = [
    "\u202eevil", "\u2066isolate\u2069", "nul\x00l", "a\u2028b", "a\u2029b", "\x1b[31mred", "\ufeffbom", "\ud800", "a\tb",
    "a\nb",
]  # fmt: skip
BLANKS = ["", " ", "\u3000", " padded ", "\u200d"]
LONG = ["x" * 10_000, "y" * 9_000 + "z", "W" * 10_000, "﷽" * 3_000, "long " * 2_000]
WORDS = MARKUP + TEMPLATES + NAMES + ADDRESSES + SCRIPTS + EMOJI + CONTROLS + BLANKS + LONG
GROUPS = [MARKUP[0], "\u202e" + SCRIPTS[0], LONG[2], TEMPLATES[0], "__proto__"]
K = 5


def seen(word):
    """As the page shows a word: one line of printable characters, cut; those of nothing but blanks are named."""
    text = name(word)
    # Joiners and marks alone show nothing.
    unseen = all(unicodedata.category(char) in ("Cf", "Mn", "Zs") for char in text)
    return "(blank)" if unseen else text


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A page on which everything that can be given is hostile."""
    model = drawn_model(len(WORDS), K, 50, WORDS)
    rng = np.random.default_rng(2)
    shares = rng.dirichlet(np.full(K, 0.3), size=40)
    counts = rng.poisson(60 * shares @ model.B.T)
    names = [f"{WORDS[m]} {m}" for m in range(40)]
    texts = [f"{WORDS[-1 - m]} {MARKUP[m % len(MARKUP)]}" for m in range(40)]
    path = tmp_path_factory.mktemp("hostile") / "topics.html"
    # A folder may hold longer labels than with_labels takes.
    labels = (MARKUP[0], TEMPLATES[0], "\u202e" + SCRIPTS[0], LONG[0], "")
    explorer(
        replace(model, labels=labels),
        path,
        aw.Corpus(counts, WORDS, names, documents={MARKUP[1]: [GROUPS[m % len(GROUPS)] for m in range(40)]}),
        title="</title><script>window.hacked=1</script> {{data}} $& \u202e" + "T" * 500,
        texts=texts,
        time=np.arange(40) // 10,
        by=MARKUP[1],
    )
    return Written(path, model)


def check_harmless(page):
    assert page.evaluate("typeof window.hacked") == "undefined"
    # Nothing that the page does not make itself: its own elements are none of these.
    assert page.locator("img, iframe, object, embed, form, b, i, [onerror], [onload], [onmouseover]").count() == 0
    assert page.locator("script").count() == 2
    assert page.locator("style").count() == 1
    assert page.evaluate("Object.prototype.polluted === undefined && ({}).x === undefined")
    text = page.evaluate("document.documentElement.textContent + document.title")
    assert re.search("[\u202a-\u202e\u2066-\u2069\x00\x1b]", text) is None


def addresses():
    topics = [f"#topic-{k}" for k in range(K)]
    groups = [f"#group-{g}" for g in range(len(GROUPS))]
    return ["#overview", *topics, "#time", "#groups", *groups, "#groups-3", "#hierarchy", "#space", "#model"]


@pytest.mark.parametrize("screen", [{}, PHONE], ids=["desktop", "phone"])
def test_every_view_shows_text_and_does_nothing(hostile, visit, screen):
    page = visit(hostile.path, **screen)
    for address in addresses():
        go(page, address)
        check_harmless(page)
        assert overflow_of(page) <= 0, address


def test_title_and_labels_are_text(hostile, visit):
    page = visit(hostile.path)
    title = page.evaluate("document.title")
    assert title.startswith("</title><script>window.hacked=1</script> {{data}} $& ")
    assert len(title) <= 80
    assert heading_of(page) == title
    assert rows_of(page) == hostile.ordered
    labels = dict(zip(rows_of(page), texts_of(page, ".topics .topic-link .label"), strict=True))
    assert labels[0] == MARKUP[0]
    assert labels[1] == "{{data}}"
    assert labels[2] == "\ufffd" + SCRIPTS[0]
    assert labels[3] == "x" * 79 + "…"
    assert labels[4] == seen(topic_names(hostile.record)[4])  # an empty label is the automatic name
    for k in range(K):
        page.locator(f".map-node[data-topic='{k}'] circle").hover()
        assert page.locator("#tip .tip-head bdi").text_content() == labels[k]
        check_harmless(page)


def test_the_words_of_topics_are_text(hostile, visit):
    page = visit(hostile.path)
    listed = set()
    for row in aw.topic_table(hostile.record, 12):
        go(page, f"#topic-{row['topic']}")
        assert texts_of(page, ".company-card .two > :nth-child(1) .word") == [seen(word) for word in row["prominent"]]
        assert texts_of(page, ".company-card .two > :nth-child(2) .word") == [
            seen(word) for word in row["characteristic"]
        ]
        assert texts_of(page, ".stat-anchor .word") == [seen(row["anchor"])]
        for weight in ("0", "0.5"):
            page.locator("#weight").fill(weight)
            assert len(texts_of(page, ".relevance-card .word")) == 24
        listed |= set(texts_of(page, ".relevance-card .word"))
        check_harmless(page)
    assert len(listed) > 30


def test_documents_are_text(hostile, visit):
    page = visit(hostile.path)
    names, begun = set(), []
    for k in range(K):
        go(page, f"#topic-{k}")
        names |= set(texts_of(page, ".document-name"))
        begun += texts_of(page, ".document-text")
    assert names <= {seen(f"{WORDS[m]} {m}") for m in range(40)}
    assert len(names) > 10
    assert any("onerror" in text for text in begun)
    assert all(len(text) <= 320 for text in begun)


def test_groups_are_text(hostile, visit):
    page = visit(hostile.path, "#groups")
    assert sorted(texts_of(page, ".heat-group")) == sorted(name(group) for group in GROUPS)
    assert heading_of(page) == f"Topics by {MARKUP[1]}"
    for head in page.locator(".heat-group").all():
        head.click()
        assert page.locator(".detail h2").text_content() == head.text_content()
        check_harmless(page)


def test_every_word_has_a_view_of_its_own(hostile, visit):
    """By the link that the page itself makes, found by the text that it shows."""
    page = visit(hostile.path)
    for word in WORDS:
        text = name(word)
        if seen(word) == "(blank)":
            go(page, "#word-" + quote(text, safe=""))
        else:
            page.locator("#search").fill(text[:60])
            matches = texts_of(page, "#found .match")
            assert seen(word) in matches, word
            page.locator("#found .match").nth(matches.index(seen(word))).click()
        assert heading_of(page) == seen(word)
        assert page.evaluate(
            "[document.getElementById('main').dataset.view, typeof window.hacked,"
            " document.documentElement.scrollWidth <= innerWidth]"
        ) == ["word", "undefined", True], word
    check_harmless(page)


def test_words_that_look_alike_are_not_mixed_up(hostile, visit):
    # Two words that are cut alike: each has its own address, that of the second a number.
    page = visit(hostile.path)
    alike = {}
    for word in WORDS:
        alike.setdefault(name(word), []).append(word)
    several = {text: words for text, words in alike.items() if len(words) > 1}
    assert several
    links = {}
    for k in range(K):
        go(page, f"#topic-{k}")
        pairs = page.locator(".word[data-word]").evaluate_all(
            "links => links.map(link => [Number(link.dataset.word), link.getAttribute('href')])"
        )
        for place, address in pairs:
            assert links.setdefault(place, address) == address
    assert len(set(links.values())) == len(links)
    # All words are in the page, so that their places are their columns.
    for place, address in links.items():
        go(page, address)
        assert page.locator("h1").text_content() == seen(WORDS[place]), address
        shares = hostile.record.word_topics[place]
        first = page.locator(".whose-card .topic-link").first.get_attribute("href")
        assert first == f"#topic-{shares.argmax()}"


def test_addresses_are_hostile_too(hostile, visit):
    page = visit(hostile.path, "#word-<img src=x onerror=window.hacked=1>")
    for address in [
        "#word-%3Cimg%20src=x%20onerror=window.hacked=1%3E", "#<script>", "#__proto__", "#topic-__proto__", "#constructor",
        "#word-%E2%80%AE", "#topic-1e3", "#topic-0x1", "#%", "##", "#/", "#word-" + "z" * 20_000, "#topic-" + "9" * 400,
    ]:  # fmt: skip
        assert view_of(page) == "overview"
        assert page.evaluate("typeof window.hacked") == "undefined"
        assert page.locator("img, b, i").count() == 0
        assert overflow_of(page) <= 0
        go(page, "#model")
        go(page, address)
        # What it says of the address is short, however long that is.
        assert all(len(text) < 200 for text in texts_of(page, ".missing-note"))
    assert view_of(page) == "overview"


def test_right_to_left_words_do_not_turn_what_stands_beside_them(hostile, visit):
    """Digits and words beside a Hebrew label stay where they are: the label is an island."""
    page = visit(hostile.path)
    row = page.locator("tr[data-topic='2'] .topic-link")
    number, label = row.locator(".badge").bounding_box(), row.locator(".label").bounding_box()
    assert number["x"] + number["width"] <= label["x"] + 1
    isolated = page.locator(".topics .word, .topics .label").evaluate_all(
        "nodes => nodes.every(node => node.matches('bdi') || node.firstElementChild?.matches('bdi'))"
    )
    assert isolated


# What markup that got past the escaping would try, each with the rule of the policy that stops it.
MADE = "const e = document.createElement('{}'); "
ATTEMPTS = {
    "script-src-elem": MADE.format("script") + "e.textContent = 'window.hacked = 1'; document.body.append(e)",
    "script-src-attr": MADE.format("p") + "e.setAttribute('onclick', 'window.hacked = 1'); e.click()",
    "img-src": "new Image().src = 'http://127.0.0.1:9/x.png'",
    "connect-src": "fetch('http://127.0.0.1:9/').catch(() => 0)",
    "frame-src": MADE.format("iframe") + "e.src = 'http://127.0.0.1:9/'; document.body.append(e)",
    "style-src-attr": MADE.format("p") + "e.setAttribute('style', 'color:red'); document.body.append(e)",
    "form-action": MADE.format("form") + "e.action = 'http://127.0.0.1:9/'; document.body.append(e); e.submit()",
    "base-uri": MADE.format("base") + "e.href = 'http://127.0.0.1:9/'; document.head.append(e)",
}
TRYING = """
() => new Promise(done => {
    document.addEventListener("securitypolicyviolation", event => done(event.effectiveDirective));
    setTimeout(() => done("nothing"), 5000);
    (%s)();
})
"""


@pytest.mark.parametrize("rule", ATTEMPTS)
def test_the_browser_stops_what_the_policy_forbids(hostile, browser, rule):
    """The second line of defence, should a word ever become markup."""
    page = browser.new_page()
    try:
        page.goto(hostile.path.as_uri())
        stopped_by = page.evaluate(TRYING % f"() => {{ {ATTEMPTS[rule]} }}")
        assert stopped_by == rule
        assert page.evaluate("typeof window.hacked") == "undefined"
    finally:
        page.close()
