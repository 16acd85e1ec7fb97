"""Refinement: spectral topics polished by a few sweeps of variational EM over the documents. Beyond the paper.

Notation
--------
B : (N, K)       p(word | topic)
n_ik             expected tokens of word i and topic k after a sweep
tau              strength of the decorrelation
Bt : (N, K)      p(topic | word) of the spectral model: words' places in the hull of the anchors

Sweeps begin at the spectral topics, mixed with a tenth of the word probabilities so that words may change topics, and
are the same for every seed. Three things go beyond plain EM, each by measurement (docs/refinement.md):

- n_ik is reduced by tau * (mean tokens of a topic) * B_ik * sum_{l != k} B_il, by half at most: topics that share a word
  compete for it (the decorrelation of additive regularisation, Vorontsov and Potapenko 2015);
- after the first sweeps every topic is split in two along the direction in which the places Bt of its words differ most,
  and after a few sweeps of twice as many topics those without which the likelihood loses least are taken out, a fifth at a
  time: topics that two subjects share come apart, and topics that say little go. Where that does not raise the
  likelihood, the topics before the split are kept;
- compositions are variational (exp of digamma), which spreads short documents less than their mode.

Topics the user has given anchors for are neither split nor taken out, and are held to their seeds by a prior; words of
topics that the user has forbidden have the same probability in every topic (:mod:`anchorwords.refine.guided`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..infer.prior import concentration
from ..linalg.parallel import limited_threads, one_library_thread
from ..model import TopicModel
from ..sources.source import Source
from ..storage.writing import scratch_folder
from .anchored import with_topics
from .guided import UNGUIDED, Guided
from .sweep import Expected, Pieces, expect, removal_losses

logger = logging.getLogger("anchorwords.fit")

# Steps of gamma before topics move for the first time.
_SETTLING = 6
# Rounds of taking out, each of the same share of the topics, and sweeps after it.
_ROUNDS, _SWEEPS_A_ROUND = 3, 2
_LANES = 8
# Power steps towards the direction of a split.
_POWER_STEPS = 8
# Share of the word probabilities mixed into the spectral topics.
_SMOOTHING = 0.1
# What decorrelation may take of a word's share in one sweep: more makes topics swing from sweep to sweep.
_MOST_LOST = 0.5


@dataclass(frozen=True)
class Refinement:
    """Options of the refinement of topics by likelihood.

    Parameters
    ----------
    n_sweeps : int
        Sweeps over the documents before topics are split, and again at the end.
    split_sweeps : int
        Sweeps with twice as many topics; 0 for no split.
    decorrelation : float
        Strength with which topics compete for words; 0 for plain EM.
    """

    n_sweeps: int = 20
    split_sweeps: int = 0
    decorrelation: float = 0.0

    def __post_init__(self) -> None:
        split, strength = self.split_sweeps, self.decorrelation
        if not isinstance(split, (int, np.integer)) or isinstance(split, bool) or split < 0:
            raise InputError(f"split_sweeps must be a whole number, 0 or more, but is {split!r}.")
        number = isinstance(strength, (int, float, np.integer, np.floating)) and not isinstance(strength, bool)
        if not number or not 0.0 <= strength < np.inf:
            raise InputError(f"decorrelation must be a number, 0 or more, but is {strength!r}.")
        # As plain numbers, which is what a model folder holds.
        object.__setattr__(self, "n_sweeps", check_positive_integer(self.n_sweeps, "n_sweeps"))
        object.__setattr__(self, "split_sweeps", int(split))
        object.__setattr__(self, "decorrelation", float(strength))


def check_refinement(refinement: Any) -> Refinement | None:
    """The options, or InputError where they are none."""
    if refinement is not None and not isinstance(refinement, Refinement):
        raise InputError(f"refinement must be None or Refinement(...), but is {refinement!r}.")
    return refinement


def refine_topics(
    model: TopicModel,
    source: Source,
    options: Refinement,
    *,
    guided: Guided = UNGUIDED,
    candidates: BoolArray | None = None,
    weights: FloatArray | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str, float], None] | None = None,
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
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional

    Returns
    -------
    TopicModel
        With ``log_likelihood``, that of a known token in each sweep, before its topics move. Y and what else the
        spectral model knows of the statistics is kept; ``anchor_rows`` is None, as anchors may be others.
    """
    with limited_threads(n_jobs), one_library_thread(), scratch_folder() as folder:
        pieces = Pieces(source, 2 * model.n_components, weights)
        work = _Work(model, pieces, folder, options, guided, n_jobs, progress)
        work.run()
        return work.result(candidates, weights)


