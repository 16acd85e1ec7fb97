"""The co-occurrence space in a browser: points are where the data say, found by the pointer, moved and zoomed."""

from __future__ import annotations

import io

import numpy as np
import pytest

from anchorwords.anchors.lowrank import normalised_coordinates
from anchorwords.plot.coordinates import place_rows

from .conftest import hash_of, heading_of, settled, view_of

pytestmark = pytest.mark.browser

MARGIN = 28  # of the picture, in pixels


def pixels(written, box):
    """Where each word is drawn, in the window, before anything is zoomed; nan where a word has no place."""
    X, _, usable = normalised_coordinates(np.asarray(written.record.Y))
    xy = place_rows(X, usable).xy
    low, high = np.nanmin(xy, axis=0), np.nanmax(xy, axis=0)
    share = (xy - low) / (high - low)
    room = np.array([box["width"], box["height"]]) - 2 * MARGIN
    x = box["x"] + MARGIN + share[:, 0] * room[0]
    y = box["y"] + box["height"] - MARGIN - share[:, 1] * room[1]
    return np.column_stack([x, y])


def alone(at, least=10.0):
    """Words with no other one near, the loneliest first."""
    distance = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    np.fill_diagonal(distance, np.inf)
    nearest = np.nanmin(np.where(np.isnan(distance), np.inf, distance), axis=1)
    nearest[np.isnan(at[:, 0])] = 0.0
    order = np.argsort(-nearest)
    found = order[nearest[order] >= least]
    assert found.size >= 4
    return found


def opened(written, visit, address="#space"):
    page = visit(written.path, address)
    canvas = page.locator(".space canvas")
    canvas.scroll_into_view_if_needed()
    settled(page)
    # It begins where most words are; here all of them are to be seen.
    page.get_by_label("Show all of the space").click()
    settled(page)
    box = canvas.bounding_box()
    return page, box, pixels(written, box)


def word_at(page, place):
    page.mouse.move(*place)
    tip = page.locator("#tip")
    return tip.locator(".tip-head").text_content() if tip.is_visible() else None


def within(box, place, slack=15.0):
    return (
        box["x"] + slack < place[0] < box["x"] + box["width"] - slack
        and box["y"] + slack < place[1] < box["y"] + box["height"] - slack
    )


def picture(page):
    """The canvas as an array of colours."""
    from matplotlib.image import imread

    settled(page)
    return imread(io.BytesIO(page.locator(".space canvas").screenshot()))[:, :, :3]


def test_a_point_shows_its_word_and_its_topic(fitted, visit):
    page, box, at = opened(fitted, visit)
    for i in alone(at)[:8]:
        assert word_at(page, at[i]) == fitted.words[i]
        tip = page.locator("#tip").text_content()
        shares = fitted.record.word_topics[i]
        assert f"{shares.argmax()}" in tip
        assert (f"{100 * shares.max():.0f}%" if shares.max() >= 0.0995 else f"{100 * shares.max():.1f}%") in tip
    corner = (box["x"] + 3, box["y"] + 3)
    assert word_at(page, corner) is None


def test_it_begins_with_every_anchor_in_sight(fitted, visit):
    page = visit(fitted.path, "#space")
    settled(page)
    box = page.locator(".space canvas").bounding_box()
    origin, room = np.array([box["x"], box["y"]]), np.array([box["width"], box["height"]])
    at = pixels(fitted, box) - origin
    corners = at[fitted.record.anchors]
    low = np.minimum(np.nanquantile(at, 0.01, axis=0), corners.min(axis=0)) - MARGIN
    high = np.maximum(np.nanquantile(at, 0.99, axis=0), corners.max(axis=0)) + MARGIN
    scale = max(1.0, (room / (high - low)).min())
    shift = np.clip(room / 2.0 - scale * (low + high) / 2.0, room * (1.0 - scale), 0.0)
    begun = origin + at * scale + shift
    assert all(within(box, begun[i], 0.0) for i in fitted.record.anchors)
    found = [i for i in alone(begun) if within(box, begun[i])]
    for i in found[:5]:
        assert word_at(page, begun[i]) == fitted.words[i]


def test_the_wheel_zooms_at_the_pointer(fitted, visit):
    page, box, at = opened(fitted, visit)
    scroll = page.evaluate("scrollY")
    centre = alone(at)[0]
    assert word_at(page, at[centre]) == fitted.words[centre]
    before = picture(page)
    page.mouse.wheel(0, -500)
    settled(page)
    assert page.evaluate("scrollY") == scroll  # the page stays
    assert not np.array_equal(picture(page), before)
    # What was under the pointer still is, and all else is away from it by the factor of the wheel.
    assert word_at(page, at[centre] + 0.5) == fitted.words[centre]
    zoomed = at[centre] + (at - at[centre]) * np.exp(0.002 * 500)
    others = [i for i in alone(zoomed) if within(box, zoomed[i])]
    assert len(others) >= 3
    for i in others[:5]:
        assert word_at(page, zoomed[i]) == fitted.words[i]
    page.get_by_label("Show all of the space").click()
    settled(page)
    for i in alone(at)[:3]:
        assert word_at(page, at[i]) == fitted.words[i]


