"""A claim of the paper, and the verdict on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]

# Share of cases that must be as the paper says: "agrees", and "in part".
MOST, HALF = 0.75, 0.5

YES, PARTLY, NO, UNKNOWN = "agrees", "in part", "differs", "no data"


@dataclass(frozen=True)
class Claim:
    """A claim and its verdict.

    Attributes
    ----------
    title : str
        What the paper says.
    rule : str
        When we agree.
    verdict : str
        "agrees", "in part" or "differs"; "no data" where nothing speaks to it.
    summary : str
        The numbers in one sentence.
    columns : list of str
    rows : list of list of str
        The numbers, corpus by corpus.
    """

    title: str
    rule: str
    verdict: str
    summary: str
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def verdict(outcomes: Sequence[bool], enough: float = MOST) -> str:
    """What so many outcomes, true where the paper is right, say to a claim."""
    if not outcomes:
        return UNKNOWN
    share = sum(outcomes) / len(outcomes)
    if share >= enough:
        return YES
    return PARTLY if share >= HALF else NO


def span(values: Sequence[float | None]) -> str:
    """From the least to the largest value; nothing where there is none."""
    known = [value for value in values if value is not None]
    return f"{figure(min(known))} to {figure(max(known))}" if known else "-"


def figure(value: float) -> str:
    """A number to two digits, in full where it is large."""
    return f"{value:,.0f}" if abs(value) >= 10.0 else f"{value:.2g}"
