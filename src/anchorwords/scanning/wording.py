"""How numbers of topics are written in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def spoken(numbers: Sequence[int]) -> str:
    """Write numbers in ascending order: "19", "19 or 20", "19 to 22" if they are consecutive, else "18, 20 or 22"."""
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    *most, last = map(str, numbers)
    return f"{', '.join(most)} or {last}" if most else last


def ordinal(n: int) -> str:
    """Write "1st", "2nd", "11th"."""
    ending = "th" if n // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
    return f"{n}{ending}"
