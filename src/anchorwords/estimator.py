"""The scikit-learn estimator: a shell around a fit and the inference of documents."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._progress import shown_progress
from ._validation import check_n_jobs
from .anchors.given import DEFAULT_STRENGTH
from .devices import computing_on, fit_needs, prototype
from .estimation.batches import BatchesMixin
from .estimation.documents import DocumentsMixin
from .estimation.parts import parameters_from_dict, parameters_to_dict, restored_on_failure, validated_array
from .estimation.shown import ShowsTopics
from .exceptions import InputError, ModelFormatError
from .fitting import FitOptions, fit_documents
from .infer.compose import check_method
from .linalg.parallel import limited_threads
from .linalg.tall import copied
from .model import Stability, TopicModel
from .presets import preset, preset_of
from .rectify.progress import Report, silent
from .refine.options import Refinement, check_refinement
from .resampling.stability import stability
from .sources.convert import as_source
from .sources.source import Source
from .statistics.sketch import CooccurrenceSketch
from .storage.model_folder import write_model


class AnchorTopicModel(ShowsTopics, DocumentsMixin, BatchesMixin, TransformerMixin, BaseEstimator):
    """Topic model learned from word co-occurrence by rectified anchor words.

    With the default rectifier this is LR-JSMF (Algorithm 6 of Lee et al., ICML 2021): the co-occurrence of Eq. 1
    is only ever an operator, its leading eigenpairs start ENN, and LAW reads anchors, topics and their
    correlations off the compressed result, in time and memory linear in the vocabulary.

    It takes counts and gives the topics of the paper. :class:`TextTopicModel` takes texts. Topics that are easier to read
    come from :meth:`from_preset` with "readers", which TextTopicModel and the command line use by default.

    Parameters
    ----------
    n_components : int, default=10
        Number of topics K.
    rectifier : {"enn", "palm", "ap", None} or options record, default="enn"
        "enn" (Algorithm 3), "palm" (Algorithm 4), "ap" (Algorithm 2, dense), None (plain Anchor Word algorithm,
        dense), or ``ENN(...)``, ``PALM(...)``, ``AP(...)`` with their options.
    anchors : sequence, optional
        Up to K anchors, each a word, a column, or a list of them: the words of a list together are the anchor of one
        topic (tandem anchors). The rest are chosen. A word that is not there warns, with close matches, and is left out.
    forbidden_anchors : sequence of str or int, optional
        Words (or columns) that must not be chosen. If such a word mostly belongs to one topic, that topic is forbidden too:
        its words cannot be anchors, and they have the same probability in every topic. Topics are then learned twice.
    strength : float, default=0.01
        How strongly the refinement holds a topic to its ``anchors``: the number of pseudo-tokens of the anchors, relative to
        the tokens of the topic. With 0.1 the anchors of a topic have at least 9% of its probability; 0 gives them no
        weight. Without ``refinement`` it has no effect.
    min_anchor_docs : int, float or "auto", default=1
        Fewest documents of a word that is chosen as an anchor: a number, or a share between 0 and 1. "auto" is one per cent
        of the documents, or any word if that leaves too few words to choose from.
    refinement : Refinement or None, default=None
        Polish the spectral topics by sweeps of likelihood over the documents; None is the paper's Algorithm 6.
    composition : {"posterior-mean", "prior-aware"}, default="posterior-mean"
        How ``transform`` finds topic proportions; "prior-aware" has ``fit`` learn the dual matrix that it needs.
    random_state : int, RandomState or None, default=None
        Seed of the probe that starts the eigendecomposition. Topics do not depend on it beyond rounding, so None means
        a fixed seed: two fits on the same data are the same.
    n_jobs : int or None, default=None
        Threads, ours and the linear algebra library's; None uses all cores. Results do not depend on it.
    device : {None, "cpu", "cuda", "cuda:1", ...}, default=None
        Where ``fit`` and ``transform`` compute: "cuda", or "cuda:1" if there are several, is an NVIDIA GPU (needs the extra
        "gpu"), and "cpu" the processor. None is the processor unless X is an array of another library, such as a torch
        tensor, which is fitted where it is. Attributes are NumPy arrays on every device. The device is not saved with a
        model: set it after loading, with ``set_params(device="cuda")``.
    verbose : int, default=0
        1 shows a progress bar in a notebook, and elsewhere the log of the stages on standard error; 2 shows the log in a
        notebook too.

    Attributes
    ----------
    components_ : (K, N) array
        p(word | topic); rows sum to one.
    anchors_ : (K,) array
        Column of each topic's anchor word.
    topic_correlation_ : (K, K) array
        p(topic, topic'); symmetric, non-negative, sums to one.
    topic_prevalence_ : (K,) array
        p(topic).
    word_topics_ : (N, K) array
        p(topic | word).
    n_iter_ : int
        Steps of the rectification.
    converged_ : bool
        Whether it met its tolerance.
    history_ : tuple of Iteration, or None
        Change, violation and objective of each of these steps; empty without a rectifier. This and the two below are None
        where a folder that an earlier version wrote does not tell.
    n_docs_ : int or None
        Documents that were used.
    n_skipped_ : int or None
        Documents that were not, having fewer than two tokens.
    model_ : TopicModel
        The record behind these, with its provenance.
    n_features_in_ : int
    feature_names_in_ : (N,) array
        Only when fitted on a data frame.
    composition_prior_ : Dual
        Only after a fit for prior-aware proportions: their dual matrix and how near it brings the documents to A. A saved
        model keeps the matrix, in ``model_.inference.composition_dual``.
    text_rule_ : TextRule or None
        How the text of the corpus was split into words.
    sketch_ : CooccurrenceSketch
        Only after :meth:`partial_fit`.

    Examples
    --------
    >>> from anchorwords import AnchorTopicModel, topic_table
    >>> from anchorwords.datasets import make_topics
    >>> data = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0)
    >>> model = AnchorTopicModel(n_components=3).fit(data.corpus)
    >>> model.transform(data.corpus).shape
    (400, 3)
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        rectifier: Any = "enn",
        anchors: Any = None,
        forbidden_anchors: Any = None,
        strength: float = DEFAULT_STRENGTH,
        min_anchor_docs: float | str = 1,
        refinement: Refinement | None = None,
        composition: str = "posterior-mean",
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.rectifier = rectifier
        self.anchors = anchors
        self.forbidden_anchors = forbidden_anchors
        self.strength = strength
        self.min_anchor_docs = min_anchor_docs
        self.refinement = refinement
        self.composition = composition
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    @classmethod
    def from_preset(cls, name: str, n_components: int = 10, **parameters: Any) -> AnchorTopicModel:
        """An estimator with the parameters of a named preset.

        Parameters
        ----------
        name : {"paper", "readers"}
            "paper" is Algorithm 6 as it stands, the default of the estimator. "readers" is what measurement found best to
            read (docs/refinement.md): anchors in at least one per cent of the documents (``min_anchor_docs="auto"``), topics
            refined by least squares and likelihood, and a background of common words. ``topic_table`` lists its keywords.
        n_components : int
        **parameters
            Of the estimator; these win.
        """
        return cls(n_components, **preset(name, **parameters))

    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        progress: Report | None = None,
        start: CooccurrenceSketch | None = None,
        min_df: int = 1,
    ) -> AnchorTopicModel:
        """Learn topics.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, blocks, Source, or CooccurrenceSketch
            What is larger than memory is read pass by pass: a corpus opened by :func:`open_corpus`, a list of sparse
            blocks of documents, or a function that returns an iterable of blocks. Arrays of another namespace, such as
            torch tensors, are fitted in that namespace.
        y : ignored
        progress : callable, optional
            Called with the name of a stage and the share of it that is done.
        start : CooccurrenceSketch, optional
            Sketch of these documents, or of others like them: the eigenpairs of the data are looked for from there, in
            fewer passes. The result is that of a fit without it.
        min_df : int
            Leave out words of a sketch that are in fewer documents; see :meth:`CooccurrenceSketch.eigh`. Prune other data
            beforehand.

        Returns
        -------
        self
        """
        is_sketch = isinstance(X, CooccurrenceSketch)
        if is_sketch and start is not None:
            raise InputError("a sketch is fitted as it is: start belongs to a fit that reads documents.")
        if not is_sketch and min_df != 1:
            raise InputError("min_df belongs to the fit of a sketch: prune other data beforehand, with Corpus.prune.")
        with (
            restored_on_failure(self), shown_progress("Topics", self.verbose, progress) as report,
            limited_threads(check_n_jobs(self.n_jobs)),
        ):  # fmt: skip
            self.__dict__.pop("sketch_", None)
            self.__dict__.pop("composition_prior_", None)
            if is_sketch:
                with self._computing():
                    return self._fit_sketch(X, min_df, report)
            source = self._source(X, reset=True)
            check_method(self.composition)
            vocabulary = source.words
            if start is not None and start.named and vocabulary is None:
                raise InputError(
                    "the sketch has words with names, but the data have none: give a Corpus or a data frame."
                )
            basis = None if start is None else start.basis(vocabulary if start.named else None, source.n_words)
            with computing_on(source.like, partial(_needs, source, self.n_components)):
                self._adopt(fit_documents(source, self._options(report), start=basis))
            return self.learn_composition_prior(source) if self.composition == "prior-aware" else self

    def measure_stability(self, X: Any, **options: Any) -> Stability:
        """Error bars of every topic, kept with the model and shown by :func:`topic_table`.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, Corpus, or blocks
            The documents of the fit.
        **options
            Of :func:`stability`, such as ``n_replicates``.
        """
        check_is_fitted(self)
        found = stability(self, X, **({"n_jobs": self.n_jobs, "verbose": self.verbose} | options))
        self.model_ = replace(self.model_, stability=found)
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as a folder of arrays and JSON, whole or not at all; see :func:`load_model`."""
        check_is_fitted(self)
        write_model(path, self.model_)

    def with_model(self, model: TopicModel) -> AnchorTopicModel:
        """Return a copy of this fitted estimator with other topics, such as edited ones.

        Parameters stay those of the fit, so that fitting the copy learns topics anew.
        """
        check_is_fitted(self)
        other = copy(self)
        for name in ("sketch_", "composition_prior_"):
            other.__dict__.pop(name, None)
        other._is_loaded = True
        return other._take(model)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the names of the columns of ``transform``: "anchortopicmodel" and the id of the topic."""
        check_is_fitted(self)
        return np.array([f"{type(self).__name__.lower()}{topic}" for topic in self.model_.ids], dtype=object)

    def _options(self, progress: Report | None) -> FitOptions:
        return FitOptions(
            self.n_components, self.rectifier, self.anchors, self.forbidden_anchors, self.min_anchor_docs,
            check_refinement(self.refinement), self._seed(), check_n_jobs(self.n_jobs), progress or silent,
            self.strength, self._prototype(),
        )  # fmt: skip

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _source(self, X: Any, *, reset: bool) -> Source:
        """Documents in any form; with ``reset``, their columns become those of the estimator."""
        if reset:
            self.__dict__.pop("n_features_in_", None)
        source = as_source(X, validated=partial(validated_array, self, reset=reset))
        if reset and "n_features_in_" not in vars(self):  # an array has set it when it was validated
            self.n_features_in_ = source.n_words
            self.__dict__.pop("feature_names_in_", None)
        if self.device is not None:
            source = copy(source)  # it may be the caller's own
            source.like = self._prototype()
        return source

    def _prototype(self) -> Any:
        """An empty tensor on the device; None for NumPy on the processor."""
        return prototype(self.device)

    def _computing(self) -> AbstractContextManager[None]:
        """Compute on the device of the estimator; see :func:`anchorwords.devices.computing_on`."""
        return computing_on(self._prototype())

    def _adopt(self, model: TopicModel) -> AnchorTopicModel:
        parameters = parameters_to_dict(self)
        made = model.provenance.with_changes(
            parameters=parameters, preset=preset_of(parameters), named_columns="feature_names_in_" in vars(self)
        )
        self._is_loaded = False
        return self._take(replace(model, provenance=made))

    def _take(self, model: TopicModel) -> AnchorTopicModel:
        self.model_, made = model, model.provenance
        self.n_iter_, self.converged_, self.history_ = made.n_iter, made.converged, made.history
        self.n_docs_, self.n_skipped_, self.text_rule_ = made.n_docs, made.n_skipped, made.reading
        self.components_ = copied(model.B).T
        self.anchors_ = np.array(model.anchors)
        self.topic_correlation_ = np.array(model.A)
        self.topic_prevalence_ = model.prevalence
        self.word_topics_ = copied(model.word_topics)
        self._n_features_out = model.n_components
        return self

    def _shown_model(self) -> TopicModel | None:
        return vars(self).get(
            "model_"
        )  # after partial_fit there may be none yet, which is not the time to solve for it

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self) or "sketch_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def _needs(source: Source, n_components: int) -> str:
    """The memory that a fit needs, as a part of a sentence."""
    return fit_needs(source.n_words, n_components, source.counts)


def estimator_of(model: TopicModel, path: str | os.PathLike[str]) -> AnchorTopicModel:
    """Return the fitted estimator of a model that was read from a folder; ModelFormatError if it does not describe one."""
    made = model.provenance
    try:
        estimator = AnchorTopicModel(
            **parameters_from_dict(made.parameters, None if model.edits else model.n_components)
        )
        estimator.n_features_in_ = model.n_words
        if made.named_columns:
            if model.vocabulary is None:
                raise KeyError("vocabulary")
            estimator.feature_names_in_ = np.array(model.vocabulary, dtype=object)
        estimator._take(model)
        estimator._is_loaded = True
        return estimator
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        why = str(error)[:300]
        raise ModelFormatError(f"{path} does not describe a fitted estimator ({why}): save it again.") from error
