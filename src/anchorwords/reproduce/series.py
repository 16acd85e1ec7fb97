"""The experiments themselves: each returns plain records that can be stored, tabulated and drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray
from ..interpret.topic_table import topic_table
from ..learn import with_original_rows
from ..metrics.catalogue import METRICS
from ..metrics.evaluate import evaluate
from ..metrics.incoherence import topic_trees
from ..metrics.matching import match_topics
from ..plot.coordinates import space_coordinates
from .methods import Clock, Experiment, Outcome, enn_and_law, run_method
from .plan import Plan

# Metrics of the second series: those that compare across vocabularies.
SECOND = (
    "relative_recovery", "relative_approximation", "relative_approximation_raw", "relative_dominancy",
    "log_relative_volume", "mst_incoherence", "A_raw_sum",
)  # fmt: skip


def first_series(experiment: Experiment, K: int, methods: tuple[str, ...], plan: Plan) -> list[dict[str, Any]]:
    """All methods at one K: metrics, times, and how near each is to AP where AP is among them."""
    runs = []
    for method in methods:
        for seed in range(plan.n_seeds if method == "LR-JSMF" else 1):
            outcome = run_method(method, experiment, K, seed=seed, ap_steps=plan.ap_steps)
            runs.append((_record(method, K, seed, outcome, experiment, None), outcome))
    first = {record["method"]: outcome for record, outcome in runs if record["seed"] == 0}
    for record, outcome in runs:
        if "AP+AW" in first:
            record.update(_compared(outcome, first["AP+AW"]))
        if record["seed"]:
            record.update(_repeated(outcome, first[record["method"]]))
    return [record for record, _ in runs]


def second_series(experiment: Experiment, K: int, largest_k: int) -> dict[str, Any]:
    """LR-JSMF on one vocabulary; the eigenpairs of the largest K serve all, and so does their time."""
    start, seconds = experiment.start(largest_k)
    outcome = enn_and_law(start, K, Clock(), experiment.n_jobs)
    outcome = outcome._replace(model=with_original_rows(outcome.model, experiment.operator))
    record = _record("LR-JSMF", K, 0, outcome, experiment, SECOND)
    return record | _trees(outcome, experiment) | {"seconds_start": seconds, "seconds": seconds + record["seconds"]}


def _trees(outcome: Outcome, experiment: Experiment) -> dict[str, Any]:
    """What MST-Incoherence is made of: words of a tree, weight of an edge; and trees of rectified characteristic words."""
    trees = topic_trees(outcome.model, experiment.reference)
    rectified = topic_trees(outcome.model, experiment.reference, rectified=True)
    n_edges = sum(len(tree.edges) for tree in trees)
    return {
        "tree_words": float(np.mean([len(tree.words) for tree in trees])),
        "edge_weight": sum(tree.weight for tree in trees) / n_edges if n_edges else None,
        "mst_incoherence_rectified": float(np.mean([tree.weight for tree in rectified])),
    }


def space(experiment: Experiment, method: str, K: int, plan: Plan) -> dict[str, Any]:
    """Figure 2's panel: words and anchors in the plane."""
    outcome = run_method(method, experiment, K, ap_steps=plan.ap_steps)
    xy, usable, explained = space_coordinates(outcome.model, outcome.matrix)
    vocabulary = experiment.corpus.vocabulary
    volume = evaluate(
        outcome.model,
        experiment.reference,
        rectified=outcome.matrix,
        metrics=["log_relative_volume"],
        n_jobs=experiment.n_jobs,
    )
    return {
        "method": method,
        "n_words": experiment.corpus.n_words,
        "log_relative_volume": _number(volume["log_relative_volume"]),
        "xy": np.round(xy[usable], 7).tolist(),
        "anchors": np.round(xy[outcome.model.anchors], 7).tolist(),
        "anchor_words": [vocabulary[i] for i in outcome.model.anchors],
        "explained": explained.tolist(),
    }


def word_table(experiment: Experiment, K: int, n: int = 6) -> list[dict[str, Any]]:
    """Table 1: prominent and characteristic words side by side, with the documents that hold each."""
    outcome = run_method("LR-JSMF", experiment, K)
    corpus = experiment.corpus
    frequency = dict(zip(corpus.vocabulary, corpus.document_frequencies.tolist(), strict=True))
    rows = topic_table(outcome.model.with_vocabulary(corpus.vocabulary), n)
    for row in rows:
        row["prominent_documents"] = [frequency[word] for word in row["prominent"]]
        row["specific_documents"] = [frequency[word] for word in row["specific"]]
        row["anchor_documents"] = frequency[row["anchor"]]
    return rows


def _record(
    method: str, K: int, seed: int, outcome: Outcome, experiment: Experiment, metrics: tuple[str, ...] | None
) -> dict[str, Any]:
    """Metrics and times of a run as one flat record; nan and infinity are None."""
    result = evaluate(
        outcome.model, experiment.reference, rectified=outcome.matrix, metrics=metrics, n_jobs=experiment.n_jobs
    )
    names = [metric.name for metric in METRICS if metric.name in result]
    seconds = outcome.seconds
    return {
        "method": method,
        "n_components": K,
        "seed": seed,
        "words": experiment.corpus.n_words,
        "documents": experiment.corpus.n_docs,
        **{name: _number(result[name]) for name in names},
        "log_relative_volume_error": _number(result["standard_error"].get("log_relative_volume", 0.0)),
        "converged": outcome.converged,
        "iterations": 0 if outcome.rectified is None else outcome.rectified.n_iter,
        **{f"seconds_{stage}": seconds.get(stage, 0.0) for stage in ("start", "rectification", "factorisation")},
        "seconds": sum(seconds.values()),
    }


def _compared(outcome: Outcome, ap: Outcome) -> dict[str, Any]:
    """How near a result is to AP's: the matrix, the topics after matching, the anchors."""
    assert ap.matrix is not None
    matching = match_topics(ap.model.B, outcome.model.B)
    return {
        "matrix_distance": _distance(outcome, ap.matrix),
        "topic_distance": float(matching.total_variation.mean()),
        "common_anchors": int(np.intersect1d(ap.model.anchors, outcome.model.anchors).size),
    }


def _repeated(outcome: Outcome, first: Outcome) -> dict[str, Any]:
    """How near a run with other random numbers is to the first."""
    return {
        "seed_topic_distance": float(match_topics(first.model.B, outcome.model.B).total_variation.max()),
        "seed_common_anchors": int(np.intersect1d(first.model.anchors, outcome.model.anchors).size),
    }


def _distance(outcome: Outcome, C: FloatArray) -> float:
    """|C' - C|_F / |C|_F of what a model was read off."""
    if outcome.matrix is not None:
        return float(np.linalg.norm(outcome.matrix - C) / np.linalg.norm(C))
    Y = outcome.model.Y
    assert Y is not None
    squared = float(np.sum((Y.T @ Y) ** 2) - 2.0 * np.sum((C @ Y) * Y) + np.sum(C * C))
    return float(np.sqrt(max(squared, 0.0)) / np.linalg.norm(C))


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
