"""Claims of the second series, growing vocabularies, and of the table of words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import median

import numpy as np
from scipy.stats import spearmanr

from .claim import MOST, Claim, Record, figure, verdict
from .plan import GROUPS, group_of

# Seconds that grow with a power of the vocabulary below this are called stable.
STABLE = 0.5


def trend(second: Sequence[Record], name: str, rises: bool, title: str) -> Claim:
    """Whether a metric goes one way as the vocabulary grows."""
    rows, right = [], []
    for corpus, group, sizes, means in _lines(second, lambda record: record.get(name)):
        rank = float(spearmanr(sizes, means).statistic) if len(set(means)) > 1 else 0.0
        right.append(rank > 0.0 if rises else rank < 0.0)
        rows.append([corpus, group, f"{means[0]:.4g}", f"{means[-1]:.4g}", f"{rank:+.2f}"])
    way = "rises" if rises else "falls"
    return Claim(
        title,
        f"the rank correlation with the number of words says so on {100 * MOST:.0f} % of lines (corpus and group of K)",
        verdict(right),
        f"it {way} on {sum(right)} of {len(right)} lines",
        ["corpus", "K", "smallest vocabulary", "full vocabulary", "rank correlation"],
        rows,
    )


def incoherence_falls(second: Sequence[Record]) -> Claim:
    """The trend of MST-Incoherence, with what it is made of: it grows with the number of words in a tree."""
    claim = trend(second, "mst_incoherence", False, "MST-Incoherence falls in general with the vocabulary")
    beside = {
        "words of a tree": "tree_words",
        "weight of an edge": "edge_weight",
        "with rectified characteristic words": "mst_incoherence_rectified",
    }
    known = {title: _ends(second, name) for title, name in beside.items()}
    if not all(known.values()):
        return claim
    rows = [[*row, *(ends.get((row[0], row[1]), "-") for ends in known.values())] for row in claim.rows]
    return replace(claim, columns=[*claim.columns, *known], rows=rows)


def _ends(second: Sequence[Record], name: str) -> dict[tuple[str, str], str]:
    """Mean value at the smallest and at the full vocabulary, by corpus and group of K."""
    lines = _lines(second, lambda record: record.get(name))
    return {(corpus, group): f"{means[0]:.3g} to {means[-1]:.3g}" for corpus, group, _, means in lines}


def stable_time(second: Sequence[Record]) -> Claim:
    """How the seconds of ENN and LAW grow with the vocabulary."""
    rows, powers = [], []
    for corpus, group, sizes, means in _lines(
        second, lambda record: record["seconds_rectification"] + record["seconds_factorisation"]
    ):
        if min(means) <= 0.0:
            continue
        power = float(np.polyfit(np.log(sizes), np.log(means), 1)[0])
        powers.append(power)
        rows.append([corpus, group, f"{sizes[-1] / sizes[0]:.1f}", figure(means[0]), figure(means[-1]), f"{power:.2f}"])
    return Claim(
        "the running times of ENN and LAW are stable as the vocabulary grows",
        f"seconds grow with a power of the vocabulary of at most {STABLE:g} on {100 * MOST:.0f} % of lines",
        verdict([power <= STABLE for power in powers]),
        ""
        if not powers
        else f"seconds grow with a power of {min(powers):.2f} to {max(powers):.2f} of the number of words",
        ["corpus", "K", "words, times", "seconds, smallest", "seconds, full", "power"],
        rows,
    )


def characteristic_words_add(tables: Sequence[Record]) -> Claim:
    """How many characteristic words are not prominent, and how much rarer they are."""
    rows, adds = [], []
    for table in tables:
        topics = table["rows"]
        specific = [count for row in topics for count in row["specific_documents"]]
        prominent = [count for row in topics for count in row["prominent_documents"]]
        listed = sum(len(row["characteristic"]) for row in topics)
        if not listed or not prominent:
            continue
        adds.append(bool(specific) and median(specific) < median(prominent))
        rows.append(
            [
                table["corpus"],
                f"{table['n_words']:,}",
                f"{100 * len(specific) / listed:.0f} %",
                f"{median(prominent):,.0f}",
                f"{median(specific):,.0f}" if specific else "-",
                f"{median(row['anchor_documents'] for row in topics):,.0f}",
            ]
        )
    return Claim(
        "characteristic words add specific terms that the prominent ones lack",
        f"some of a topic's 6 characteristic words are not prominent, and are in fewer documents, in {100 * MOST:.0f} % of "
        "tables",
        verdict(adds),
        f"so in {sum(adds)} of {len(adds)} tables",
        [
            "corpus",
            "words",
            "characteristic words not prominent",
            "documents of a prominent word, median",
            "of those added",
            "of an anchor",
        ],
        rows,
    )


def _lines(
    second: Sequence[Record], value: Callable[[Record], float | None]
) -> Iterable[tuple[str, str, list[int], list[float]]]:
    """Corpus, group of K, sizes of vocabulary and the mean value at each; lines of one point say nothing."""
    for corpus in dict.fromkeys(record["corpus"] for record in second):
        for group in GROUPS:
            here = [r for r in second if r["corpus"] == corpus and group_of(r["n_components"]) == group]
            known: dict[int, dict[int, float]] = {}
            for record in here:
                measured = value(record)
                if measured is not None:
                    known.setdefault(record["n_words"], {})[record["n_components"]] = measured
            # Means of the same K at every size, or they would not compare.
            shared = set.intersection(*map(set, known.values())) if known else set()
            if len(known) > 1 and shared:
                sizes = sorted(known)
                yield corpus, group, sizes, [float(np.mean([known[size][K] for K in shared])) for size in sizes]
