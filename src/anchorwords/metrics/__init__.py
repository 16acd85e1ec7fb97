"""Metrics: pure functions of a model and a corpus or operator."""

from .accuracy import relative_approximation, relative_recovery
from .coherence import npmi_coherence, topic_diversity, umass_coherence
from .distinctness import dissimilarity, dominancy, relative_dominancy, specificity
from .matching import Matching, match_topics

__all__ = [
    "Matching",
    "dissimilarity",
    "dominancy",
    "match_topics",
    "npmi_coherence",
    "relative_approximation",
    "relative_dominancy",
    "relative_recovery",
    "specificity",
    "topic_diversity",
    "umass_coherence",
]
