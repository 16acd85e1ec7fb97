"""Every metric at once, against the definitions written out in :mod:`tests.metrics.direct`."""

from __future__ import annotations

import dataclasses
import re
import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.metrics import METRICS, Reference
from anchorwords.metrics.catalogue import BY_NAME, sureness_metrics
from anchorwords.statistics import norms
from anchorwords.storage import corpus_writer as store
from tests.metrics import direct
from tests.strategies import counts

NAMES = [metric.name for metric in METRICS]
VOLUMES = ["log_relative_volume", "log_relative_volume_all_rows"]
OF_Y = ["recovery", "relative_recovery", "approximation_rectified", "relative_approximation_rectified", *VOLUMES]
# Sums of some thousand products in another order, and differences of squared norms that are within a factor of a few
# hundred of each other: units in the last place times that. Models here fit nothing, so no error is near zero.
ROUNDING = 1e-10


def assert_same(found, expected, names=NAMES, rel=ROUNDING):
    """Two results of evaluate, or one and the direct formulas, agree in values and topics."""
    for name in names:
        value, topics = (
            expected[name] if isinstance(expected[name], tuple) else (expected[name], expected["per_topic"].get(name))
        )
        assert found[name] == pytest.approx(value, rel=rel, abs=1e-13, nan_ok=True), name
        if topics is not None:
            np.testing.assert_allclose(found["per_topic"][name], topics, rtol=rel, atol=1e-13, err_msg=name)


def assert_equal(found, expected):
    """The same bits."""
    for name in NAMES:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
        np.testing.assert_array_equal(found["per_topic"].get(name), expected["per_topic"].get(name), err_msg=name)
    assert found["standard_error"] == expected["standard_error"]
    assert found["undefined"] == expected["undefined"]


def words_of(N):
    return tuple(f"w{i}" for i in range(N))


@pytest.fixture
def problem():
    X = direct.random_counts(0)
    return X, direct.random_model(0, direct.eq1(X), vocabulary=words_of(30))


@pytest.fixture(scope="module")
def fitted(sampled):
    return aw.AnchorTopicModel(4).fit(sampled.corpus)


# ---- catalogue


def test_the_catalogue_is_what_evaluate_gives(problem):
    X, model = problem
    found = aw.evaluate(model, X)
    scalars = [name for name, value in found.items() if isinstance(value, float)]
    assert scalars == NAMES == list(BY_NAME)
    assert set(found) - set(scalars) == {"per_topic", "standard_error", "undefined", "reference"}
    assert set(found["per_topic"]) == set(NAMES)
    assert all(values.shape == (4,) for values in found["per_topic"].values())
    assert found["undefined"] == {}
    assert found["reference"] == {"documents": 58, "too_short": 2, "words": 30, "topics": 4}


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_is_described(metric):
    assert metric.title
    assert metric.formula
    assert metric.measured_on
    assert metric.per_topic
    assert metric.better in ("lower", "higher", "")
    assert metric.direction == (f"{metric.better} is better" if metric.better else "diagnostic")


@pytest.mark.parametrize("metric", [*METRICS, *sureness_metrics(20, 32, 0.9)], ids=lambda metric: metric.name)
def test_every_metric_has_a_reading_in_plain_words(metric):
    # A question or a statement and how to take a value: short enough for a line or two, and without the formula.
    assert 100 <= len(metric.reading) <= 220
    assert metric.reading[0].isupper()
    assert metric.reading.endswith(".")
    assert "  " not in metric.reading
    assert metric.reading.isascii()
    assert not set("|_`*=") & set(metric.reading)
    if metric.better:
        assert "?" in metric.reading
        assert re.search(r"\d", metric.reading)  # what some value means
    else:
        assert ("Neither end is better" in metric.reading) == (metric.name in ("entropy", "sparsity"))


def test_readings_are_of_one_metric_each():
    readings = [metric.reading for metric in (*METRICS, *sureness_metrics(20, 32, 0.9))]
    assert len(set(readings)) == len(readings)


def test_the_ends_that_readings_name(problem):
    X, model = problem
    K, p = 4, direct.eq1(X).sum(axis=1)
    # Topics that never mix, all equally common; each of one word.
    single = np.zeros_like(model.B)
    single[model.anchors, np.arange(K)] = 1.0
    found = aw.evaluate(dataclasses.replace(model, A=np.eye(K) / K, B=single), X)
    assert found["dominancy"] == pytest.approx(1.0)
    assert found["relative_dominancy"] == pytest.approx(1.0 / np.sqrt(K))
    assert (found["entropy"], found["topic_diversity"]) == (0.0, 1.0)
    assert found["sparsity"] == pytest.approx(1.0)
    # Topics that are all the words of all documents: nothing is told.
    found = aw.evaluate(dataclasses.replace(model, B=np.tile(p[:, None], (1, K))), X)
    assert found["specificity"] == pytest.approx(0.0, abs=1e-12)
    assert found["dissimilarity"] == 0.0
    assert found["topic_diversity"] == 1.0 / K
    # Even topics: 2 to the power of the entropy is the number of words.
    found = aw.evaluate(dataclasses.replace(model, B=np.full_like(model.B, 1.0 / p.size)), X)
    assert 2.0 ** found["entropy"] == pytest.approx(p.size)
    assert found["sparsity"] == pytest.approx(0.0, abs=1e-12)
    # A model that predicts nothing, as its correlations are almost none.
    found = aw.evaluate(dataclasses.replace(model, A_raw_sum=1e-12), X)
    assert found["relative_approximation_raw"] == pytest.approx(1.0, abs=1e-9)


