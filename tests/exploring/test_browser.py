"""The page in a browser: it opens from disk, lists topics in order, is sorted, and is found again by its addresses."""

from __future__ import annotations

import re

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.layout import topic_map
from anchorwords.exploring.page import explorer
from anchorwords.interpret.association import topic_association

from .conftest import Written, drawn_model, go, hash_of, heading_of, heard, rows_of, settled, texts_of, view_of

pytestmark = pytest.mark.browser

VIEWS = ["", "#overview", "#topic-0", "#word-{}", "#time", "#groups", "#hierarchy", "#space", "#model"]


def title_of(page):
    return heard(page).evaluate("document.title")


def percentage(share):
    """As people read it: two digits or so."""
    value = 100.0 * share
    return f"{value:.0f}%" if value >= 9.95 else f"{value:.1f}%" if value >= 0.995 else f"{value:.2f}%"


# ---- It opens.


def test_the_check_sees_what_is_wrong(tmp_path, visit):
    path = tmp_path / "bad.html"
    path.write_text(
        "<img src='http://example.org/a.png'><script>console.warn('beware'); throw Error('broken')</script>"
    )
    heard(visit(path))
    visit.forget()
    found = "\n".join(visit.complaints)
    visit.complaints.clear()
    for what in ("request: http://example.org/a.png", "warning: beware", "error: .*broken"):
        assert re.search(what, found)


@pytest.mark.parametrize("address", VIEWS)
def test_every_view_opens_from_disk_and_says_nothing(fitted, visit, address):
    page = visit(fitted.path, address.format(fitted.words[7]))
    assert page.evaluate("location.protocol") == "file:"
    assert page.locator("h1").count() == 1
    assert page.locator("main > *").count() >= 2
    assert page.locator(".missing-note").count() == 0
    # The data stand in the page once.
    assert page.evaluate("document.querySelectorAll('script[type=\"application/json\"]').length") == 1


def test_the_overview_lists_every_topic_in_reading_order(fitted, visit):
    page = visit(fitted.path)
    assert title_of(page) == "Nine topics"
    assert view_of(page) == "overview"
    assert rows_of(page) == fitted.ordered
    table = {row["topic"]: row for row in aw.topic_table(fitted.record, 12)}
    rows = [table[topic] for topic in fitted.ordered]
    assert texts_of(page, ".topics td.c-anchor") == [row["anchor"] for row in rows]
    assert texts_of(page, ".topics td.c-prevalence .figure") == [percentage(row["prevalence"]) for row in rows]
    for row, cell in zip(rows, page.locator(".topics td.c-words").all(), strict=True):
        # Spectral topics are read by probability.
        assert cell.locator(".word").all_text_contents() == row["prominent"][:8]
    assert re.search(r"9 topics learned from 1,200 documents and 600 words", page.locator(".short-card").text_content())


def test_the_map_shows_every_topic_in_its_place_and_as_large_as_it_is(fitted, visit):
    page = visit(fitted.path)
    found = page.locator(".map-node").evaluate_all(
        "nodes => nodes.map(node => { const box = node.querySelector('circle').getBoundingClientRect();"
        " return [Number(node.dataset.topic), box.x + box.width / 2, box.y + box.height / 2, box.width / 2] })"
    )
    found = np.array(sorted(found))
    np.testing.assert_array_equal(found[:, 0], np.arange(fitted.record.n_components))
    frame = page.locator(".map").bounding_box()
    places, _ = topic_map(fitted.record.prevalence, topic_association(fitted.record))
    x = frame["x"] + places[:, 0] / 1.5 * frame["width"]
    y = frame["y"] + places[:, 1] * frame["height"]
    np.testing.assert_allclose(found[:, 1:3], np.column_stack([x, y]), atol=1.0)  # a pixel: places have four digits
    # Areas are as the prevalence; borders add a pixel and a half.
    p = fitted.record.prevalence
    np.testing.assert_allclose(found[:, 3] ** 2 / found[0, 3] ** 2, p / p[0], rtol=0.1)


def test_a_click_on_a_circle_opens_its_topic(fitted, visit):
    page = visit(fitted.path)
    for k in (3, 0):
        page.locator(f".map-node[data-topic='{k}'] circle").click()
        assert hash_of(page) == f"#topic-{k}"
        assert view_of(page) == "topic"
        assert texts_of(page, ".company-card .two > :first-child .word") == aw.prominent_words(fitted.record, 12)[k]
        page.go_back()
        assert view_of(page) == "overview"


