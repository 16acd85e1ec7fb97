"""Claims of the first series: methods compared with AP, with each other, and with themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median

import numpy as np

from .claim import MOST, Claim, Record, figure, span, verdict

# The paper's accuracy and meaning, as its first series reports them.
JUDGED = ("relative_recovery", "relative_approximation_raw", "relative_dominancy", "specificity", "dissimilarity")
# Differences from AP, median over K and metrics: up to the first "agrees", up to the second "slightly off".
AGREES, SLIGHTLY = 0.05, 0.25
# The baseline fails where its error is so many times ENN's, or its specificity under this share of ENN's.
FAILS_ERROR, FAILS_SPECIFICITY = 2.0, 0.5
# A raw sum of A this small is rounding.
NO_CORRELATION = 1e-10
# Spread of a metric over seeds, as a share of its mean.
STEADY = 0.01
# Ratios of run times that count as one order of magnitude.
ORDER = 10.0


def near_ap(first: Sequence[Record], methods: tuple[str, ...], limit: float, title: str) -> Claim:
    """How far methods are from AP, in metrics, matrix, topics and anchors."""
    rows, medians, apart = [], [], []
    for corpus, n_words, here in _by_vocabulary(first):
        reference = {record["n_components"]: record for record in here if record["method"] == "AP+AW"}
        for method in methods:
            runs = [r for r in here if r["method"] == method and r["seed"] == 0 and r["n_components"] in reference]
            differences = [
                abs(run[name] - ap[name]) / abs(ap[name])
                for run in runs
                for ap in [reference[run["n_components"]]]
                for name in JUDGED
                if run.get(name) is not None and ap.get(name)
            ]
            if not differences:
                continue
            medians.append(median(differences))
            apart += [run["topic_distance"] for run in runs]
            anchors = [run["common_anchors"] / run["n_components"] for run in runs]
            rows.append(
                [
                    corpus,
                    f"{n_words:,}",
                    method,
                    f"{figure(100 * medians[-1])} %",
                    f"{figure(100 * max(differences))} %",
                    span([run["matrix_distance"] for run in runs]),
                    span([run["topic_distance"] for run in runs]),
                    f"{100 * min(anchors):.0f} to {100 * max(anchors):.0f} %",
                ]
            )
    columns = [
        "corpus",
        "words",
        "method",
        "metrics, median difference",
        "largest",
        "matrix distance",
        "topic distance",
        "anchors in common",
    ]
    summary = (
        ""
        if not medians
        else (
            f"median difference of the five metrics from AP's {figure(100 * min(medians))} to "
            f"{figure(100 * max(medians))} % by corpus; matched topics are {span(apart)} apart (total variation, mean over "
            "topics)"
        )
    )
    return Claim(
        title,
        f"median difference of metrics from AP's at most {100 * limit:g} % on every corpus",
        verdict([value <= limit for value in medians], enough=1.0),
        summary,
        columns,
        rows,
    )


def baseline_fails(first: Sequence[Record]) -> Claim:
    """Raw error and specificity without rectification, beside ENN's."""
    rows, failed = [], []
    for corpus, n_words, here in _by_vocabulary(first):
        enn = {record["n_components"]: record for record in here if record["method"] == "ENN+LAW"}
        pairs = [(r, enn[r["n_components"]]) for r in here if r["method"] == "Baseline" and r["n_components"] in enn]
        if not pairs:
            continue
        fails = [_fails(baseline, rectified) for baseline, rectified in pairs]
        failed += fails
        rows.append(
            [
                corpus,
                f"{n_words:,}",
                span([b["relative_approximation_raw"] for b, _ in pairs]),
                span([e["relative_approximation_raw"] for _, e in pairs]),
                span([b["specificity"] for b, _ in pairs]),
                span([e["specificity"] for _, e in pairs]),
                f"{sum(fails)} of {len(fails)}",
            ]
        )
    return Claim(
        "without rectification the Anchor Word algorithm fails",
        f"raw RelativeApproximation at least {FAILS_ERROR:g} times ENN's, or Specificity at most {FAILS_SPECIFICITY:g} of "
        f"ENN's, or no two anchors co-occur, at {100 * MOST:.0f} % of corpora and K",
        verdict(failed),
        f"it fails by that rule at {sum(failed)} of {len(failed)} corpora and K",
        ["corpus", "words", "raw RelativeApproximation", "ENN+LAW's", "Specificity", "ENN+LAW's", "fails at K"],
        rows,
    )


