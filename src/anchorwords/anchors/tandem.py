"""Tandem anchors (Lund et al., 2017): several words that together are the anchor of one topic.

Notation
--------
r_i : (N,)   row of the normalised co-occurrence Cbar at a word i of the group, clipped at zero, sums to one
r : (N,)     the group's pseudo-row: the element-wise harmonic mean of the r_i, scaled to sum to one

The harmonic mean is large only where every word of the group is: a context that one of them has alone does not count.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, IntArray, SparseLike
from ..exceptions import DegenerateWarning
from ..model import TopicModel

Groups: TypeAlias = tuple[tuple[int, ...], ...]


class Tandem(NamedTuple):
    """Anchors of K topics of which some are groups.

    Attributes
    ----------
    groups : K tuples of int
        The words of each topic's anchor.
    rows : (K, N) array
        Rows and pseudo-rows of the anchors, each summing to one.
    """

    groups: Groups
    rows: FloatArray


def heads(groups: Groups) -> IntArray:
    """The first word of each group: what a topic's anchor is called."""
    return np.array([group[0] for group in groups], dtype=np.intp)


def is_group(groups: Groups) -> BoolArray:
    """Which anchors are of two words or more."""
    return np.array([len(group) > 1 for group in groups], dtype=bool)


def topic_groups(anchors: IntArray, given: Groups) -> Groups:
    """Groups of all topics: those given first, then the anchors that were chosen, each by itself."""
    return (*given, *((int(anchor),) for anchor in anchors[len(given) :]))


def tandem_row(rows: FloatArray, *, quiet: bool = False) -> FloatArray:
    """Pseudo-row of the words with these non-negative rows, of any scale.

    Words that co-occur with nothing are left out; zero where that leaves none. Where the words share no context the
    harmonic mean is zero: the arithmetic mean stands in, with a warning unless ``quiet``.
    """
    sums = rows.sum(axis=1)
    rows = rows[sums > 0.0] / sums[sums > 0.0, None]
    if rows.shape[0] == 0:
        return np.zeros(rows.shape[1])
    shared = (rows > 0.0).all(axis=0)
    mean = np.zeros(rows.shape[1])
    with np.errstate(over="ignore"):  # one over a subnormal number: that context is as good as not shared
        mean[shared] = 1.0 / (1.0 / rows[:, shared]).sum(axis=0)
    total = float(mean.sum())
    if total > 0.0:
        return mean / total
    if not quiet:
        warnings.warn(
            "the words of a group of anchors share no context, so that their topic is that of any of them rather than of "
            "all: give words that occur with the same words, or each to a topic of its own.",
            DegenerateWarning,
            stacklevel=5,
        )
    return rows.mean(axis=0)


def anchor_rows_of(model: TopicModel, rows_at: Callable[[IntArray], SparseLike]) -> SparseLike:
    """Rows of a model's anchors, pseudo-rows where they are groups, each scaled to sum to one.

    ``rows_at`` gives the rows of a co-occurrence at words, as the method ``rows`` of an operator does.
    """
    groups = model.anchor_groups
    if groups is not None:
        return combined_rows(rows_at(np.concatenate([np.array(group, dtype=np.intp) for group in groups])), groups)
    rows = rows_at(model.anchors)
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(1.0 / sums) @ rows)


def combined_rows(rows: SparseLike, groups: Sequence[Sequence[int]]) -> SparseLike:
    """Rows, those of the first group's words first, as one row a group that sums to one."""
    found = []
    start = 0
    for group in groups:
        part = sp.csr_array(rows[start : start + len(group)])
        found.append(
            part / part.sum() if len(group) == 1 else sp.csr_array(tandem_row(part.toarray(), quiet=True)[None])
        )
        start += len(group)
    return sp.csr_array(sp.vstack(found))