def test_what_is_listed_of_the_stability_is_what_evaluate_gives(fitted, sampled):
    fitted = clone(fitted).fit(sampled.corpus)
    found = fitted.measure_stability(sampled.corpus, n_replicates=3, level=0.8)
    listed = sureness_metrics(found.n_replicates, found.n_shards, found.level)
    result = aw.evaluate(fitted, sampled.corpus, metrics=["entropy"])
    assert set(result["per_topic"]) == {"entropy", *(metric.name for metric in listed)}
    assert all(metric.measured_on == "3 replicates of 32 shards" for metric in listed)
    assert listed[-1].title == "Share, 80% interval, to"
    assert "80%" in listed[-1].reading


def test_directions_are_the_papers():
    # Figure 3: "lower is better except for Specificity and Dissimilarity"; a large hull is good.
    higher = {metric.name for metric in METRICS if metric.better == "higher"}
    assert higher == {
        "specificity", "dissimilarity", "npmi_coherence", "umass_coherence", "topic_diversity", *VOLUMES
    }  # fmt: skip
    assert {metric.name for metric in METRICS if not metric.better} == {"entropy", "sparsity", "A_raw_sum"}


# ---- against the definitions


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("zeros", [0.0, 0.6])
def test_against_the_definitions(seed, zeros):
    X = direct.random_counts(seed)
    model = direct.random_model(seed, direct.eq1(X), zeros=zeros)
    expected = direct.everything(model, X)
    assert set(expected) == set(NAMES) - set(VOLUMES)
    found = aw.evaluate(model, X, metrics=expected)
    assert_same(found, expected, list(expected))
    assert found["standard_error"] == {}


def test_against_the_definitions_on_a_sampled_corpus(sampled, fitted):
    X = sampled.corpus.counts.toarray()
    expected = direct.everything(fitted.model_, X)
    names = [name for name in expected if name not in ("approximation_rectified", "relative_approximation_rectified")]
    # The fitted model nearly reproduces the rectified rows: errors of words that are close to a mixture of anchors lose
    # digits to the difference of squares, and the paper's own matrix to that of Y Y' and B A B'.
    assert_same(aw.evaluate(fitted, sampled.corpus), expected, names, rel=1e-7)


@pytest.mark.parametrize(
    "route", ["csr", "list of lists", "corpus", "blocks", "documents", "function", "disk", "stored"]
)
def test_every_kind_of_documents(problem, route, tmp_path, monkeypatch):
    X, model = problem
    expected = direct.everything(model, X)
    corpus = aw.Corpus(X, words_of(30))
    if route in ("disk", "stored"):
        corpus.save(tmp_path / "corpus")
        corpus = aw.open_corpus(tmp_path / "corpus")
        if route == "stored":
            monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
            monkeypatch.setattr(store, "BLOCK_ENTRIES", 100)
    data = {
        "csr": sp.csr_array(X), "list of lists": X.tolist(), "corpus": corpus, "blocks": direct.cut(X, 7),
        "documents": direct.cut(X, 1), "function": lambda: iter(direct.cut(X, 23)), "disk": corpus, "stored": corpus,
    }[route]  # fmt: skip
    found = aw.evaluate(model, data)
    assert_same(found, expected, list(expected))
    assert found["reference"] == {"documents": 58, "too_short": 2, "words": 30, "topics": 4}
    assert found["standard_error"].keys() == set(VOLUMES)
    if route == "stored":
        assert "counts" not in vars(corpus)  # never loaded


def test_parts_of_topics_make_up_the_whole(problem):
    """The combination that each docstring states."""
    X, model = problem
    C, p = direct.eq1(X), direct.eq1(X).sum(axis=1)
    found = aw.evaluate(model, X)
    parts = found["per_topic"]
    for name in ("relative_dominancy", "dominancy", "specificity", "dissimilarity", "mst_incoherence", "npmi_coherence",
                 "umass_coherence", "entropy", "sparsity"):  # fmt: skip
        assert found[name] == pytest.approx(parts[name].mean(), rel=1e-14)
    shares = model.word_topics[p > 0].sum(axis=0)
    for name in ("recovery", "recovery_original", "relative_recovery", "relative_recovery_original"):
        assert found[name] == pytest.approx(np.average(parts[name], weights=shares), rel=1e-13)
    for suffix, matrix in (("", C), ("_raw", C), ("_rectified", model.Y @ model.Y.T)):
        assert found[f"approximation{suffix}"] == pytest.approx(np.sqrt((parts[f"approximation{suffix}"] ** 2).sum()))
        weights = model.word_topics.T @ (matrix**2).sum(axis=1)
        together = np.average(parts[f"relative_approximation{suffix}"] ** 2, weights=weights)
        assert found[f"relative_approximation{suffix}"] == pytest.approx(np.sqrt(together), rel=1e-13)
    lengths = [len(top) for top in direct.tops(model, 25)]
    assert found["topic_diversity"] == pytest.approx(np.average(parts["topic_diversity"], weights=lengths), rel=1e-14)
    assert found["A_raw_sum"] == pytest.approx(parts["A_raw_sum"].sum(), rel=1e-14)