def test_hovering_a_circle_names_its_topic(fitted, visit):
    page = visit(fitted.path)
    k = fitted.ordered[2]
    page.locator(f".map-node[data-topic='{k}'] circle").hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert percentage(fitted.record.prevalence[k]) in tip.text_content()
    assert aw.prominent_words(fitted.record, 8)[k] == tip.locator(".tip-words bdi").all_text_contents()
    page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_the_map_is_zoomed_and_dragged_also_by_its_circles(fitted, visit):
    page = visit(fitted.path)
    frame = page.locator(".map").bounding_box()

    def centres():
        return np.array(
            settled(page)
            .locator(".map-node circle")
            .evaluate_all(
                "nodes => nodes.map(node => { const { x, y, width, height } = node.getBoundingClientRect();"
                " return [x + width / 2, y + height / 2] })"
            )
        )

    middle = np.array([frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2])
    before = centres()
    page.get_by_label("Zoom into the map").click()
    zoomed = centres()
    np.testing.assert_allclose(zoomed, middle + 1.6 * (before - middle), atol=1.0)
    # From the circle nearest to the middle, and from between circles.
    nearest = zoomed[np.hypot(*(zoomed - middle).T).argmin()]
    free = next(
        place
        for place in (middle + np.array([dx, dy]) for dx in range(-200, 200, 20) for dy in range(-150, 150, 20))
        if np.hypot(*(zoomed - place).T).min() > 70
    )
    by = np.array([25, -20])
    for start in (nearest, free):
        at = centres()
        page.mouse.move(*start)
        page.mouse.down()
        page.mouse.move(*(start + by), steps=5)
        page.mouse.up()
        assert view_of(page) == "overview"  # a drag is no click
        np.testing.assert_allclose(centres() - at, np.broadcast_to(by, at.shape), atol=1.0)
    page.get_by_label("Show all of the map").click()
    np.testing.assert_allclose(centres(), before, atol=0.5)


def test_circles_are_coloured_by_what_is_chosen(fitted, visit):
    page = visit(fitted.path)
    fill = (
        "nodes => nodes.map(node => [Number(node.dataset.topic), getComputedStyle(node.querySelector('circle')).fill])"
    )
    before = page.locator(".map-node").evaluate_all(fill)
    page.locator("#colour-by").select_option("stability")
    after = dict(page.locator(".map-node").evaluate_all(fill))
    stability = fitted.record.stability.similarity
    # The ramp goes from the darkest to the lightest.
    assert after[int(stability.argmin())] == "rgb(0, 34, 78)"
    assert after[int(stability.argmax())] == "rgb(254, 232, 56)"
    page.locator("#colour-by").select_option("topic")
    assert page.locator(".map-node").evaluate_all(fill) == before


# ---- The table is sorted.


def columns_to_sort_by(written):
    """Of each column what its topics have, by topic id, and whether the first click puts the largest first."""
    record = written.record
    measured = aw.evaluate(record, written.corpus)["per_topic"]
    return {
        "label": (np.arange(record.n_components), False),
        "prevalence": (record.prevalence, True),
        "stability": (record.stability.similarity, True),
        "specificity": (measured["specificity"], True),
        "mst_incoherence": (measured["mst_incoherence"], False),
        "npmi_coherence": (measured["npmi_coherence"], True),
        "anchor": ([written.words[i] for i in record.anchors], False),
    }


def test_a_click_sorts_and_another_turns_around(fitted, visit):
    page = visit(fitted.path)
    # The table comes in reading order, which is no column; a button brings it back.
    assert page.locator("th[aria-sort]").count() == 0
    reading = page.get_by_role("button", name="Reading order")
    assert reading.get_attribute("aria-pressed") == "true"
    for column, (values, descending) in columns_to_sort_by(fitted).items():
        head = page.locator(f"th[data-column='{column}']")
        for falling in (descending, not descending):
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == ("descending" if falling else "ascending")
            assert page.locator("th[aria-sort]").count() == 1
            assert rows_of(page) == sorted(range(len(values)), key=lambda k: values[k], reverse=falling), column
            assert ("largest" if falling else "smallest") in page.locator("#live").text_content()
            assert reading.get_attribute("aria-pressed") == "false"
    reading.click()
    assert rows_of(page) == fitted.ordered
    assert page.locator("th[aria-sort]").count() == 0


def test_the_table_stays_sorted_while_one_looks_elsewhere(fitted, visit):
    page = visit(fitted.path)
    page.locator("th[data-column='anchor'] button").click()
    order = rows_of(page)
    assert order != fitted.ordered
    page.locator("table.topics .topic-link").first.click()
    assert view_of(page) == "topic"
    page.keyboard.press("o")
    assert rows_of(page) == order


# ---- Addresses.


