"""Labels edited in a browser: seen everywhere, kept, exported, put into the model, and never more than text."""

from __future__ import annotations

import json

import pytest

import anchorwords as aw
from anchorwords.exploring.page import explorer
from anchorwords.interpret.naming import topic_names
from tests.cli.test_text import run

from .conftest import Written, go, hash_of, heading_of, heard, rows_of, settled, texts_of, view_of
from .test_browser_hostile import MARKUP, TEMPLATES
from .test_browser_kinds import PHONE

pytestmark = pytest.mark.browser

NO_STORAGE = "Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no') } })"


def edit(page, topic, text, *, key="Enter"):
    """Type a label where the topic is shown."""
    page.get_by_label(f"Edit the label of topic {topic}", exact=True).click()
    page.keyboard.type(text)
    page.keyboard.press(key)


def exported(page, folder):
    with page.expect_download() as download:
        page.get_by_role("button", name="Export labels").click()
    assert download.value.suggested_filename == "topic-labels.json"
    download.value.save_as(folder / "topic-labels.json")
    return json.loads((folder / "topic-labels.json").read_text(encoding="utf-8"))


def test_a_label_is_edited_on_a_topic_s_page(fitted, visit):
    page = visit(fitted.path, "#topic-2")
    assert page.locator("#edits").is_hidden()
    edit(page, 2, "space  flight ")
    assert heading_of(page) == "2 space flight"
    assert page.title().startswith("Topic 2: space flight")
    # The focus is where it was, and readers of screens are told.
    assert page.evaluate("document.activeElement.dataset.edit") == "2"
    assert page.locator("#live").text_content() == "Topic 2 is called space flight"
    assert "1 label was edited. This browser keeps it" in page.locator("#edits").text_content()
    page.reload()
    assert heading_of(page) == "2 space flight"


def test_all_views_follow(fitted, visit):
    page = visit(fitted.path)
    edit(page, 2, "zeppelins")
    assert view_of(page) == "overview"
    assert page.locator("table.topics tr[data-topic='2'] .topic-link").text_content() == "2 zeppelins"
    assert "zeppelins" in page.locator(".map-node[data-topic='2']").get_attribute("aria-label")
    assert "zeppelins" in texts_of(settled(page), ".map-names text")
    page.locator("#search").fill("zepp")
    assert page.locator("#found .found-topic").first.text_content() == "2 zeppelins"
    page.locator("#search").fill("")
    for address, selector in (
        ("#time", ".tile[data-topic='2'] a"),
        ("#groups-2", ".detail h2"),
        ("#hierarchy", ".leaf[aria-label^='Topic 2:']"),
        ("#space", "#space-topic option[value='2']"),
    ):
        go(page, address)
        assert "zeppelins" in settled(page).locator(selector).first.text_content()


def test_escape_leaves_the_label_as_it_was(fitted, visit):
    page = visit(fitted.path, "#topic-2")
    before = heading_of(page)
    edit(page, 2, "something else", key="Escape")
    assert view_of(page) == "topic"
    assert heading_of(page) == before
    assert page.evaluate("document.activeElement.dataset.edit") == "2"
    assert page.locator("#edits").is_hidden()
    # Keys that are commands elsewhere are letters here.
    page.get_by_label("Edit the label of topic 2").click()
    page.keyboard.type("/omst")
    assert hash_of(page) == "#topic-2"
    page.get_by_role("button", name="Cancel").click()
    assert heading_of(page) == before


def test_labels_can_be_reset_one_by_one_and_all(fitted, visit):
    page = visit(fitted.path)
    own = topic_names(fitted.record)
    edit(page, 1, "one")
    edit(page, 2, "two")
    page.get_by_label("Edit the label of topic 1", exact=True).click()
    page.get_by_role("button", name="Reset", exact=True).click()
    assert page.locator("tr[data-topic='1'] .label").text_content() == own[1]
    assert page.locator("tr[data-topic='2'] .label").text_content() == "two"
    page.get_by_role("button", name="Reset all").click()
    assert page.locator("tr[data-topic='2'] .label").text_content() == "two"  # it is asked again
    page.get_by_role("button", name="Really reset it?").click()
    assert texts_of(page, ".topics .label") == [own[topic] for topic in rows_of(page)]
    assert page.locator("#edits").is_hidden()
    page.reload()
    assert page.locator("#edits").is_hidden()


def test_an_empty_label_is_the_automatic_name(tmp_path, visit, fitted):
    named = aw.rename_topics(fitted.record, {3: "my name"})
    page = visit(explorer(named, tmp_path / "topics.html"), "#topic-3")
    assert heading_of(page) == "3 my name"
    page.get_by_label("Edit the label of topic 3").click()
    page.keyboard.press("Delete")  # the old label is selected
    page.get_by_role("button", name="Save").click()
    assert heading_of(page) == f"3 {topic_names(fitted.record)[3]}"
    assert exported(page, tmp_path)["labels"] == {"3": ""}


