"""The page in the frame that a notebook displays, in a notebook with styles of its own."""

from __future__ import annotations

import pytest

import anchorwords as aw

pytestmark = pytest.mark.browser

# Styles of a notebook that would make any page unreadable if they applied to it.
NOTEBOOK = """<!doctype html><meta charset="utf-8"><title>Notebook</title>
<style>* { color: red !important; font-size: 40px !important } main, table { display: none !important }</style>
<h1 id="above">Notebook</h1>
"""


@pytest.fixture
def inside(visit, fitted, tmp_path):
    """The page of a notebook, and the explorer in its frame."""
    path = tmp_path / "notebook.html"
    path.write_text(NOTEBOOK + aw.explorer(fitted.model, title="Framed")._repr_html_(), encoding="utf-8")
    page = visit(path)
    frame = page.locator("iframe").element_handle().content_frame()
    frame.wait_for_selector("table.topics tbody tr")
    return page, frame


def test_styles_do_not_mix(inside):
    page, frame = inside
    look = "selector => { const style = getComputedStyle(document.querySelector(selector));"
    look += " return [style.color, style.fontSize, style.display] }"
    color, size, _ = frame.evaluate(look, "table.topics td")
    assert color != "rgb(255, 0, 0)"
    assert size != "40px"
    assert frame.evaluate(look, "main")[2] != "none"
    assert page.evaluate(look, "#above")[:2] == ["rgb(255, 0, 0)", "40px"]


def test_the_page_cannot_reach_the_notebook(inside):
    _, frame = inside
    reached = "() => { try { return String(parent.document.title) } catch (error) { return error.name } }"
    assert frame.evaluate(reached) == "SecurityError"


def test_links_stay_inside_of_the_frame(inside):
    page, frame = inside
    before = page.url
    frame.locator("table.topics tbody tr a").first.click()
    frame.wait_for_selector('main[data-view="topic"]')
    assert page.url == before
    assert frame.evaluate("location.hash").startswith("#topic-")
