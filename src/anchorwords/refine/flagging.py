"""Topics that a reader should look at twice: copies, mixtures and junk.

The thresholds are relative to the other topics of the model where topics of different corpora differ: playlists keep to
themselves, posts to a newsgroup do not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import FloatArray, IntArray
from ..linalg.tall import column_lengths
from ..topic_flag import TopicFlag
from .soundness import (
    COHERENT_WORDS,
    WORDS,
    incoherent,
    repetition,
    templates,
    top_rows,
    two_subjects,
    words_together,
)
from .sweep import Pieces

# Words that count have at least this share of the largest weight of their topic.
_COUNTS = 0.1
# Topics whose weights have a larger cosine are copies.
_COPIES = 0.7
# A topic stands on few documents if they are fewer than this, and than this share of what the topics have by the median.
_FEW, _FEW_OF_MEDIAN = 5.0, 0.25
# Documents of a topic have little of any other if its share in them is above this, and the median below the other.
_APART, _NOT_APART = 0.85, 0.6


def flags_of(
    pieces: Pieces, listed: FloatArray, A: FloatArray, n_docs: FloatArray, ids: tuple[int, ...]
) -> tuple[TopicFlag, ...]:
    """Look at all topics.

    Parameters
    ----------
    pieces : Pieces
        For the documents that hold several words of a topic; one pass.
    listed : (N, K) array
        What words are listed by.
    A : (K, K) array
        p(topic, topic').
    n_docs : (K,) array
        Documents that carry each topic: the square of its tokens by the sum of their squares over documents.
    ids : tuple of K int
    """
    weights = like(listed, pieces.like)
    xp = array_namespace(weights)
    tops = top_rows(xp.where(weights >= _COUNTS * xp.max(weights, axis=0), weights, 0.0), WORDS)
    together = words_together(pieces, tops, listed.shape[0])
    found = [*_copies(weights, tops, ids), *_mixtures(together.counts, together.n_docs, tops, ids)]
    loose, scores = incoherent(together, n_docs)
    repeated = np.array([repetition(own) for own in together.held])
    shares = np.diagonal(A) / np.maximum(A.sum(axis=1), np.finfo(np.float64).tiny)
    few = n_docs < min(_FEW, _FEW_OF_MEDIAN * float(np.median(n_docs)))
    apart = (shares > _APART) & (float(np.median(shares)) < _NOT_APART) & ~few
    for kind, marked, values in (
        ("incoherent", loose, scores), ("few documents", few, n_docs), ("apart", apart, shares),
        ("template", templates(repeated) & ~few & ~apart, repeated),
    ):  # fmt: skip
        found += [
            TopicFlag(kind, (ids[k],), (_columns(tops[k][:COHERENT_WORDS]),), float(values[k]))  # type: ignore[arg-type]
            for k in np.flatnonzero(marked)
        ]
    return tuple(found)


def _copies(listed: Any, tops: list[IntArray], ids: tuple[int, ...]) -> Iterator[TopicFlag]:
    norms = column_lengths(listed)
    units = listed / like(np.where(norms > 0.0, norms, 1.0), listed)
    cosines = np.triu(to_numpy(units.T @ units, dtype=None), 1)
    for k, other in np.argwhere(cosines > _COPIES):
        shared = tuple(i for i in _columns(tops[k]) if i in set(_columns(tops[other])))
        yield TopicFlag("copies", (ids[k], ids[other]), (shared,), float(cosines[k, other]))


def _mixtures(
    counts: list[FloatArray], n_docs: float, tops: list[IntArray], ids: tuple[int, ...]
) -> Iterator[TopicFlag]:
    for k, own in enumerate(counts):
        found = two_subjects(own, n_docs)
        if found is not None:
            one, other, apart = found
            yield TopicFlag("two subjects", (ids[k],), (_columns(tops[k][one]), _columns(tops[k][other])), apart)


def _columns(rows: IntArray) -> tuple[int, ...]:
    return tuple(map(int, rows))
