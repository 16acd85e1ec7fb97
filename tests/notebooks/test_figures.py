"""Figures as the last expression of a cell: one picture each, whatever was imported before."""

from __future__ import annotations

import base64
import struct

import pytest

# The first cell of the notebook ends in a figure: nothing has set up the display of figures before.
FIRST = """
import numpy as np
import anchorwords as aw
from anchorwords import plot
from anchorwords.datasets import make_topics

made = make_topics(n_docs=300, n_words=60, n_topics=4, doc_length=60, random_state=0)
rng = np.random.default_rng(0)
columns = {"year": rng.integers(2000, 2005, 300), "group": rng.choice(["north", "south", "west"], 300)}
corpus = aw.Corpus(made.corpus.counts, made.corpus.vocabulary, documents=columns)
model = aw.AnchorTopicModel(4).fit(corpus)
plot.topic_correlation(model)
"""
FIGURES = {
    "first": FIRST,
    "space": "plot.cooccurrence_space(model)",
    "hierarchy": "plot.hierarchy(model)",
    "over_time": "plot.over_time(aw.topics_over_time(model, corpus, by='year'))",
    "groups": "plot.groups(aw.prevalence_by(model, corpus, by='group'))",
    "scan": "plot.scan(aw.scan(corpus, [2, 3, 4]))",
    "effects": "plot.effects(aw.estimate_effects(model, corpus, 'year + C(group)'))",
    "display": "display(plot.hierarchy(model))",
}
# In this order: from the first of these cells on, pyplot is there.
PYPLOT = {
    "with pyplot, axes": "import matplotlib.pyplot as plt\nplot.topic_correlation(model)",
    "with pyplot, figure": "plot.hierarchy(model)",
    "own axes": "figure, ax = plt.subplots()\nplot.topic_correlation(model, ax=ax);",
    "inline, axes": "%matplotlib inline\nplot.topic_correlation(model)",
    "inline, figure": "plot.hierarchy(model)",
}
SILENT = {"no expression": "drawn = plot.hierarchy(model)", "semicolon": "plot.hierarchy(model);"}


@pytest.fixture(scope="module")
def shown(run_cells):
    before = {"pyplot before": "import sys\nprint('matplotlib.pyplot' in sys.modules)"}
    return run_cells(FIGURES | before | PYPLOT | SILENT)


@pytest.mark.parametrize("name", [*FIGURES, *PYPLOT])
def test_a_figure_is_shown_once(shown, name):
    pictures = shown[name].all("image/png")
    assert len(pictures) == 1
    assert "stderr" not in shown[name].kinds
    picture = base64.b64decode(pictures[0])
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width >= 250
    assert height >= 100


@pytest.mark.parametrize("name", [*FIGURES, *(name for name in PYPLOT if name.endswith("axes") and name != "own axes")])
def test_pictures_are_sharp(shown, name):
    """Twice as many dots as the page has: of figures without pyplot, and of axes with it."""
    (output,) = [one for one in shown[name].outputs if "image/png" in one.data]
    width, height = struct.unpack(">II", base64.b64decode(output.data["image/png"])[16:24])
    size = output.metadata["image/png"]
    assert abs(width - 2 * size["width"]) <= 2
    assert abs(height - 2 * size["height"]) <= 2
    # About as wide as the column of a notebook; a wider picture would be made smaller, and its letters with it.
    assert size["width"] <= 1050


def test_our_figures_need_no_pyplot(shown):
    assert shown["pyplot before"].printed == "False\n"


@pytest.mark.parametrize("name", SILENT)
def test_what_is_not_asked_for_is_not_shown(shown, name):
    assert shown[name].outputs == []