def test_a_drag_moves_the_picture_and_opens_nothing(fitted, visit):
    page, box, at = opened(fitted, visit)
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    page.mouse.move(*middle)
    page.mouse.wheel(0, -500)
    settled(page)
    zoomed = middle + (at - middle) * np.exp(0.002 * 500)
    lonely = alone(zoomed)
    start = next(zoomed[i] for i in lonely if within(box, zoomed[i], 160))  # on a word, which a drag must not open
    by = np.array([-90.0, 60.0])
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*(start + by), steps=6)
    page.mouse.up()
    settled(page)
    assert view_of(page) == "space"
    moved = [i for i in lonely if within(box, zoomed[i] + by)]
    assert len(moved) >= 3
    for i in moved[:4]:
        assert word_at(page, zoomed[i] + by) == fitted.words[i]


def test_the_picture_never_leaves_its_frame(fitted, visit):
    page, box, at = opened(fitted, visit)
    # At the scale that shows all there is nowhere to go.
    page.mouse.move(box["x"] + 300, box["y"] + 200)
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 300, steps=4)
    page.mouse.up()
    page.mouse.wheel(0, 2000)
    settled(page)
    for i in alone(at)[:3]:
        assert word_at(page, at[i]) == fitted.words[i]


def test_a_click_opens_the_word(fitted, visit):
    page, _, at = opened(fitted, visit)
    i = alone(at)[1]
    page.mouse.click(*at[i])
    assert hash_of(page) == f"#word-{fitted.words[i]}"
    assert heading_of(page) == fitted.words[i]


def test_the_picture_is_moved_by_keys(fitted, visit):
    page, box, at = opened(fitted, visit)
    page.locator(".space canvas").focus()
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    settled(page)
    assert view_of(page) == "space"
    middle = np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])
    moved = middle + (at - middle) * 1.6**2 - 60.0
    found = [i for i in alone(moved) if within(box, moved[i])]
    assert len(found) >= 3
    for i in found[:4]:
        assert word_at(page, moved[i]) == fitted.words[i]
    page.keyboard.press("0")
    settled(page)
    i = alone(at)[0]
    assert word_at(page, at[i]) == fitted.words[i]


def test_the_words_of_a_topic_stand_out(fitted, visit):
    page, box, at = opened(fitted, visit)
    before = picture(page)
    main = fitted.record.word_topics.argmax(axis=1)
    topic = int(main[alone(at)[0]])
    page.locator("#space-topic").select_option(str(topic))
    assert hash_of(page) == f"#space-{topic}"
    assert view_of(page) == "space"
    after = picture(page)

    def colourful(image, i):
        x, y = (at[i] - [box["x"], box["y"]]).round().astype(int)
        pixel = image[y, x]
        return pixel.max() - pixel.min()

    # Not those under the letters of an anchor's name.
    points = [i for i in alone(at) if i not in fitted.record.anchors and colourful(before, i) > 0.2]
    others = [i for i in points if main[i] != topic]
    assert len(others) >= 4
    for i in points:
        if main[i] == topic:
            assert colourful(after, i) == pytest.approx(colourful(before, i), abs=0.05)
        else:
            assert colourful(after, i) < 0.5 * colourful(before, i)
    page.locator("#space-topic").select_option("")
    assert hash_of(page) == "#space"
    np.testing.assert_array_equal(picture(page), before)


def test_the_chosen_topic_is_there_again_on_the_way_back(fitted, visit):
    page, _, at = opened(fitted, visit)
    page.locator("#space-topic").select_option("5")
    i = alone(at)[0]
    page.mouse.click(*at[i])
    assert view_of(page) == "word"
    page.go_back()
    assert hash_of(page) == "#space-5"
    assert page.locator("#space-topic").input_value() == "5"


def test_a_small_space_lets_the_page_scroll(fitted, visit):
    page = visit(fitted.path, f"#word-{fitted.words[9]}", viewport={"width": 1000, "height": 420})
    canvas = page.locator(".where-card canvas")
    canvas.scroll_into_view_if_needed()
    page.evaluate("scrollTo(0, scrollY - 60)")
    before = page.evaluate("scrollY")
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, -120)
    page.wait_for_function("before => scrollY < before", arg=before)
