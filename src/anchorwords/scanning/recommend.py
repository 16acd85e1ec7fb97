"""Which numbers of topics the data support, and the reasons in plain sentences.

Numbers are supported if the spectrum ends within the range scanned (see :mod:`anchorwords.scanning.directions`), the
range that the count of directions leaves open is narrow, and at least two of three topics replicate there. A single
number is recommended if only one is left. Otherwise the few neighbouring numbers are named together, because the data
do not distinguish them. Real documents seldom support any: the levels of :mod:`anchorwords.scanning.levels` are then
offered instead.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import FloatArray
from ..records.table import counted
from .directions import Directions
from .levels import Level
from .record import Candidate
from .wording import ordinal, spoken

_COHERENCE = "npmi_coherence"
# Without halves, an eigenvalue this many times the next is a gap.
_GAP = 1.5
# Share of topics that must replicate at a number that is supported.
_REPLICATED = 2.0 / 3.0
# The widest range of numbers that is worth naming. A wider one says that the spectrum fades out.
_WIDEST = 4


def narrow(directions: Directions) -> bool:
    """Whether the spectrum ends within the range scanned, and leaves only a few numbers open."""
    return directions.n > 0 and not directions.beyond and directions.n_most - directions.n < _WIDEST


def recommend(
    candidates: Sequence[Candidate],
    directions: Directions | None,
    eigenvalues: FloatArray,
    levels: Sequence[Level] = (),
) -> tuple[tuple[int, ...], list[str]]:
    """Numbers of topics that the data support, in ascending order, and the reasons.

    Candidates are in ascending order. A single number is a recommendation; none means that the levels are the answer.
    """
    if len(candidates) == 1:
        only = candidates[0]
        reasons = ["Only one number of topics was scanned, so there is nothing to compare it with."]
        return (), reasons + ([_replication(only)] if directions is not None else [])
    if directions is None:
        return _by_the_gap(candidates, eigenvalues)
    reasons = [_of_directions(directions, candidates[-1].n_components)]
    if narrow(directions):
        supported = [one for one in candidates if directions.n <= one.n_components <= directions.n_most]
        if supported and _share(supported[0]) >= _REPLICATED:
            reasons += _of_the_supported(supported, directions)
            reasons += _of_coherence(candidates, supported[0]) if len(supported) == 1 else []
            return tuple(one.n_components for one in supported), reasons + _unconverged(candidates)
        if not supported:
            expected = spoken(range(directions.n, directions.n_most + 1))
            reasons.append(f"{expected} topics would match this, but you did not scan that: add it to the numbers.")
        else:
            reasons.append(_replication(supported[0]))
    trade = " The levels trade detail against reliability." if len(levels) > 1 else ""
    reasons.append(f"The data do not support a single number of topics.{trade}")
    reasons += _of_the_grid(levels, candidates)
    if max(map(_share, candidates)) <= 0.5:
        reasons.append(
            "At every number scanned, at most half of the topics replicate: more documents or fewer rare words may help."
        )
    return (), reasons + _unconverged(candidates)


def _of_the_supported(supported: Sequence[Candidate], directions: Directions) -> list[str]:
    """How many topics replicate, and which numbers are left open."""
    reasons = [_replication(supported[0])]
    numbers = [one.n_components for one in supported]
    if len(numbers) > 1:
        reasons.append(f"{spoken(numbers)} topics: the data do not tell these numbers apart.")
    elif directions.n_most > directions.n:
        reasons.append(
            f"The data do not tell {spoken(range(directions.n, directions.n_most + 1))} topics apart; of these, you "
            f"scanned only {numbers[0]}."
        )
    if directions.n_most > directions.n:
        reasons.append("Fainter topics may be hidden in the noise. More documents would show them.")
    return reasons


def _of_the_grid(levels: Sequence[Level], candidates: Sequence[Candidate]) -> list[str]:
    """Whether a curve still rises at the end of the grid, and which numbers to scan next."""
    ended = [level.name for level in levels if level.at_grid_end]
    if not ended:
        return []
    last = candidates[-1].n_components
    return [
        f"The largest number scanned, {last}, is too small to locate the {' and the '.join(ended)} level: for more detail, "
        f"scan numbers such as {last}:{2 * last}:{max(1, last // 5)}."
    ]


def _share(one: Candidate) -> float:
    return one.n_replicated / one.n_components


def _of_directions(directions: Directions, largest: int) -> str:
    """How many directions there are, and how certain that is."""
    if directions.n == 0:
        return (
            "No direction (eigenvector) of the co-occurrence clearly exceeds noise: these documents may contain no topics, "
            "or too few tokens to show them."
        )
    last = min(directions.n, largest)
    noise = float(directions.noise_at([last - 1])[0])
    strength = (
        f"{directions.energies[last - 1] / noise:.1f} times as strong as noise" if noise > 0.0 else "free of noise"
    )
    if directions.n >= directions.n_looked_at:
        return (
            f"All {largest} directions (eigenvectors) of the co-occurrence replicate in both halves of the documents; the "
            f"{ordinal(largest)} is {strength}. The spectrum does not end within the numbers scanned."
        )
    several = directions.n > 1
    what = "directions (eigenvectors)" if several else "direction (eigenvector)"
    exceed = "exceed" if several else "exceeds"
    certain = f"{directions.n} {what} of the co-occurrence clearly {exceed} noise in both halves of the documents"
    doubtful = directions.n_most - directions.n
    if doubtful == 0:
        following = max(0.0, float(directions.energies[last]) / noise) if noise > 0.0 else 0.0
        return f"{certain}. The last is {strength}, the next {following:.1f} times."
    if narrow(directions):
        return f"{certain}. The next {'one may be a topic' if doubtful == 1 else f'{doubtful} may be topics'} or noise."
    return f"{certain}. The next ones fade into noise gradually, so the numbers scanned include no clear limit."


def _replication(one: Candidate) -> str:
    replicate = f"{one.n_replicated:.3g} replicate{'s' if one.n_replicated == 1 else ''}"
    return (
        f"With {counted(one.n_components, 'topic')}, {replicate} in the other half of the documents (mean similarity "
        f"{one.stability:.2f})."
    )


def _of_coherence(candidates: Sequence[Candidate], chosen: Candidate) -> list[str]:
    known = [one for one in candidates if np.isfinite(one.metrics.get(_COHERENCE, np.nan))]
    if chosen not in known or len(known) < 2:
        return []
    best = max(known, key=lambda one: one.metrics[_COHERENCE])
    own = f"{chosen.metrics[_COHERENCE]:.3f}"
    if best is chosen:
        return [f"Coherence (NPMI) is highest at this number: {own}."]
    return [
        f"Coherence (NPMI) is {own} at this number; it is highest with {counted(best.n_components, 'topic')}, "
        f"{best.metrics[_COHERENCE]:.3f}."
    ]


def _unconverged(candidates: Sequence[Candidate]) -> list[str]:
    left = [str(one.n_components) for one in candidates if not one.converged]
    return [f"ENN did not converge with {', '.join(left)} topics, so their values are less reliable."] if left else []


def _by_the_gap(candidates: Sequence[Candidate], eigenvalues: FloatArray) -> tuple[tuple[int, ...], list[str]]:
    """Without halves: the largest gap between consecutive eigenvalues."""

    def fall(one: Candidate) -> float:
        K = one.n_components
        if len(eigenvalues) <= K or not eigenvalues[K - 1] > 0.0:
            return 0.0
        return float(eigenvalues[K - 1] / eigenvalues[K]) if eigenvalues[K] > 0.0 else float("inf")

    chosen = max(candidates, key=lambda one: (fall(one), -one.n_components))
    K, ratio = chosen.n_components, fall(chosen)
    much = f"{ratio:.2f} times the next" if np.isfinite(ratio) else "positive and the next is not"
    gap = f"Eigenvalue {K} of the co-occurrence is {much}, the largest gap at the numbers scanned."
    return ((K,) if ratio >= _GAP else ()), [
        "The documents were not split into halves, so noise is unknown.",
        gap if ratio > 1.0 else "At none of the numbers scanned is the eigenvalue of the co-occurrence above the next.",
        *_of_coherence(candidates, chosen),
        *_unconverged(candidates),
    ]
