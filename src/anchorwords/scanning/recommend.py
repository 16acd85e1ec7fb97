"""Which number of topics to take, and why, in plain sentences.

Directions that both halves of the documents show bound the number of topics from above. Where they end before the largest
number given, and topics of that number are found by both halves, the data single it out. On real documents they
seldom end: every number is then a matter of how fine topics should be, and the largest is taken of which most topics
are found by both halves.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from .directions import Directions
from .record import Candidate

_COHERENCE = "npmi_coherence"
# Directions that end with a fall by this factor, or more, are said to.
_CLEAR = 1.5


def recommend(
    candidates: Sequence[Candidate], directions: Directions | None, eigenvalues: FloatArray
) -> tuple[int, list[str]]:
    """The number of topics to take, of candidates in ascending order, and the reasons."""
    if len(candidates) == 1:
        only = candidates[0]
        reasons = ["Only one number of topics was given, so there is nothing to choose from."]
        return only.n_components, reasons + ([_found(only) + "."] if directions is not None else [])
    if directions is None:
        return _by_the_gap(candidates, eigenvalues)
    bound = candidates[-1] if directions.beyond else _nearest(candidates, directions.n)
    within = candidates[: candidates.index(bound) + 1]
    good = [one for one in within if _share(one) > 0.5]
    chosen = good[-1] if good else max(within, key=lambda one: (_share(one), -one.n_components))
    reasons = [_of_directions(directions, candidates[-1].n_components)]
    if chosen is bound and chosen.n_components != directions.n and not directions.beyond:
        reasons.append(f"Of the numbers given, {chosen.n_components} is nearest to that.")
    reasons += _of_topics(chosen, within, bool(good), directions.beyond)
    return chosen.n_components, reasons + _of_coherence(candidates, chosen) + _unconverged(candidates)


def _share(one: Candidate) -> float:
    return one.found_again / one.n_components


def _nearest(candidates: Sequence[Candidate], n: int) -> Candidate:
    """Ties go to the smaller number."""
    return min(candidates, key=lambda one: (abs(one.n_components - n), one.n_components))


def _of_directions(directions: Directions, largest: int) -> str:
    """How many directions there are, and how sure that is."""
    if directions.n == 0:
        return "No direction of the co-occurrence is in both halves of the documents: what there is may be chance."
    last = min(directions.n, largest)
    noise = float(directions.noise_at([last - 1])[0])
    strength = f"{directions.energies[last - 1] / noise:.1f} times as strong as chance" if noise > 0.0 else "clear"
    if directions.beyond:
        return (
            f"Every direction of the co-occurrence up to the {_ordinal(largest)}, which is {strength}, is in both halves "
            "of the documents: none of these numbers is more than the data can carry."
        )
    following = (
        f"{directions.gap:.1f} times as strong as the next" if np.isfinite(directions.gap) else "followed by none"
    )
    end = following if directions.gap >= _CLEAR else "hardly stronger than the next"
    several = directions.n > 1
    return (
        f"{directions.n} direction{'s' if several else ''} of the co-occurrence {'are' if several else 'is'} in both halves "
        f"of the documents; {'the last' if several else 'it'} is {strength}, and {end}."
    )


def _of_topics(chosen: Candidate, within: Sequence[Candidate], good: bool, beyond: bool) -> list[str]:
    """What both halves find, and what that says of the numbers, of which the last is as large as directions allow."""
    if not good:
        return [
            f"{_found(chosen)}: not most of them, and no number up to {within[-1].n_components} does better.",
            "Topics of these documents are uncertain: more documents, or fewer rare words, may help.",
        ]
    if chosen is not within[-1]:
        after = within[within.index(chosen) + 1]
        return [
            f"{_found(chosen)}; with {after.n_components}, only {after.found_again:.3g} are: {chosen.n_components} is the "
            "largest number of topics of which most are.",
            "The data do not single out this number: fewer topics are broader and surer, more are finer and less sure.",
        ]
    if beyond:
        return [
            f"{_found(chosen)}: most of them, even at the largest number given.",
            "The data do not single out this number: a scan of larger ones may find more.",
        ]
    return [f"{_found(chosen)}."]


def _found(one: Candidate) -> str:
    return (
        f"With {_counted(one.n_components)}, {one.found_again:.3g} {'is' if one.found_again == 1 else 'are'} found again in "
        f"the other half of the documents (similarity {one.stability:.2f} in the mean)"
    )


def _of_coherence(candidates: Sequence[Candidate], chosen: Candidate) -> list[str]:
    known = [one for one in candidates if np.isfinite(one.metrics.get(_COHERENCE, np.nan))]
    if chosen not in known or len(known) < 2:
        return []
    best = max(known, key=lambda one: one.metrics[_COHERENCE])
    if best is chosen:
        return [f"Coherence (NPMI) is highest there: {chosen.metrics[_COHERENCE]:.3f}."]
    return [
        f"Coherence (NPMI) is {chosen.metrics[_COHERENCE]:.3f} there; it is highest with {_counted(best.n_components)}, "
        f"{best.metrics[_COHERENCE]:.3f}."
    ]


def _unconverged(candidates: Sequence[Candidate]) -> list[str]:
    left = [str(one.n_components) for one in candidates if not one.converged]
    return (
        [f"ENN did not converge with {', '.join(left)} topics: what is said of these is less certain."] if left else []
    )


def _by_the_gap(candidates: Sequence[Candidate], eigenvalues: FloatArray) -> tuple[int, list[str]]:
    """Without halves: where the eigenvalues fall most."""

    def fall(one: Candidate) -> float:
        K = one.n_components
        if len(eigenvalues) <= K or not eigenvalues[K - 1] > 0.0:
            return 0.0
        return float(eigenvalues[K - 1] / eigenvalues[K]) if eigenvalues[K] > 0.0 else float("inf")

    chosen = max(candidates, key=lambda one: (fall(one), -one.n_components))
    ratio = fall(chosen)
    much = f"{ratio:.2f} times the next" if np.isfinite(ratio) else "positive and the next is not"
    gap = f"Eigenvalue {chosen.n_components} of the co-occurrence is {much}, the widest gap at the numbers given."
    return chosen.n_components, [
        "The documents were not split in halves, so nothing is known of chance.",
        gap if ratio > 1.0 else "At none of the numbers given is the eigenvalue of the co-occurrence above the next.",
        *_of_coherence(candidates, chosen),
        *_unconverged(candidates),
    ]


def _counted(K: int) -> str:
    return "1 topic" if K == 1 else f"{K} topics"


def _ordinal(n: int) -> str:
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
