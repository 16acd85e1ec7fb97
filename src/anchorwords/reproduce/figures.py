"""Figures of the report, from stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..metrics.catalogue import BY_NAME
from ..plot.curves import metric_curves, vocabulary_curves
from ..plot.space import spaces
from ..plot.style import save
from .plan import METHODS, STAND_INS, group_of
from .store import file_name

FIRST = (
    "relative_recovery", "relative_approximation_raw", "relative_dominancy", "specificity", "dissimilarity", "seconds",
)  # fmt: skip
BESIDE = ("log_relative_volume", "mst_incoherence", "npmi_coherence", "umass_coherence", "topic_diversity", "entropy")
SECOND = (
    "log_relative_volume", "relative_recovery", "relative_approximation", "relative_dominancy", "mst_incoherence",
    "seconds_rectification", "seconds_factorisation",
)  # fmt: skip
_TITLES = {
    "seconds": "seconds, all stages", "seconds_rectification": "seconds of ENN", "seconds_factorisation": "seconds of LAW"
}  # fmt: skip


def draw(results: Any, folder: Path) -> dict[str, list[str]]:
    """Write every figure as SVG and PNG; returns the names of the files by figure, without endings."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn: dict[str, list[str]] = {"figure2": [], "figure3": [], "figure4": []}
    by_method = sorted(results.first, key=lambda record: METHODS.index(record["method"]))
    labels = {metric.name: metric.title for metric in BY_NAME.values()} | _TITLES
    for n_words in sorted({record["n_words"] for record in by_method}):
        here = [record for record in by_method if record["n_words"] == n_words]
        names = labels | {info["corpus"]: _described(info, here) for info in results.corpora}
        for label, metrics in (("figure3", FIRST), ("figure3-more", BESIDE)):
            figure = metric_curves(here, metrics, labels=names, logs=("seconds",))
            drawn["figure3"].append(_written(figure, folder / f"{label}-{n_words}"))
    if any(group_of(record["n_components"]) for record in results.second):
        names = labels | {info["corpus"]: _described(info, []) for info in results.corpora}
        logs = ("seconds_rectification", "seconds_factorisation")
        figure = vocabulary_curves(results.second, SECOND, labels=names, logs=logs)
        drawn["figure4"].append(_written(figure, folder / "figure4"))
    for info in results.corpora:
        panels = _panels(results.spaces, info["corpus"])
        if panels:
            drawn["figure2"].append(
                _written(spaces(panels, columns=5), folder / f"figure2-{file_name(info['corpus'])}")
            )
    return drawn


def _panels(stored: list[dict[str, Any]], corpus: str) -> list[dict[str, Any]]:
    """First row the methods at one vocabulary, second row LR-JSMF as the vocabulary grows."""
    here = [panel for panel in stored if panel["corpus"] == corpus]
    size = next((panel["n_words"] for panel in here if panel["method"] != "LR-JSMF"), None)
    methods = {panel["method"]: panel for panel in here if panel["n_words"] == size}
    first = [_titled(methods[method], method) for method in METHODS if method in methods]
    growing = sorted(
        (panel for panel in here if panel["method"] == "LR-JSMF" and panel["n_words"] != size),
        key=lambda p: p["n_words"],
    )
    if len(growing) > 5:  # the first, the last, and three between
        growing = [growing[round(i * (len(growing) - 1) / 4)] for i in range(5)]
    return first + [_titled(panel, f"LR-JSMF, {panel['n_words']:,} words") for panel in growing]


def _titled(panel: dict[str, Any], title: str) -> dict[str, Any]:
    return panel | {"title": title, "relative_volume": panel["log_relative_volume"]}


def _described(info: dict[str, Any], here: list[dict[str, Any]]) -> str:
    """Corpus, what it stands in for, documents, and words where all records have as many."""
    name = info["corpus"]
    lines = [f"{name} (for {STAND_INS[name]})" if name in STAND_INS else name, f"M = {info['documents']:,}"]
    sizes = {record["words"] for record in here if record["corpus"] == name}
    if len(sizes) == 1:
        lines[-1] += f", N = {sizes.pop():,}"
    return "\n".join(lines)


def _written(figure: Any, path: Path) -> str:
    save(figure, path)
    return path.name
