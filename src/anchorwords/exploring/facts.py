"""What the page says of the model as a whole: sizes, parameters, convergence, metrics with a reading of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._version import __version__
from ..metrics.catalogue import METRICS, Metric, sureness_metrics
from ..metrics.evaluate import evaluate
from ..metrics.reference import Reference
from ..metrics.volume import ROWS_A_TOPIC
from ..model import TopicModel
from .plain import name, number, numbers

# What can be said without documents: of the model alone, or of its own co-occurrence.
_WITHOUT_DOCUMENTS = (
    "relative_recovery", "relative_approximation_rectified", "relative_dominancy", "specificity", "dissimilarity",
    "log_relative_volume", "mst_incoherence", "topic_diversity", "entropy", "sparsity", "A_raw_sum",
)  # fmt: skip
# And with them: each once, in the form that compares best.
_WITH_DOCUMENTS = (
    "relative_recovery", "relative_approximation", "relative_dominancy", "specificity", "dissimilarity",
    "log_relative_volume", "mst_incoherence", "npmi_coherence", "umass_coherence", "topic_diversity", "entropy",
    "sparsity", "A_raw_sum",
)  # fmt: skip
# Metrics of single topics that the tables show.
PER_TOPIC = ("specificity", "mst_incoherence", "npmi_coherence")
# Points of a curve at most: a line of a few hundred pixels shows no more.
_POINTS = 400
# Random numbers of a random hull that a page has time for: ten seconds of three hulls.
_NUMBERS = 6 * 10**7
_LONGEST_REASON = 400


def measured(
    model: TopicModel, reference: Reference, documents: bool, n_jobs: int | None
) -> tuple[list[dict[str, Any]], dict[str, FloatArray]]:
    """Metrics as the page lists them, and those of each topic by name.

    Parameters
    ----------
    model : TopicModel
    reference : Reference
        What to measure on.
    documents : bool
        Whether it is documents; otherwise it is the model's own co-occurrence.
    n_jobs : int or None
    """
    wanted = set(_WITH_DOCUMENTS if documents else _WITHOUT_DOCUMENTS)
    slow = {"log_relative_volume"} if _takes_long(model) else set()
    result = evaluate(model, reference, metrics=wanted - slow, n_jobs=n_jobs)
    result["undefined"] |= dict.fromkeys(slow, "With so many words and topics it takes minutes: evaluate measures it.")
    rows = [_metric_row(metric, result, not documents) for metric in METRICS if metric.name in wanted]
    if model.stability is not None:
        drawn = model.stability
        values = {
            "stability": float(drawn.similarity.mean()),
            "stable_words": float(drawn.words.mean()),
            "anchor_stability": float(drawn.anchor.mean()),
        }
        sure = sureness_metrics(drawn.n_replicates, drawn.n_shards, drawn.level)
        rows = [_metric_row(metric, values, False) for metric in sure if metric.name in values] + rows
    per_topic = {key: result["per_topic"][key] for key in PER_TOPIC if key in result["per_topic"]}
    return rows, per_topic


def _takes_long(model: TopicModel) -> bool:
    """Whether the random hulls that the volume is compared with are too much work for a page."""
    n_words = int(np.count_nonzero(model.word_probs > 0.0))
    return n_words * min(n_words, ROWS_A_TOPIC * model.n_components) > _NUMBERS


def _metric_row(metric: Metric, result: Mapping[str, Any], alone: bool) -> dict[str, Any]:
    value, error = result.get(metric.name), result.get("standard_error", {}).get(metric.name)
    own = alone and metric.measured_on.startswith("original C")
    return {
        "name": metric.name,
        "title": metric.title,
        "value": None if value is None else number(value, 4),
        "standard_error": None if error is None else number(error, 2),
        "better": metric.better,
        "reading": metric.reading,
        "formula": metric.formula,
        "measured_on": "the model's own co-occurrence, as no documents were given" if own else metric.measured_on,
        "undefined": name(result.get("undefined", {}).get(metric.name, ""), _LONGEST_REASON),
    }


def facts(record: TopicModel, n_measured: int | None, n_words_shown: int) -> list[dict[str, Any]]:
    """Sizes and origins, each with a word on what it means.

    Parameters
    ----------
    record : TopicModel
    n_measured : int or None
        Documents that the page was made with.
    n_words_shown : int
    """
    edits = len(record.edits)
    rows = [
        _fact(
            "Topics",
            record.n_components,
            f"after {edits:,} edit{'s' if edits > 1 else ''}" if edits else "K, the number that was asked for",
        ),
        _fact("Words", record.n_words, "N, the vocabulary of the model"),
        _fact("Words in this page", n_words_shown, _sample(record, n_words_shown)),
    ]
    made = record.provenance
    if made.n_docs is not None:
        short = made.n_skipped or 0
        note = f"and {short:,} with fewer than two words were skipped" if short else "that topics were learned from"
        rows.append(_fact("Documents", made.n_docs, note))
    if n_measured is not None:
        rows.append(_fact("Documents measured on", n_measured, "those that this page was made with"))
    refined = record.log_likelihood is not None
    rows.append(
        _fact(
            "Method",
            "anchor words, refined by likelihood" if refined else "low-rank anchor words" if record.Y is not None
            else "anchor words",
            "topics start from words that stand for them, and are then polished on the documents" if refined
            else "each topic is read off a word that stands for it alone",
        )
    )  # fmt: skip
    if steps := made.n_iter:
        note = (
            f"rectification met its tolerance after {steps} steps" if made.converged else f"stopped after {steps} steps"
        )
        rows.append(_fact("Converged", "yes" if made.converged else "no", note))
    rows.append(_fact("Written by", f"anchorwords {__version__}", "no network was needed, and none is used"))
    return rows


def _sample(record: TopicModel, n: int) -> str:
    if n == record.n_words:
        return "all of them"
    if n >= np.count_nonzero(record.word_probs > 0.0):
        return "all that occur"
    return "every word that a topic lists, the most frequent, and an even sample of the rest"


def _fact(title: str, value: Any, note: str) -> dict[str, Any]:
    return {"name": title, "value": value, "note": note}


def parameters(record: TopicModel) -> list[dict[str, str]]:
    """Parameters of the fit; none for a model that no estimator made."""
    return [{"name": key, "value": name(_shown(value), 200)} for key, value in record.provenance.parameters.items()]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{part} {option}" for part, option in value.items() if option is not None)
    if isinstance(value, (list, tuple)):
        return ", ".join(" + ".join(map(str, part)) if isinstance(part, (list, tuple)) else str(part) for part in value)
    return str(value)


def convergence(record: TopicModel) -> dict[str, Any] | None:
    """Violation of each step of the rectification, thinned evenly where there are very many; None where not known."""
    made = record.provenance
    history = made.history
    if not history:
        return None
    given = made.parameters.get("rectifier")
    options: dict[str, Any] = given if isinstance(given, dict) else {"name": given or ""}
    if isinstance(given, str):
        from ..rectify.rectifiers import RECTIFIERS  # not up there: it brings scikit-learn

        options |= asdict(RECTIFIERS[given]()) if given in RECTIFIERS else {}
    steps = _thinned(len(history))
    return {
        "method": name(options.get("name", "")).upper(),
        "tol": number(tol, 3) if isinstance(tol := options.get("tol"), (int, float)) else None,
        "converged": made.converged,
        "steps": [step + 1 for step in steps],
        "violation": numbers([history[step].violation for step in steps], 3),
        "change": numbers([history[step].change for step in steps], 3),
    }


def _thinned(n: int) -> list[int]:
    if n <= _POINTS:
        return list(range(n))
    return sorted({round(i * (n - 1) / (_POINTS - 1)) for i in range(_POINTS)})


def likelihood(record: TopicModel) -> list[Any] | None:
    """Log-likelihood of a token in each sweep of the refinement; None for spectral topics."""
    return None if record.log_likelihood is None else numbers(record.log_likelihood, 5)
