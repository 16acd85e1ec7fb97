"""Options of the refinement of topics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_positive_integer
from ..exceptions import InputError


@dataclass(frozen=True)
class Refinement:
    """Options of the refinement of topics by likelihood.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over the documents before topics are split, and again at the end.
    split_sweeps : int
        Sweeps with twice as many topics; 0 for no split.
    decorrelation : float
        Strength with which topics compete for words; 0 for plain EM.
    least_squares : int
        Sweeps of least squares on damped counts of informative words, before topics are split and again at the end; 0 for
        none. They find topics that are easier to read, and the keywords that these are listed by.
    background : float
        Share of every document that the prior expects of the background, a distribution of common words that is no topic;
        0 for no background.
    """

    n_sweeps: int = 20
    split_sweeps: int = 0
    decorrelation: float = 0.0
    least_squares: int = 0
    background: float = 0.0

    def __post_init__(self) -> None:
        # As plain numbers, which is what a model folder holds.
        object.__setattr__(self, "n_sweeps", check_positive_integer(self.n_sweeps, "n_sweeps"))
        for name in ("split_sweeps", "least_squares"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < 0:
                raise InputError(f"{name} must be a whole number, 0 or more, but is {value!r}.")
            object.__setattr__(self, name, int(value))
        for name, most in (("decorrelation", np.inf), ("background", 1.0)):
            value = getattr(self, name)
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not number or not 0.0 <= value < most:
                below = "" if most == np.inf else f" and below {most:g}"
                raise InputError(f"{name} must be a number, 0 or more{below}, but is {value!r}.")
            object.__setattr__(self, name, float(value))
        if self.split_sweeps and (self.least_squares or self.background):
            raise InputError(
                "split_sweeps splits topics in the stage of likelihood, which goes with neither least_squares nor "
                "background: leave it at 0; least_squares splits topics by itself."
            )


def check_refinement(refinement: Any) -> Refinement | None:
    """The options, or InputError where they are none."""
    if refinement is not None and not isinstance(refinement, Refinement):
        raise InputError(f"refinement must be None or Refinement(...), but is {refinement!r}.")
    return refinement
