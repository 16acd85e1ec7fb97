"""Large pages in a browser: two hundred topics of a hundred thousand words stay smooth; a usual page is there at once."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer

from .conftest import Written, drawn_model, go, overflow_of, rows_of, settled, texts_of
from .test_browser_kinds import PHONE

pytestmark = pytest.mark.browser

# Set before anything was measured, for two shared cores that draw without a graphics card. Below 20 frames a second a drag
# is seen to stutter, so that the median frame has 50 ms. Readers take an answer for immediate within 0.1 s and for one of
# their own doing within 1 s (Nielsen): a single piece of work of 0.4 s here is about 0.1 s on a usual machine.
MEDIAN_FRAME = 50.0
LONGEST_TASK = 400.0
# The limit of the size of a page is for 100 topics, 5 MB; it grows with topics.
MOST_BYTES = 10_000_000
# To the first paint with content, from the beginning of the navigation.
FIRST_PAINT = 1000.0

# Other work on the machine only ever adds to what is measured, so that the best of some tries is taken.
TRIES = 3
# Notes the time between frames while something changes, elements or a canvas, and each piece of work over 50 ms.
WATCH = """() => {
  const seen = { frames: [], tasks: [], running: true };
  let [last, changed] = [performance.now(), 0];
  new MutationObserver(() => { changed = 2; }).observe(document, { subtree: true, childList: true, attributes: true });
  const clear = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...box) { changed = 2; clear.apply(this, box); };
  const frame = () => {
    const now = performance.now();
    // What changed in one frame is drawn before the next.
    if (changed-- > 0) seen.frames.push(now - last);
    last = now;
    if (seen.running) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) seen.tasks.push(entry.duration);
  }).observe({ type: "longtask" });
  window.watched = seen;
}"""


def check_smooth(page, what, act, continuous=True):
    """What act does to a page is smooth: no long piece of work, and where it goes on and on, quick frames."""
    for _ in range(TRIES):
        settled(page).evaluate(WATCH)
        act()
        found = settled(page).evaluate("() => { watched.running = false; return watched }")
        frames, tasks = found["frames"], found["tasks"]
        assert len(frames) >= (10 if continuous else 3), f"{what} changed hardly anything"
        median, longest = statistics.median(frames), max(tasks, default=0.0)
        print(
            f"{what}: {len(frames)} frames, median {median:.1f} ms, slowest {max(frames):.0f} ms; "
            f"{len(tasks)} tasks over 50 ms, longest {longest:.0f} ms"
        )
        if longest < LONGEST_TASK and (median < MEDIAN_FRAME or not continuous):
            return
    pytest.fail(f"{what} is not smooth: median frame {median:.0f} ms, longest task {longest:.0f} ms")


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    model = drawn_model(100_000, 200, 4000)
    return Written(explorer(model, tmp_path_factory.mktemp("large") / "topics.html"), model)


@pytest.fixture
def page(large, visit):
    return visit(large.path)


def test_it_holds_every_topic_and_says_that_words_are_a_sample(large, page):
    assert large.path.stat().st_size < MOST_BYTES
    assert rows_of(page) == large.ordered
    assert page.locator(".map-node").count() == 200
    footer = page.locator("footer").text_content()
    assert "200 topics" in footer
    assert "of 100,000 words" in footer
    assert overflow_of(page) <= 0
    go(page, "#topic-199")
    assert texts_of(page, ".company-card .two > :first-child .word") == aw.prominent_words(large.record, 12)[199]
    assert overflow_of(page) <= 0
    go(page, "#space")
    assert "of 100,000 words are drawn" in page.locator(".space-card").text_content()


def test_labels_on_the_map_do_not_cover_each_other(page):
    boxes = page.locator(".map-names text").evaluate_all(
        "nodes => nodes.map(node => { const { x, y, width, height } = node.getBoundingClientRect();"
        " return [x, y, width, height] })"
    )
    x, y, width, height = np.array(boxes).T
    assert len(boxes) >= 15
    for i in range(len(boxes)):
        # Letters reach a little into the room between lines.
        across = np.minimum(x[i] + width[i], x + width) - np.maximum(x[i], x) - 3
        down = np.minimum(y[i] + height[i], y + height) - np.maximum(y[i], y) - 4
        assert ((across > 0) & (down > 0)).sum() == 1  # itself


def test_the_space_is_dragged_and_zoomed_smoothly(page):
    go(page, "#space")
    box = page.locator(".space canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)

    def zoom():
        for step in range(24):
            page.mouse.wheel(0, -80 if step < 15 else 80)

    def drag():
        page.mouse.move(x, y)
        page.mouse.down()
        for turn in range(3):
            page.mouse.move(x + 150 * (-1) ** turn, y + 90, steps=12)
        page.mouse.up()

    def hover():
        for turn in range(4):
            page.mouse.move(x + 200 * (-1) ** turn, y + 20 * turn, steps=12)

    def choose():
        for topic in (3, 150, 77):
            page.locator("#space-topic").select_option(str(topic))

    before = page.locator(".space canvas").screenshot()
    check_smooth(page, "zooming the space", zoom)
    assert page.locator(".space canvas").screenshot() != before
    check_smooth(page, "dragging the space", drag)
    check_smooth(page, "hovering over the space", hover)
    check_smooth(page, "choosing topics in the space", choose, continuous=False)


def test_the_map_is_hovered_and_zoomed_smoothly(page):
    box = page.locator(".map").bounding_box()

    def hover():
        for row in range(6):
            page.mouse.move(box["x"] + box["width"] * (0.1 + 0.8 * (row % 2)), box["y"] + 40 + 60 * row, steps=10)

    def zoom():
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.keyboard.down("Control")
        for step in range(16):
            page.mouse.wheel(0, -80 if step < 10 else 80)
        page.keyboard.up("Control")

    def colour():
        for quantity in ("specificity", "mst_incoherence", "topic"):
            page.locator("#colour-by").select_option(quantity)

    check_smooth(page, "hovering over the map", hover)
    check_smooth(page, "zooming the map", zoom)
    check_smooth(page, "colouring the map", colour, continuous=False)


def test_the_table_is_sorted_smoothly(large, page):
    def sort():
        for column in ("specificity", "mst_incoherence", "anchor", "label", "prevalence"):
            page.locator(f"th[data-column='{column}'] button").click()

    check_smooth(page, "sorting the table", sort, continuous=False)
    assert rows_of(page) == [row["topic"] for row in aw.topic_table(large.record, 1)]


def test_the_slider_moves_smoothly(large, page):
    go(page, "#topic-17")
    page.locator("#weight").focus()

    def slide():
        page.keyboard.press("End")
        for _ in range(30):
            page.keyboard.press("ArrowLeft")

    check_smooth(page, "moving the slider", slide)
    expected = aw.top_words(large.record, 24, ranking="relevance", weight=0.7)[17]
    assert texts_of(page, ".relevance-card .word") == expected


def test_views_change_smoothly(page):
    def change():
        for address in ("#topic-3", "#topic-120", "#word-word0", "#space", "#model", "#overview"):
            go(page, address)

    check_smooth(page, "going from view to view", change, continuous=False)


def test_search_answers_smoothly(page):
    def search():
        page.locator("#search").fill("")
        page.locator("#search").click()
        page.keyboard.type("word12", delay=30)

    check_smooth(page, "searching", search)
    assert page.locator("#found .match").count() > 0


def test_two_hundred_topics_fit_a_phone(large, visit):
    page = visit(large.path, **PHONE)
    for address in ("#overview", "#topic-3", "#space"):
        go(page, address)
        assert overflow_of(page) <= 0


# ---- The first paint.


def first_paint(visit, path):
    """Milliseconds to the first content, the best of three: other work on the machine only ever adds to it."""
    times = []
    for _ in range(3):
        visit.forget()  # also what was compiled
        page = visit(path)
        painted = "performance.getEntriesByType('paint').find(entry => entry.name === 'first-contentful-paint')"
        page.wait_for_function(f"() => {painted} !== undefined")
        times.append(page.evaluate(f"{painted}.startTime"))
    print(f"first content of {path.stat().st_size / 1e6:.1f} MB: {', '.join(f'{time:.0f}' for time in times)} ms")
    return min(times)


def test_a_usual_page_is_there_within_a_second(tmp_path, visit):
    path = explorer(drawn_model(5000, 20, 1500), tmp_path / "topics.html")
    assert first_paint(visit, path) < FIRST_PAINT


@pytest.mark.data
def test_the_page_of_a_real_corpus_is_there_within_a_second(tmp_path, visit, real_corpus):
    corpus = real_corpus("nips12", 5000)
    model = aw.AnchorTopicModel(20).fit(corpus)
    path = explorer(model, tmp_path / "topics.html", corpus)
    assert first_paint(visit, path) < FIRST_PAINT
