"""What the paper claims, and what the results say to it, with numbers and rules for the verdicts fixed beforehand."""

from __future__ import annotations

from collections.abc import Sequence

from .claim import Claim, Record
from .claims_growth import characteristic_words_add, incoherence_falls, stable_time, trend
from .claims_methods import AGREES, SLIGHTLY, baseline_fails, faster_than_ap, near_ap, seeds_agree


def all_claims(first: Sequence[Record], second: Sequence[Record], tables: Sequence[Record]) -> list[Claim]:
    """Every claim of the paper's experiments, in its order."""
    return [
        near_ap(first, ("ENN+LAW", "LR-JSMF"), AGREES, "ENN+LAW and LR-JSMF are as accurate and meaningful as AP+AW"),
        near_ap(first, ("PALM+LAW",), SLIGHTLY, "PALM+LAW deviates slightly from the others"),
        baseline_fails(first),
        seeds_agree(first),
        faster_than_ap(first),
        trend(second, "log_relative_volume", True, "the relative volume of the anchor hull grows with the vocabulary"),
        trend(second, "relative_recovery", False, "the relative recovery error falls with the vocabulary"),
        incoherence_falls(second),
        stable_time(second),
        characteristic_words_add(tables),
    ]