def _fails(baseline: Record, rectified: Record) -> bool:
    """By error, by specificity, or because no two anchors co-occur, which leaves A empty; undefined values do not count."""
    if (baseline.get("A_raw_sum") or 0.0) <= NO_CORRELATION and "A_raw_sum" in baseline:
        return True
    error, least = baseline["relative_approximation_raw"], rectified["relative_approximation_raw"]
    sharp, sharpest = baseline["specificity"], rectified["specificity"]
    too_large = None not in (error, least) and error > 0.0 and error >= FAILS_ERROR * least
    return too_large or (None not in (sharp, sharpest) and sharpest > 0.0 and sharp <= FAILS_SPECIFICITY * sharpest)


def seeds_agree(first: Sequence[Record]) -> Claim:
    """Spread of LR-JSMF over seeds."""
    rows, spreads = [], []
    for corpus, n_words, here in _by_vocabulary(first):
        runs: dict[int, list[Record]] = {}
        for record in here:
            if record["method"] == "LR-JSMF":
                runs.setdefault(record["n_components"], []).append(record)
        several = {K: group for K, group in runs.items() if len(group) > 1}
        values = [
            float(np.std(column, ddof=1) / abs(np.mean(column)))
            for group in several.values()
            for name in JUDGED
            for column in [[r[name] for r in group if r.get(name) is not None]]
            if len(column) > 1 and np.mean(column) != 0.0
        ]
        if not values:
            continue
        spreads.append(max(values))
        repeats = [r for group in several.values() for r in group if "seed_topic_distance" in r]
        same = sum(r["seed_common_anchors"] == r["n_components"] for r in repeats)
        rows.append(
            [
                corpus,
                f"{n_words:,}",
                str(len(next(iter(several.values())))),
                f"{median(values):.1e}",
                f"{max(values):.1e}",
                f"{max(r['seed_topic_distance'] for r in repeats):.1e}",
                f"{same} of {len(repeats)}",
            ]
        )
    return Claim(
        "the randomness in LR-JSMF produces very low variance",
        f"standard deviation over seeds at most {100 * STEADY:g} % of the mean, for every metric and K",
        verdict([spread <= STEADY for spread in spreads], enough=1.0),
        ""
        if not spreads
        else f"the largest standard deviation of any metric at any K is {100 * max(spreads):.2g} % of its mean",
        [
            "corpus",
            "words",
            "seeds",
            "spread of metrics, median",
            "largest",
            "largest topic distance",
            "runs with the same anchors",
        ],
        rows,
    )


def faster_than_ap(first: Sequence[Record]) -> Claim:
    """Seconds of AP over those of ENN and LR-JSMF."""
    rows, ratios = [], []
    for corpus, n_words, here in _by_vocabulary(first):
        ap = {record["n_components"]: record["seconds"] for record in here if record["method"] == "AP+AW"}
        for method in ("ENN+LAW", "LR-JSMF", "PALM+LAW"):
            pairs = [
                (ap[r["n_components"]], r["seconds"])
                for r in here
                if r["method"] == method and r["seed"] == 0 and r["n_components"] in ap and r["seconds"] > 0.0
            ]
            if not pairs:
                continue
            here_ratios = [slow / quick for slow, quick in pairs]
            if method != "PALM+LAW":
                ratios += here_ratios
            rows.append(
                [
                    corpus,
                    f"{n_words:,}",
                    method,
                    span([slow for slow, _ in pairs]),
                    span([quick for _, quick in pairs]),
                    figure(median(here_ratios)),
                    span(here_ratios),
                ]
            )
    return Claim(
        "ENN and LR-JSMF are one to two orders of magnitude faster than AP",
        f"at least {ORDER:g} times as fast as AP+AW at {100 * MOST:.0f} % of corpora and K",
        verdict([ratio >= ORDER for ratio in ratios]),
        "" if not ratios else f"{span(ratios)} times as fast as AP+AW, median {figure(median(ratios))}",
        ["corpus", "words", "method", "AP+AW, seconds", "seconds", "times as fast, median", "range"],
        rows,
    )


def _by_vocabulary(first: Sequence[Record]) -> Iterable[tuple[str, int, list[Record]]]:
    for corpus, n_words in dict.fromkeys((record["corpus"], record["n_words"]) for record in first):
        yield corpus, n_words, [r for r in first if r["corpus"] == corpus and r["n_words"] == n_words]
