"""Labels on the map, by geometry: each is nearer to its own circle than to any other."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.exploring.page import explorer

from .conftest import drawn_model, settled

pytestmark = pytest.mark.browser

SIZES = [{"width": 1280, "height": 900}, {"width": 1920, "height": 1080}, {"width": 390, "height": 844}]


def gaps(page):
    """Topic of each label, and its distance from the rim of each circle, in pixels."""
    circles = (
        settled(page)
        .locator(".map-node")
        .evaluate_all(
            "nodes => nodes.map(node => { const box = node.querySelector('circle').getBoundingClientRect();"
            " return [Number(node.dataset.topic), box.x + box.width / 2, box.y + box.height / 2, box.width / 2] })"
        )
    )
    labels = page.locator(".map-names text").evaluate_all(
        "nodes => nodes.map(node => { const box = node.getBoundingClientRect();"
        " return [Number(node.dataset.topic), box.left, box.top, box.right, box.bottom] })"
    )
    circles = np.array(sorted(circles))
    topics, found = [], []
    for topic, left, top, right, bottom in labels:
        dx = np.maximum(0.0, np.maximum(left - circles[:, 1], circles[:, 1] - right))
        dy = np.maximum(0.0, np.maximum(top - circles[:, 2], circles[:, 2] - bottom))
        topics.append(int(topic))
        found.append(np.hypot(dx, dy) - circles[:, 3])
    return topics, np.array(found)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["width"]))
@pytest.mark.parametrize("n_topics", [5, 25, 60])
def test_each_label_is_nearest_to_its_own_circle(tmp_path, visit, n_topics, size):
    path = explorer(drawn_model(900, n_topics, 150), tmp_path / "topics.html")
    page = visit(path, viewport=size)
    topics, found = gaps(page)
    # Only labels without a place are hidden. Of 25 topics at least 17 have one on these wide windows, of 60 at least 15.
    wide = 0.6 * n_topics if n_topics <= 25 else 0.2 * n_topics
    assert len(topics) >= (wide if size["width"] > 1000 else 4)
    check(topics, found)
    page.get_by_label("Zoom into the map").click()
    check(*gaps(page))


def check(topics, found):
    assert len(set(topics)) == len(topics) >= 1
    for topic, row in zip(topics, found, strict=True):
        assert row.argmin() == topic


def test_the_map_is_as_high_as_its_card(fitted, visit):
    page = visit(fitted.path)
    card, drawn = (settled(page).locator(selector).bounding_box() for selector in (".map-card", ".map-card .map"))
    assert card["y"] + card["height"] - drawn["y"] - drawn["height"] < 24
