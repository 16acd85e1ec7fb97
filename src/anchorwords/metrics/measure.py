"""What a metric says of a model: one number, one a topic, and how sure it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray


class Measure(NamedTuple):
    """The value of a metric.

    Attributes
    ----------
    value : float
        Of the model as a whole.
    per_topic : (K,) array or None
        Of each topic, in the order of topic ids; nan where a topic has none.
    standard_error : float
        Of the value, where it is an estimate; 0 where it is exact.
    """

    value: float
    per_topic: FloatArray | None = None
    standard_error: float = 0.0

    def part(self, per_topic: bool) -> float | FloatArray:
        """The value, or that of each topic."""
        if per_topic:
            assert self.per_topic is not None
            return self.per_topic
        return self.value


def mean_of(per_topic: FloatArray) -> Measure:
    """The mean over the topics that have a value, with theirs."""
    return Measure(float(np.nanmean(per_topic)), per_topic)
