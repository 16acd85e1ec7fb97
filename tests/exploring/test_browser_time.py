"""Topics over time in a browser: a chart for each, in any order, and the words of a topic's periods."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer

from .conftest import drawn_model, go, hash_of, heading_of, settled, texts_of, view_of
from .test_browser_kinds import PHONE

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def over_time(fitted):
    return aw.topics_over_time(fitted.record, fitted.corpus, "year")


def tiles_of(page):
    """Topics in the order of the charts."""
    return settled(page).locator(".tile").evaluate_all("tiles => tiles.map(tile => Number(tile.dataset.topic))")


def test_every_topic_has_a_chart_in_the_order_of_change(fitted, visit, over_time):
    page = visit(fitted.path, "#time")
    assert heading_of(page) == "Topics over time"
    trends = {row["topic"]: row for row in over_time.trends().rows()}
    assert tiles_of(page) == sorted(fitted.ordered, key=lambda topic: -trends[topic]["change"])
    for order, expected in (
        ("prevalence", [row["topic"] for row in aw.topic_table(fitted.record, 1)]),
        ("reading", fitted.ordered),
        ("change", sorted(fitted.ordered, key=lambda topic: -trends[topic]["change"])),
    ):
        page.locator("#time-order").select_option(order)
        assert tiles_of(page) == expected
    lede = page.locator(".lede").text_content()
    verdicts = [row["verdict"] for row in trends.values()]
    assert "1,200 documents in 8 periods, from 2000 to 2007" in lede
    assert re.search(rf"{verdicts.count('rising')} topics? rises?", lede)


def test_the_verdict_is_in_points(fitted, visit, over_time):
    page = visit(fitted.path, "#time")
    for row in over_time.trends().rows():
        text = page.locator(f".tile[data-topic='{row['topic']}'] .verdict").text_content()
        # The years are 2000 to 2007.
        change, low, high = (100.0 * value for value in (row["change"], 7 * row["lower"], 7 * row["upper"]))
        said = [float(number.replace("−", "-")) for number in re.findall(r"[−]?\d+\.\d+", text)]
        assert row["verdict"] in text
        # To the digits that are shown: one place from a point on, two or three below.
        np.testing.assert_allclose(said, [change, low, high], atol=0.051)


def test_curves_follow_the_shares(fitted, visit, over_time):
    page = visit(fitted.path, "#time")
    for scale in (False, True):
        page.locator("#same-scale").set_checked(scale)
        for k, topic in enumerate(over_time.topics):
            tile = settled(page).locator(f".tile[data-topic='{topic}']")
            path = tile.locator(".line").get_attribute("points")
            heights = np.array([float(point.split(",")[1]) for point in path.split()])
            shares = over_time.prevalence[:, k]
            most = (over_time.upper if scale else over_time.upper[:, [k]]).max()
            # 64 units of height from nothing to the end of the scale; a tenth is what the picture is written to.
            np.testing.assert_allclose(heights, 96 - 18 - 64 * shares / most, atol=0.2)


def test_verdicts_of_charts_are_small_print(fitted, visit):
    page = visit(fitted.path, "#time")
    size = "node => parseFloat(getComputedStyle(node).fontSize)"
    assert page.locator(".tile .verdict").first.evaluate(size) < page.locator(".tile h3").first.evaluate(size)


def test_letters_of_a_curve_are_as_large_on_a_phone(fitted, visit):
    page = visit(fitted.path, f"#topic-{fitted.ordered[0]}", **PHONE)
    heights = (
        settled(page)
        .locator(".topic-time .curve text")
        .evaluate_all("texts => texts.map(text => text.getBoundingClientRect().height)")
    )
    assert len(heights) > 4
    assert min(heights) >= 11


def test_pointing_at_a_curve_tells_of_the_period(fitted, visit, over_time):
    page = visit(fitted.path, "#time")
    chart = page.locator(".tile .curve").first
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] / 2)
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert tip.locator(".tip-head").text_content() == "2007"
    assert f"{over_time.n_docs[-1]:,} documents" in tip.text_content()
    page.mouse.move(5, 5)
    assert not tip.is_visible()


def test_a_topic_s_page_has_its_curve_and_its_words(fitted, visit, over_time):
    rising = over_time.trends().rows()[0]["topic"]
    page = visit(fitted.path, "#time")
    page.locator(f".tile[data-topic='{rising}'] a").click()
    assert hash_of(page) == f"#topic-{rising}"
    own = over_time.words(rising, 8)
    card = page.locator(".topic-time")
    rows = card.locator(".period-words tbody tr").all()
    assert [row.locator("th").text_content() for row in rows] == [str(period) for period in over_time.periods]
    for row, top in zip(rows, own.top, strict=True):
        assert row.locator(".word").all_text_contents() == top[:6]
    for column, expected in zip(card.locator(".two > div").all(), (own.rising, own.falling), strict=True):
        assert column.locator(".word").all_text_contents() == [row["word"] for row in expected]
    # The same numbers as a table.
    card.locator("summary").click()
    cells = texts_of(page, ".topic-time .values tbody td:nth-child(2)")
    k = over_time.topics.index(rising)
    np.testing.assert_allclose([float(cell.rstrip("%")) for cell in cells], 100 * over_time.prevalence[:, k], atol=0.51)


def test_the_order_is_kept_while_one_looks_elsewhere(fitted, visit):
    page = visit(fitted.path, "#time")
    page.locator("#time-order").select_option("reading")
    page.keyboard.press("Escape")  # a choice is left first
    go(page, "#model")
    page.keyboard.press("t")
    assert view_of(page) == "time"
    assert tiles_of(page) == fitted.ordered


def test_a_page_without_times_says_how_to_have_them(tmp_path, visit):
    page = visit(explorer(drawn_model(40, 3, 30), tmp_path / "topics.html"), "#time")
    assert "--time" in page.locator("main").text_content()
    assert texts_of(page, "nav a") == ["Overview", "Hierarchy", "Space", "Model"]
    page.keyboard.press("o")
    page.keyboard.press("t")
    assert view_of(page) == "overview"


@pytest.mark.parametrize("n_periods", [1, 2, 24, 28, 200])
def test_few_and_many_periods(tmp_path, visit, fitted, n_periods):
    times = np.arange(1200) * n_periods // 1200
    path = explorer(fitted.record, tmp_path / "topics.html", fitted.corpus, time=times, freq=1)
    page = visit(path, "#time")
    assert page.locator(".tile").count() == fitted.record.n_components
    # Names of periods do not cover each other.
    boxes = (
        page.locator(".tile .curve")
        .first.locator("text")
        .evaluate_all(
            "texts => texts.slice(1).map(text => { const { left, right } = text.getBoundingClientRect();"
            " return [left, right] })"
        )
    )
    boxes.sort()
    names = texts_of(page, ".tile:first-child .curve text")[1:]
    if n_periods == 28:
        # At equal steps, as 27 years can be divided.
        assert sorted(map(int, names)) == list(range(0, 28, 3))
    if n_periods == 24:
        # 23 years cannot: only the last step is of another length.
        steps = np.diff(sorted(map(int, names)))
        assert len(steps) >= 3
        assert len(set(steps[:-1])) == 1
    assert all(before[1] <= after[0] for before, after in pairwise(boxes))
    if n_periods == 200:
        assert "The latest 120 of 200 periods are shown" in page.locator(".time-card").text_content()
    if n_periods == 1:
        assert "no trend: all documents have the same time" in page.locator(".verdict").first.text_content()
    go(page, f"#topic-{fitted.ordered[0]}")
    assert page.locator(".topic-time .curve").count() == 1
