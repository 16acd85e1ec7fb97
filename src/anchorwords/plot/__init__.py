"""Figures of topic models; they need matplotlib, ``pip install 'anchorwords[plot]'``."""

from .convergence import convergence
from .coordinates import SpaceCoordinates, space_coordinates
from .correlation import topic_correlation
from .curves import metric_curves, vocabulary_curves
from .effects import effects, predicted
from .groups import groups
from .hierarchy import hierarchy
from .over_time import over_time
from .scan import scan
from .space import cooccurrence_space, spaces
from .style import save
from .tree import topic_tree

__all__ = [
    "SpaceCoordinates",
    "convergence",
    "cooccurrence_space",
    "effects",
    "groups",
    "hierarchy",
    "metric_curves",
    "over_time",
    "predicted",
    "save",
    "scan",
    "space_coordinates",
    "spaces",
    "topic_correlation",
    "topic_tree",
    "vocabulary_curves",
]
