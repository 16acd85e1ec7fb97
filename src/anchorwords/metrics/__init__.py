"""Metrics: pure functions of a model and a corpus or operator."""

from .accuracy import relative_approximation, relative_recovery
from .distinctness import dissimilarity, dominancy, relative_dominancy, specificity
from .matching import Matching, match_topics

__all__ = [
    "Matching",
    "dissimilarity",
    "dominancy",
    "match_topics",
    "relative_approximation",
    "relative_dominancy",
    "relative_recovery",
    "specificity",
]
