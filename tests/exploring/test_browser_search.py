"""Search, words and keys in a browser: what is typed is found, and nothing needs a mouse."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer

from .conftest import drawn_model, hash_of, heading_of, heard, texts_of, view_of

pytestmark = pytest.mark.browser


def focused(page):
    """The element that has the focus: its name, and the class of circles and the id of fields."""
    return heard(page).evaluate(
        "[document.activeElement.tagName.toLowerCase(), document.activeElement.getAttribute('class') ?? '',"
        " document.activeElement.id]"
    )


def by_frequency(written, beginning):
    """Words that begin like this, the most frequent first."""
    record = written.record
    p = record.B @ record.prevalence
    found = [i for i, word in enumerate(written.words) if word.startswith(beginning)]
    return [written.words[i] for i in sorted(found, key=lambda i: -p[i])]


# ---- Search.


def test_a_word_is_typed_and_opened(fitted, visit):
    page = visit(fitted.path)
    for word in (fitted.words[42], fitted.words[17].upper()):
        page.locator("#search").click()
        page.keyboard.type(word)
        assert page.locator("#found").is_visible()
        page.keyboard.press("Enter")
        assert hash_of(page) == f"#word-{word.lower()}"
        assert heading_of(page) == word.lower()
        assert not page.locator("#found").is_visible()
        assert page.locator("#search").input_value() == ""


def test_what_begins_alike_is_listed_and_chosen_by_arrows(fitted, visit):
    page = visit(fitted.path)
    expected = by_frequency(fitted, "ba")[:10]
    search = page.locator("#search")
    search.click()
    page.keyboard.type("ba")
    assert search.get_attribute("aria-expanded") == "true"
    found = texts_of(page, "#found .match")
    # Topics whose label holds these letters may come before.
    assert found == expected[: len(found)]
    assert len(found) >= 5
    n = page.locator("#found [role=option]").count()
    first = n - len(found)
    for _ in range(first + 2):
        page.keyboard.press("ArrowDown")
    active = page.locator("#found [aria-selected='true']")
    assert active.count() == 1
    assert active.locator(".match").text_content() == expected[2]
    assert search.get_attribute("aria-activedescendant") == active.get_attribute("id")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert heading_of(page) == expected[1]
    # Around at the ends.
    search.click()
    page.keyboard.type("ba")
    page.keyboard.press("ArrowUp")
    assert page.locator("#found [role=option]").last.get_attribute("aria-selected") == "true"


def test_escape_closes_what_was_found(fitted, visit):
    page = visit(fitted.path, "#model")
    page.locator("#search").click()
    page.keyboard.type("ba")
    page.keyboard.press("Escape")
    assert not page.locator("#found").is_visible()
    assert page.locator("#search").input_value() == ""
    assert view_of(page) == "model"  # it only closes the list


def test_a_word_that_is_not_there_is_said_so(fitted, visit):
    page = visit(fitted.path)
    page.locator("#search").click()
    page.keyboard.type("qqqq")
    # One word of the vocabulary never occurs: it is not in the page.
    assert texts_of(page, "#found li") == ["Nothing like that among the 599 of 600 words in this page."]
    before = hash_of(page)
    page.keyboard.press("Enter")
    assert hash_of(page) == before


@pytest.mark.parametrize("asked", ["3", "topic 3", "#3", "Topic 3"])
def test_a_number_finds_its_topic(fitted, visit, asked):
    page = visit(fitted.path)
    page.locator("#search").click()
    page.keyboard.type(asked)
    page.keyboard.press("Enter")
    assert hash_of(page) == "#topic-3"


def test_a_found_word_is_clicked(fitted, visit):
    page = visit(fitted.path)
    page.locator("#search").click()
    page.keyboard.type(fitted.words[5])
    page.locator("#found .match").first.click()
    assert heading_of(page) == fitted.words[5]


def test_capitals_do_not_matter_and_a_word_comes_before_labels_that_hold_it(tmp_path, visit):
    model = drawn_model(60, 3, 40, [f"Word {letter}{i % 10}" for letter in "ABCDEF" for i in range(10)])
    page = visit(explorer(model, tmp_path / "topics.html"))
    for word in aw.prominent_words(model, 1):
        page.locator("#search").fill(word[0].lower())
        assert page.locator("#found .found-topic").count() > 0  # labels are made of these words
        page.keyboard.press("Enter")
        assert heading_of(page) == word[0]


# ---- A word.


@pytest.mark.parametrize("kind", ["common", "rare", "anchor"])
def test_a_word_says_whose_it_is_and_what_it_goes_with(fitted, visit, kind):
    record = fitted.record
    p = record.B @ record.prevalence
    rare = int(np.where(p > 0.0, p, 1.0).argmin())
    word = {"common": int(p.argmax()), "rare": rare, "anchor": int(record.anchors[2])}[kind]
    page = visit(fitted.path, f"#word-{fitted.words[word]}")
    # Bars: p(topic | word), largest first; what is below a hundredth is among the others.
    shares = record.word_topics[word]
    order = [k for k in np.argsort(-shares, kind="stable")[:8].tolist() if shares[k] >= 0.01]
    addresses = page.locator(".whose-card .topic-link").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert addresses == [f"#topic-{k}" for k in order]
    widths = page.locator(".whose-card .bar-front").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    np.testing.assert_allclose(widths[: len(order)], 100 * shares[order], atol=0.06)  # three digits
    rest = 1.0 - shares[order].sum()
    assert (len(widths) > len(order)) == (rest > 0.005)
    # Companions: largest C log(C / pp') of the rectified co-occurrence, with the ratio.
    Y = np.asarray(record.Y)
    q = np.maximum(Y @ Y.sum(axis=0), 0.0)
    row = np.maximum(Y[word] @ Y.T, 0.0)
    lift = np.divide(row, q[word] * q, out=np.zeros_like(row), where=q > 0.0)
    score = row * np.log(np.maximum(lift, 1.0))
    score[word] = 0.0
    best = [i for i in np.argsort(-score, kind="stable")[:10] if score[i] > 0.0]
    assert texts_of(page, ".company-of-word .word") == [fitted.words[i] for i in best]
    shown = [float(text.rstrip("×").replace(",", "")) for text in texts_of(page, ".company-of-word .figure")]
    np.testing.assert_allclose(shown, lift[best], rtol=0.051)
    rank = 1 + int((p > p[word]).sum())
    assert f"{rank}" in page.locator(".lede").text_content()
    assert ("It is the anchor of" in page.locator("main").text_content()) == (word in record.anchors)
    assert page.locator(".where-card canvas").count() == 1


def test_the_small_map_is_strong_where_the_word_is(fitted, visit):
    word = int(fitted.record.anchors[1])
    page = visit(fitted.path, f"#word-{fitted.words[word]}")
    strength = dict(
        page.locator(".whose-card .map-node").evaluate_all(
            "nodes => nodes.map(node => [Number(node.dataset.topic), Number(node.style.opacity)])"
        )
    )
    assert strength[1] == 1.0
    assert max(value for k, value in strength.items() if k != 1) < 0.2


# ---- Keys.


def test_letters_go_to_views(fitted, visit):
    page = visit(fitted.path)
    for key, view in [("s", "space"), ("m", "model"), ("o", "overview"), ("m", "model"), ("Escape", "overview")]:
        page.keyboard.press(key)
        assert view_of(page) == view
        assert focused(page)[0] == "h1"
    page.keyboard.press("Control+m")
    assert view_of(page) == "overview"


def test_a_slash_goes_to_the_search(fitted, visit):
    page = visit(fitted.path, "#model")
    page.keyboard.press("/")
    assert focused(page)[2] == "search"
    page.keyboard.type("so/m")
    assert page.locator("#search").input_value() == "so/m"  # letters are letters there
    assert view_of(page) == "model"


def test_arrows_go_from_topic_to_topic_and_around(fitted, visit):
    order = fitted.ordered
    page = visit(fitted.path, f"#topic-{order[0]}")
    for expected in [*order[1:], order[0]]:
        page.keyboard.press("ArrowRight")
        assert hash_of(page) == f"#topic-{expected}"
        assert focused(page)[0] == "h1"
        assert page.evaluate("scrollY") == 0
    for expected in (order[-1], order[-2]):
        page.keyboard.press("ArrowLeft")
        assert hash_of(page) == f"#topic-{expected}"


def test_the_map_is_walked_by_keys(fitted, visit):
    page = visit(fitted.path)
    for _ in range(30):
        page.keyboard.press("Tab")
        if "map-node" in focused(page)[1]:
            break
    centre = (
        "(() => { const box = document.activeElement.querySelector('circle').getBoundingClientRect();"
        " return [Number(document.activeElement.dataset.topic), box.x + box.width / 2, box.y + box.height / 2] })()"
    )
    start = page.evaluate(centre)
    assert start[0] == fitted.ordered[0]  # the first one in reading order
    assert page.locator("#tip").is_visible()
    moved = 0
    for key, axis, sign in [("ArrowRight", 1, 1), ("ArrowDown", 2, 1), ("ArrowLeft", 1, -1), ("ArrowUp", 2, -1)] * 2:
        before = page.evaluate(centre)
        page.keyboard.press(key)
        after = page.evaluate(centre)
        if after != before:
            assert sign * (after[axis] - before[axis]) > 0
            moved += 1
    assert moved >= 4
    # One circle only is a stop for Tab: two hundred would be in the way.
    assert page.locator(".map-node[tabindex='0']").count() == 1
    topic = page.evaluate(centre)[0]
    page.keyboard.press("Enter")
    assert hash_of(page) == f"#topic-{topic}"
    assert focused(page)[0] == "h1"


def test_every_stop_of_tab_can_be_seen(fitted, visit):
    page = visit(fitted.path)
    seen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        name, label, identity = focused(page)
        if name == "body":
            break
        seen.add((name, label, identity))
        assert page.evaluate(
            "(() => { const own = document.activeElement; if (own.closest('.map')) return true;"
            " const { outlineStyle, outlineWidth } = getComputedStyle(own);"
            " return outlineStyle !== 'none' && parseFloat(outlineWidth) > 0 })()"
        ), (name, label, identity)
    assert {"search", "colour-by"} <= {identity for _, _, identity in seen}


def test_the_first_stop_skips_the_head(fitted, visit):
    page = visit(fitted.path, "#topic-2")
    page.keyboard.press("Tab")
    assert "skip" in focused(page)[1]
    page.keyboard.press("Enter")
    assert view_of(page) == "topic"
    assert texts_of(page, ".company-card .two > :first-child .word") == aw.prominent_words(fitted.record, 12)[2]
    page.keyboard.press("Tab")
    assert page.evaluate("document.getElementById('main').contains(document.activeElement)")


def test_columns_are_sorted_by_keys(fitted, visit):
    page = visit(fitted.path)
    page.locator("th[data-column='label'] button").focus()
    page.keyboard.press("Enter")
    assert page.locator("th[data-column='label']").get_attribute("aria-sort") == "ascending"
    page.keyboard.press("Space")
    assert page.locator("th[data-column='label']").get_attribute("aria-sort") == "descending"
    assert focused(page)[0] == "button"  # the focus stays
