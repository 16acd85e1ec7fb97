from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exploring import facts as module
from anchorwords.exploring.facts import convergence, facts, likelihood, measured, parameters
from anchorwords.exploring.plain import number
from anchorwords.interpret.companions import FactoredCooccurrence
from anchorwords.linalg.fixed_point import Iteration
from anchorwords.metrics import METRICS, Reference
from anchorwords.model import as_topic_model
from anchorwords.sources.convert import as_source

from .made import bare, fitted, made_model, sampled


def measured_on(model, X=None):
    record = as_topic_model(model)
    reference = Reference.of_operator(FactoredCooccurrence(record)) if X is None else Reference(X, record.vocabulary)
    return measured(record, reference, X is not None, 1)


def by_name(rows):
    found = {row["name"]: row for row in rows}
    assert len(found) == len(rows)
    return found


@pytest.mark.parametrize("kind", ["enn", "ap", "tandem", "refined", "1"])
def test_metrics_are_those_of_evaluate(kind):
    model = fitted(kind)
    rows, per_topic = measured_on(model, sampled())
    expected = aw.evaluate(model, sampled())
    for row in rows:
        value = expected[row["name"]]
        assert row["value"] == number(value, 4)
        assert row["undefined"] == expected["undefined"].get(row["name"], "")
        assert (row["standard_error"] is None) == (row["name"] not in expected["standard_error"])
        assert (row["value"] is None) == (not np.isfinite(value))
    assert {"relative_approximation", "mst_incoherence", "npmi_coherence", "specificity"} <= set(by_name(rows))
    for name in ("specificity", "mst_incoherence", "npmi_coherence"):
        np.testing.assert_array_equal(per_topic[name], expected["per_topic"][name])


