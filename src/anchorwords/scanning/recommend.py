"""Whether the data support a single number of topics, and why, in plain sentences.

A single number is supported if the eigenvalue spectrum ends within the range scanned (directions that both halves of the
documents show) and at least two of three topics replicate at the number where it ends. Real documents seldom meet this: the
levels of :mod:`anchorwords.scanning.levels` are then offered instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from .directions import Directions
from .levels import Level, bound_of
from .record import Candidate

_COHERENCE = "npmi_coherence"
# Directions that end with a fall by this factor, or more, are said to.
_CLEAR = 1.5


# Share of topics that must replicate at a number that is recommended alone.
_REPLICATED = 2.0 / 3.0


def recommend(
    candidates: Sequence[Candidate],
    directions: Directions | None,
    eigenvalues: FloatArray,
    levels: Sequence[Level] = (),
) -> tuple[int | None, list[str]]:
    """The single number of topics that the data support, or None, and the reasons; candidates are in ascending order."""
    if len(candidates) == 1:
        only = candidates[0]
        reasons = ["Only one number of topics was given, so there is nothing to choose from."]
        return None, reasons + ([_found(only) + "."] if directions is not None else [])
    if directions is None:
        return _by_the_gap(candidates, eigenvalues)
    largest = candidates[-1].n_components
    reasons = [_of_directions(directions, largest)]
    bound = bound_of(candidates, directions)
    if not directions.beyond and directions.n > 0 and _share(bound) >= _REPLICATED:
        if bound.n_components != directions.n:
            reasons.append(f"Of the numbers given, {bound.n_components} is nearest to that.")
        reasons.append(f"{_found(bound)}.")
        return bound.n_components, reasons + _of_coherence(candidates, bound) + _unconverged(candidates)
    reasons.append(
        "The data do not support a single number: each level is a compromise between detail and reliability."
    )
    reasons += _of_the_grid(levels, candidates)
    if max(map(_share, candidates)) <= 0.5:
        reasons.append("Topics of these documents are uncertain: more documents, or fewer rare words, may help.")
    return None, reasons + _unconverged(candidates)


def _of_the_grid(levels: Sequence[Level], candidates: Sequence[Candidate]) -> list[str]:
    """Whether the grid ended before a curve did, and which one to scan next."""
    ended = [level.name for level in levels if level.at_grid_end]
    if not ended:
        return []
    last = candidates[-1].n_components
    return [
        f"The scan ended before the curve did ({', '.join(ended)}): try numbers from {last} to {2 * last}, such as "
        f"{last}:{2 * last}:{max(1, last // 5)}."
    ]


def _share(one: Candidate) -> float:
    return one.found_again / one.n_components


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


def _by_the_gap(candidates: Sequence[Candidate], eigenvalues: FloatArray) -> tuple[int | None, list[str]]:
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
    return (chosen.n_components if ratio >= _CLEAR else None), [
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
