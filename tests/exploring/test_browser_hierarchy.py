"""The tree of topics in a browser: cut by a slider, into what reduce_topics makes."""

from __future__ import annotations

import re

import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer

from .conftest import drawn_model, go, hash_of, settled, texts_of, view_of

pytestmark = pytest.mark.browser


def clusters_of(page):
    """The clusters that are listed, topics as they are among them."""
    joined = settled(page).locator("[data-cluster]").evaluate_all("items => items.map(item => item.dataset.cluster)")
    single = page.locator("[data-single]").evaluate_all("items => items.map(item => item.dataset.single)")
    listed = [text.split(",") for text in joined] + [[topic] for text in single for topic in text.split(",")]
    return {frozenset(map(int, own)) for own in listed}


def cut(page, n):
    page.locator("#cut").evaluate(
        "(slider, n) => { slider.value = n; slider.dispatchEvent(new Event('input', { bubbles: true })) }", n
    )


def test_every_cut_is_that_of_the_library(fitted, visit):
    page = visit(fitted.path, "#hierarchy")
    tree = aw.topic_hierarchy(fitted.record)
    K = fitted.record.n_components
    kept = {row["n_topics"]: row["information_kept"] for row in tree.rows()} | {K: 1.0}
    for n in range(1, K + 1):
        cut(page, n)
        assert clusters_of(page) == {frozenset(own) for own in tree.cut(n)}
        assert page.locator(".command").text_content() == f"anchorwords edit MODEL --reduce {n} -o NEW"
        said = page.locator("output").text_content()
        assert said.startswith(f"{n} of {K} topics keep ")
        assert float(re.search(r"([\d.]+)%", said)[1]) == pytest.approx(100 * kept[n], abs=0.51)
        assert page.locator("#cut").get_attribute("aria-valuetext") == said
        assert page.locator(".joint.inside").count() == K - n


def test_it_begins_where_most_of_the_information_is_kept(fitted, visit):
    page = visit(fitted.path, "#hierarchy")
    kept = {row["n_topics"]: row["information_kept"] for row in aw.topic_hierarchy(fitted.record).rows()}
    enough = [n for n, share in kept.items() if share >= 0.8 and n >= 2]
    assert int(page.locator("#cut").input_value()) == min(enough, default=fitted.record.n_components)


def test_the_keyboard_cuts_and_the_cut_is_kept(fitted, visit):
    page = visit(fitted.path, "#hierarchy")
    page.locator("#cut").focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert "--reduce 3" in page.locator(".command").text_content()
    page.keyboard.press("Escape")
    assert view_of(page) == "overview"
    page.keyboard.press("h")
    assert page.locator("#cut").input_value() == "3"


def test_topics_are_leaves_in_the_order_of_the_tree(fitted, visit):
    page = visit(fitted.path, "#hierarchy")
    tree = aw.topic_hierarchy(fitted.record)
    labels = (
        settled(page).locator(".leaf").evaluate_all("leaves => leaves.map(leaf => leaf.getAttribute('aria-label'))")
    )
    assert labels == [f"Topic {tree.ids[k]}: {tree.names[k]}" for k in tree.order]
    # Each merge is drawn as far to the right as it loses: the right end of its bracket.
    ends = page.locator(".joint").evaluate_all(
        "paths => paths.map(path => { const { x, width } = path.getBBox(); return x + width })"
    )
    heights = tree.linkage[:, 2]
    scale = (ends[-1] - ends[0]) / (heights[-1] - heights[0])
    for end, height in zip(ends, heights, strict=True):
        assert end == pytest.approx(ends[0] + scale * (height - heights[0]), abs=0.5)  # half a pixel
    page.locator(".leaf").first.click()
    assert hash_of(page) == f"#topic-{tree.ids[tree.order[0]]}"


@pytest.mark.parametrize("n_topics", [1, 2, 40])
def test_few_and_many_topics(tmp_path, visit, n_topics):
    model = drawn_model(200, n_topics, 40)
    page = visit(explorer(model, tmp_path / "topics.html"), "#hierarchy")
    if n_topics == 1:
        assert "one topic" in page.locator("main").text_content()
        assert "Hierarchy" not in texts_of(page, "nav a")
        return
    assert page.locator(".leaf").count() == n_topics
    cut(page, 1)
    assert clusters_of(page) == {frozenset(range(n_topics))}
    go(page, "#overview")
