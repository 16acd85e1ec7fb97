"""The tree of topics as drawn: what is joined, where, and what it is called."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import plot
from anchorwords.exceptions import InputError
from anchorwords.plot.hierarchy import _COLOURS
from tests.plot.conftest import ODD_WORDS

matplotlib = pytest.importorskip("matplotlib")


def branches(ax):
    (collection,) = [one for one in ax.collections if hasattr(one, "get_segments")]
    return collection.get_segments(), [matplotlib.colors.to_hex(c).upper() for c in collection.get_colors()]


@pytest.mark.parametrize("K", [1, 2, 10, 50])
def test_a_line_per_topic_and_three_per_merge(model_of, K):
    tree = aw.topic_hierarchy(model_of(120, K))
    ax = plot.hierarchy(tree).axes[0]
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert [int(label.split()[0]) for label in labels] == [tree.ids[k] for k in tree.order]
    segments, _ = branches(ax)
    assert len(segments) == 3 * (K - 1)
    # Each merge is a vertical line at the information that is lost by then, between the middles of what it joins.
    upright = [one for one in segments if one[0][0] == one[1][0]]
    np.testing.assert_allclose(sorted(one[0][0] for one in upright), np.sort(100.0 * tree.linkage[:, 2]))


@pytest.mark.parametrize("n", [1, 3, 12])
def test_a_cut_has_a_colour_per_cluster(model_of, n):
    tree = aw.topic_hierarchy(model_of(120, 12))
    ax = plot.hierarchy(tree, n_topics=n).axes[0]
    (points,) = [one for one in ax.collections if not hasattr(one, "get_segments")]
    shades = [matplotlib.colors.to_hex(c).upper() for c in points.get_facecolor()]
    clusters = tree.cut(n)
    for i, cluster in enumerate(clusters):
        assert {shades[tree.ids.index(topic)] for topic in cluster} == {_COLOURS[i % len(_COLOURS)].upper()}
    _, colours = branches(ax)
    grey = matplotlib.colors.to_hex(plot.style.GREY).upper()
    assert colours.count(grey) == 3 * (n - 1)  # the merges that the cut leaves undone
    lost = tree.linkage[12 - n - 1, 2] if n < 12 else 0.0
    assert f"{100 * (1 - lost):.0f}%" in ax.get_title(loc="left")


def test_ids_and_labels_of_edited_topics(model_of):
    model = aw.drop_topics(aw.rename_topics(model_of(60, 5), {3: "space flight"}), [0])
    labels = [label.get_text() for label in plot.hierarchy(model).axes[0].get_yticklabels()]
    assert "3  space flight" in labels
    assert sorted(int(label.split()[0]) for label in labels) == [1, 2, 3, 4]


def test_any_label_is_drawn_as_text(model_of, tmp_path):
    named = aw.rename_topics(model_of(60, 10), {k: (word * 30)[:200] for k, word in enumerate(ODD_WORDS)})
    (path,) = plot.save(plot.hierarchy(named, n_topics=4), tmp_path / "tree.png", dpi=60)
    assert path.stat().st_size > 0


def test_bad_cuts_are_refused(model_of):
    model = model_of(60, 4)
    for n in (0, 5, 1.5):
        with pytest.raises(InputError, match=r"n_topics must be|cannot be cut into 5"):
            plot.hierarchy(model, n_topics=n)
    with pytest.raises(InputError, match="TopicModel"):
        plot.hierarchy("model")
