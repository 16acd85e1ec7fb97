"""From the statistics to a model, in one place: eigenpairs, rectification, anchors, topics.

Fits of documents and of sketches, scans, replicates and the reproduction of the paper all come through :func:`learn`. With
ENN it is LR-JSMF (Algorithm 6), with AP the rectified algorithm RAW (Algorithm 2), with PALM its factor and LAW, and without
a rectifier the plain Anchor Word algorithm (Algorithm 1).
"""

from __future__ import annotations

import logging
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple

import scipy.sparse as sp

from ._typing import FloatArray, IntArray, SparseLike
from .anchors.dense import anchor_words
from .anchors.forbidden import topics_without
from .anchors.given import Choice
from .anchors.lowrank import clipped_rows, low_rank_anchor_words
from .anchors.tandem import anchor_rows_of
from .model import TopicModel, embed_words
from .rectify.rectifiers import Rectifier, RectifyContext
from .rectify.result import Rectified
from .sources.in_use import WordsInUse
from .statistics.cooccurrence import Cooccurrence

logger = logging.getLogger("anchorwords.fit")

_ANY = Choice((), None)


class Learned(NamedTuple):
    """A model and the rectification that it was read off.

    Attributes
    ----------
    model : TopicModel
        Over all words of the data.
    rectified : Rectified
        Over the words in use.
    """

    model: TopicModel
    rectified: Rectified


class KnownEigenpairs:
    """Statistics whose leading eigenpairs are known already.

    Parameters
    ----------
    vectors : (N, any) array
    values : (any,) array
        In descending order.
    words : WordsInUse
    """

    def __init__(self, vectors: FloatArray, values: FloatArray, words: WordsInUse) -> None:
        self._vectors, self._values, self.words = vectors, values, words

    def eigenpairs(self, K: int) -> tuple[FloatArray, FloatArray]:
        """The leading K."""
        return self._vectors[:, :K], self._values[:K]


def learn(
    statistics: Any,
    n_components: int,
    rectifier: Rectifier,
    choice: Choice = _ANY,
    context: RectifyContext | None = None,
    *,
    rows: Cooccurrence | None = None,
) -> Learned:
    """Rectify the statistics and read topics off them.

    Parameters
    ----------
    statistics : Cooccurrence, SketchedCooccurrence or KnownEigenpairs
        With ``words``, the words in use; the rectifier knows what else it needs of them.
    n_components : int
        K.
    rectifier : Rectifier
    choice : Choice
        What the choice of anchors is bound to, in numbers of the words in use.
    context : RectifyContext, optional
    rows : Cooccurrence, optional
        Where the model's ``anchor_rows`` come from, the anchors' rows of the original co-occurrence; without it there are
        none.
    """
    context = context or RectifyContext()
    rectified = rectifier(statistics, n_components, context)
    return read_off(rectified, n_components, choice, context, words=statistics.words, rows=rows)


def read_off(
    rectified: Rectified,
    n_components: int,
    choice: Choice,
    context: RectifyContext,
    *,
    words: WordsInUse,
    rows: Cooccurrence | None = None,
) -> Learned:
    """Read topics off statistics that are rectified already; see :func:`learn`."""
    begin = perf_counter()
    context.report("topics", 0.0)
    model = topics_of(rectified.Y, rectified.C, n_components, choice, context.n_jobs)
    if rows is not None:
        model = with_original_rows(model, rows)
    context.report("topics", 1.0)
    logger.info("topics: %d anchors, raw sum of A %.4f, %.2f s", n_components, model.A_raw_sum, perf_counter() - begin)
    return Learned(embed_words(model, words), rectified)


def with_original_rows(model: TopicModel, C: Cooccurrence) -> TopicModel:
    """A model of the words in use with its anchors' rows of the original C, scaled to sum to one; of groups their mean."""
    return replace(model, anchor_rows=anchor_rows_of(model, C.rows))


def with_rectified_rows(model: TopicModel) -> TopicModel:
    """The model with its anchors' rows of the rectified Y Y': what stands in where the original is not known."""

    def rows(words: IntArray) -> SparseLike:
        return sp.csr_array(clipped_rows(model.Y, words))

    return replace(model, anchor_rows=anchor_rows_of(model, rows))


def topics_of(Y: Any, C: Any, K: int, choice: Choice, n_jobs: int | None) -> TopicModel:
    """LAW on a compression Y, AW on a matrix C if there is no compression."""
    if choice.neutral is not None and choice.neutral.any():
        return topics_without(Y, C, K, choice.groups, choice.candidates, choice.neutral, n_jobs)
    if Y is not None:
        return low_rank_anchor_words(Y, anchors=choice.groups, candidates=choice.candidates, n_jobs=n_jobs)
    return anchor_words(C, K, anchors=choice.groups, candidates=choice.candidates, n_jobs=n_jobs)
