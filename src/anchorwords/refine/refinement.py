"""Refinement: spectral topics polished over the documents. Beyond the paper.

Notation
--------
B : (N, K)       p(word | topic)
b : (N,)         p(word | background)
n_ik             expected tokens of word i and topic k after a sweep
tau              strength of the decorrelation
Bt : (N, K)      p(topic | word) of the spectral model: words' places in the hull of the anchors

There are two stages, and each can be left out. The first finds topics by least squares on damped counts of informative words
(:mod:`anchorwords.refine.least_squares`), the second estimates them on the counts by a few sweeps of variational EM. Sweeps
are the same for every seed. What goes beyond plain EM was found by measurement (docs/refinement.md):

- n_ik is reduced by tau * (mean tokens of a topic) * B_ik * sum_{l != k} B_il, by half at most: topics that share a word
  compete for it (the decorrelation of additive regularisation, Vorontsov and Potapenko 2015);
- documents may take tokens from a background as well, a distribution that all documents share and that is no topic. It
  begins with what least squares found to be common, and the prior expects a given share of it in every document;
- without least squares, topics can be split in the EM stage: after the first sweeps every topic is split in two along the
  direction in which the places Bt of its words differ most, and after a few sweeps of twice as many topics those without
  which the likelihood loses least are taken out, a fifth at a time. Where that does not raise the likelihood, the topics
  before the split are kept;
- compositions are variational (exp of digamma), which spreads short documents less than their mode.

Topics the user has given anchors for are neither split nor taken out, and are held to their seeds by a prior; words of
topics that the user has forbidden have the same probability in every topic (:mod:`anchorwords.refine.guided`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

import array_api_compat
import numpy as np

from .._namespace import array_namespace, like, to_numpy
from .._typing import BoolArray, FloatArray
from ..infer.prior import concentration
from ..linalg.parallel import limited_threads, one_library_thread
from ..linalg.tall import contiguous, take_columns
from ..model import Parts, TopicModel
from ..sources.source import Source
from ..storage.writing import scratch_folder
from .anchored import with_topics
from .flagging import flags_of
from .guided import UNGUIDED, Guided
from .least_squares import Keywords, keywords, n_sweeps_of
from .options import Refinement
from .splitting import ROUNDS, halves_of_topics, numbers_left
from .sweep import Documents, PerDocument, Pieces, expect, removal_losses

logger = logging.getLogger("anchorwords.fit")

# Steps of gamma before topics move for the first time.
_SETTLING = 6
# Sweeps after each round of taking out.
_SWEEPS_A_ROUND = 2
# Share of the word probabilities mixed into the spectral topics, into those of least squares, and into the background.
_SMOOTHING, _KEYWORD_SMOOTHING, _BACKGROUND_SMOOTHING = 0.1, 0.05, 0.1
# What decorrelation may take of a word's share in one sweep: more makes topics swing from sweep to sweep.
_MOST_LOST = 0.5


def refine_topics(
    model: TopicModel,
    source: Source,
    options: Refinement,
    *,
    guided: Guided = UNGUIDED,
    candidates: BoolArray | None = None,
    weights: FloatArray | None = None,
    flagged: bool = True,
    n_jobs: int | None = None,
    progress: Callable[[str, float], None] | None = None,
    like: Any = None,
) -> TopicModel:
    """The model with topics of greater likelihood, and A, anchors and word_topics to match.

    Parameters
    ----------
    model : TopicModel
        The spectral one.
    source : Source
        The documents, in the columns of the model.
    options : Refinement
    guided : Guided
        The seeds of the first topics, which the user has given, and the words of topics that the user has forbidden.
    candidates : (N,) bool array, optional
        Words that may be anchors.
    weights : (M,) array, optional
        How often each document counts.
    flagged : bool
        Whether to look for topics to look at twice, in a further pass.
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional
    like : tensor, optional
        A tensor of torch on whose device to compute. Arrays of other libraries, some of which cannot be changed in place, do
        not count: the default is NumPy.

    Returns
    -------
    TopicModel
        With ``log_likelihood``, that of a known token in each sweep, before its topics move. Y and what else the
        spectral model knows of the statistics is kept; ``anchor_rows`` is None, as anchors may be others.
    """
    prototype = like if array_api_compat.is_torch_array(like) else None
    with limited_threads(n_jobs), one_library_thread(), scratch_folder() as folder:
        pieces = Pieces(source, 2 * model.n_components, weights, prototype)
        work = _Work(model, pieces, folder, options, guided, n_jobs, progress)
        work.begin()
        work.run()
        return work.result(candidates, weights, flagged)


class _Work:
    """Topics on their way: B, alpha and gamma, and the likelihood in each sweep. The background, if any, comes last."""

    B: Any
    alpha: FloatArray
    gamma: PerDocument

    def __init__(
        self,
        model: TopicModel,
        pieces: Pieces,
        folder: Any,
        options: Refinement,
        guided: Guided,
        n_jobs: int | None,
        progress: Callable[[str, float], None] | None,
    ) -> None:
        self._model, self._pieces, self._folder, self._options = model, pieces, folder, options
        self._guided, self._n_given = guided, guided.n_given
        self._n_jobs, self._report = n_jobs, progress
        self._n_stores = self._n_done = 0
        self._n_all = options.n_sweeps + (
            n_sweeps_of(options.least_squares, self._n_given == model.n_components) if options.least_squares else 0
        )
        if options.split_sweeps:
            self._n_all += options.split_sweeps + ROUNDS * _SWEEPS_A_ROUND + options.n_sweeps
        self._concentration = concentration(model.A)
        # Whatever is as long as the vocabulary is on the device of the documents; what has a number per topic is NumPy's.
        self._words = self._here(model.word_probs)
        self._n_tokens = 0.0
        self._keyword_weights: Any = None
        self.history: list[float] = []

    def _here(self, array: Any) -> Any:
        """An array, in the namespace and on the device of the documents; not to be written to."""
        return like(array, self._pieces.like)

    def begin(self) -> None:
        """Topics and documents to start from: those of least squares, or the spectral ones."""
        model, options = self._model, self._options
        found = None
        if options.least_squares:
            begin = perf_counter()
            found = keywords(
                self._pieces, self._here(model.B), self._here(model.word_topics), options.least_squares, self._guided,
                self._store, self._n_jobs, self._swept,
            )  # fmt: skip
            logger.info("refinement: least squares, %.2f s", perf_counter() - begin)
        if found is None:
            self.B = self._start()
            shares = np.maximum(model.prevalence, 1e-6)
            self.alpha = self._concentration * shares / shares.sum()
            if options.background:
                self._add_background(self._words)
            prevalence = self.alpha / self.alpha.sum() if options.background else model.prevalence
            self.gamma = self._settled(prevalence)
        else:
            self._start_at(found)

    def _start_at(self, found: Keywords) -> None:
        """Topics of least squares with a little of the word probabilities, and gamma by its shares of the documents."""
        self._keyword_weights = found.F
        B = (1.0 - _KEYWORD_SMOOTHING) * found.F + _KEYWORD_SMOOTHING * self._words[:, None]
        K, rest = found.F.shape[1], 0.0 if self._options.background else 1.0
        total = np.zeros(K + 1)
        for number, documents in enumerate(self._pieces):
            often = documents.weights
            total += to_numpy(found.W[number].sum(axis=0) if often is None else often @ found.W[number])
        shares = np.maximum(total[:K], 1e-6 * max(float(total[:K].sum()), 1.0))
        self.B = contiguous(self._guided.tied(self._guided.held(B / B.sum(axis=0)), self._words))
        self.alpha = self._concentration * shares / shares.sum()
        if self._options.background:
            self._add_background(self._words if found.background is None else found.background)
        # Without a background in the model, what least squares left to it is the topics' in equal parts.
        even = self._here(np.append(np.full(K, rest / K), 0.0))
        alpha, prior = self._here(self.alpha), self._here(self.alpha / self.alpha.sum())
        xp = array_namespace(self.B)

        def counted(W: Any, lengths: Any) -> Any:
            own = (W + W[:, K:] * even)[:, : self.B.shape[1]]
            sums = xp.sum(own, axis=1, keepdims=True)
            shares = xp.where(sums > 0.0, own / xp.where(sums > 0.0, sums, 1.0), prior)
            if self._options.background:
                # Least squares may leave out words of nearly all documents. A share of nothing would stay nothing.
                lacking = xp.clip(prior[K] - shares[:, K:], 0.0, None)
                shares *= 1.0 - lacking / xp.where(lacking > 0.0, 1.0 - shares[:, K:], 1.0)
                shares[:, K:] += lacking
            return alpha + lengths[:, None] * shares

        self.gamma = PerDocument(self._store())
        for number, documents in enumerate(self._pieces):
            self._count_tokens(documents)
            self.gamma.append(counted(found.W[number], documents.lengths))

    def _add_background(self, words: Any) -> None:
        """A last column of B for the background, and its parameter."""
        b = (1.0 - _BACKGROUND_SMOOTHING) * words / words.sum() + _BACKGROUND_SMOOTHING * self._words
        b = self._guided.tied(b[:, None] / b.sum(), self._words)
        self.B = array_namespace(b).concat([self.B, b], axis=1)
        share = self._options.background
        self.alpha = np.append((1.0 - share) * self.alpha, share * self.alpha.sum())

    def _settled(self, prevalence: FloatArray) -> PerDocument:
        """Gamma of every document after a few steps from the prevalence, topics held."""
        settled = PerDocument(self._store())
        self._n_tokens = 0.0
        for documents in self._pieces:
            self._count_tokens(documents)
            gamma = self._here(self.alpha) + documents.lengths[:, None] * self._here(prevalence)
            expect(documents, self.B, self.alpha, gamma, _SETTLING, None, self._n_jobs)
            settled.append(gamma)
        return settled

    def _count_tokens(self, documents: Documents) -> None:
        known = self.B.any(axis=1)
        self._n_tokens += float(documents.weighted[known[documents.by_row[1]]].sum())

    def _start(self) -> Any:
        """Spectral topics with a tenth of the word probabilities; words of given anchors stay with their topics."""
        topics = self._here(self._model.B)
        B = (1.0 - _SMOOTHING) * topics + _SMOOTHING * self._words[:, None]
        given = self._here(self._model.anchors[: self._n_given])
        B[given] = topics[given]
        return contiguous(self._guided.tied(B / B.sum(axis=0), self._words))

    def _swept(self) -> None:
        self._n_done += 1
        if self._report is not None:
            self._report("refinement", min(self._n_done / self._n_all, 1.0))

    def _store(self) -> Any:
        self._n_stores += 1
        path = self._folder / str(self._n_stores)
        path.mkdir()
        return path

    def run(self) -> None:
        """All sweeps, the split between them."""
        options, K = self._options, self._model.n_components
        self._sweep(options.n_sweeps)
        if options.split_sweeps and self._n_given < K:
            begin = perf_counter()
            before, likelihood = (self.B, self.alpha), self.history[-1]
            self._split()
            self._sweep(options.split_sweeps)
            for n_left in numbers_left(self.B.shape[1], K):
                self._take_out(n_left)
                self._sweep(_SWEEPS_A_ROUND)
            logger.info("refinement: split and taken out, %.2f s", perf_counter() - begin)
            self._sweep(options.n_sweeps)
            if self.history[-1] < likelihood:  # the topics were right as they were
                logger.info("refinement: topics before the split explain the documents better, and are kept")
                self.B, self.alpha = before
                self.gamma = self._settled(self._model.prevalence)
                self._sweep(options.n_sweeps)

    def _sweep(self, n_sweeps: int) -> None:
        for _ in range(n_sweeps):
            words = array_namespace(self.B).zeros_like(self.B)
            likelihood = 0.0
            for number, documents in enumerate(self._pieces):
                gamma = self.gamma[number]
                likelihood += float(expect(documents, self.B, self.alpha, gamma, 1, words, self._n_jobs).sum())
                self.gamma.put_back(number, gamma)
            self.history.append(likelihood / self._n_tokens if self._n_tokens > 0.0 else 0.0)
            self.B = self._guided.tied(self._guided.held(self._moved(words)), words.sum(axis=1))
            self._keep_all_words()
            self._swept()

    def _moved(self, words: Any) -> Any:
        """Topics from expected tokens. The background does not compete with them."""
        tau = self._options.decorrelation
        if not self._options.background:
            return decorrelated(words, self.B, tau)
        topics = decorrelated(contiguous(words[:, :-1]), contiguous(self.B[:, :-1]), tau)
        own = words[:, -1:]
        return array_namespace(own).concat([topics, own / own.sum() if own.any() else self.B[:, -1:]], axis=1)

    def _split(self) -> None:
        g, xp = self._n_given, array_namespace(self.B)
        first, second = halves_of_topics(self.B[:, g:], self._here(self._model.word_topics))
        # The two halves of a topic stand side by side.
        both = xp.reshape(xp.stack([first, second], axis=2), (self.B.shape[0], -1))
        self.B = contiguous(xp.concat([self.B[:, :g], both], axis=1))
        self.B = self._guided.tied(self.B, self._words)
        self._subjects = np.concatenate([np.arange(g), g + np.repeat(np.arange(first.shape[1]), 2)])
        self.alpha = np.concatenate([self.alpha[:g], np.repeat(self.alpha[g:] / 2.0, 2)])
        self.gamma = self.gamma.mapped(
            lambda part: xp.concat([part[:, :g], xp.repeat(part[:, g:] / 2.0, 2, axis=1)], axis=1), self._store()
        )

    def _take_out(self, n_left: int) -> None:
        losses = np.zeros(self.B.shape[1])
        for number, documents in enumerate(self._pieces):
            losses += removal_losses(documents, self.B, self.gamma[number], self._words, self._n_jobs)
        losses[: self._n_given] = np.inf
        # Of two halves each may be missed little because the other is there: no more than one goes at a time.
        order = np.argsort(losses, kind="stable")
        lesser = order[np.sort(np.unique(self._subjects[order], return_index=True)[1])]
        kept = np.setdiff1d(order, lesser[: losses.size - n_left])
        self._subjects = self._subjects[kept]
        self.B = take_columns(self.B, kept)
        self.alpha = self._concentration * self.alpha[kept] / self.alpha[kept].sum()
        self.gamma = self.gamma.mapped(lambda part: take_columns(part, kept), self._store())
        self._keep_all_words()

    def _keep_all_words(self) -> None:
        """Give a word that no topic holds any more, and that no sweep could bring back, to all of them."""
        lost = (self._words > 0.0) & ~self.B.any(axis=1)
        if lost.any():
            self.B[lost] = self._words[lost][:, None]
            self.B /= self.B.sum(axis=0)

    def result(self, candidates: BoolArray | None, weights: FloatArray | None, flagged: bool) -> TopicModel:
        """The record: A is the documents' second moment, word_topics Bayes' rule, anchors words nearly all a topic's."""
        K = self._model.n_components
        A = _joint(self.gamma, weights, K)
        refined = with_topics(self._model, contiguous(self.B[:, :K]), A, self._guided, candidates, tuple(self.history))
        if self._options.background:
            refined = replace(refined, parts=self._parts(refined.B, weights))
        listed = self._keywords_of(refined.B)
        if listed is not None:
            refined = replace(refined, keyword_weights=listed)
        if listed is not None and flagged:
            refined = replace(refined, flags=flags_of(self._pieces, listed, A, self._carriers(K), refined.ids))
        return refined

    def _carriers(self, K: int) -> FloatArray:
        """Documents that carry each topic: the square of its tokens by the sum of their squares over documents."""
        sums, squares = np.zeros(K), np.zeros(K)
        for number, documents in enumerate(self._pieces):
            tokens = self.gamma[number][:, :K] - self._here(self.alpha[:K])
            often = 1.0 if documents.weights is None else documents.weights[:, None]
            sums += to_numpy((tokens * often).sum(axis=0))
            squares += to_numpy((tokens**2 * often).sum(axis=0))
        return np.asarray(sums**2 / np.maximum(squares, np.finfo(np.float64).tiny))

    def _keywords_of(self, B: FloatArray) -> FloatArray | None:
        """Keyword weights; of a topic without any, the probabilities of its words."""
        if self._keyword_weights is None:
            return None
        # Without words that have become the anchors of other topics.
        topics = self._here(B)
        xp = array_namespace(topics)
        weights = xp.where(topics > 0.0, self._keyword_weights, 0.0)
        weights = xp.where(weights.any(axis=0), weights, topics)
        return to_numpy(weights / weights.sum(axis=0), np.float32)

    def _parts(self, B: FloatArray, weights: FloatArray | None) -> Parts:
        """The topics and the background, by which documents are explained."""
        K = B.shape[1]
        return Parts(
            np.column_stack([B, to_numpy(self.B[:, K])]),
            _joint(self.gamma, weights, K + 1),
            np.append(np.arange(K), -1),
            background=K,
        )


def _joint(gamma: PerDocument, weights: FloatArray | None, n_columns: int) -> FloatArray:
    """p(topic, topic') of the first columns: the second moment of the documents' proportions."""
    _, square = gamma.moments(weights, n_columns)
    A = (square + square.T) / 2.0
    return np.asarray(A / A.sum())


def decorrelated(words: Any, B: Any, tau: float) -> Any:
    """Topics from expected tokens, each word's share of a topic reduced by its weight in the others, by half at most.

    A topic that is left without tokens stays what it was.
    """
    xp = array_namespace(B)
    if tau > 0.0:
        reduced = B - xp.sum(B, axis=1, keepdims=True)
        reduced *= B
        reduced *= tau * words.sum() / B.shape[1]
        reduced += words
        words = xp.maximum(reduced, (1.0 - _MOST_LOST) * words, out=reduced)
    totals = words.sum(axis=0)
    topics = words / xp.where(totals > 0.0, totals, 1.0)
    bare = totals <= 0.0
    topics[:, bare] = B[:, bare]
    return topics
