"""The tree of topics as the page shows it."""

from __future__ import annotations

from typing import Any

from ..interpret.hierarchy import topic_hierarchy
from ..model import TopicModel
from .plain import number

# Most entries of N K^2, what the tree takes: half a minute on one core.
_MOST_WORK = 2 * 10**9


def hierarchy_data(record: TopicModel) -> dict[str, Any] | None:
    """The merges of :func:`anchorwords.topic_hierarchy`; None for a model so large that they would take minutes.

    Returns
    -------
    dict or None
        ``order``, the topic ids from top to bottom, and ``merges``, one list per merge: two nodes and the share of the
        information that is lost so far. A node is the id of a topic or, for the result of merge m, the number -(m + 1).
    """
    K = record.n_components
    if record.n_words * K**2 > _MOST_WORK:
        return None
    tree = topic_hierarchy(record)

    def node(place: int) -> int:
        return tree.ids[place] if place < K else -(place - K + 1)

    return {
        "order": [tree.ids[k] for k in tree.order.tolist()],
        "merges": [
            [node(int(left)), node(int(right)), number(height, 4)] for left, right, height, _ in tree.linkage.tolist()
        ],
    }
