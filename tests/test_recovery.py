"""Exact recovery from population statistics; consistency and the use of rectification on samples (paper, footnote 2)."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.metrics.matching import match_topics

METHODS = {
    "AW": lambda C, K: aw.anchor_words(C, K),
    "AP + AW": lambda C, K: aw.anchor_words(aw.rectify_ap(C, K, max_iter=20, tol=1e-12).C, K),
    "ENN + LAW": lambda C, K: aw.low_rank_anchor_words(aw.rectify_enn(C, K).Y),
    "ENN step for step + LAW": lambda C, K: aw.low_rank_anchor_words(
        aw.rectify_enn(C, K, relaxation=1.0, tol=0, max_iter=5).Y
    ),
    "ENN with few rows + LAW": lambda C, K: aw.low_rank_anchor_words(aw.rectify_enn(C, K, n_rows=40).Y),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("N", "K", "n_anchors", "seed"),
    [(80, 4, 1, 0), (300, 10, 1, 1), (300, 10, 3, 2), (500, 25, 2, 3), (60, 2, 1, 4)],
)
def test_population_statistics_give_the_truth(method, N, K, n_anchors, seed):
    data = make_topics(10, N, K, n_anchors=n_anchors, random_state=seed)
    C = data.C
    model = METHODS[method]((C + C.T) / 2, K)
    match = match_topics(data.B, model.B)
    order = match.other
    assert all(model.anchors[order[k]] in data.anchors[k] for k in range(K))
    np.testing.assert_allclose(model.B[:, order], data.B, atol=1e-6)
    np.testing.assert_allclose(model.A[np.ix_(order, order)], data.A, atol=1e-6)
    assert model.A_raw_sum == pytest.approx(1.0, abs=1e-5)


def test_palm_stays_at_a_true_factor_of_the_population():
    data = make_topics(10, 120, 5, random_state=0)
    # A is completely positive here, for compositions are non-negative: a true non-negative factor with more columns.
    rng = np.random.default_rng(1)
    W = rng.dirichlet(np.full(5, 0.3), size=5)
    Y = data.B @ W.T / np.sqrt(5)
    C = Y @ Y.T
    result = aw.rectify_palm(C / C.sum(), 5, init=Y / np.sqrt(C.sum()), tol=0, max_iter=100)
    np.testing.assert_allclose(result.Y, Y / np.sqrt(C.sum()), atol=1e-13)


@pytest.fixture(scope="module")
def growing():
    """Fits of ever more documents drawn from one model: {(documents, rectifier): (truth, TV, error of A)}."""
    found = {}
    for seed in range(3):
        data = make_topics(16_000, 300, 8, doc_length=80, n_anchors=3, random_state=seed)
        for M in (250, 2000, 16_000):
            counts = data.corpus.counts[:M]
            second_moment = data.compositions[:M].T @ data.compositions[:M] / M
            for rectifier in ("enn", None):
                model = aw.AnchorTopicModel(8, rectifier=rectifier).fit(counts).model_
                match = match_topics(data.B, model.B)
                A = model.A[np.ix_(match.other, match.other)]
                found.setdefault((M, rectifier), []).append(
                    (match.total_variation.mean(), np.abs(A - data.A).sum(), np.abs(A - second_moment).sum())
                )
    return {key: np.mean(value, axis=0) for key, value in found.items()}


def test_topics_approach_the_truth_as_documents_grow(growing):
    errors = [growing[M, "enn"][0] for M in (250, 2000, 16_000)]
    # Sampling error falls like 1 / sqrt(M): each step has eight times the documents, 2.8 times less error at best.
    assert errors[1] < 0.75 * errors[0]
    assert errors[2] < 0.75 * errors[1]
    assert errors[2] < 0.1


def test_correlations_approach_the_second_moment(growing):
    population = [growing[M, "enn"][1] for M in (250, 2000, 16_000)]
    assert population[1] < 0.75 * population[0]
    assert population[2] < 0.75 * population[1]
    # A is quadratic in B, whose error is under 0.1: twice that.
    assert growing[16_000, "enn"][2] < 0.2


def test_rectification_helps_on_data_drawn_from_the_model(growing):
    for M in (250, 2000):
        assert growing[M, "enn"][0] < 0.8 * growing[M, None][0]
        assert growing[M, "enn"][1] < growing[M, None][1]
