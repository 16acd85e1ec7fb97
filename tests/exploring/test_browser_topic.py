"""A topic in a browser: the relevance slider, both lists of words, neighbours, error bars, documents."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.interpret.association import topic_association
from anchorwords.interpret.ranking import word_probabilities

from .conftest import go, hash_of, heading_of, heard, texts_of

pytestmark = pytest.mark.browser

LISTED = ".relevance-card .word"
N_RELEVANT, N_LISTED = 24, 12
# The page holds probabilities to six digits and takes scores within 1/20,000 of each other for ties.
NEAR = 1e-4


def check_by_relevance(written, topic, weight, shown):
    """What is shown is the order of top_words; words whose scores are as good as the same may change places."""
    record = written.record
    assert len(shown) == len(set(shown)) == N_RELEVANT
    column = record.B[:, topic]
    scores = np.full(column.size, -np.inf)
    own = column > 0.0
    p = word_probabilities(record.B, record.prevalence)
    scores[own] = np.log(column[own]) - (1.0 - weight) * np.log(p[own])
    place = {word: i for i, word in enumerate(written.words)}
    of_shown = scores[[place[word] for word in shown]]
    best = np.sort(scores)[::-1][: N_RELEVANT + 1]
    np.testing.assert_allclose(of_shown, best[:N_RELEVANT], atol=NEAR)
    right = aw.top_words(record, N_RELEVANT, ranking="relevance", weight=weight)[topic]
    if (np.diff(best) < -NEAR).all():
        assert shown == right
    return shown == right


def test_the_slider_orders_words_by_relevance(fitted, visit):
    page = visit(fitted.path, "#topic-0")
    exact = []
    for topic in range(fitted.record.n_components):
        go(page, f"#topic-{topic}")
        for weight in (0.0, 0.13, 0.6, 0.87, 1.0):
            page.locator("#weight").evaluate(
                "(slider, weight) => { slider.value = weight; slider.dispatchEvent(new Event('input', {bubbles: true})) }",
                weight,
            )
            assert page.locator(".weight-value").text_content() == f"λ = {weight:.2f}"
            exact.append(check_by_relevance(fitted, topic, weight, texts_of(page, LISTED)))
        assert texts_of(page, LISTED) == aw.prominent_words(fitted.record, N_RELEVANT)[topic]
    assert np.mean(exact) > 0.8  # near-ties are few


def test_the_slider_moves_by_keyboard(fitted, visit):
    page = visit(fitted.path, "#topic-1")
    slider = page.locator("#weight")
    assert slider.input_value() == "1"  # spectral topics are read by probability
    before = texts_of(page, LISTED)
    assert before == aw.prominent_words(fitted.record, N_RELEVANT)[1]
    slider.focus()
    for key, weight in [
        ("ArrowLeft", 0.99),
        ("ArrowLeft", 0.98),
        ("Home", 0.0),
        ("ArrowRight", 0.01),
        ("PageUp", 0.11),
    ]:
        page.keyboard.press(key)
        assert float(slider.input_value()) == pytest.approx(weight)
        assert check_by_relevance(fitted, 1, weight, texts_of(page, LISTED)) in (True, False)
    assert texts_of(page, LISTED) != before
    page.keyboard.press("End")
    assert texts_of(page, LISTED) == before
    # Arrows are the slider's while it has the focus.
    assert hash_of(page) == "#topic-1"


def test_the_slider_is_dragged(fitted, visit):
    page = visit(fitted.path, "#topic-1")
    box = page.locator("#weight").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] - 8, y)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], y, steps=5)
    page.mouse.up()
    weight = float(page.locator("#weight").input_value())
    assert 0.3 < weight < 0.5
    check_by_relevance(fitted, 1, weight, texts_of(page, LISTED))
    # It stays where it is from topic to topic, and decides on the words of the table.
    page.keyboard.press("Escape")
    heard(page)
    table = aw.top_words(fitted.record, 8, ranking="relevance", weight=weight)[1]
    assert page.locator("tr[data-topic='1'] .c-words .word").all_text_contents() == table


def test_bars_are_as_long_as_words_are_frequent(fitted, visit):
    page = visit(fitted.path, "#topic-2")
    record = fitted.record
    place = {word: i for i, word in enumerate(fitted.words)}
    index = [place[word] for word in texts_of(page, LISTED)]
    width = "bars => bars.map(bar => parseFloat(bar.style.width))"
    inside = page.locator(".relevance-card li .bar-front").evaluate_all(width)
    overall = page.locator(".relevance-card li .bar-behind").evaluate_all(width)
    p = word_probabilities(record.B, record.prevalence)[index]
    np.testing.assert_allclose(overall, 100.0 * p / p.max(), atol=0.02)
    np.testing.assert_allclose(inside, 100.0 * record.prevalence[2] * record.B[index, 2] / p.max(), atol=0.02)


def test_marked_words_are_what_the_anchor_adds(fitted, visit):
    page = visit(fitted.path, "#topic-0")
    marked = 0
    for row in aw.topic_table(fitted.record, N_LISTED):
        go(page, f"#topic-{row['topic']}")
        assert texts_of(page, ".company-card .two > :nth-child(1) .word") == row["prominent"]
        assert texts_of(page, ".company-card .two > :nth-child(2) .word") == row["characteristic"]
        assert texts_of(page, ".company-card .word.added") == row["specific"]
        marked += len(row["specific"])
        assert row["anchor"] in texts_of(page, ".stat-anchor .word")
    assert marked > 0


def test_the_tree_holds_the_words_of_both_lists(fitted, visit):
    page = visit(fitted.path, "#topic-3")
    prominent, characteristic = (
        set(lists(fitted.record, 7)[3]) for lists in (aw.prominent_words, aw.characteristic_words)
    )
    # Read aloud a word is followed by which list it is of.
    named = page.locator("a.tree-node").evaluate_all("nodes => nodes.map(node => node.getAttribute('aria-label'))")
    kinds = {label.split(", ")[0]: label.split(", ")[1] for label in named}
    assert set(kinds) == prominent | characteristic
    assert {word for word, kind in kinds.items() if kind == "in both"} == prominent & characteristic
    assert page.locator(".tree-edge").count() == len(kinds) - 1
    # Every label lies within its frame.
    frame = page.locator(".tree-room").bounding_box()
    for text in page.locator(".tree-room text").all():
        box = text.bounding_box()
        assert frame["x"] - 3 <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 3
    word = next(iter(kinds))
    page.locator(f"a.tree-node[href='#word-{word}'] text").click()
    assert heading_of(page) == word


def test_neighbours_come_in_the_order_of_association_with_their_intervals(fitted, visit):
    k = 4
    page = visit(fitted.path, f"#topic-{k}")
    record = fitted.record
    association = topic_association(record)
    ratio, expected = association.ratio, association.expected
    others = [int(m) for m in np.argsort(-ratio[k], kind="stable") if m != k and record.A[k, m] > 0]
    addresses = page.locator(".neighbours-card .topic-link").evaluate_all(
        "links => links.map(link => link.getAttribute('href'))"
    )
    assert addresses == [f"#topic-{m}" for m in others]
    shown = [float(text.rstrip("×")) for text in texts_of(page, ".neighbours-card .figure")]
    np.testing.assert_allclose(shown, ratio[k, others], rtol=0.051)  # two digits
    # Whiskers reach from the low to the high end of the interval, on the scale of the bars.
    low, high = record.stability.correlation_low[k, others], record.stability.correlation_high[k, others]
    most = max(1.5, (high / expected[k, others]).max())
    spans = page.locator(".neighbours-card .whisker").evaluate_all(
        "bars => bars.map(bar => [parseFloat(bar.style.left), parseFloat(bar.style.width)])"
    )
    ends = np.column_stack([low, high - low]) / expected[k, others][:, None] / most * 100.0
    np.testing.assert_allclose(spans, ends, atol=0.1)


def test_prevalence_has_its_interval(fitted, visit):
    page = visit(fitted.path, "#topic-5")
    sure = fitted.record.stability
    stats = page.locator(".stats").text_content()
    for end in (sure.prevalence_low[5], sure.prevalence_high[5]):
        assert (f"{100 * end:.0f}%" if end >= 0.0995 else f"{100 * end:.1f}%") in stats
    assert "90% interval" in stats


def test_documents_are_those_with_most_of_the_topic(fitted, visit):
    page = visit(fitted.path, "#topic-6")
    found = aw.top_documents(fitted.model, fitted.corpus, 8, min_tokens=20)[6]
    assert texts_of(page, ".documents .document-name") == [entry["document"] for entry in found]
    shares = [float(text.rstrip("%")) for text in texts_of(page, ".documents .figure")]
    np.testing.assert_allclose(shares, [100 * entry["share"] for entry in found], atol=0.51)
    assert texts_of(page, ".document-text") == [f"How {entry['document']} begins." for entry in found]


def test_buttons_step_through_topics(fitted, visit):
    order = fitted.ordered
    page = visit(fitted.path, f"#topic-{order[0]}")
    page.locator(".step").nth(1).click()
    assert hash_of(page) == f"#topic-{order[1]}"
    page.locator(".step").nth(0).click()
    page.locator(".step").nth(0).click()
    assert hash_of(page) == f"#topic-{order[-1]}"
