"""The tree of topics in the page's data: cutting it gives the clusters that reduce_topics merges."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring import hierarchy_view
from anchorwords.exploring.hierarchy_view import hierarchy_data

from .made import fitted, made_model


def clusters(tree, n):
    """Ids of each cluster when the tree is cut into n, by the merges alone."""
    members = {topic: {topic} for topic in tree["order"]}
    for m, (left, right, _) in enumerate(tree["merges"][: len(tree["order"]) - n]):
        members[-(m + 1)] = members.pop(left) | members.pop(right)
    return {frozenset(own) for own in members.values()}


@pytest.mark.parametrize("edited", [False, True])
def test_a_cut_is_that_of_the_library(edited):
    model = made_model(300, 12, words_a_topic=60)
    if edited:
        model = aw.drop_topics(aw.merge_topics(model, [[7, 2]]), [0])
    tree, expected = hierarchy_data(model), aw.topic_hierarchy(model)
    assert tree["order"] == [model.ids[k] for k in expected.order]
    np.testing.assert_allclose([height for *_, height in tree["merges"]], expected.linkage[:, 2], rtol=1e-3)
    for n in range(1, model.n_components + 1):
        assert clusters(tree, n) == {frozenset(own) for own in expected.cut(n)}
        # And the model that the page's command makes has as many topics, called by one of each cluster.
        kept = set(aw.reduce_topics(model, n).ids)
        assert all(len(own & kept) == 1 for own in clusters(tree, n))


def test_one_topic_is_a_tree():
    assert hierarchy_data(made_model(60, 1, words_a_topic=30)) == {"order": [0], "merges": []}


def test_a_tree_that_takes_long_is_left_out(monkeypatch):
    monkeypatch.setattr(hierarchy_view, "_MOST_WORK", 90 * 5**2 - 1)
    assert hierarchy_data(fitted().model_) is None
    monkeypatch.setattr(hierarchy_view, "_MOST_WORK", 90 * 5**2)
    assert hierarchy_data(fitted().model_) is not None
