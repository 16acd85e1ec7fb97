"""The explorer in the output of a cell: the page of a file, in a frame of its own."""

from __future__ import annotations

import pytest

from ..records.parsing import Parsed

SETUP = """
import os, tempfile
import anchorwords as aw
from anchorwords.datasets import make_topics

corpus = make_topics(n_docs=300, n_words=60, n_topics=4, doc_length=60, random_state=0).corpus
words = [f"<b>w{i:02}</b>" for i in range(60)]
corpus = aw.Corpus(corpus.counts, words)
model = aw.AnchorTopicModel(4).fit(corpus)
other = tempfile.mkdtemp()
"""
TITLE = 'It\'s "one" & <b>more</b>'
CELLS = {
    "setup": SETUP,
    "inline": "aw.explorer(model)",
    "files": "print(os.listdir())",
    "titled": f"page = aw.explorer(model, corpus=corpus, title={TITLE!r}, height=500)\npage",
    "saved": "print(page.save(os.path.join(other, 'saved.html')).read_text(encoding='utf-8'), end='')",
    "written": "path = aw.explorer(model, os.path.join(other, 'written.html'))\n"
    "print(path.read_text(encoding='utf-8'), end='')",
    "printed": "print(page)",
}


@pytest.fixture(scope="module")
def shown(run_cells):
    return run_cells(CELLS)


def frame_of(shown):
    """Attributes of the frame, which is all that the HTML of the cell holds."""
    assert shown.kinds == ["execute_result"]
    assert shown.html.startswith("<iframe ")
    assert shown.html.endswith("</iframe>")
    ((tag, attributes),) = Parsed(shown.html).tags
    assert tag == "iframe"
    return attributes


def page_of(shown):
    """The page inside of a frame, without the base that a page in a frame needs."""
    inside = frame_of(shown)["srcdoc"]
    assert inside.count('<base href="about:srcdoc">') == 1
    return inside.replace('<base href="about:srcdoc">', "")


def test_the_page_is_isolated(shown):
    frame = frame_of(shown["inline"])
    # Scripts of a frame with "allow-same-origin" could reach the notebook.
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert "height:720px" in frame["style"]
    assert "src" not in frame
    assert "height:500px" in frame_of(shown["titled"])["style"]
    assert frame_of(shown["titled"])["title"] == TITLE


def test_the_page_is_the_one_that_is_written_to_a_file(shown):
    assert page_of(shown["inline"]) == shown["written"].printed
    assert page_of(shown["titled"]) == shown["saved"].printed
    assert "<b>w" not in shown["saved"].printed


def test_no_file_is_left_in_the_working_folder(shown):
    assert shown["files"].printed == "[]\n"


def test_without_html_it_says_what_to_do(shown):
    assert "a notebook displays it" in shown["printed"].printed
    assert shown["printed"].printed.count("\n") == 1
