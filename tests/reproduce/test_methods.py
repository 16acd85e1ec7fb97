"""The five methods, how they are compared, and the records they leave."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.metrics import METRICS
from anchorwords.metrics.matching import match_topics
from anchorwords.reproduce.methods import Clock, Experiment, run_method
from anchorwords.reproduce.plan import METHODS
from anchorwords.reproduce.series import (
    SECOND,
    _compared,
    _distance,
    _repeated,
    first_series,
    second_series,
    space,
    word_table,
)
from tests.contracts import check_valid_model
from tests.reproduce.helpers import TINY

K = 5
STAGES = ("seconds_start", "seconds_rectification", "seconds_factorisation")


@pytest.fixture(scope="module")
def experiment():
    """A long corpus: C is near its population, where every rectification ends in the same place."""
    corpus = make_topics(n_docs=1500, n_words=100, n_topics=K, doc_length=150, random_state=3).corpus
    return Experiment(corpus.prune(), n_jobs=1)


@pytest.fixture(scope="module")
def outcomes(experiment):
    return {method: run_method(method, experiment, K, ap_steps=300) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_valid_model(outcomes, experiment, method):
    outcome = outcomes[method]
    check_valid_model(outcome.model)
    assert outcome.model.n_components == K
    assert outcome.model.n_words == experiment.corpus.n_words
    assert all(seconds >= 0.0 for seconds in outcome.seconds.values())
    # Characteristic words come from the original statistics, whatever was rectified.
    C = experiment.explicit.to_matrix()[outcome.model.anchors]
    np.testing.assert_allclose(
        outcome.model.anchor_rows.toarray(), C / C.sum(axis=1, keepdims=True), atol=1e-12
    )  # rounding of sums of 100 terms
    # What the model was read off is either in it or beside it.
    assert (outcome.matrix is None) == (outcome.model.Y is not None)
    assert (outcome.rectified is None) == (method == "Baseline")


def test_the_baseline_is_read_off_the_raw_statistics(outcomes, experiment):
    np.testing.assert_array_equal(outcomes["Baseline"].matrix, experiment.explicit.to_matrix())
    assert outcomes["Baseline"].converged is None  # there is nothing to converge
    assert outcomes["AP+AW"].converged is None  # its number of steps is fixed


def test_ap_makes_exactly_its_steps(experiment):
    assert run_method("AP+AW", experiment, K, ap_steps=7).rectified.n_iter == 7


def test_two_ways_to_the_eigenpairs_one_model(outcomes):
    # Exact and randomised eigenpairs differ by 1e-8 or so; the topics follow.
    matching = match_topics(outcomes["ENN+LAW"].model.B, outcomes["LR-JSMF"].model.B)
    assert matching.total_variation.max() < 1e-4


def test_lr_jsmf_is_the_estimators_fit(outcomes, experiment):
    fitted = aw.AnchorTopicModel(K, random_state=0, n_jobs=1).fit(experiment.corpus)
    matching = match_topics(fitted.model_.B, outcomes["LR-JSMF"].model.B)
    assert matching.total_variation.max() < 1e-4


def test_distance_is_that_of_the_dense_matrices(outcomes):
    C = outcomes["AP+AW"].matrix
    for method, outcome in outcomes.items():
        dense = outcome.matrix if outcome.matrix is not None else outcome.model.Y @ outcome.model.Y.T
        expected = np.linalg.norm(dense - C) / np.linalg.norm(C)
        # The expanded square loses half the digits where the distance is nothing: sqrt(1e-16 * 100).
        assert _distance(outcome, C) == pytest.approx(expected, rel=1e-6, abs=1e-6), method


def test_ap_is_at_no_distance_from_itself(outcomes):
    ap = outcomes["AP+AW"]
    assert _compared(ap, ap) == {"matrix_distance": 0.0, "topic_distance": 0.0, "common_anchors": K}


def test_a_comparison_does_not_mind_the_order_of_topics(outcomes):
    ap, other = outcomes["AP+AW"], outcomes["Baseline"]
    given = other.model
    model = replace(
        given, B=given.B[:, ::-1], A=given.A[::-1, ::-1], anchors=given.anchors[::-1], anchor_rows=None,
        word_topics=given.word_topics[:, ::-1],
    )  # fmt: skip
    turned = other._replace(model=model)
    assert _compared(turned, ap) == pytest.approx(_compared(other, ap), rel=1e-12)
    assert _repeated(turned, other) == {"seed_topic_distance": 0.0, "seed_common_anchors": K}


def test_a_clock_adds_up():
    clock = Clock()
    assert [clock("a", lambda: 1), clock("b", lambda: 2), clock("a", lambda: 3)] == [1, 2, 3]
    assert set(clock.seconds) == {"a", "b"}
    assert all(value >= 0.0 for value in clock.seconds.values())


@pytest.fixture(scope="module")
def records(experiment):
    return first_series(experiment, K, METHODS, TINY)


def test_first_series_has_a_record_a_method_and_seed(records, experiment):
    assert [(r["method"], r["seed"]) for r in records] == [
        ("Baseline", 0), ("AP+AW", 0), ("ENN+LAW", 0), ("PALM+LAW", 0), ("LR-JSMF", 0), ("LR-JSMF", 1),
    ]  # fmt: skip
    for record in records:
        assert {metric.name for metric in METRICS} <= set(record)
        assert record["seconds"] == pytest.approx(sum(record[stage] for stage in STAGES), rel=1e-12)
        assert record["words"] == experiment.corpus.n_words
        json.dumps(record, allow_nan=False)
    assert "seed_topic_distance" in records[-1]
    assert "seed_topic_distance" not in records[-2]


def test_every_other_method_is_compared_with_ap(records):
    for record in records:
        for name in ("matrix_distance", "topic_distance", "common_anchors"):
            assert name in record, (record["method"], name)


def test_without_ap_nothing_is_compared(experiment):
    records = first_series(experiment, K, ("ENN+LAW", "LR-JSMF"), TINY)
    assert not any("matrix_distance" in record for record in records)


def test_second_series_is_lr_jsmf_at_that_k(experiment):
    # The K leading pairs of a search for more are the K leading pairs.
    record = second_series(experiment, K, 7)
    direct = first_series(experiment, K, ("LR-JSMF",), TINY)[0]
    for name in ("relative_recovery", "relative_approximation", "relative_dominancy", "A_raw_sum", "mst_incoherence"):
        assert record[name] == pytest.approx(direct[name], rel=1e-4), name
    assert set(SECOND) <= set(record)
    assert {"specificity", "dissimilarity"}.isdisjoint(record)


def test_second_series_gives_the_topics_of_a_direct_run(experiment):
    from anchorwords.reproduce.methods import enn_and_law

    start, seconds = experiment.start(7)
    assert seconds > 0.0
    assert experiment.start(7)[0][0] is start[0]  # made once
    shared = enn_and_law(start, K, Clock(), 1).model
    matching = match_topics(run_method("LR-JSMF", experiment, K).model.B, shared.B)
    assert matching.total_variation.max() < 1e-4


def test_stages_of_the_second_series_add_up(experiment):
    record = second_series(experiment, K, 7)
    assert record["seconds_start"] > 0.0
    assert record["seconds"] == pytest.approx(sum(record[stage] for stage in STAGES), rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_panel_of_the_space(experiment, method):
    panel = space(experiment, method, K, TINY)
    assert np.shape(panel["anchors"]) == (K, 2)
    assert len(panel["anchor_words"]) == K
    assert len(panel["xy"]) <= experiment.corpus.n_words
    assert set(panel["anchor_words"]) <= set(experiment.corpus.vocabulary)
    # An anchor is a word: it has the place of one.
    assert {tuple(point) for point in panel["anchors"]} <= {tuple(point) for point in panel["xy"]}
    assert 0.0 <= sum(panel["explained"]) <= 1.0 + 1e-9
    json.dumps(panel, allow_nan=False)


def test_the_table_counts_documents(experiment):
    rows = word_table(experiment, K, 6)
    corpus = experiment.corpus
    holds = {word: int((corpus.counts[:, [i]] > 0).sum()) for i, word in enumerate(corpus.vocabulary)}
    assert len(rows) == K
    for row in rows:
        assert row["prominent_documents"] == [holds[word] for word in row["prominent"]]
        assert row["specific_documents"] == [holds[word] for word in row["specific"]]
        assert row["anchor_documents"] == holds[row["anchor"]]
    json.dumps(rows, allow_nan=False)


def test_a_baseline_whose_anchors_never_meet(tmp_path):
    """Rare words become anchors, no two of them meet, and A of the baseline is zero: a record all the same."""
    rng = np.random.default_rng(0)
    common = rng.poisson(3.0, size=(80, 12))
    counts = np.hstack([common, np.eye(80, dtype=int)])
    corpus = aw.Corpus(counts, [f"c{i}" for i in range(12)] + [f"rare{i}" for i in range(80)])
    records = first_series(Experiment(corpus, 1), 4, METHODS, TINY)
    baseline = records[0]
    assert baseline["method"] == "Baseline"
    assert baseline["A_raw_sum"] == pytest.approx(0.0, abs=1e-10)
    for record in records:
        json.dumps(record, allow_nan=False)
