"""Bars of ``verbose=1``: updated in place, and one line at the end."""

from __future__ import annotations

import re

import pytest

SETUP = """
import anchorwords as aw
from anchorwords.datasets import make_topics

corpus = make_topics(n_docs=300, n_words=60, n_topics=4, doc_length=60, random_state=0).corpus
animals = ["cats purr while kittens sleep on warm blankets", "dogs bark when puppies chase thrown sticks"]
texts = [f"{first} {second}" for first in animals for second in animals] * 30
vectorizer = aw.TextVectorizer(min_df=1, max_df=1.0)
"""
COMPUTATIONS = {
    "fit": "_ = aw.AnchorTopicModel(4, verbose={}).fit(corpus)",
    "fit texts": "_ = aw.TextTopicModel(2, vectorizer=vectorizer, verbose={}).fit(texts)",
    "read": "_ = aw.read_corpus(texts, verbose={})",
    "scan": "_ = aw.scan(corpus, [2, 3], verbose={})",
    "stability": "_ = aw.stability(aw.AnchorTopicModel(4).fit(corpus), corpus, n_replicates=3, verbose={})",
}
LINE = re.compile(r'<div style="[^"]*">(?P<what>\w+): (?P<how>done|stopped) in [0-9.]+ s( \([^<>]*\))?</div>')


@pytest.fixture(scope="module")
def shown(run_cells):
    cells = {"setup": SETUP}
    for name, code in COMPUTATIONS.items():
        cells |= {f"{name} {verbose}": code.format(verbose) for verbose in (0, 1, 2)}
    cells["within"] = "print(1)\n_ = aw.AnchorTopicModel(4, verbose=1).fit(corpus)\nprint(2)"
    cells["failure"] = "# raises\naw.AnchorTopicModel(4, verbose=1).fit([[1.0, float('nan')]])"
    cells["after failure"] = COMPUTATIONS["fit"].format(1)
    return run_cells(cells)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_a_bar_becomes_one_line(shown, name):
    found = shown[f"{name} 1"]
    assert found.kinds == ["display_data"]
    line = LINE.fullmatch(found.html)
    assert line
    assert line["how"] == "done"
    # Without HTML it is the same line.
    assert found.all("text/plain") == [re.sub(r"<[^>]*>", "", found.html)]


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_bars_are_updated_in_place(shown, name):
    *states, last = [state["text/html"] for state in shown[f"{name} 1"].updates]
    assert LINE.fullmatch(last)
    assert states
    assert all(state.count("<progress") == 1 for state in states)
    shares = [float(found) for state in states for found in re.findall(r'value="([0-9.]+)"', state)]
    assert all(0.0 <= share <= 1.0 for share in shares)


@pytest.mark.parametrize("name", COMPUTATIONS)
def test_nothing_is_shown_unless_asked(shown, name):
    assert shown[f"{name} 0"].outputs == []
    assert shown[f"{name} 0"].updates == []


def test_the_log_is_shown_on_top_for_two(shown):
    found = shown["fit 2"]
    assert "display_data" in found.kinds
    assert "stderr" in found.kinds
    assert "stderr" not in shown["fit 1"].kinds


def test_other_output_of_the_cell_stays_in_order(shown):
    assert shown["within"].kinds == ["stdout", "display_data", "stdout"]


def test_a_failure_leaves_a_line_that_says_so(shown):
    assert shown["failure"].kinds == ["display_data", "error"]
    assert LINE.fullmatch(shown["failure"].html)["how"] == "stopped"
    assert LINE.fullmatch(shown["after failure"].html)["how"] == "done"