class _Work:
    """Topics on their way: B, alpha and gamma, and the likelihood in each sweep."""

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
        self._n_all = options.n_sweeps
        if options.split_sweeps:
            self._n_all += options.split_sweeps + _ROUNDS * _SWEEPS_A_ROUND + options.n_sweeps
        self._concentration = concentration(model.A)
        self._background = model.word_probs
        self.history: list[float] = []
        self.B = self._start()
        self.alpha = self._concentration * np.maximum(model.prevalence, 1e-6) / np.maximum(model.prevalence, 1e-6).sum()
        self._n_tokens = 0.0
        self.gamma = self._settled()

    def _settled(self) -> Expected:
        """Gamma of every document after a few steps from the prevalence, topics held."""
        settled = Expected(self._store())
        self._n_tokens = 0.0
        known = np.asarray(self.B.any(axis=1))
        for documents in self._pieces:
            self._n_tokens += float(documents.weighted[known[documents.by_row[1]]].sum())
            lengths = np.add.reduceat(np.append(documents.by_row[2], 0.0), documents.by_row[0][:-1])
            lengths[np.diff(documents.by_row[0]) == 0] = 0.0
            gamma = self.alpha + lengths[:, None] * self._model.prevalence
            expect(documents, self.B, self.alpha, gamma, _SETTLING, None, self._n_jobs)
            settled.append(gamma)
        return settled

    def _start(self) -> FloatArray:
        """Spectral topics with a tenth of the word probabilities; words of given anchors stay with their topics."""
        model = self._model
        B = (1.0 - _SMOOTHING) * model.B + _SMOOTHING * model.word_probs[:, None]
        given = model.anchors[: self._n_given]
        B[given] = model.B[given]
        return np.ascontiguousarray(self._guided.tied(B / B.sum(axis=0), self._background))

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
                self.gamma = self._settled()
                self._sweep(options.n_sweeps)

    def _sweep(self, n_sweeps: int) -> None:
        for _ in range(n_sweeps):
            words = np.zeros_like(self.B)
            likelihood = 0.0
            for number, documents in enumerate(self._pieces):
                gamma = self.gamma[number]
                likelihood += float(expect(documents, self.B, self.alpha, gamma, 1, words, self._n_jobs).sum())
            self.history.append(likelihood / self._n_tokens if self._n_tokens > 0.0 else 0.0)
            moved = decorrelated(words, self.B, self._options.decorrelation)
            self.B = self._guided.tied(self._guided.held(moved), words.sum(axis=1))
            self._keep_all_words()
            self._n_done += 1
            if self._report is not None:
                self._report("refinement", min(self._n_done / self._n_all, 1.0))

    def _split(self) -> None:
        g = self._n_given
        first, second = halves_of_topics(self.B[:, g:], self._model.word_topics)
        # The two halves of a topic stand side by side.
        both = np.stack([first, second], axis=2).reshape(self.B.shape[0], -1)
        self.B = np.ascontiguousarray(np.concatenate([self.B[:, :g], both], axis=1))
        self.B = self._guided.tied(self.B, self._background)
        self._subjects = np.concatenate([np.arange(g), g + np.repeat(np.arange(first.shape[1]), 2)])
        self.alpha = np.concatenate([self.alpha[:g], np.repeat(self.alpha[g:] / 2.0, 2)])
        self.gamma = self.gamma.mapped(
            lambda part: np.concatenate([part[:, :g], np.repeat(part[:, g:] / 2.0, 2, axis=1)], axis=1), self._store()
        )

    def _take_out(self, n_left: int) -> None:
        losses = np.zeros(self.B.shape[1])
        for number, documents in enumerate(self._pieces):
            losses += removal_losses(documents, self.B, self.gamma[number], self._background, self._n_jobs)
        losses[: self._n_given] = np.inf
        # Of two halves each may be missed little because the other is there: no more than one goes at a time.
        order = np.argsort(losses, kind="stable")
        lesser = order[np.sort(np.unique(self._subjects[order], return_index=True)[1])]
        kept = np.setdiff1d(order, lesser[: losses.size - n_left])
        self._subjects = self._subjects[kept]
        self.B = np.ascontiguousarray(self.B[:, kept])
        self.alpha = self._concentration * self.alpha[kept] / self.alpha[kept].sum()
        self.gamma = self.gamma.mapped(lambda part: part[:, kept], self._store())
        self._keep_all_words()

    def _keep_all_words(self) -> None:
        """Give a word that no topic holds any more, and that no sweep could bring back, to all of them."""
        lost = (self._background > 0.0) & ~self.B.any(axis=1)
        if lost.any():
            self.B[lost] = self._background[lost, None]
            self.B /= self.B.sum(axis=0)

    def result(self, candidates: BoolArray | None, weights: FloatArray | None = None) -> TopicModel:
        """The record: A is the documents' second moment, word_topics Bayes' rule, anchors words nearly all a topic's."""
        _, square = self.gamma.moments(weights)
        A = (square + square.T) / 2.0
        A /= A.sum()
        return with_topics(self._model, self.B, A, self._guided, candidates, tuple(self.history))