def test_without_documents_the_models_own_co_occurrence_takes_their_place():
    # Y Y' as a dense matrix, by another route.
    model = fitted().model_
    rows, per_topic = measured_on(model)
    found = by_name(rows)
    C = model.Y @ model.Y.T
    p = np.maximum(C.sum(axis=1), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(model.B > 0.0, model.B * np.log2(model.B / p[:, None]), 0.0)
    np.testing.assert_allclose(per_topic["specificity"], terms.sum(axis=0), rtol=1e-6)
    own = [row["name"] for row in rows if "own co-occurrence" in row["measured_on"]]
    assert own == ["specificity", "mst_incoherence"]
    assert "npmi_coherence" not in found
    assert "npmi_coherence" not in per_topic
    assert found["relative_recovery"]["value"] == number(aw.metrics.relative_recovery(model), 4)


def test_every_metric_is_told_as_the_catalogue_does():
    rows, _ = measured_on(fitted(), sampled())
    known = {metric.name: metric for metric in METRICS}
    assert [row["name"] for row in rows] == [metric.name for metric in METRICS if metric.name in by_name(rows)]
    for row in rows:
        metric = known[row["name"]]
        for key in ("title", "better", "reading", "formula", "measured_on"):
            assert row[key] == getattr(metric, key)


def test_what_is_known_of_the_stability_comes_first():
    rows, _ = measured_on(fitted("stable"), sampled())
    sure = fitted("stable").model_.stability
    assert [row["name"] for row in rows[:3]] == ["stability", "stable_words", "anchor_stability"]
    assert [row["value"] for row in rows[:3]] == [
        number(values.mean(), 4) for values in (sure.similarity, sure.words, sure.anchor)
    ]
    assert "stability" not in by_name(measured_on(fitted(), sampled())[0])


def test_volumes_of_many_words_and_topics_are_left_out(monkeypatch):
    model = made_model(300, 4, words_a_topic=80)
    assert by_name(measured_on(model)[0])["log_relative_volume"]["value"] is not None
    monkeypatch.setattr(module, "_NUMBERS", 300 * 80 - 1)
    row = by_name(measured_on(model)[0])["log_relative_volume"]
    assert row["value"] is None
    assert "evaluate" in row["undefined"]
    monkeypatch.setattr(module, "_NUMBERS", 300 * 80)
    assert by_name(measured_on(model)[0])["log_relative_volume"]["value"] is not None


def test_reasons_are_bounded():
    # An anchor that the documents do not hold is named in the reason: its name may be anything.
    corpus = sampled()
    words = ["\u202e" + "</script>" * 2000 + str(i) for i in range(90)]
    model = aw.AnchorTopicModel(5, rectifier=None).fit(aw.Corpus(corpus.counts, words))
    without = corpus.counts.toarray()
    without[:, model.anchors_] = 0
    rows, _ = measured_on(model.model_, aw.Corpus(without, words))
    reasons = [row["undefined"] for row in rows if row["undefined"]]
    assert reasons
    assert all(len(reason) <= 400 and reason.isprintable() for reason in reasons)


# ---- Facts


def retold(**changes):
    """A fitted model with parts of its provenance replaced."""
    record = fitted().model_
    return dataclasses.replace(record, provenance=record.provenance.with_changes(**changes))


def fact_of(model, X=None, n=90):
    rows = facts(as_topic_model(model), None if X is None else as_source(X).n_docs, n)
    assert all(set(row) == {"name", "value", "note"} and row["note"] for row in rows)
    return {row["name"]: row for row in rows}


def test_sizes():
    found = fact_of(fitted(), sampled())
    assert (found["Topics"]["value"], found["Words"]["value"]) == (5, 90)
    assert found["Words in this page"] == {"name": "Words in this page", "value": 90, "note": "all of them"}
    assert found["Documents"]["value"] == 300
    assert found["Documents"]["note"].startswith("and 1 with fewer than two words")
    assert found["Documents measured on"]["value"] == 301
    assert "sample" in fact_of(fitted(), n=60)["Words in this page"]["note"]
    assert "Documents measured on" not in fact_of(fitted())
    assert fact_of(fitted(), sampled().counts.toarray())["Documents measured on"]["value"] == 301
    assert fact_of(fitted(), [sampled().counts])["Documents measured on"]["value"] == 301
    assert "Documents measured on" not in fact_of(fitted(), lambda: [sampled().counts])  # which no one has counted


@pytest.mark.parametrize("n_skipped", [0, None])
def test_documents_of_which_none_was_skipped(n_skipped):
    found = fact_of(retold(n_docs=7, n_skipped=n_skipped))["Documents"]
    assert found == {"name": "Documents", "value": 7, "note": "that topics were learned from"}


def test_a_bare_model_knows_less():
    record = bare(fitted().model_)
    found = fact_of(record)
    assert not {"Documents", "Converged"} & set(found)
    assert {"Topics", "Words", "Method"} <= set(found)
    assert parameters(record) == []
    assert convergence(record) is None


@pytest.mark.parametrize("kind", ["enn", "palm", "unrectified", "tandem", "refined"])
def test_a_model_that_was_saved_tells_the_same(kind, tmp_path):
    record = fitted(kind).model_
    fitted(kind).save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model").model_
    assert facts(loaded, 301, 90) == facts(record, 301, 90)
    assert parameters(loaded) == parameters(record) != []
    assert convergence(loaded) == convergence(record)
    assert (convergence(record) is None) == (kind == "unrectified")


@pytest.mark.parametrize(
    ("kind", "method"),
    [("enn", "low-rank anchor words"), ("palm", "low-rank anchor words"), ("ap", "anchor words"),
     ("unrectified", "anchor words"), ("refined", "anchor words, refined by likelihood")],
)  # fmt: skip
def test_methods(kind, method):
    assert fact_of(fitted(kind))["Method"]["value"] == method


def test_whether_it_converged():
    found = fact_of(fitted())["Converged"]
    assert found["value"] == "yes"
    assert f"after {fitted().n_iter_} steps" in found["note"]
    assert "Converged" not in fact_of(fitted("unrectified"))  # nothing was rectified
    with pytest.warns(aw.exceptions.ConvergenceWarning):
        stopped = aw.AnchorTopicModel(5, rectifier=aw.ENN(max_iter=2)).fit(sampled())
    assert fact_of(stopped)["Converged"] == {"name": "Converged", "value": "no", "note": "stopped after 2 steps"}
    assert convergence(stopped.model_)["converged"] is False


# ---- Parameters


def parameters_of(kind):
    return {row["name"]: row["value"] for row in parameters(fitted(kind).model_)}


def test_parameters_are_those_of_the_estimator():
    found = parameters_of("tandem")
    # A model does not remember its device.
    assert set(found) == set(fitted("tandem").get_params(deep=False)) - {"device"}
    assert found["n_components"] == "5"
    words = sampled().vocabulary
    assert found["anchors"] == f"{words[0]} + {words[1]}, {words[2]}"
    assert parameters_of("refined")["refinement"] == (
        "n_sweeps 4, split_sweeps 0, decorrelation 3.0, least_squares 6, background 0.1"
    )


@pytest.mark.parametrize(
    ("kind", "listed"),
    [("enn", "enn"), ("ap", "ap"), ("unrectified", "None"),
     ("palm", "name palm, s 0.0001, gamma 1.005, max_iter 100, inertial False, tol 0.001")],
)  # fmt: skip
def test_a_rectifier_is_listed_as_it_was_given(kind, listed):
    assert parameters_of(kind)["rectifier"] == listed


def test_parameters_are_those_of_the_fit():
    model = copy.copy(fitted())
    before = parameters(model.model_), convergence(model.model_)
    model.set_params(n_components=7, rectifier="ap")
    assert (parameters(model.model_), convergence(model.model_)) == before


def test_parameters_are_bounded():
    hostile = "</script>" + "\x00" * 500
    for value in ([hostile] * 1000, [[hostile] * 1000], {hostile: hostile}, hostile):
        (row,) = parameters(retold(parameters={"anchors": value}))
        assert len(row["value"]) <= 200
        assert row["value"].isprintable()


# ---- Curves


@pytest.mark.parametrize(("kind", "method", "tol"), [("enn", "ENN", 1e-8), ("ap", "AP", 1e-4), ("palm", "PALM", 1e-3)])
def test_the_curve_is_the_history(kind, method, tol):
    model = fitted(kind)
    found = convergence(model.model_)
    assert (found["method"], found["tol"], found["converged"]) == (method, tol, True)
    assert found["steps"] == list(range(1, model.n_iter_ + 1))
    assert found["violation"] == [number(step.violation, 3) for step in model.history_]
    assert found["violation"][-1] <= tol


def test_long_curves_are_thinned_evenly():
    found = convergence(retold(history=tuple(Iteration(1.0, 1.0 / n) for n in range(1, 5001)), n_iter=5000))
    assert len(found["steps"]) == len(found["violation"]) == 400
    assert (found["steps"][0], found["steps"][-1]) == (1, 5000)
    assert np.ptp(np.diff(found["steps"])) <= 1
    assert found["violation"] == [number(1 / n, 3) for n in found["steps"]]


def test_steps_that_are_no_numbers():
    history = (Iteration(float("nan"), float("inf")), Iteration(1.0, 0.5))
    found = convergence(retold(history=history, n_iter=2))
    assert found["violation"] == [None, 0.5]
    assert found["change"] == [None, 1]


@pytest.mark.parametrize("history", [None, ()])
def test_no_curve_where_no_steps_are_known(history):
    assert convergence(retold(history=history)) is None
    assert convergence(fitted("unrectified").model_) is None


def test_likelihood_of_refined_topics():
    record = fitted("refined").model_
    assert likelihood(record) == [number(value, 5) for value in record.log_likelihood]
    assert likelihood(fitted().model_) is None
    assert likelihood(dataclasses.replace(record, log_likelihood=(-7.0, float("nan")))) == [-7, None]
