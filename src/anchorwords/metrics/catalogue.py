"""Every metric: its name, formula, direction and what it is measured on. Documentation and figures read it from here."""

from __future__ import annotations

from typing import NamedTuple


class Metric(NamedTuple):
    """What there is to know of a metric.

    Attributes
    ----------
    name : str
        Key in what :func:`anchorwords.evaluate` returns.
    title : str
        The paper's or the field's name.
    formula : str
    better : str
        "lower", "higher", or "" for a diagnostic that has no better end.
    measured_on : str
        The statistics or documents it needs beside the model.
    per_topic : str
        What stands under ``per_topic``.
    """

    name: str
    title: str
    formula: str
    better: str
    measured_on: str
    per_topic: str

    @property
    def direction(self) -> str:
        """The direction in words."""
        return f"{self.better} is better" if self.better else "diagnostic"


_RECTIFIED = "rectified C (Y Y'), in K dimensions"
_ORIGINAL = "original C of the given documents"
_WORD_SHARE = "mean over words weighted by p(topic given word)"
_ROW_SHARE = "the same over rows of C, each shared out by p(topic given word)"
_TERM = "the term of topic k"
_RECOVERY = "mean_i |Cbar_i - Bt_i Cbar_S|_2"

METRICS: tuple[Metric, ...] = (
    Metric("relative_recovery", "RelativeRecovery", f"{_RECOVERY} / |Cbar|_F", "lower", _RECTIFIED, _WORD_SHARE),
    Metric(
        "relative_recovery_original",
        "RelativeRecovery, original",
        f"{_RECOVERY} / |Cbar|_F",
        "lower",
        _ORIGINAL,
        _WORD_SHARE,
    ),
    Metric("recovery", "Recovery", _RECOVERY, "lower", _RECTIFIED, _WORD_SHARE),
    Metric("recovery_original", "Recovery, original", _RECOVERY, "lower", _ORIGINAL, _WORD_SHARE),
    Metric(
        "relative_approximation",
        "RelativeApproximation",
        "|C - B A B'|_F / |C|_F, A normalised",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
    ),
    Metric(
        "relative_approximation_raw",
        "RelativeApproximation, raw A",
        "|C - B A B'|_F / |C|_F, A as the anchors give it",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
    ),
    Metric(
        "relative_approximation_rectified",
        "RelativeApproximation, rectified",
        "|C - B A B'|_F / |C|_F, A normalised",
        "lower",
        _RECTIFIED,
        _ROW_SHARE,
    ),
    Metric("approximation", "Approximation", "|C - B A B'|_F, A normalised", "lower", _ORIGINAL, _ROW_SHARE),
    Metric(
        "approximation_raw",
        "Approximation, raw A",
        "|C - B A B'|_F, A as the anchors give it",
        "lower",
        _ORIGINAL,
        _ROW_SHARE,
    ),
    Metric(
        "approximation_rectified",
        "Approximation, rectified",
        "|C - B A B'|_F, A normalised",
        "lower",
        _RECTIFIED,
        _ROW_SHARE,
    ),
    Metric("relative_dominancy", "RelativeDominancy", "mean_k A_kk / |A|_F", "lower", "the model alone", _TERM),
    Metric("dominancy", "Dominancy", "mean_k A_kk / sum_l A_kl", "lower", "the model alone", _TERM),
    Metric("specificity", "Specificity", "mean_k KL(B_k || p) in bits, p = C e", "higher", _ORIGINAL, _TERM),
    Metric(
        "dissimilarity",
        "Dissimilarity",
        "mean number of a topic's top 20 words that are in no other topic's top 20",
        "higher",
        "the model alone",
        _TERM,
    ),
    Metric(
        "log_relative_volume",
        "LogRelativeVolume",
        "ln V - ln mean V_rand: hull of the anchors against hulls of K pivots among min(N, 20 K) uniform rows",
        "higher",
        _RECTIFIED,
        "distance of the anchor from the hull of the others",
    ),
    Metric(
        "log_relative_volume_all_rows",
        "LogRelativeVolume, all rows",
        "the same with all N rows drawn (N up to 5,000)",
        "higher",
        _RECTIFIED,
        "distance of the anchor from the hull of the others",
    ),
    Metric(
        "mst_incoherence",
        "MST-Incoherence",
        "weight of the minimum spanning tree over 7 prominent and 7 characteristic words, edges (1 - NPMI) / 2",
        "lower",
        _ORIGINAL,
        _TERM,
    ),
    Metric(
        "npmi_coherence",
        "NPMI coherence",
        "mean NPMI of pairs of the top 10 words, unsmoothed, never together = -1",
        "higher",
        "boolean documents of the given corpus",
        _TERM,
    ),
    Metric(
        "umass_coherence",
        "UMass coherence",
        "sum of ln((D_ij + 1) / D_j) over pairs of the top 20 words, mean over topics",
        "higher",
        "boolean documents of the given corpus",
        _TERM,
    ),
    Metric(
        "topic_diversity",
        "Topic diversity",
        "distinct share of the top 25 words of all topics",
        "higher",
        "the model alone",
        "mean over its words of 1 / number of topics that list the word",
    ),
    Metric("entropy", "Entropy", "mean_k -sum_i B_ik log2 B_ik, in bits", "", "the model alone", _TERM),
    Metric(
        "sparsity",
        "Sparsity",
        "mean_k (sqrt(n) - |B_k|_1 / |B_k|_2) / (sqrt(n) - 1), n words that occur; Hoyer's",
        "",
        "the model alone",
        _TERM,
    ),
    Metric(
        "A_raw_sum",
        "Sum of raw A",
        "e'Ae before A is normalised: near 1 where the statistics fit the model",
        "",
        "the model alone",
        "sum of the topic's row",
    ),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
