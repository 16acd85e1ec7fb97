"""What is run: the two series of experiments, the spaces and the table of the paper, as data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ..plot.curves import K_GROUPS, k_group

METHODS = ("Baseline", "AP+AW", "ENN+LAW", "PALM+LAW", "LR-JSMF")
# Groups of K whose results are averaged in the second series, as in the paper's Figure 4.
GROUPS = {f"{low}-{high}": (low, high) for low, high in K_GROUPS}
# Corpora that stand in for the paper's NeurIPS, NYTimes, Movies and Songs.
STAND_INS = {"nips12": "NeurIPS", "imdb100k": "NYTimes", "ml1m": "Movies", "spotify": "Songs"}


@dataclass(frozen=True)
class Plan:
    """Sizes of the experiments.

    Attributes
    ----------
    every_k : tuple of int
        Numbers of topics of ENN+LAW and LR-JSMF, and of the second series.
    slow_k : tuple of int
        Those at which Baseline, AP+AW and PALM+LAW run too.
    n_words : tuple of int
        Vocabularies of the first series, with all methods.
    more_words : dict
        Further vocabularies of the first series by corpus, with the slow methods at fewer K.
    fewer_k : dict
        Numbers of topics of the second series for corpora on which all would take hours, by corpus.
    n_seeds : int
        Runs of LR-JSMF with different random numbers.
    n_steps : int
        Steps in which the vocabulary grows to the full one in the second series.
    ap_steps : int
        Iterations of AP, the authors' number.
    space_k, table_k : int
        Topics in the pictures of the co-occurrence space, and in the table of words.
    table_words : int
        Vocabulary of that table, the full one where it is smaller.
    """

    every_k: tuple[int, ...] = tuple(range(5, 101, 5))
    slow_k: tuple[int, ...] = (5, 10, 20, 50, 100)
    n_words: tuple[int, ...] = (2500,)
    more_words: dict[str, dict[int, tuple[int, ...]]] = field(default_factory=dict)
    fewer_k: dict[str, tuple[int, ...]] = field(default_factory=dict)
    n_seeds: int = 3
    n_steps: int = 8
    ap_steps: int = 150
    space_k: int = 10
    table_k: int = 5
    table_words: int = 10_000


# The first and the last K of each group, and the one in the middle: all would take hours on the two largest vocabularies.
_ENDS = tuple(K for ends in GROUPS.values() for K in ends)
_MIDDLE = tuple(sum(ends) // 2 for ends in GROUPS.values())
FULL = Plan(fewer_k={"imdb100k": _ENDS, "spotify": _MIDDLE})
QUICK = replace(
    FULL,
    every_k=(5, 10, 20),
    slow_k=(5, 20),
    n_words=(800,),
    more_words={},
    fewer_k={},
    n_seeds=3,
    n_steps=3,
    ap_steps=50,
)


def group_of(n_components: int) -> str | None:
    """Group of K that a number of topics belongs to."""
    return k_group({"n_components": n_components})


def vocabulary_steps(n_words: int, n_steps: int, fewest: int) -> list[int]:
    """Sizes of vocabulary in equal steps up to all words, none smaller than ``fewest``."""
    sizes = [round(n_words * step / n_steps) for step in range(1, n_steps + 1)]
    return sorted({size for size in sizes if size >= fewest} | {n_words})