def test_addresses_open_what_they_name(fitted, visit):
    page = visit(fitted.path, "#topic-2")
    assert view_of(page) == "topic"
    assert texts_of(page, ".company-card .two > :first-child .word") == aw.prominent_words(fitted.record, 12)[2]
    assert title_of(page).startswith("Topic 2: ")
    assert title_of(page).endswith(" – Nine topics")
    word = fitted.words[11]
    page = visit(fitted.path, f"#word-{word}")
    assert view_of(page) == "word"
    assert heading_of(page) == word
    assert title_of(page) == f"{word} – Nine topics"
    page = visit(fitted.path, "#space")
    assert (view_of(page), title_of(page)) == ("space", "Space – Nine topics")
    page = visit(fitted.path, "#space-4")
    assert page.locator("#space-topic").input_value() == "4"
    page = visit(fitted.path, "#model")
    assert (view_of(page), title_of(page)) == ("model", "Model – Nine topics")
    assert page.locator("nav [aria-current='page']").text_content() == "Model"


@pytest.mark.parametrize(
    "address",
    [
        "#topic-999", "#topic-9", "#topic--1", "#topic-x", "#word-zzz", "#word-%E0%A4%A", "#place-600", "#nonsense",
        "#space-99", "#groups-99", "#group-4", "#time-1",
    ],
)  # fmt: skip
def test_addresses_of_nothing_say_so(fitted, visit, address):
    page = visit(fitted.path, address)
    note = page.locator(".missing-note")
    assert note.count() == 1, "no sentence says that there is nothing at this address"
    assert note.get_attribute("role") == "status"
    assert re.search(r"\.$", note.text_content())
    if address == "#word-zzz":
        assert "zzz" in note.text_content()
    # What is there instead works.
    go(page, "#overview")
    page.locator("table.topics .topic-link").first.click()
    assert hash_of(page) == f"#topic-{fitted.ordered[0]}"
    assert page.locator(".missing-note").count() == 0


def test_words_that_look_like_addresses_are_found(tmp_path, visit):
    # Words that look alike are called by a number: one that begins with a dash or is a number must not be taken for one.
    model = drawn_model(40, 3, 30, [f"-{i}" for i in reversed(range(40))])
    path = explorer(model, tmp_path / "topics.html")
    page = visit(path)
    for word in ("-3", "-39"):
        page.locator("#search").fill(word)
        page.keyboard.press("Enter")
        assert heading_of(page) == word


def test_back_and_forward(fitted, visit):
    page = visit(fitted.path)
    titles = [title_of(page)]
    for address in ("#topic-1", "#word-" + fitted.words[3], "#model"):
        go(page, address)
        titles.append(title_of(page))
    assert len(set(titles)) == 4
    assert view_of(page) == "model"
    for view, title in zip(["word", "topic", "overview"], titles[-2::-1], strict=True):
        page.go_back()
        assert (view_of(page), title_of(page)) == (view, title)
    for view, title in zip(["topic", "word", "model"], titles[1:], strict=True):
        page.go_forward()
        assert (view_of(page), title_of(page)) == (view, title)


def test_links_of_the_page_lead_somewhere(fitted, visit):
    page = visit(fitted.path)
    for address in VIEWS:
        go(page, address.format(fitted.words[7]))
        links = page.locator("a[href]").evaluate_all(
            "links => [...new Set(links.map(link => link.getAttribute('href')))]"
        )
        assert links
        for link in links:
            known = re.fullmatch(
                r"#(overview|time|groups|hierarchy|space|model|main|group-[0-3]|(?:topic|groups)-(\d+)|word-(\w+))",
                link,
            )
            assert known, link
            assert known[2] is None or int(known[2]) < fitted.record.n_components
            assert known[3] is None or known[3] in fitted.words


# ---- Models of other kinds.


@pytest.mark.parametrize("n_topics", [1, 2, 3])
def test_a_model_of_few_topics(tmp_path, visit, n_topics):
    model = drawn_model(30, n_topics, 20)
    path = explorer(model, tmp_path / "topics.html")
    page = visit(path)
    assert rows_of(page) == Written(path, model).ordered
    assert page.locator(".map-node").count() == n_topics
    for address in ("#topic-0", "#word-word3", "#space", "#model"):
        go(page, address)
        assert page.locator("h1").count() == 1
        assert page.locator(".missing-note").count() == 0


def test_a_model_that_knows_little(tmp_path, visit):
    """Without anchors' rows, compression, vocabulary, documents."""
    drawn = drawn_model(50, 4, 30)
    model = aw.TopicModel(drawn.B, drawn.A, 1.0, drawn.anchors, drawn.word_topics, drawn.word_probs)
    page = visit(explorer(model, tmp_path / "topics.html"))
    assert page.locator("table.topics tbody tr").count() == 4
    go(page, "#topic-1")
    assert texts_of(page, ".company-card .word") == aw.prominent_words(model, 12)[1]
    assert page.locator(".added").count() == 0
    assert page.locator(".tree").count() == 0
    assert "without documents" in page.locator(".documents-card").text_content()
