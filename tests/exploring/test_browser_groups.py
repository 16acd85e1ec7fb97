"""Topics by group in a browser: the table of shares, its orders, and what sets a group or a topic apart."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer

from .conftest import drawn_model, go, hash_of, heading_of, heard, settled, texts_of
from .test_browser_kinds import PHONE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def shares(fitted):
    return aw.prevalence_by(fitted.record, fitted.corpus, "venue")


def cells_of(page):
    """(group, topic) -> what the cell shows and says."""
    found = (
        settled(page)
        .locator("td.heat")
        .evaluate_all(
            "cells => cells.map(cell => [Number(cell.dataset.group), Number(cell.dataset.topic), cell.textContent,"
            " cell.getAttribute('aria-label'), Number(/heat-(\\d)/.exec(cell.className)[1])])"
        )
    )
    return {(group, topic): (text, label, level) for group, topic, text, label, level in found}


def groups_of(page):
    return texts_of(settled(page), ".heat-group")


def focused(page):
    return heard(page).evaluate(
        "[document.activeElement.className, document.activeElement.dataset.group, document.activeElement.dataset.topic]"
    )


def test_every_cell_shows_its_share(fitted, visit, shares):
    page = visit(fitted.path, "#groups")
    cells = cells_of(page)
    assert len(cells) == 4 * fitted.record.n_components
    largest = shares.prevalence.max()
    for (g, topic), (text, label, level) in cells.items():
        share = shares.prevalence[g, fitted.record.position(topic)]
        assert text == (str(round(100 * share)) if share >= 0.005 else "")
        assert f"topic {topic}: " in label
        assert label.startswith(shares.groups[g])
        assert " to " in label  # the interval
        assert level == pytest.approx(8 * np.sqrt(share / largest), abs=0.51)


def test_groups_are_ordered(fitted, visit, shares):
    page = visit(fitted.path, "#groups")
    by_size = [shares.groups[g] for g in np.argsort(-shares.n_docs, kind="stable")]
    assert page.locator("#group-order").input_value() == "similar"
    assert sorted(groups_of(page)) == sorted(by_size)
    page.locator("#group-order").select_option("size")
    assert groups_of(page) == by_size
    page.locator("#group-order").select_option("listed")
    assert groups_of(page) == ["<b>east</b>", "north", "south", "west"]
    # Columns follow: the group that has most of a topic is never above that of the topic before it.
    best = [
        max(range(4), key=lambda g, k=k: shares.prevalence[shares.groups.index(groups_of(page)[g]), k])
        for k in (
            fitted.record.position(int(topic)) for topic in page.locator(".heat-topic .badge").all_text_contents()
        )
    ]
    assert best == sorted(best)
    go(page, "#model")
    page.keyboard.press("g")
    assert groups_of(page) == ["<b>east</b>", "north", "south", "west"]


def test_a_click_on_a_group_shows_what_sets_it_apart(fitted, visit, shares):
    page = visit(fitted.path, "#groups")
    overall = shares.n_docs @ shares.prevalence / shares.n_docs.sum()
    for g, group in enumerate(shares.groups):
        page.locator(f"[data-group-head='{g}']").click()
        assert page.locator(".detail h2").text_content() == group
        more = shares.prevalence[g] - overall
        clear = shares.low[g] > overall
        expected = [shares.topics[k] for k in np.argsort(-more, kind="stable") if clear[k]]
        assert [int(text) for text in texts_of(page, ".detail .badge")] == expected
        assert hash_of(page) == f"#group-{g}"
        again = visit(fitted.path, f"#group-{g}")
        assert again.locator(".detail h2").text_content() == group


def test_a_click_on_a_topic_shows_it_by_group(fitted, visit, shares):
    page = visit(fitted.path, "#groups")
    topic = fitted.ordered[1]
    k = fitted.record.position(topic)
    page.get_by_role("button", name=f"Topic {topic}: ").click()
    order = np.argsort(-shares.prevalence[:, k], kind="stable")
    assert texts_of(page, ".detail .neighbours bdi") == [shares.groups[g] for g in order]
    assert hash_of(page) == f"#groups-{topic}"
    assert visit(fitted.path, f"#groups-{topic}").locator(".detail .badge").text_content() == str(topic)
    # And on its own page.
    go(page, f"#topic-{topic}")
    assert texts_of(page, ".topic-groups .neighbours bdi") == [shares.groups[g] for g in order]


def test_a_cell_tells_of_itself_to_a_pointer(fitted, visit):
    page = visit(fitted.path, "#groups")
    page.locator("td.heat").nth(4).hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert "in all groups" in tip.text_content()
    page.locator("td.heat").nth(4).click()
    assert page.locator(".detail h2").text_content() == groups_of(page)[0]


def test_the_table_is_walked_by_keys(fitted, visit):
    page = visit(fitted.path, "#groups")
    page.locator("#group-order").focus()
    page.keyboard.press("Tab")
    assert "heat-topic" in focused(page)[0]
    page.keyboard.press("ArrowDown")
    assert "heat " in focused(page)[0]
    assert page.locator("#tip").is_visible()
    first = focused(page)
    page.keyboard.press("ArrowRight")
    assert focused(page)[1] == first[1]
    assert focused(page)[2] != first[2]
    page.keyboard.press("ArrowDown")
    group = focused(page)[1]
    assert group != first[1]
    page.keyboard.press("Enter")
    assert hash_of(page) == f"#group-{group}"
    # Two steps to the left is the name of the group.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert "heat-group" in focused(page)[0]
    # One stop for Tab in the whole table.
    assert page.locator(".heat-table [tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.heat-table')") is None


def test_on_a_phone_what_was_chosen_comes_into_sight(fitted, visit):
    page = visit(fitted.path, "#groups", **PHONE)
    page.locator(".heat-group").nth(2).tap()
    box = settled(page).locator(".detail").bounding_box()
    assert box["y"] < page.viewport_size["height"]


def test_an_address_of_a_group_shows_it_on_a_phone(fitted, visit):
    page = visit(fitted.path, "#group-2", **PHONE)
    page.wait_for_function(
        "() => { const { top, bottom } = document.querySelector('.detail').getBoundingClientRect();"
        " return top >= 0 && top < innerHeight - 60 && bottom > 0 }"
    )


def test_nothing_scrolls_where_the_panel_is_beside_the_table(fitted, visit):
    page = visit(fitted.path, "#group-2", viewport={"width": 1280, "height": 360})
    settled(page).locator(".heat-topic").first.click()
    assert settled(page).evaluate("scrollY") == 0


def test_what_is_chosen_is_marked_in_the_table(fitted, visit):
    page = visit(fitted.path, "#group-2")
    pressed = ".heat-table [aria-pressed='true']"
    name = page.locator(".detail h2").text_content()
    assert texts_of(page, pressed) == [name]
    page.locator("#group-order").select_option("size")
    assert texts_of(page, pressed) == [name]
    page.locator(".heat-topic").first.click()
    assert page.locator(pressed).count() == 1
    assert page.locator(pressed).locator(".badge").text_content() == page.locator(".detail h2 .badge").text_content()


def test_names_are_whole_on_a_desktop(tmp_path, fitted, visit):
    venues = np.array(["comp.sys.ibm.pc.hardware", "talk.politics.mideast", "rec.autos"])[np.arange(1200) % 3]
    labels = [f"disease cancer patient {k}" for k in range(fitted.record.n_components)]
    page = visit(explorer(fitted.record, tmp_path / "topics.html", fitted.corpus, by=venues, labels=labels), "#groups")
    assert heading_of(page) == "Topics by group"
    # Names of groups stay on one line, so that rows are as high as each other.
    heights = page.locator(".heat-table tbody tr").evaluate_all("rows => rows.map(row => row.offsetHeight)")
    assert max(heights) < 34
    for head in page.locator(".heat-group").all():
        assert head.evaluate("node => node.scrollWidth <= node.clientWidth")
    page.locator(".heat-topic").first.click()
    go(page, "#group-1")
    for link in page.locator(".detail .topic-link").all():
        assert link.evaluate("node => node.scrollWidth <= node.clientWidth")


def test_a_page_without_groups_says_how_to_have_them(tmp_path, visit):
    page = visit(explorer(drawn_model(40, 3, 30), tmp_path / "topics.html"), "#groups")
    assert "--by" in page.locator("main").text_content()