def test_an_estimator_and_its_model_are_the_same(sampled, fitted):
    assert_equal(aw.evaluate(fitted, sampled.corpus), aw.evaluate(fitted.model_, sampled.corpus))


def test_values_do_not_depend_on_what_else_is_asked(problem):
    X, model = problem
    whole = aw.evaluate(model, X)
    for name in NAMES:
        alone = aw.evaluate(model, X, metrics=[name])
        assert alone[name] == whole[name]
        np.testing.assert_array_equal(alone["per_topic"][name], whole["per_topic"][name])
        assert set(alone) == {name, "per_topic", "standard_error", "undefined", "reference"}
        assert set(alone["per_topic"]) == {name}
        assert set(alone["standard_error"]) <= {name}
    assert set(aw.evaluate(model, X, metrics=(n for n in ["entropy"]))["per_topic"]) == {"entropy"}
    assert aw.evaluate(model, X, metrics=[])["per_topic"] == {}


def test_a_reference_serves_many_models(problem):
    X, model = problem
    other = direct.random_model(5, direct.eq1(X), K=6)
    for source in (X, direct.cut(X, 10)):
        reference = Reference(source)
        for record in (model, other, model):
            assert_equal(aw.evaluate(record, reference), aw.evaluate(record, source))


# ---- invariance


def permuted_topics(model, order):
    return aw.TopicModel(
        model.B[:, order], model.A[np.ix_(order, order)], model.A_raw_sum, model.anchors[order],
        model.word_topics[:, order], model.word_probs, model.vocabulary, model.Y, model.anchor_rows[order],
    )  # fmt: skip


def permuted_words(model, order):
    vocabulary = None if model.vocabulary is None else tuple(np.array(model.vocabulary)[order])
    return aw.TopicModel(
        model.B[order], model.A, model.A_raw_sum, np.argsort(order)[model.anchors], model.word_topics[order],
        model.word_probs[order], vocabulary, model.Y[order], sp.csr_array(model.anchor_rows.toarray()[:, order]),
    )  # fmt: skip


