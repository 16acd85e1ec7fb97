"""Topics of two models matched, and what changed."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.compare import align_topics, changes
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.metrics.matching import best_pairing, topic_distances
from tests.interpret.records import random_topics, record_of

WORDS = [f"w{i:02d}" for i in range(60)]


def moved(model, topics, words):
    """The same model with topics and words in another order."""
    return record_of(
        model.B[np.ix_(words, topics)], model.prevalence[topics], [model.vocabulary[i] for i in words]
    )  # fmt: skip


@pytest.fixture
def model():
    return record_of(*random_topics(0), WORDS)


def test_a_permutation_of_topics_and_words_is_undone(model):
    rng = np.random.default_rng(0)
    topics, words = rng.permutation(5), rng.permutation(60)
    found = align_topics(model, moved(model, topics, words))
    assert [(old, topics[new]) for old, new in found.pairs] == [(k, k) for k in range(5)]
    assert found.total_variation.max() < 1e-14
    assert (found.gone.size, found.appeared.size, found.n_shared_words) == (0, 0, 60)
    assert found.outside_old.tolist() == found.outside_new.tolist() == [0.0] * 5
    np.testing.assert_allclose(found.prevalence_old, found.prevalence_new)
    for row in changes(model, moved(model, topics, words)):
        assert (row["change"], row["gained"], row["lost"]) == ("kept", [], [])
        assert row["size"] < 1e-14
    # Swapped, the pairs are the same.
    back = align_topics(moved(model, topics, words), model)
    assert sorted((old, new) for new, old in back.pairs) == found.pairs


def test_the_pairing_is_the_best_of_all():
    rng = np.random.default_rng(3)
    for shape in ((4, 4), (3, 5), (5, 3)):
        distances = rng.random(shape)
        found = best_pairing(distances)
        few, many = min(shape), max(shape)
        across = distances if shape[0] <= shape[1] else distances.T
        least = min(sum(across[k, p[k]] for k in range(few)) for p in permutations(range(many), few))
        assert np.nansum(found.total_variation) == pytest.approx(least)
        assert np.count_nonzero(found.other >= 0) == few
        # With a farthest distance a topic alone counts as one at that distance.
        bar = 0.4
        found = best_pairing(distances, bar)
        least = min(sum(min(across[k, p[k]], bar) for k in range(few)) for p in permutations(range(many), few))
        assert np.nansum(found.total_variation) + bar * (few - np.count_nonzero(found.other >= 0)) == pytest.approx(
            least
        )
        assert not (found.total_variation >= bar).any()


def test_distances_are_total_variations(monkeypatch):
    B, other = random_topics(1)[0], random_topics(2, K=3)[0]
    direct = np.array([[np.abs(B[:, k] - other[:, m]).sum() / 2 for m in range(3)] for k in range(5)])
    for words in (7, 1024):
        monkeypatch.setattr("anchorwords.metrics.matching._WORDS", words)
        np.testing.assert_allclose(topic_distances(B, other), direct, rtol=1e-13)


def test_over_the_words_of_either_a_missing_word_has_no_probability():
    old = record_of([[0.5, 0.0], [0.5, 0.2], [0.0, 0.8]], [0.6, 0.4], ["a", "b", "c"])
    new = record_of([[0.9, 0.0], [0.0, 0.5], [0.1, 0.5]], [0.5, 0.5], ["c", "a", "d"])
    found = align_topics(old, new, max_distance=1)
    # Over a, b, c, d: (.5 .5 0 0), (0 .2 .8 0) and (0 0 .9 .1), (.5 0 0 .5).
    assert found.pairs == [(0, 1), (1, 0)]
    np.testing.assert_allclose(found.total_variation, [0.5, 0.2])
    assert found.n_shared_words == 2
    np.testing.assert_allclose(found.outside_old, [0.5, 0.2])  # b
    np.testing.assert_allclose(found.outside_new, [0.1, 0.5])  # d
    first, second = sorted(changes(old, new, max_distance=1), key=lambda row: row["old"])
    assert (first["gained"], first["lost"]) == (["d"], ["b"])
    assert (second["gained"], second["lost"]) == (["c", "d"], ["b"])  # both by 0.1, in order of the words
    assert (first["outside_old"], first["outside_new"]) == pytest.approx((0.5, 0.5))
    # 0.6 (.5 .5 0 0) against 0.5 (.5 0 0 .5): |.3 - .25| + .3 + .25 = .6, and half of it.
    assert first["size"] == pytest.approx(0.3)
    assert second["size"] == pytest.approx((abs(0.08) + abs(0.32 - 0.45) + 0.05) / 2)
    assert first["prevalence_change"] == pytest.approx(-0.1)


def test_new_and_gone_topics_are_told():
    truth = make_topics(n_docs=2, n_words=100, n_topics=6, random_state=1).B
    words = [f"w{i}" for i in range(100)]
    old = record_of(truth[:, :5], [0.1, 0.2, 0.3, 0.25, 0.15], words)
    new = record_of(truth[:, [5, 4, 3, 1]], [0.4, 0.15, 0.25, 0.2], words)
    found = align_topics(old, new, max_distance=0.2)
    assert found.pairs == [(1, 3), (3, 2), (4, 1)]
    assert (found.gone.tolist(), found.appeared.tolist()) == ([0, 2], [0])
    rows = changes(old, new, n=3, max_distance=0.2)
    assert [(row["change"], row["old"], row["new"]) for row in rows[:3]] == [
        ("new", None, 0), ("gone", 2, None), ("gone", 0, None),
    ]  # fmt: skip
    assert [row["size"] for row in rows[:3]] == pytest.approx([0.2, 0.15, 0.05])
    assert rows[0]["words"] == aw.prominent_words(new, 3)[0]
    assert rows[1]["words"] == aw.prominent_words(old, 3)[2]
    assert (rows[0]["prevalence_old"], rows[0]["total_variation"], rows[0]["outside_old"]) == (0.0, None, None)
    assert rows[1]["prevalence_change"] == pytest.approx(-0.3)
    sizes = [row["size"] for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(row["prevalence_change"] for row in rows) == pytest.approx(0.0, abs=1e-12)


def test_topics_without_a_word_in_common_are_never_paired():
    old = record_of(np.eye(4)[:, :2], None, list("abcd"))
    new = record_of(np.eye(4)[:, 2:], None, list("abcd"))
    found = align_topics(old, new, max_distance=1)
    assert found.pairs == []
    assert (found.gone.tolist(), found.appeared.tolist()) == ([0, 1], [0, 1])
    assert {row["change"] for row in changes(old, new, max_distance=1)} == {"new", "gone"}


def test_sampled_months_of_the_same_topics_match(sampled):
    # The same topics in two halves of the documents; in the second some words are pruned away.
    counts, words = sampled.corpus.counts, sampled.corpus.vocabulary
    kept = np.sort(np.random.default_rng(0).permutation(120)[:110])
    old = aw.AnchorTopicModel(5).fit(aw.Corpus(counts[:300], words))
    new = aw.AnchorTopicModel(5).fit(aw.Corpus(counts[300:][:, kept], [words[i] for i in kept]))
    found = align_topics(old, new)
    assert len(found.pairs) == 5
    # Both are matched to the truth as they are to each other.
    truth = record_of(sampled.B, sampled.A.sum(axis=1), words)
    by_truth = dict(align_topics(old, truth).pairs)
    assert by_truth == {k: dict(align_topics(new, truth).pairs)[m] for k, m in found.pairs}
    assert found.outside_old.max() > 0.0
    assert found.outside_new.max() == 0.0


def test_models_without_words_are_compared_by_column(model):
    bare, other = record_of(*random_topics(0)), record_of(random_topics(4, K=7)[0])
    found = align_topics(bare, other, max_distance=1)
    assert len(found.pairs) == 5
    assert found.appeared.size == 2
    assert changes(bare, bare)[0]["words"][0].isdigit()
    with pytest.raises(InputError, match="one model has a vocabulary and the other none"):
        align_topics(model, bare)
    with pytest.raises(InputError, match="column by column, but have 60 and 3 words"):
        align_topics(bare, record_of(np.eye(3)))


def test_bad_input_is_refused(model):
    with pytest.raises(InputError, match="share no word"):
        align_topics(model, record_of(np.eye(2), None, ["x", "y"]))
    for distance in (0, 1.2, "near"):
        with pytest.raises(InputError, match="max_distance must be a number above 0 and up to 1"):
            align_topics(model, model, max_distance=distance)
    with pytest.raises(InputError, match="n must be"):
        changes(model, model, 0)
    with pytest.raises(InputError, match="expected a TopicModel"):
        align_topics(model, None)
