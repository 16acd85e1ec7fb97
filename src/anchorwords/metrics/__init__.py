"""Metrics: pure functions of a model and a corpus or operator."""

from .accuracy import approximation, recovery, relative_approximation, relative_recovery
from .catalogue import METRICS, Metric
from .coherence import npmi_coherence, topic_diversity, umass_coherence
from .distinctness import dissimilarity, dominancy, entropy, relative_dominancy, sparsity, specificity
from .evaluate import evaluate
from .incoherence import TopicTree, mst_incoherence, topic_trees
from .matching import Matching, match_topics
from .reference import Reference
from .volume import log_relative_volume

__all__ = [
    "METRICS",
    "Matching",
    "Metric",
    "Reference",
    "TopicTree",
    "approximation",
    "dissimilarity",
    "dominancy",
    "entropy",
    "evaluate",
    "log_relative_volume",
    "match_topics",
    "mst_incoherence",
    "npmi_coherence",
    "recovery",
    "relative_approximation",
    "relative_dominancy",
    "relative_recovery",
    "sparsity",
    "specificity",
    "topic_diversity",
    "topic_trees",
    "umass_coherence",
]