def reordered(found, order):
    """The result with its topics in another order."""
    return found | {"per_topic": {name: values[order] for name, values in found["per_topic"].items()}}


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_topics_does_not_matter(seed):
    X = direct.random_counts(seed)
    model = direct.random_model(seed, direct.eq1(X), K=5)
    order = np.random.default_rng(seed).permutation(5)
    assert_same(
        aw.evaluate(permuted_topics(model, order), X), reordered(aw.evaluate(model, X), order), rel=ROUNDING
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("streamed", [False, True])
def test_names_of_words_do_not_matter(seed, streamed):
    X = direct.random_counts(seed)
    # No two words are equally probable in a topic, nor equally close to an anchor where the 7 end, so no tie is broken
    # by the order of columns.
    model = direct.random_model(seed, direct.eq1(X), vocabulary=words_of(30))
    order = np.random.default_rng(seed).permutation(30)
    expected = aw.evaluate(model, X)
    moved = permuted_words(model, order)
    data = direct.cut(X[:, order], 9) if streamed else X[:, order]
    tied = any(len(set(row[row > 0].tolist())) < (row > 0).sum() for row in model.anchor_rows.toarray())
    names = [name for name in NAMES if name != "mst_incoherence"] if tied else NAMES
    assert_same(aw.evaluate(moved, data), expected, names)


@pytest.mark.parametrize("route", ["memory", "stored"])
def test_a_corpus_is_matched_by_its_words(problem, route, tmp_path, monkeypatch):
    X, model = problem
    order = np.random.default_rng(1).permutation(30)
    names = np.array(words_of(30))
    # Two words more than the model knows, in documents' middles: they do not count.
    wider = np.hstack([np.full((60, 1), 3), X[:, order], np.ones((60, 1), int)])
    corpus = aw.Corpus(wider, ["new", *names[order], "newer"])
    if route == "stored":
        monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
        monkeypatch.setattr(store, "BLOCK_ENTRIES", 200)
        corpus.save(tmp_path / "c")
        corpus = aw.open_corpus(tmp_path / "c")
    assert_same(aw.evaluate(model, corpus), aw.evaluate(model, X))


def test_a_word_the_corpus_does_not_know_never_occurs(problem):
    X, model = problem
    lost = next(i for i in range(30) if i not in model.anchors)
    kept = np.delete(np.arange(30), lost)
    emptied = X.copy()
    emptied[:, lost] = 0
    found = aw.evaluate(model, aw.Corpus(X[:, kept], [f"w{i}" for i in kept]))
    expected = aw.evaluate(model, emptied)
    assert_same(found, expected)
    assert found["reference"]["words"] == 29


def test_the_order_of_documents_and_their_repetition_do_not_matter(problem):
    X, model = problem
    expected = aw.evaluate(model, X)
    assert_same(aw.evaluate(model, X[np.random.default_rng(0).permutation(60)]), expected)
    # C and shares of documents are the same of a corpus held three times; UMass counts documents.
    tripled = aw.evaluate(model, np.vstack([X, X, X]))
    assert_same(tripled, expected, [name for name in NAMES if name != "umass_coherence"])
    assert tripled["umass_coherence"] < expected["umass_coherence"]  # the one that is added weighs less
    assert tripled["reference"]["documents"] == 3 * 58


@pytest.mark.parametrize("streamed", [False, True])
def test_threads_do_not_matter(sampled, fitted, streamed):
    data = direct.cut(sampled.corpus.counts, 37) if streamed else sampled.corpus
    assert_equal(aw.evaluate(fitted, data, n_jobs=1), aw.evaluate(fitted, data, n_jobs=2))


def test_the_seed_decides_the_volume_and_nothing_else(problem):
    X, model = problem
    one, again, other = (aw.evaluate(model, X, random_state=seed) for seed in (3, 3, 4))
    assert_equal(one, again)
    for name in NAMES:
        assert (one[name] != other[name]) == (name in VOLUMES)
        # Distances of anchors from the others' hull are exact.
        np.testing.assert_array_equal(one["per_topic"][name], other["per_topic"][name])


# ---- edges


def test_one_topic(sampled):
    model = aw.AnchorTopicModel(1).fit(sampled.corpus)
    found = aw.evaluate(model, sampled.corpus)
    assert set(found["undefined"]) == set(VOLUMES)
    assert "at least two topics" in found["undefined"]["log_relative_volume"]
    assert all(np.isnan(found[name]) == (name in VOLUMES) for name in NAMES)
    assert np.isfinite([found[name] for name in NAMES if name not in VOLUMES]).all()
    assert found["dominancy"] == found["relative_dominancy"] == found["topic_diversity"] == 1.0
    assert found["dissimilarity"] == 20.0
    # K = 1: the anchor's row of a matrix of rank one is everybody's.
    assert found["relative_recovery"] < 1e-12


def test_words_that_never_occur():
    """Columns of zeros change nothing, in memory or streamed."""
    X = direct.random_counts(3)
    model = direct.random_model(3, direct.eq1(X))
    padded = np.insert(X, [0, 7, 7, 30], 0, axis=1)
    old = np.flatnonzero(padded.any(axis=0))
    place = lambda array: np.insert(array, [0, 7, 7, 30], 0.0, axis=0)  # noqa: E731
    Bt = place(model.word_topics)
    Bt[~padded.any(axis=0)] = model.prevalence
    wide = aw.TopicModel(
        place(model.B), model.A, model.A_raw_sum, old[model.anchors], Bt, place(model.word_probs), None,
        place(model.Y), sp.csr_array(place(model.anchor_rows.toarray().T).T),
    )  # fmt: skip
    expected = aw.evaluate(model, X)
    for data in (padded, direct.cut(padded, 8)):
        found = aw.evaluate(wide, data)
        assert_same(found, expected)
        assert found["reference"]["words"] == 30


def test_held_out_documents_without_an_anchor(problem):
    X, model = problem
    lost = model.anchors[2]
    X = X.copy()
    X[:, lost] = 0
    for data in (X, direct.cut(X, 11)):
        found = aw.evaluate(model, data)
        for name in ("recovery_original", "relative_recovery_original"):
            assert np.isnan(found[name])
            assert f"the anchor 'w{lost}' co-occurs with no word" in found["undefined"][name]
        rest = [name for name in NAMES if name not in found["undefined"]]
        assert set(NAMES) - set(rest) <= {"recovery_original", "relative_recovery_original", "umass_coherence"}
        # The trees lean on the model's own rows of the anchors.
        expected = {name: f for name, f in _without_recovery(model, X).items() if name in rest}
        assert_same(found, expected, list(expected))
    unnamed = aw.evaluate(permuted_words(model.with_vocabulary(None), np.arange(30)), X)
    assert f"the anchor in column {lost} " in unnamed["undefined"]["recovery_original"]


def _without_recovery(model, X):
    C = direct.eq1(X)
    return {
        "relative_approximation": direct.relative_approximation(model, C),
        "specificity": direct.specificity(model, C),
        "mst_incoherence": direct.mst_incoherence(model, C),
        "npmi_coherence": direct.npmi_coherence(model, X),
        "relative_recovery": direct.relative_recovery(model, model.Y @ model.Y.T),
    }


def test_a_top_word_that_is_in_no_document(problem):
    X, model = problem
    top = direct.tops(model, 1)[0][0]
    X = X.copy()
    X[:, top] = 0
    found = aw.evaluate(model, X)
    assert np.isnan(found["umass_coherence"])
    assert f"word 'w{top}' never does" in found["undefined"]["umass_coherence"]
    expected = direct.npmi_coherence(model, X)
    assert found["npmi_coherence"] == pytest.approx(expected[0], rel=ROUNDING)


@pytest.mark.parametrize("N", [2, 5, 6, 9, 19, 24])
def test_fewer_words_than_a_list_asks_for(N):
    """7 for a tree, 10, 20 and 25 for lists: all the words there are."""
    X = direct.random_counts(N, M=40, N=N)
    model = direct.random_model(N, direct.eq1(X), K=2)
    expected = direct.everything(model, X)
    assert_same(aw.evaluate(model, X), expected, list(expected))
    assert_same(aw.evaluate(model, direct.cut(X, 6)), expected, list(expected))


def test_one_word():
    model = aw.AnchorTopicModel(1).fit([[2], [3]])
    found = aw.evaluate(model, [[2], [3]])
    assert set(found["undefined"]) == {"npmi_coherence", "umass_coherence", *VOLUMES}
    assert (found["mst_incoherence"], found["topic_diversity"], found["dissimilarity"]) == (0.0, 1.0, 1.0)
    assert found["sparsity"] == 1.0


def test_a_model_after_AP(sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    rectified = aw.rectify_ap(C, 4)
    model = aw.anchor_words(rectified.C, 4)
    without = aw.evaluate(model, sampled.corpus)
    assert set(without["undefined"]) == set(OF_Y)
    assert all("no compression Y" in reason for reason in without["undefined"].values())
    for given_as in (rectified, rectified.C, rectified.C.tolist()):
        found = aw.evaluate(model, sampled.corpus, rectified=given_as)
        assert found["undefined"] == {}
        expected = {
            "relative_recovery": direct.relative_recovery(model, rectified.C),
            "recovery": direct.recovery(model, rectified.C),
            "approximation_rectified": direct.approximation(model, rectified.C),
            "relative_approximation_rectified": direct.relative_approximation(model, rectified.C),
        }
        assert_same(found, expected, list(expected), rel=1e-7)  # as above: a model that fits has small errors
        rows = rectified.C[model.anchors] / rectified.C[model.anchors].sum(axis=1, keepdims=True)
        heights = [
            np.exp(direct.log_volume(rows) - direct.log_volume(np.delete(rows, k, axis=0))) for k in range(4)
        ]  # fmt: skip
        np.testing.assert_allclose(found["per_topic"]["log_relative_volume"], heights, rtol=1e-9)
        assert_same(found, without, [name for name in NAMES if name not in OF_Y])


def test_a_model_without_rectification(sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    model = aw.AnchorTopicModel(3, rectifier=None).fit(sampled.corpus)
    assert set(aw.evaluate(model, sampled.corpus)["undefined"]) == set(OF_Y)
    found = aw.evaluate(model, sampled.corpus, rectified=C)
    assert found["undefined"] == {}
    # What is rectified and what is original are the same matrix here: dense, and expanded.
    for name in ("recovery", "relative_recovery"):
        assert found[name] == pytest.approx(found[f"{name}_original"], rel=1e-9)
    for name in ("approximation", "relative_approximation"):
        assert found[f"{name}_rectified"] == pytest.approx(found[name], rel=1e-9)


def test_a_rectified_record_with_a_compression_serves_a_model_without(sampled):
    """``rectified`` takes a Rectified, and one of ENN or PALM holds Y alone."""
    C = aw.cooccurrence(sampled.corpus.counts)
    rectified = aw.rectify_enn(C, 3)
    model = aw.anchor_words(np.maximum(rectified.Y @ rectified.Y.T, 0.0), 3)
    found = aw.evaluate(model, sampled.corpus, rectified=rectified)
    assert found["undefined"] == {}
    expected = direct.relative_recovery(model, rectified.Y @ rectified.Y.T)[0]
    assert found["relative_recovery"] == pytest.approx(expected, rel=1e-7)


def test_a_model_without_rows_of_its_anchors(sampled, fitted):
    record = aw.low_rank_anchor_words(fitted.model_.Y)
    found = aw.evaluate(record, sampled.corpus)
    assert set(found["undefined"]) == {"mst_incoherence"}
    assert "does not hold the anchors' rows" in found["undefined"]["mst_incoherence"]
    assert_same(found, aw.evaluate(fitted, sampled.corpus), [name for name in NAMES if name != "mst_incoherence"])


def test_a_flat_hull_has_no_volume(problem):
    X, model = problem
    Y = model.Y.copy()
    Y[model.anchors[1]] = 2.0 * Y[model.anchors[0]]  # the same row of Cbar
    parts = {name: getattr(model, name) for name in ("B", "A", "A_raw_sum", "anchors", "word_topics", "word_probs")}
    found = aw.evaluate(aw.TopicModel(**parts, Y=Y, anchor_rows=model.anchor_rows), X)
    assert found["log_relative_volume"] == found["log_relative_volume_all_rows"] == -np.inf
    heights = found["per_topic"]["log_relative_volume"]
    # Two anchors in the same place are in each other's hull; the other two are off it.
    np.testing.assert_array_equal(heights[:2], 0.0)
    assert (heights[2:] > 0).all()


def test_co_occurrence_instead_of_documents(problem):
    X, model = problem
    expected = aw.evaluate(model, X)
    for operator in (aw.CooccurrenceOperator(X), Reference(direct.cut(X, 7)).operator):
        found = aw.evaluate(model, Reference.of_operator(operator))
        assert set(found["undefined"]) == {"npmi_coherence", "umass_coherence"}
        assert all("give the documents" in reason for reason in found["undefined"].values())
        assert_same(found, expected, [name for name in NAMES if name not in found["undefined"]])
    with pytest.raises(InputError, match="X must be a matrix of counts"):
        aw.evaluate(model, aw.CooccurrenceOperator(X))


def test_bad_input_is_refused_in_one_sentence(problem):
    X, model = problem
    with pytest.raises(InputError, match=r"there is no metric 'beauty': the names are relative_recovery, "):
        aw.evaluate(model, X, metrics=["entropy", "beauty"])
    with pytest.raises(InputError, match="the model knows 30 words, but X has 29"):
        aw.evaluate(model, X[:, 1:])
    with pytest.raises(InputError, match="the model knows 30 words, but X has 29"):
        aw.evaluate(model, direct.cut(X[:, 1:], 9))
    with pytest.raises(InputError, match="X is an iterator"):
        aw.evaluate(model, iter(direct.cut(X, 9)))
    with pytest.raises(InputError, match="call fit first"):
        aw.evaluate(aw.AnchorTopicModel(3), X)
    with pytest.raises(InputError, match="the model has 30 words, but rectified has 3"):
        aw.evaluate(model, X, rectified=np.eye(3))
    with pytest.raises(InputError, match="rectified must be a square matrix"):
        aw.evaluate(model, X, rectified=np.ones((30, 3)))
    with pytest.raises(InputError, match="n_jobs must be"):
        aw.evaluate(model, X, n_jobs=0)
    with pytest.raises(InputError, match="none of the model's words"):
        aw.evaluate(model, aw.Corpus(X, [f"other{i}" for i in range(30)]))
    with pytest.raises(InputError, match="needs two tokens"):
        aw.evaluate(model, np.eye(30, dtype=int))
    with pytest.raises(InputError, match="Negative values"):
        aw.evaluate(model, -X)


@pytest.mark.parametrize("option", [{"n_draws": 0}, {"n_draws": 2.5}, {"random_state": None}, {"random_state": -1}])
def test_bad_options_are_refused_in_one_sentence(problem, option):
    """A typing error is not a metric without a value."""
    X, model = problem
    with pytest.raises(InputError, match=next(iter(option))):
        aw.evaluate(model, X, **option)


def test_a_rectified_matrix_without_an_anchor(problem):
    """As for held-out documents: undefined, with the reason, and no warning of NumPy's."""
    X, model = problem
    C = direct.eq1(X)
    C[model.anchors[0]] = 0.0
    C[:, model.anchors[0]] = 0.0
    found = aw.evaluate(model, X, rectified=C)
    assert {"recovery", "relative_recovery", *VOLUMES} <= set(found["undefined"])


# ---- estimates


@pytest.fixture
def small_sample(monkeypatch):
    monkeypatch.setattr(norms, "_CERTAIN", 40)
    monkeypatch.setattr(norms, "_DRAWN", 120)


SAMPLED = [
    "recovery_original", "relative_recovery_original", "approximation", "relative_approximation", "approximation_raw",
    "relative_approximation_raw",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_estimates_from_a_sample_of_words(small_sample, seed):
    """Within four standard errors of the exact values, and these of the size of the spread between draws."""
    X = direct.random_counts(seed, M=200, N=400, shape=2.0)
    model = direct.random_model(seed, direct.eq1(X))
    exact = aw.evaluate(model, X, metrics=SAMPLED)
    assert exact["standard_error"] == {}
    operator = aw.CooccurrenceOperator(X)
    draws = []
    for draw in range(40):
        reference = Reference(X)
        vars(reference)["row_norms"] = norms.row_norms(operator, operator.row_sums(), budget=0, random_state=draw)
        draws.append(aw.evaluate(model, reference, metrics=SAMPLED))
    for name in SAMPLED:
        values = np.array([draw[name] for draw in draws])
        errors = np.array([draw["standard_error"][name] for draw in draws])
        z = (values - exact[name]) / errors
        # The seed that evaluate uses: a normal z is beyond 4 once in 16,000.
        assert abs(z[0]) < 4.0, name
        # Ratios have a bias of second order: the relative error squared. Means are unbiased: 4 / sqrt(40) of a spread.
        assert abs(values.mean() - exact[name]) < (4 / np.sqrt(40) + 0.2) * values.std(), name
        # The spread of 40 values is known to 1 / sqrt(80) = 11 %, the errors themselves vary by a third: a factor of 1.5.
        assert 1 / 1.5 < np.sqrt((errors**2).mean()) / values.std() < 1.5, name


def test_estimates_of_a_model_that_fits(small_sample):
    """Where the error is far smaller than |C|_F, an estimate must not drown in the noise of |C|_F, nor pass for exact."""
    planted = make_topics(n_docs=1500, n_words=300, n_topics=4, doc_length=150, random_state=0)
    operator = aw.CooccurrenceOperator(planted.corpus.counts)
    p = operator.row_sums()
    model = aw.AnchorTopicModel(4).fit(planted.corpus).model_
    names = ["approximation", "relative_approximation"]
    exact = aw.evaluate(model, Reference.of_operator(operator), metrics=names)
    assert exact["relative_approximation"] < 0.05
    for draw in range(20):
        reference = Reference.of_operator(operator)
        vars(reference)["row_norms"] = norms.row_norms(operator, p, budget=0, random_state=draw)
        found = aw.evaluate(model, reference, metrics=names)
        for name in names:
            assert found["standard_error"].get(name, 0.0) > 0.0, name
            assert found[name] > 0.0
            # 20 draws of skewed errors: 5 standard errors, and these a fraction of the value.
            assert abs(found[name] - exact[name]) < 5 * found["standard_error"][name], name
        parts = found["per_topic"]["approximation"]
        assert np.sqrt((parts**2).sum()) == pytest.approx(found["approximation"], rel=1e-9)


def test_streamed_documents_are_sampled_and_say_so(small_sample):
    X = direct.random_counts(1, M=200, N=400, shape=2.0)
    model = direct.random_model(1, direct.eq1(X))
    exact = aw.evaluate(model, X)
    assert set(exact["standard_error"]) == set(VOLUMES)
    found = aw.evaluate(model, direct.cut(X, 40))
    assert set(found["standard_error"]) == {*SAMPLED, *VOLUMES}
    assert_same(found, exact, [name for name in NAMES if name not in SAMPLED])
    for name in SAMPLED:
        assert abs(found[name] - exact[name]) < 4 * found["standard_error"][name]
        assert found[name] != exact[name]


def test_the_seed_reaches_the_sample_of_words(small_sample):
    """``random_state`` is documented as the seed of the sample, too."""
    X = direct.random_counts(1, M=200, N=400, shape=2.0)
    model = direct.random_model(1, direct.eq1(X))
    one, again, other = (
        aw.evaluate(model, direct.cut(X, 40), metrics=SAMPLED, random_state=seed) for seed in (0, 0, 1)
    )  # fmt: skip
    assert [one[name] for name in SAMPLED] == [again[name] for name in SAMPLED]
    assert all(one[name] != other[name] for name in SAMPLED)


# ---- memory


@pytest.mark.parametrize("name", [name for name in NAMES if name != "log_relative_volume_all_rows"])
def test_nothing_is_words_by_words(name):
    """Many topics whose lists of words hold most of the vocabulary between them."""
    N, K = 3000, 150
    rng = np.random.default_rng(0)
    X = sp.vstack([sp.random_array((300, N), density=0.005, random_state=rng), np.ones((1, N))], format="csr")
    X.data[:] = 1.0
    B = np.full((N, K), 1e-6)
    for k in range(K):
        B[20 * k : 20 * k + 20, k] = np.linspace(2.0, 1.0, 20)  # lists of 20 words of their own
    Y = B / np.linalg.norm(B.sum(axis=0))
    anchors = 20 * np.arange(K)
    Bt = np.full((N, K), 1 / K)
    Bt[anchors] = np.eye(K)
    characteristic = (anchors[:, None] + np.arange(10, 17)).ravel()  # seven words that are not the seven most probable
    rows = sp.csr_array((np.full(7 * K, 1 / 7), (np.repeat(np.arange(K), 7), characteristic)), shape=(K, N))
    model = aw.TopicModel(
        B / B.sum(axis=0), np.full((K, K), 1 / K**2), 1.0, anchors, Bt, np.full(N, 1 / N), None, Y, rows
    )  # fmt: skip
    reference = Reference(X)
    reference.operator.row_sums()
    tracemalloc.start()
    try:
        aw.evaluate(model, reference, metrics=[name], n_draws=1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Half of an N x N matrix; a dozen of N x K matrices, 3.6 MB each, are more than enough.
    assert peak < 8 * N * N / 2, f"{peak / 2**20:.0f} MiB"


# ---- stability


OF_TOPICS = {"stability", "stable_words", "anchor_stability", "prevalence_low", "prevalence_high"}
TOGETHER = {"stability", "correlation_low", "correlation_high", "replicates"}


@pytest.fixture(scope="module")
def sure(sampled):
    model = aw.AnchorTopicModel(4).fit(sampled.corpus)
    model.measure_stability(sampled.corpus, n_replicates=4, n_shards=8, level=0.8)
    return model


def test_what_is_known_of_stability_is_there(sampled, fitted, sure):
    kept = sure.model_.stability
    found = aw.evaluate(sure, sampled.corpus)
    parts = found["per_topic"]
    for name, values in (
        ("stability", kept.similarity), ("stable_words", kept.words), ("anchor_stability", kept.anchor),
        ("prevalence_low", kept.prevalence_low), ("prevalence_high", kept.prevalence_high),
    ):  # fmt: skip
        np.testing.assert_array_equal(parts[name], values, err_msg=name)
    assert found["stability"] == pytest.approx(parts["stability"].mean(), rel=1e-14)
    np.testing.assert_array_equal(found["correlation_low"], kept.correlation_low)
    np.testing.assert_array_equal(found["correlation_high"], kept.correlation_high)
    assert found["replicates"] == {"number": 4, "shards": 8, "level": 0.8}
    # The metrics are those of the model without it, which has none of these.
    plain = aw.evaluate(fitted, sampled.corpus)
    assert_equal(found, plain)
    assert set(found) - set(plain) == TOGETHER
    assert set(parts) - set(plain["per_topic"]) == OF_TOPICS


def test_intervals_of_correlations_are_of_a_distribution(sampled, sure):
    """They hold the entries of A, which is symmetric, not negative, sums to one, and has the prevalence as its row sums."""
    found = aw.evaluate(sure, sampled.corpus, metrics=[])
    low, high = found["correlation_low"], found["correlation_high"]
    assert low.shape == high.shape == (4, 4)
    dust = 1e-12  # rounding of entries below one
    np.testing.assert_allclose(low, low.T, atol=dust)
    np.testing.assert_allclose(high, high.T, atol=dust)
    assert (low >= 0).all()
    A = sure.topic_correlation_
    assert ((low <= A + dust) & (high + dust >= A)).all()
    assert low.sum() < 1 < high.sum()
    low, high, prevalence = found["per_topic"]["prevalence_low"], found["per_topic"]["prevalence_high"], A.sum(axis=1)
    assert ((low < prevalence) & (prevalence < high)).all()
    assert ((found["per_topic"]["stability"] > 0) & (found["per_topic"]["stability"] <= 1)).all()


def test_stability_is_the_tables_and_asks_nothing_of_the_documents(sampled, sure):
    found = aw.evaluate(sure, sampled.corpus, metrics=["entropy"])
    other = aw.evaluate(sure, sampled.corpus.counts[:50], metrics=[])
    assert set(found["per_topic"]) == OF_TOPICS | {"entropy"}
    for row in aw.topic_table(sure):
        for name in OF_TOPICS:
            assert found["per_topic"][name][row["topic"]] == other["per_topic"][name][row["topic"]] == row[name]


def test_what_is_returned_is_the_callers_own(sampled, sure):
    found = aw.evaluate(sure, sampled.corpus, metrics=[])
    found["per_topic"]["stability"][:] = found["correlation_low"][:] = -1.0
    again = aw.evaluate(sure, sampled.corpus, metrics=[])
    assert again["per_topic"]["stability"].min() > 0
    assert again["correlation_low"].min() >= 0


# ---- properties


@st.composite
def problems(draw):
    """A small corpus, and a model of it: fitted by some rectifier, or a valid record that fits nothing."""
    X = draw(counts(max_docs=10, max_words=9))
    n_occur = int((X[X.sum(axis=1) >= 2].sum(axis=0) > 0).sum())
    K = draw(st.integers(1, min(4, n_occur)))
    kind = draw(st.sampled_from(["record", "zeros", "enn", "ap", None]))
    seed = draw(st.integers(0, 1000))
    if kind in ("record", "zeros"):
        C = direct.eq1(X)
        return X, direct.random_model(seed, C, K, zeros=0.7 if kind == "zeros" else 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few steps, and degenerate statistics: valid models all the same
        try:
            options = {"enn": aw.ENN(max_iter=5), "ap": aw.AP(max_iter=5)}.get(kind)
            return X, aw.AnchorTopicModel(K, rectifier=options, random_state=seed).fit(X)
        except InputError:
            assume(False)
    return None


@settings(max_examples=120, deadline=None)
@given(problems(), st.sampled_from([None, 1, 3]), st.booleans())
def test_any_small_corpus_has_values_in_their_ranges(problem, block, give_matrix):
    X, model = problem
    record = getattr(model, "model_", model)
    K, N = record.n_components, record.n_words
    data = X if block is None else direct.cut(X, block)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DegenerateWarning)
        found = aw.evaluate(model, data, n_draws=2, rectified=direct.eq1(X) if give_matrix else None)
    for name in NAMES:
        value = found[name]
        assert isinstance(value, float)
        assert np.isnan(value) == (name in found["undefined"])
        if name in found["per_topic"]:
            assert found["per_topic"][name].shape == (K,)
    dust = 1e-12  # rounding of sums of a few terms
    within = {
        "npmi_coherence": (-1, 1), "mst_incoherence": (0, 13), "relative_dominancy": (0, 1), "dominancy": (0, 1),
        "topic_diversity": (1 / K, 1), "dissimilarity": (0, min(20, N)), "entropy": (0, np.log2(N)), "sparsity": (0, 1),
        "specificity": (0, np.inf), "relative_recovery": (0, np.inf), "relative_recovery_original": (0, np.inf),
        "relative_approximation": (0, np.inf), "relative_approximation_raw": (0, np.inf), "recovery": (0, np.inf),
    }  # fmt: skip
    for name, (low, high) in within.items():
        values = np.append(found["per_topic"].get(name, []), found[name])
        values = values[~np.isnan(values)]
        if name == "topic_diversity":
            low = 1 / K
        assert ((values >= low - dust) & (values <= high + dust)).all(), name
    assert found["topic_diversity"] > 0
    # The tree of n words has n - 1 edges of at most 1.
    if "mst_incoherence" in found["per_topic"]:
        assert (found["per_topic"]["mst_incoherence"] <= min(N, 14) - 1 + dust).all()
