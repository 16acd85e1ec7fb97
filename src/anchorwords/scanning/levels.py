"""Named levels of detail: coarse, medium and fine, each chosen by a rule computed from the data.

Notation
--------
F(K)   number of topics, of K, that replicate in both halves of the documents, mean over splits
L(K)   held-out log-likelihood per token, natural logarithm

coarse   K that maximises F(K) - 3/4 K: going on, fewer than three of four added topics replicate
medium   K that maximises F(K) - 1/2 K: going on, fewer than half of the added topics replicate
fine     K that maximises L(K) - 0.02 log2 K: going on, doubling K lowers the perplexity by less than 2%

If most topics replicate up to the largest number scanned, replication does not limit the coarse and the medium level. The
perplexity then does, with prices of 10 and 5% per doubling.

The number of directions of the co-occurrence that certainly exceed noise is an upper bound on the number of topics, so
larger numbers are not considered: beyond it, near-copies of topics replicate too. Each level is the point at which a
curve no longer rises faster than a stated price per topic (or per doubling). It does not depend on the largest number
scanned, unless the curve still rises there; ``at_grid_end`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records.table import counted
from .wording import spoken

if TYPE_CHECKING:
    from .directions import Directions
    from .record import Candidate

# Share of added topics that must replicate.
_REPLICATED = {"coarse": 0.75, "medium": 0.5}
# Held-out log-likelihood per token that doubling the number of topics must gain: 10, 5 and 2% of perplexity.
_DOUBLING = {"coarse": 0.10, "medium": 0.05, "fine": 0.02}


@dataclass(frozen=True)
class Level:
    """A number of topics to consider.

    Attributes
    ----------
    name : {"coarse", "medium", "fine", "recommended", "plausible"}
        "recommended" if the data single this number out, "plausible" if they support a few numbers that they do not
        distinguish.
    n_components : int
    why : str
        The rule that selects it.
    gained, lost : str
        What is better and what is worse than at the next smaller level; for the smallest, than at the next larger. Each
        text names the number of topics of that other level.
    metrics : dict of str to float
        Measured at this number of topics.
    at_grid_end : bool
        Whether the curve that selects it still rises at the largest number scanned.
    """

    name: str
    n_components: int
    why: str
    gained: str
    lost: str
    metrics: Mapping[str, float]
    at_grid_end: bool

    def comparison(self) -> list[str]:
        """What is better and what is worse, a line each; no line if there is nothing to compare."""
        return [f"    {title}: {text}" for title, text in (("gained", self.gained), ("lost", self.lost)) if text != "-"]

    def row(self) -> dict[str, Any]:
        """The level as a flat dict."""
        return {
            "name": self.name, "n_components": self.n_components, "why": self.why, "gained": self.gained,
            "lost": self.lost, "at_grid_end": self.at_grid_end, **self.metrics,
        }  # fmt: skip


def supported_levels(supported: Sequence[Candidate]) -> list[Level]:
    """One level for each number of topics that the data support, in ascending order."""
    if len(supported) == 1:
        why = "the spectrum ends there, and most topics replicate"
        return [Level("recommended", supported[0].n_components, why, "-", "-", _metrics(supported[0]), False)]
    levels = []
    for i, one in enumerate(supported):
        others = [other.n_components for other in supported if other is not one]
        why = f"the data do not distinguish it from {spoken(others)}"
        gained, lost = _compared(one, supported[i - 1 if i else 1])
        levels.append(Level("plausible", one.n_components, why, gained, lost, _metrics(one), False))
    return levels


def bound_of(candidates: Sequence[Candidate], directions: Directions) -> Candidate:
    """The number scanned that is nearest to the number of certain directions, the smaller in a tie."""
    if directions.n >= directions.n_looked_at:
        return candidates[-1]
    return min(candidates, key=lambda one: (abs(one.n_components - directions.n), one.n_components))


def levels_of(candidates: Sequence[Candidate], directions: Directions | None) -> list[Level]:
    """Levels for candidates in ascending order, coarsest first.

    There are none if the documents were not split into halves, nor for a single number, which is compared with nothing.
    """
    if directions is None or not candidates[0].reproduced or len(candidates) == 1:
        return []
    largest = candidates[-1]
    candidates = candidates[: candidates.index(bound_of(candidates, directions)) + 1]
    places, rules = _placed(candidates, candidates[-1] is largest)
    # Levels with the same number: one, called medium, or fine if it is the largest number scanned.
    ends_there = candidates[places["medium"]] is largest
    names = {
        places[name]: name
        for name in ("coarse", "medium" if ends_there else "fine", "fine" if ends_there else "medium")
    }
    chosen = sorted(names.items())
    levels = []
    for i, (place, name) in enumerate(chosen):
        ends = candidates[place] is largest and place > 0
        why = "the curve still rises at the largest number scanned" if ends else rules[name]
        if place == len(candidates) - 1 and not ends:
            why = "beyond it, directions of the co-occurrence no longer clearly exceed noise"
        if place == 0 and not ends:
            why = f"the smallest number scanned; {why}"
        finer = i > 0
        other = candidates[chosen[i - 1 if finer else min(1, len(chosen) - 1)][0]]
        gained, lost = _compared(candidates[place], other)
        levels.append(Level(name, candidates[place].n_components, why, gained, lost, _metrics(candidates[place]), ends))
    return levels


def _placed(candidates: Sequence[Candidate], all_scanned: bool) -> tuple[dict[str, int], dict[str, str]]:
    """The place of each level among the candidates, and the rule that selects it."""
    K = np.array([one.n_components for one in candidates], dtype=np.float64)
    replicated = np.array([one.n_replicated for one in candidates])
    likelihood = np.array([one.heldout_log_likelihood for one in candidates])
    by_perplexity = bool(np.isfinite(likelihood).all())
    last = K.size - 1
    places: dict[str, int] = {}
    rules = {
        "coarse": "beyond it, fewer than three of four added topics replicate",
        "medium": "beyond it, fewer than half of the added topics replicate",
    }
    for name, price in _REPLICATED.items():
        places[name] = int(np.argmax(replicated - price * K))
        if places[name] == last and all_scanned and by_perplexity:
            places[name] = int(np.argmax(likelihood - _DOUBLING[name] * np.log2(K)))
            rules[name] = _of_doubling(name)
    places["medium"] = max(places["coarse"], places["medium"])
    fine = int(np.argmax(likelihood - _DOUBLING["fine"] * np.log2(K))) if by_perplexity else 0
    places["fine"], rules["fine"] = max(places["medium"], fine), _of_doubling("fine")
    return places, rules


def _of_doubling(name: str) -> str:
    return f"beyond it, doubling the number of topics lowers the perplexity by less than {100 * _DOUBLING[name]:.0f}%"


def _metrics(one: Candidate) -> dict[str, float]:
    return {
        "replicated": one.n_replicated / one.n_components, "stability": one.stability,
        "heldout_log_likelihood": one.heldout_log_likelihood, "heldout_perplexity": one.heldout_perplexity,
        **one.metrics,
    }  # fmt: skip


# Key, how a value is written, whether higher is better.
_SHOWN = (
    ("replicated", "{:.0%} of topics replicate", True), ("heldout_perplexity", "held-out perplexity {:,.0f}", False),
    ("npmi_coherence", "coherence {:.3f}", True), ("topic_diversity", "diversity {:.2f}", True),
)  # fmt: skip


def _compared(one: Candidate, other: Candidate) -> tuple[str, str]:
    """What is better and what is worse with ``one`` than with ``other``, whose number of topics is named first.

    Values that print alike are left out.
    """
    mine, theirs = _metrics(one), _metrics(other)
    gained: list[str] = []
    lost: list[str] = []
    for key, form, higher in _SHOWN:
        a, b = mine.get(key, np.nan), theirs.get(key, np.nan)
        if not (np.isfinite(a) and np.isfinite(b)) or form.format(a) == form.format(b):
            continue
        text = f"{form.format(a)} instead of {form.format(b).split()[-1] if key != 'replicated' else f'{b:.0%}'}"
        side = gained if (a > b) == higher else lost
        side.append(text if side else f"{text} with {counted(other.n_components, 'topic')}")
    return "; ".join(gained) or "-", "; ".join(lost) or "-"
