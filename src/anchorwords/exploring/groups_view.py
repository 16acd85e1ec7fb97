"""Topics in groups of documents as the page shows them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from ..exceptions import InputError
from ..interpret.numbers import value_as_text
from ..interpret.prevalence import GroupPrevalence, prevalence_by
from ..model import TopicModel
from ..sources.source import Source
from .plain import left_out, name, number, numbers

# Groups of a page at most, and cells of its table: 12,000 cells with their intervals are a quarter of a megabyte.
_MOST_GROUPS = 100
_MOST_CELLS = 12_000
_FEWEST_GROUPS = 12


def groups_data(
    record: TopicModel, source: Source | None, by: Any, separator: str | None, n_jobs: int | None
) -> dict[str, Any] | None:
    """What the page shows of topics in groups of documents; None if no groups are given.

    Parameters
    ----------
    record : TopicModel
    source : Source or None
    by, separator
        As in :func:`anchorwords.prevalence_by`.
    n_jobs : int or None
    """
    if by is None:
        if separator is not None:
            raise InputError("separator splits the labels of groups: say with by which column holds them.")
        return None
    if source is None:
        raise InputError("by belongs to documents: give the corpus too.")
    found = prevalence_by(record, source, by, separator=separator, n_jobs=n_jobs)
    shown = _largest(found)
    return {
        "by": None if found.by is None else name(found.by),
        "level": number(found.level),
        "ordered": not any(isinstance(group, str) for group in found.groups),
        "overall": numbers(found.n_docs @ found.prevalence / found.n_docs.sum(), 4),
        "similar": similar_order(found.prevalence[shown]),
        "notes": _notes(found, len(shown)),
        "rows": [
            {
                "name": name(value_as_text(found.groups[g])),
                "n_documents": int(found.n_docs[g]),
                "prevalence": numbers(found.prevalence[g], 4),
                "low": numbers(found.low[g], 4),
                "high": numbers(found.high[g], 4),
            }
            for g in shown
        ],
    }


def similar_order(prevalence: FloatArray) -> list[int]:
    """Groups in an order in which similar ones are next to each other.

    They are clustered by average linkage of their Hellinger distances, which compare shares of any size, with the optimal
    order of the leaves.

    Parameters
    ----------
    prevalence : (G, K) array
    """
    if len(prevalence) < 3:
        return list(range(len(prevalence)))
    from scipy.cluster.hierarchy import leaves_list, linkage

    order: IntArray = leaves_list(linkage(np.sqrt(prevalence), "average", optimal_ordering=True))
    return order.tolist()


def _largest(found: GroupPrevalence) -> list[int]:
    """The largest groups, in the order of the result."""
    most = max(_FEWEST_GROUPS, min(_MOST_GROUPS, _MOST_CELLS // len(found.topics)))
    return sorted(np.argsort(-found.n_docs, kind="stable")[:most].tolist())


def _notes(found: GroupPrevalence, n_shown: int) -> list[str]:
    """What is not shown."""
    notes = []
    if n_shown < len(found.groups):
        notes.append(f"The largest {n_shown:,} of {len(found.groups):,} groups are shown.")
    if found.n_small_groups:
        notes.append(left_out(found.n_small_groups, "group", f"of fewer than {found.min_docs} documents"))
    if found.n_without_group:
        notes.append(left_out(found.n_without_group, "document", "without a group"))
    if found.n_without_words:
        notes.append(left_out(found.n_without_words, "document", "without a word the model knows"))
    return notes