@pytest.mark.parametrize("edited", [False, True])
def test_the_whole_way_from_the_page_into_the_model(tmp_path, visit, fitted, edited):
    """Edit, export, put into the model by the command line, explore again: the names are there."""
    model = fitted.model
    if edited:
        model = aw.reorder_topics(aw.drop_topics(aw.merge_topics(model, [[7, 1]]), [0]), [8])
    model.save(tmp_path / "model")
    page = visit(explorer(model, tmp_path / "before.html"))
    assert rows_of(page) == Written(tmp_path, model).ordered
    edit(page, 7, "merged <b>& named</b> 日本語")
    edit(page, 4, "four")
    found = exported(page, tmp_path)
    assert found == {
        "format": "anchorwords-topic-labels",
        "format_version": 1,
        "labels": {"4": "four", "7": "merged <b>& named</b> 日本語"},
    }
    done = run("edit", tmp_path / "model", "--labels", tmp_path / "topic-labels.json", "-o", tmp_path / "named", "-q")
    assert done.returncode == 0, done.stderr
    done = run("explore", tmp_path / "named", "-o", tmp_path / "after.html", "-q")
    assert done.returncode == 0, done.stderr
    page = visit(tmp_path / "after.html", "#topic-7", locale="en-GB")  # a browser that has kept nothing
    assert heading_of(page) == "7 merged <b>& named</b> 日本語"
    assert page.locator("#edits").is_hidden()
    go(page, "#topic-4")
    assert heading_of(page) == "4 four"


@pytest.mark.parametrize("how", ["no storage", "frame"])
def test_without_storage_labels_live_as_long_as_the_page(fitted, visit, tmp_path, how):
    if how == "frame":
        # A page in a frame that may run scripts, and nothing else.
        frame = tmp_path / "frame.html"
        frame.write_text(
            f"<iframe sandbox='allow-scripts' src='{fitted.path.as_uri()}#topic-2' width=900 height=800></iframe>"
        )
        visit.own.add(fitted.path.as_uri())
        page = visit(frame).frame_locator("iframe")
    else:
        page = visit(fitted.path, "#topic-2")
        page.add_init_script(NO_STORAGE)
        page.reload()
    page.get_by_label("Edit the label of topic 2").click()
    page.get_by_label("Label of topic 2").fill("zeppelins")
    page.get_by_role("button", name="Save").click()
    assert page.locator("h1").text_content() == "2 zeppelins"
    assert "keeps nothing for this page: export it" in page.locator("#edits").text_content()


@pytest.mark.parametrize(
    "kept", ["no JSON", "null", "[1]", '["x"]', '"text"', '{"2": 5, "99": "x", "__proto__": "y", "0": null}', "{}"]
)
def test_what_the_browser_kept_may_be_anything(fitted, visit, kept):
    """Other pages from the same disk share its storage."""
    page = visit(fitted.path)
    key = page.evaluate("'anchorwords-labels-' + JSON.parse(document.getElementById('data').textContent).fingerprint")
    page.evaluate("([key, kept]) => localStorage.setItem(key, kept)", [key, kept])
    page.reload()
    own = topic_names(fitted.record)
    assert texts_of(page, ".topics .label") == [own[topic] for topic in rows_of(page)]
    assert page.locator("#edits").is_hidden()


@pytest.mark.parametrize("kept", [False, True])
def test_hostile_labels_are_text(fitted, visit, kept):
    page = visit(fitted.path)
    for label in MARKUP + TEMPLATES:
        edit(page, 2, label)
        if kept:
            page.reload()
        assert page.locator("tr[data-topic='2'] .label").text_content() == label
        for address in ("#topic-2", "#time", "#groups-2", "#hierarchy", "#overview"):
            go(page, address)
    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("\u202eevil\u2066", "evil"),
        ("  two\u3000 words\t", "two words"),
        ("a\u200db", "a\u200db"),
        ("x" * 200, "x" * 80),
        ("👩\u200d🚀 space", "👩\u200d🚀 space"),
    ],
)
def test_labels_are_one_short_line(fitted, visit, typed, shown):
    page = visit(fitted.path, "#topic-2")
    page.get_by_label("Edit the label of topic 2").click()
    # As if pasted; the field itself takes no more than 80 letters from a keyboard.
    page.get_by_label("Label of topic 2").evaluate("(field, text) => { field.value = text }", typed)
    page.keyboard.press("Enter")
    assert heading_of(page) == f"2 {shown}"


def test_labels_of_one_model_are_not_those_of_another(tmp_path, visit, fitted):
    other = explorer(aw.drop_topics(fitted.record, [0]), tmp_path / "other.html")
    edit(visit(fitted.path, "#topic-2"), 2, "zeppelins")
    assert "zeppelins" not in heading_of(visit(other, "#topic-2"))
    # The same model with other documents has them.
    again = explorer(fitted.record, tmp_path / "again.html")
    assert heading_of(visit(again, "#topic-2")) == "2 zeppelins"


def test_two_tabs_agree(fitted, visit):
    first, second = visit(fitted.path, "#topic-2"), visit(fitted.path, "#topic-2")
    edit(first, 2, "zeppelins")
    second.locator("h1", has_text="zeppelins").wait_for()
    assert "1 label was edited" in second.locator("#edits").text_content()


def test_the_editor_is_accessible(fitted, visit):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for options in ({}, {"color_scheme": "dark"}, PHONE):
        page = visit(fitted.path, "#topic-2", bypass_csp=True, **options)
        edit(page, 2, "zeppelins")
        page.get_by_label("Edit the label of topic 2").click()
        heard(page)
        found = axe.run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}).response["violations"]
        assert [(rule["id"], node["html"]) for rule in found for node in rule["nodes"]] == []
