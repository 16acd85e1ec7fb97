"""On real corpora: ENN against AP, the failing baseline, seeds, and invariance to everything that must not matter."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.anchors.lowrank import normalised_coordinates
from anchorwords.linalg.factored import factored_distance
from anchorwords.metrics.accuracy import relative_approximation, relative_recovery
from anchorwords.metrics.distinctness import dissimilarity, relative_dominancy, specificity
from anchorwords.metrics.matching import match_topics
from tests.conftest import DATA, _corpus

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"the real corpora are not at {DATA}"),
]

ALL_ROWS = [
    ("nips12", 1000, 10),
    ("nips12", 1000, 20),
    pytest.param("nips12", 1000, 50, marks=pytest.mark.slow),
    ("kos", 1000, 20),
]
SOME_ROWS = [("nips12", 2500, 10), ("nips12", 2500, 20), ("nips12", 2500, 50), ("kos", 2500, 20)]


@cache
def statistics(name, n_words):
    counts = _corpus(name, n_words).counts
    return aw.cooccurrence(counts), aw.CooccurrenceOperator(counts)


@cache
def by_ap(name, n_words, K):
    C, _ = statistics(name, n_words)
    rectified = aw.rectify_ap(C, K, max_iter=150, tol=0).C
    return rectified, aw.anchor_words(rectified, K)


@cache
def by_enn(name, n_words, K):
    _, operator = statistics(name, n_words)
    Y = aw.rectify_enn(operator, K, relaxation=1.0, tol=0, max_iter=150).Y
    return Y, aw.low_rank_anchor_words(Y)


def metrics(model, name, n_words, rectified=None):
    _, operator = statistics(name, n_words)
    return np.array(
        [
            relative_approximation(model, operator),
            relative_recovery(model, rectified),
            relative_dominancy(model),
            specificity(model, operator.row_sums()),
            dissimilarity(model),
        ]
    )


def check_same_anchors(rows, first, second):
    """The same anchors, near-ties aside: pivots whose distances from the span so far are within 1e-3 of each other."""
    different = set(second.tolist()) - set(first.tolist())
    for k, anchor in enumerate(first):
        if anchor in second:
            continue
        Q = np.linalg.qr(rows[first[:k]].T)[0] if k else np.zeros((rows.shape[1], 0))
        distance = np.linalg.norm(rows - rows @ Q @ Q.T, axis=1)
        tied = {other for other in different if distance[other] > (1 - 1e-3) * distance[anchor]}
        assert tied, f"anchor {anchor} has no near-tie among {different}"
        different.discard(tied.pop())
    assert not different


def relative_distance(C, Y):
    return np.linalg.norm(C - Y @ Y.T) / np.linalg.norm(C)


@pytest.mark.parametrize(("name", "n_words", "K"), ALL_ROWS)
def test_enn_is_ap_where_all_rows_are_checked(name, n_words, K):
    """150 iterations each: matrix within 2e-4, metrics within 0.1 %, the same anchors."""
    C, ap = by_ap(name, n_words, K)
    Y, enn = by_enn(name, n_words, K)
    assert relative_distance(C, Y) < 2e-4
    check_same_anchors(normalised_coordinates(Y).X, enn.anchors, ap.anchors)
    np.testing.assert_allclose(metrics(enn, name, n_words), metrics(ap, name, n_words, C), rtol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n_words", "K"), SOME_ROWS)
def test_enn_is_near_ap_where_some_rows_are_checked(name, n_words, K):
    """150 iterations each: matrix within 1e-3, metrics within 5 %, four anchors of five."""
    C, ap = by_ap(name, n_words, K)
    Y, enn = by_enn(name, n_words, K)
    assert relative_distance(C, Y) < 1e-3
    assert len(set(enn.anchors.tolist()) & set(ap.anchors.tolist())) >= 0.8 * K
    np.testing.assert_allclose(metrics(enn, name, n_words), metrics(ap, name, n_words, C), rtol=0.05)


@pytest.mark.parametrize(
    ("name", "n_words", "K", "less_specific"),
    # With more topics than it needs the baseline finds some: at K 50 of 1,000 words it is half as specific, not a third.
    [
        ("nips12", 1000, 10, 3),
        ("nips12", 1000, 20, 3),
        ("nips12", 1000, 50, 1.9),
        pytest.param("nips12", 2500, 50, 3, marks=pytest.mark.slow),
        ("kos", 1000, 20, 3),
    ],
)
def test_without_rectification_the_method_fails(name, n_words, K, less_specific):
    C, operator = statistics(name, n_words)
    baseline = aw.anchor_words(C, K)
    _, enn = by_enn(name, n_words, K)
    assert relative_approximation(baseline, operator, raw=True) > 5 * relative_approximation(enn, operator, raw=True)
    p = operator.row_sums()
    assert specificity(baseline, p) < specificity(enn, p) / less_specific
    assert baseline.A_raw_sum > 2 > 1.2 > enn.A_raw_sum > 0.9


@pytest.mark.parametrize(
    ("name", "n_words", "K"),
    [("nips12", 1000, 10), ("nips12", 1000, 50), ("nips12", 2500, 20), ("kos", 2500, 20)],
)
def test_five_seeds_give_the_same_topics(name, n_words, K):
    counts = _corpus(name, n_words).counts
    models = [aw.AnchorTopicModel(K, random_state=seed).fit(counts).model_ for seed in range(5)]
    reference = metrics(models[0], name, n_words)
    for model in models[1:]:
        check_same_anchors(normalised_coordinates(models[0].Y).X, models[0].anchors, model.anchors)
        assert match_topics(models[0].B, model.B).total_variation.max() < 0.01
        np.testing.assert_allclose(metrics(model, name, n_words), reference, rtol=1e-3)


def permuted_words(counts):
    order = np.random.default_rng(0).permutation(counts.shape[1])
    return counts[:, order], np.argsort(order)


def disguises(counts):
    """(name, the same data in another guise, options, map of words back)."""
    documents = np.random.default_rng(1).permutation(counts.shape[0])
    words, back = permuted_words(counts)
    same = np.arange(counts.shape[1])
    return {
        "one thread": (counts, {"n_jobs": 1}, same),
        "three threads": (counts, {"n_jobs": 3}, same),
        "int32": (counts.astype(np.int32), {}, same),
        "float32": (counts.astype(np.float32), {}, same),
        "uint16": (counts.astype(np.uint16), {}, same),
        "csc": (sp.csc_matrix(counts), {}, same),
        "dense": (counts.toarray(), {}, same),
        "permuted documents": (counts[documents], {}, same),
        "permuted words": (words, {}, back),
    }


FEW = ("three threads", "float32", "permuted documents", "permuted words")


@pytest.mark.parametrize(("name", "guises"), [("nips12", None), ("kos", FEW)])
def test_nothing_that_must_not_matter_does(name, guises):
    counts = _corpus(name, 1000).counts
    reference = aw.AnchorTopicModel(20).fit(counts).model_
    for guise, (data, options, back) in disguises(counts).items():
        if guises is not None and guise not in guises:
            continue
        model = aw.AnchorTopicModel(20, **options).fit(data).model_
        moved = match_topics(reference.B, model.B[back]).total_variation.max()
        assert moved < 0.01, guise
        # Column j of the disguised data is column order[j] of the original, and back undoes order.
        anchors = np.argsort(back)[model.anchors]
        check_same_anchors(normalised_coordinates(reference.Y).X, reference.anchors, anchors)


@pytest.mark.parametrize(("name", "n_words", "K"), [("nips12", 1000, 20), ("kos", None, 10), ("ml1m", None, 20)])
def test_a_ten_times_smaller_tolerance_moves_nothing(name, n_words, K):
    counts = _corpus(name, n_words).counts
    default = aw.AnchorTopicModel(K).fit(counts).model_
    tighter = aw.AnchorTopicModel(K, rectifier=aw.ENN(tol=aw.ENN().tol / 10)).fit(counts).model_
    assert match_topics(default.B, tighter.B).total_variation.max() < 0.02


@pytest.mark.parametrize(
    ("name", "n_words", "K"), [("nips12", 1000, 20), pytest.param("nips12", 2500, 50, marks=pytest.mark.slow)]
)
def test_the_fast_mode_is_the_plain_iteration_at_its_end(name, n_words, K):
    """Newton steps, single precision and the finite end against plain steps in double precision run to the same place.

    As near as ENN is to AP where some rows are checked: 1.5e-3 in the matrix, metrics within 2 %, and four topics of
    five the same (a distance of 1e-3 in the matrix can change an anchor, and with it a topic).
    """
    _, operator = statistics(name, n_words)
    plain = aw.rectify_enn(operator, K, relaxation=1.0, tol=2e-6, max_iter=5000).Y
    fast = aw.rectify_enn(operator, K).Y
    assert factored_distance(fast, plain) < 1.5e-3
    models = [aw.low_rank_anchor_words(Y) for Y in (fast, plain)]
    values = [metrics(model, name, n_words) for model in models]
    np.testing.assert_allclose(values[0][:4], values[1][:4], rtol=0.02)
    assert np.mean(match_topics(models[0].B, models[1].B).total_variation < 0.1) >= 0.8


def test_songs_form_readable_communities():
    """All 56,637 songs: topics cover different songs, and each has an anchor of its own."""
    corpus = _corpus("spotify", None)
    model = aw.AnchorTopicModel(20).fit(corpus.counts)
    assert model.converged_
    assert dissimilarity(model.model_) > 10.0


def test_palm_deviates_slightly_but_beats_the_baseline():
    C, operator = statistics("nips12", 1000)
    Y = aw.rectify_palm(operator, 10, max_iter=300, tol=0).Y
    palm = aw.low_rank_anchor_words(Y)
    _, enn = by_enn("nips12", 1000, 10)
    p = operator.row_sums()
    assert specificity(palm, p) > 1.5 * specificity(aw.anchor_words(C, 10), p)
    assert relative_approximation(palm, operator) < 1.5 * relative_approximation(enn, operator)


def test_topics_of_films_are_readable():
    """MovieLens: documents are people, words are films; sequels and genres fall together."""
    corpus = _corpus("ml1m", None)
    tops = aw.prominent_words(aw.AnchorTopicModel(10).fit(corpus), 30)
    wars = [sum("Star Wars" in title or "Star Trek" in title for title in top) for top in tops]
    assert max(wars) >= 3
