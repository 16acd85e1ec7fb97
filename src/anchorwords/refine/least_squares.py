"""Topics by non-negative least squares on damped counts of informative words: what sets documents apart.

Notation
--------
n_mi          counts; df_i the documents of word i, of M in all
X : (M, N)    x_mi = (1 + log n_mi) log(M / df_i), rows scaled to unit length
F : (N, L)    keyword weights of the topics, columns of unit length
W : (M, L)    weights of topics in documents, and of the rest of the columns of F
X ~ W F'      the least |X - W F'|_F^2 over W, F >= 0

The likelihood of counts is dominated by frequent words and by words that are repeated within a document. Both say little
about what a document is about: a word that occurs once tends to occur again, and a word of most documents sets none apart.
Logarithms damp the first, and the weight log(M / df), which is zero for a word of all documents, the second. Least squares
on such counts is what makes the words of non-negative matrix factorisation coherent. Started at rectified anchors, it is
the same for every seed, and needs few sweeps.

A sweep is one pass over the documents and costs as much as two products of X with L columns. In between,

- every topic is split in two along the direction in which its words' places in the anchor hull differ most, and those that
  the fit misses least are taken out: topics that two subjects share come apart;
- topics go one by one, a topic that repeats another first, since the other one can do its work: without topic k a document
  loses at most w_k^2 |F_k|^2 (1 - max_j cos^2(F_k, F_j)), which is what the other topics cannot make up for one by one;
- topics whose top words do not belong together are taken out, and so is boilerplate: common words that go with every
  subject, and templates of many documents (:mod:`anchorwords.refine.soundness`). Those that are spread over as many
  documents as other topics are stay as the *background* until the end, because without them the other topics would have to
  explain their words.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray, IntArray
from ..kernels import kernels_for
from ..kernels.protocol import CsrParts
from ..linalg.tall import column_lengths, contiguous, take_columns
from .guided import Guided
from .soundness import (
    COHERENT_WORDS,
    boilerplate,
    incoherent,
    repetition,
    templates,
    top_rows,
    words_together,
)
from .splitting import halves_of_topics
from .sweep import Documents, PerDocument, Pieces

logger = logging.getLogger("anchorwords.fit")

# Rounds of coordinate descent for documents: when the topics have changed, and otherwise.
_ROUNDS_AFTER_A_CHANGE, _ROUNDS = 3, 1
# Topics left after each round of taking out, relative to those wanted; the coherence of those that are left after the last
# round decides about the rest. By benchmarks/refinement.py.
_LEFT = (1.67, 1.4)
_SWEEPS_AFTER_ROUND = 2


class Keywords(NamedTuple):
    """What least squares found.

    Attributes
    ----------
    F : (N, K) array
        Keyword weights of the topics, columns that sum to one.
    background : (N,) array or None
        The same of all background columns together; None if there are none.
    W : PerDocument
        Shares of the K topics in each document, and of the background in the last column.
    """

    F: Any
    background: Any
    W: PerDocument


class DampedCounts:
    """X, in pieces: see the module for its definition.

    Parameters
    ----------
    pieces : Pieces
    known : (N,) bool array
        Words of the model; documents without any do not count.
    neutral : (N,) bool array or None
        Words that take no part.
    """

    def __init__(self, pieces: Pieces, known: BoolArray, neutral: BoolArray | None = None) -> None:
        self._pieces = pieces
        N = pieces.n_words
        df, n_docs = np.zeros(N), 0.0
        for documents in pieces:
            n_docs += documents.number_with(known)
            df += to_numpy(documents.frequencies)
        self.informative = np.log(np.maximum(n_docs, 1.0) / np.where(df > 0.0, df, max(n_docs, 1.0))).clip(min=0.0)
        self.informative[~known if neutral is None else ~known | neutral] = 0.0
        self._informative = like(self.informative, pieces.like)
        self._held = list(map(self._both, pieces)) if pieces.held else None

    def __iter__(self) -> Iterator[tuple[Documents, CsrParts, CsrParts]]:
        """Yield documents, and X by document and by word."""
        return iter(map(self._both, self._pieces) if self._held is None else self._held)

    def _both(self, documents: Documents) -> tuple[Documents, CsrParts, CsrParts]:
        x = self._damped(documents)
        indptr, rows, place = documents.by_word
        return documents, (*documents.by_row[:2], x), (indptr, rows, x[place])

    def _damped(self, documents: Documents) -> Any:
        _, indices, counts = documents.by_row
        xp = array_namespace(counts)
        # Fractions below one, which have no logarithm to speak of, stay what they are.
        x = xp.where(counts >= 1.0, 1.0 + xp.log(xp.clip(counts, 1.0, None)), counts) * self._informative[indices]
        lengths = xp.sqrt(documents.row_sums(x * x))
        scale = xp.where(lengths > 0.0, 1.0 / xp.where(lengths > 0.0, lengths, 1.0), 0.0)
        return x * documents.per_count(scale)


def keywords(
    pieces: Pieces,
    topics: Any,
    places: Any,
    n_sweeps: int,
    guided: Guided,
    store: Callable[[], Path],
    n_jobs: int | None = None,
    report: Callable[[], None] = lambda: None,
) -> Keywords | None:
    """Topics by least squares, started at given ones; None if no word sets any document apart.

    Parameters
    ----------
    pieces : Pieces
        The documents.
    topics : (N, K) array
        p(word | topic) to start from.
    places : (N, D) array
        Places of words, along which topics are split.
    n_sweeps : int
        Sweeps before topics are split, and again at the end.
    guided : Guided
        Seeds of the first topics, which are neither split nor taken out, and words without a part in any topic.
    store : callable
        Makes a new folder for what is too large for memory.
    n_jobs : int or None
    report : callable
        Called after each sweep.
    """
    counts = DampedCounts(pieces, to_numpy(topics.any(axis=1), dtype=None), guided.neutral)
    if not counts.informative.any():
        return None
    K, n_given = topics.shape[1], guided.n_given
    work = _Descent(counts, topics * like(counts.informative, topics)[:, None], guided, store, n_jobs, report)
    work.sweep(n_sweeps)
    if n_given < K:
        work.split(places)
        work.sweep(n_sweeps)
        for share in _LEFT:
            work.take_out(n_given + round(share * (K - n_given)))
            work.sweep(_SWEEPS_AFTER_ROUND)
        work.choose(pieces, K)
        work.sweep(n_sweeps)
    return work.result(K)


def n_sweeps_of(n_sweeps: int, all_given: bool = False) -> int:
    """Sweeps that :func:`keywords` makes, for progress."""
    return n_sweeps if all_given else 3 * n_sweeps + len(_LEFT) * _SWEEPS_AFTER_ROUND


class _Descent:
    """F and W on their way."""

    def __init__(
        self,
        counts: DampedCounts,
        F: Any,
        guided: Guided,
        store: Callable[[], Path],
        n_jobs: int | None,
        report: Callable[[], None],
    ) -> None:
        self._counts, self._guided, self._n_given = counts, guided, guided.n_given
        self._store, self._n_jobs, self._report = store, n_jobs, report
        self._kernels = kernels_for(F)
        self.F = contiguous(F)
        self._scale_to_unit_length()
        self._scale = np.ones(F.shape[1])  # of columns of W, for what those of F were divided by
        self._rounds = _ROUNDS_AFTER_A_CHANGE
        self.W, xp = PerDocument(store()), array_namespace(F)
        for documents, _, _ in counts:
            self.W.append(xp.zeros((documents.n_docs, F.shape[1]), dtype=F.dtype, device=F.device))
        self._moments = np.zeros((F.shape[1], F.shape[1]))  # W'W of the last sweep
        self._masses = np.zeros(F.shape[1])  # and the sums of its columns

    def sweep(self, n_sweeps: int) -> None:
        """Improve W given F, then F given W; one pass over the documents for each sweep."""
        for _ in range(n_sweeps):
            L = self.F.shape[1]
            P, moments, masses = array_namespace(self.F).zeros_like(self.F), np.zeros((L, L)), np.zeros(L)
            for documents, by_word, W in self._documents():
                often = documents.weights
                weighted = W if often is None else W * often[:, None]
                P += self._kernels.sparse_product(by_word, weighted, self._n_jobs)
                moments += to_numpy(W.T @ weighted)
                masses += to_numpy(weighted.sum(axis=0))
            self._rounds = _ROUNDS
            self.F = self._kernels.descend(P, like(moments, P), self.F, 1, self._n_jobs)
            self._hold()
            self._scale = self._scale_to_unit_length()
            self._moments, self._masses = moments * np.outer(self._scale, self._scale), masses * self._scale
            self._report()

    def _documents(self) -> Iterator[tuple[Documents, CsrParts, Any]]:
        """Documents, X by word, and W improved given F."""
        gram, scale = self.F.T @ self.F, like(self._scale, self.F)
        for number, (documents, by_row, by_word) in enumerate(self._counts):
            W = self.W[number]
            W *= scale
            products = self._kernels.sparse_product(by_row, self.F, self._n_jobs)
            improved = self._kernels.descend(products, gram, W, self._rounds, self._n_jobs)
            if improved is not W:
                W[...] = improved
            self.W.put_back(number, W)
            yield documents, by_word, W
        self._scale = np.ones_like(self._scale)

    def split(self, places: FloatArray) -> None:
        """Replace every topic that was not given by two, side by side."""
        g, xp = self._n_given, array_namespace(self.F)
        sums = self.F[:, g:].sum(axis=0)
        first, second = halves_of_topics(self.F[:, g:] / xp.where(sums > 0.0, sums, 1.0), places)
        both = xp.reshape(xp.stack([first * sums, second * sums], axis=2), (self.F.shape[0], -1))
        own = np.concatenate([np.arange(g), g + np.repeat(np.arange(first.shape[1]), 2)])
        share = np.where(own < g, 1.0, 0.5)
        self._change(xp.concat([self.F[:, :g], both], axis=1), own, share)

    def take_out(self, n_left: int) -> None:
        """Leave the columns that are missed most."""
        kept = self._missed_most(np.arange(self.F.shape[1]), n_left)
        self._change(take_columns(self.F, kept), kept)

    def choose(self, pieces: Pieces, K: int) -> None:
        """Leave K topics, those that are missed most; columns that are no subject go first.

        Those of them that are widespread stay behind the topics as the background.
        """
        tops = top_rows(self.F, COHERENT_WORDS)
        together = words_together(pieces, tops, self.F.shape[0])
        spread = self._masses**2 / np.maximum(np.diagonal(self._moments), np.finfo(np.float64).tiny)
        doubtful, scores = incoherent(together, spread)
        sums = to_numpy(self.F.sum(axis=0))
        informative = np.array([self._counts.informative[top].mean() if top.size else 0.0 for top in tops])
        template = templates(np.array([repetition(own) for own in together.held]))
        common = boilerplate(self._moments * np.outer(sums, sums), spread, informative, template) & ~doubtful
        doubtful[: self._n_given] = common[: self._n_given] = False
        # No more columns go than there are too many: boilerplate first, then the least coherent.
        order = np.argsort(np.where(common, -np.inf, np.where(doubtful, scores, np.nan)), kind="stable")
        worst = order[: min(np.count_nonzero(doubtful | common), scores.size - K)]
        topics = self._missed_most(np.setdiff1d(np.arange(scores.size), worst), K)
        kept_back = np.sort(worst[common[worst] | (spread[worst] >= np.median(spread))])
        logger.info(
            "refinement: of %d candidates, %d are incoherent and %d boilerplate; %d form the background",
            scores.size, np.count_nonzero(doubtful[worst]), np.count_nonzero(common[worst]), kept_back.size,
        )  # fmt: skip
        kept = np.concatenate([topics, kept_back])
        self._change(take_columns(self.F, kept), kept)

    def result(self, K: int) -> Keywords:
        """The topics, and the shares that they and the background have of each document."""
        masses = np.zeros(self.F.shape[1])
        for documents, _, W in self._documents():
            masses += to_numpy(W.sum(axis=0) if documents.weights is None else documents.weights @ W)
        xp, sums = array_namespace(self.F), self.F.sum(axis=0)
        F = self.F / xp.where(sums > 0.0, sums, 1.0)

        def shares(W: Any) -> Any:
            weights = W * sums
            return xp.concat([weights[:, :K], weights[:, K:].sum(axis=1)[:, None]], axis=1)

        background = F[:, K:] @ (like(masses, sums)[K:] * sums[K:]) if F.shape[1] > K else None
        total = 0.0 if background is None else float(background.sum())
        return Keywords(
            contiguous(F[:, :K]),
            background / total if background is not None and total > 0.0 else None,
            self.W.mapped(shares, self._store()),
        )

    def _missed_most(self, columns: IntArray, n_left: int) -> IntArray:
        """Of some columns those that are left when the ones that are missed least go one by one; given topics stay.

        What the fit loses at most is in the notes above. The column that is most like the one that goes takes over its
        weights, so that of two columns that repeat each other one is soon missed.
        """
        left = np.sort(columns)
        gram = to_numpy(self.F.T @ self.F)[np.ix_(left, left)]
        moments = self._moments[np.ix_(left, left)].copy()
        lengths = np.diagonal(gram)
        norms = np.sqrt(np.maximum(lengths, np.finfo(np.float64).tiny))
        cosines: FloatArray = gram / np.outer(norms, norms)
        np.fill_diagonal(cosines, 0.0)
        here = np.ones(left.size, dtype=bool)
        free = left >= self._n_given
        for _ in range(left.size - max(n_left, int(np.count_nonzero(~free)))):
            likest = np.where(here, cosines, 0.0).max(axis=1)
            losses: FloatArray = np.diagonal(moments) * lengths * (1.0 - np.minimum(likest, 1.0) ** 2)
            k = int(np.argmin(np.where(here & free, losses, np.inf)))
            here[k] = False
            if here.any():
                j = int(np.argmax(np.where(here, cosines[k], -1.0)))
                share = cosines[k, j]
                # Of W'W when column j of W grows by the share of column k.
                row = moments[j] + share * moments[k]
                row[j] += share * (moments[j, k] + share * moments[k, k])
                moments[j], moments[:, j] = row, row
        return np.asarray(left[here])

    def _change(self, F: Any, of: IntArray, share: FloatArray | float = 1.0) -> None:
        """Take other columns, each of which begins with a share of the weights of column ``of``."""
        self.F = contiguous(F)
        norms = column_lengths(self.F)
        self._scale_to_unit_length()
        factor = share * np.where(norms > 0.0, norms, 1.0)
        self.W = self.W.mapped(lambda W: take_columns(W, of), self._store())
        self._scale = self._scale[of] * factor
        self._moments = self._moments[np.ix_(of, of)] * np.outer(factor, factor)
        self._masses = self._masses[of] * factor
        self._rounds = _ROUNDS_AFTER_A_CHANGE

    def _hold(self) -> None:
        """Hold guided topics to their seeds, with weights in the place of probabilities."""
        if not self._n_given:
            return
        given = self.F[:, : self._n_given]
        sums = given.sum(axis=0)
        sums[sums == 0.0] = 1.0
        self.F[:, : self._n_given] = self._guided.held(given / sums) * sums

    def _scale_to_unit_length(self) -> FloatArray:
        norms = column_lengths(self.F)
        norms[norms == 0.0] = 1.0
        self.F /= like(norms, self.F)
        return norms