def numbers_left(n_topics: int, K: int) -> list[int]:
    """Topics after each round of taking out, falling evenly to K; of many, whole vectors on the way, which are faster."""
    even = np.geomspace(n_topics, K, _ROUNDS + 1)[1:-1]
    width = _LANES if K >= 4 * _LANES else 1
    return [min(max(K, width * round(n / width)), n_topics) for n in even] + [K]


def decorrelated(words: FloatArray, B: FloatArray, tau: float) -> FloatArray:
    """Topics from expected tokens, each word's share of a topic reduced by its weight in the others, by half at most.

    A topic that is left without tokens stays what it was.
    """
    if tau > 0.0:
        reduced = B - B.sum(axis=1, keepdims=True)
        reduced *= B
        reduced *= tau * words.sum() / B.shape[1]
        reduced += words
        words = np.maximum(reduced, (1.0 - _MOST_LOST) * words, out=reduced)
    totals = words.sum(axis=0)
    topics = words / np.where(totals > 0.0, totals, 1.0)
    bare = totals <= 0.0
    topics[:, bare] = B[:, bare]
    return topics


def halves_of_topics(B: FloatArray, places: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two topics for each: its words weighted by one plus, and one minus, where they lie along its longest axis.

    The axis is the first principal one of the ``places`` (N, D) of words, weighted by the topic.
    """
    axes = np.random.default_rng(0).standard_normal((places.shape[1], B.shape[1]))  # any start; always the same
    centres = B.T @ places
    along = np.zeros_like(B)
    for _ in range(_POWER_STEPS):
        along = places @ axes - np.sum(centres.T * axes, axis=0)
        axes = places.T @ (B * along)
        sizes = np.linalg.norm(axes, axis=0)
        axes /= np.where(sizes > 0.0, sizes, 1.0)
    along = places @ axes - np.sum(centres.T * axes, axis=0)
    spread = np.sqrt(np.sum(B * along**2, axis=0))
    tilt = np.tanh(along / np.where(spread > 0.0, spread, 1.0))
    first, second = B * (1.0 + tilt), B * (1.0 - tilt)
    return first / first.sum(axis=0), second / second.sum(axis=0)
