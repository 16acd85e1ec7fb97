"""Raw texts in, topics out: the reader, the rules and the preset for readers as one scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from ._progress import shown_progress
from ._typing import FloatArray
from .anchors.given import DEFAULT_STRENGTH
from .corpus.corpus import Corpus
from .corpus.formats import TABLE_FORMATS, format_of
from .corpus.read import read_corpus
from .corpus.text_rule import TextRule
from .devices import prototype
from .estimation.shown import ShowsTopics
from .estimator import AnchorTopicModel
from .exceptions import InputError
from .interpret.naming import topic_names
from .model import Stability, TopicModel
from .presets import preset as parameters_of_preset
from .rectify.progress import Report
from .storage.model_folder import write_model
from .text_vectorizer import TextVectorizer, refused_if_text

# Options that say where the text of a table is.
_WHERE = ("text_column", "header", "separator")
# Parameters of AnchorTopicModel that have an argument of their own here.
_OWN = ("n_components", "anchors", "forbidden_anchors", "strength", "random_state", "n_jobs", "device", "verbose")


class TextTopicModel(ShowsTopics, TransformerMixin, BaseEstimator):
    """Topic model of raw texts, with the defaults that measured best for reading; ``anchorwords fit`` uses it too.

    Texts are cleaned, split and counted by a :class:`TextVectorizer`, and the topics are learned by an
    :class:`AnchorTopicModel` with a preset. New texts are read by the same rule as those of the fit.

    Parameters
    ----------
    n_components : int, default=20
        Number of topics.
    preset : {"readers", "paper"}, default="readers"
        "readers" gives the topics that measured best for reading: anchors in at least 1% of the documents, and topics
        refined on the documents. "paper" is Algorithm 6 of the paper.
    vectorizer : TextVectorizer, optional
        How to read texts and which words to keep, such as ``TextVectorizer(stop_words=["english", "widget"])``.
    anchors : list, optional
        Anchors of up to ``n_components`` topics, each a word or a list of words; the others are chosen.
    forbidden_anchors : list of str, optional
        Words that must not be chosen as anchors. If such a word mostly belongs to one topic, that topic is forbidden too;
        see :class:`AnchorTopicModel`.
    strength : float, default=0.01
        How strongly topics are held to their ``anchors`` when they are refined; 0 gives the anchors no weight. See
        :class:`AnchorTopicModel`.
    options : dict, optional
        Further parameters of :class:`AnchorTopicModel`, which take precedence over those of the preset, such as
        ``{"composition": "prior-aware"}``.
    random_state : int, RandomState or None, default=None
        Seed; topics do not depend on it beyond rounding, so None means a fixed seed.
    n_jobs : int or None, default=None
        Threads; None uses all cores. Results do not depend on it.
    device : {None, "cpu", "cuda", "cuda:1", ...}, default=None
        Where topics and proportions are computed; "cuda" is an NVIDIA GPU. Texts are always read by the processor. See
        :class:`AnchorTopicModel`.
    verbose : int, default=0
        1 shows a progress bar in a notebook, and elsewhere the log of the stages on standard error; 2 shows the log in a
        notebook too.

    Attributes
    ----------
    estimator_ : AnchorTopicModel
        The estimator that learned the topics; it takes counts.
    vectorizer_ : TextVectorizer
        The fitted vectoriser.
    reading_ : dict
        Where ``fit`` has found the text of a table, such as its ``text_column``. A model that was loaded has none.
    corpus_ : Corpus
        The documents that topics were learned from, without those that are too short. A model that was loaded from disk
        has none.
    model_ : TopicModel
        The topics, with how they were learned.
    components_ : (K, N) array
        p(word | topic); rows sum to one.
    anchors_ : (K,) array
        Column of the anchor of each topic.
    topic_prevalence_ : (K,) array
        p(topic).
    topic_correlation_ : (K, K) array
        p(topic, topic'); sums to one.
    n_features_in_ : int
        Number of words.

    Examples
    --------
    >>> from anchorwords import TextTopicModel, topic_table
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> texts = [" ".join(word for word, count in document.counts.items()) for document in corpus]
    >>> model = TextTopicModel(3).fit(texts)
    >>> model.transform(texts[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        n_components: int = 20,
        *,
        preset: str = "readers",
        vectorizer: TextVectorizer | None = None,
        anchors: Any = None,
        forbidden_anchors: Any = None,
        strength: float = DEFAULT_STRENGTH,
        options: Mapping[str, Any] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.preset = preset
        self.vectorizer = vectorizer
        self.anchors = anchors
        self.forbidden_anchors = forbidden_anchors
        self.strength = strength
        self.options = options
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, progress: Report | None = None, **reading: Any) -> Self:  # noqa: ARG002
        """Learn topics.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            Texts, or anything that :func:`read_corpus` reads. The words of a Corpus that was pruned already are not chosen
            again.
        y : ignored
        progress : callable, optional
            Called with the name of a stage and the share of it that is done.
        **reading
            Where documents are found, as for :func:`read_corpus`: ``text_column``, ``id_column``, ``columns``, ...

        Returns
        -------
        self
        """
        self._fit(X, progress, reading)
        return self

    def transform(self, X: Any, method: str | None = None, **reading: Any) -> FloatArray:
        """Return the topic proportions of each document; rows sum to one.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            Text is read by the rule of the fit. A document without a known word gets the prevalence of the topics. If most
            words are unknown, an UnknownWordWarning is issued.
        method : {"posterior-mean", "prior-aware"}, optional
            How proportions are inferred; see :meth:`AnchorTopicModel.transform`.
        **reading
            Where documents are found, as for ``fit``. The default for a table is what ``fit`` was given.
        """
        corpus = self.read(X, **reading)
        return self._computing_estimator().transform(corpus, method)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> FloatArray:  # noqa: ARG002
        """Learn topics and return the topic proportions of all documents, including those too short to learn from."""
        progress = fit_params.pop("progress", None)
        return self.transform(self._fit(X, progress, fit_params))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the log-likelihood per token; see :meth:`AnchorTopicModel.score`."""
        corpus = self.read(X)
        return self._computing_estimator().score(corpus)

    def perplexity(self, X: Any, method: str = "posterior-mean") -> float:
        """Return the perplexity by document completion; see :meth:`AnchorTopicModel.perplexity`."""
        corpus = self.read(X)
        return self._computing_estimator().perplexity(corpus, method)

    def measure_stability(self, X: Any = None, **options: Any) -> Stability:
        """Return error bars of every topic, which are kept with the model; by default on the documents of the fit."""
        check_is_fitted(self)
        if X is None and not hasattr(self, "corpus_"):
            raise InputError("a model that was loaded has no documents: give those of the fit.")
        return self.estimator_.measure_stability(self.corpus_ if X is None else self.read(X), **options)

    def get_feature_names_out(self, input_features: Any = None) -> Any:  # noqa: ARG002
        """Return the labels of the topics."""
        check_is_fitted(self)
        return np.array(_names(self.model_), dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as a folder of arrays and JSON, whole or not at all; see :func:`load_model`."""
        check_is_fitted(self)
        made = self.model_.provenance.with_changes(
            text={"preset": self.preset, "vectorizer": self.vectorizer_.to_dict()}
        )
        write_model(path, replace(self.model_, provenance=made))

    def with_model(self, model: TopicModel) -> Self:
        """Return a copy of this fitted estimator with other topics, such as edited ones."""
        check_is_fitted(self)
        return copy(self)._take(self.estimator_.with_model(model))

    @property
    def model_(self) -> TopicModel:
        """The topics, with how they were learned."""
        return self._fitted("model_")

    @property
    def components_(self) -> FloatArray:
        """p(word | topic)."""
        return self._fitted("components_")

    @property
    def topic_prevalence_(self) -> FloatArray:
        """p(topic)."""
        return self._fitted("topic_prevalence_")

    @property
    def topic_correlation_(self) -> FloatArray:
        """p(topic, topic')."""
        return self._fitted("topic_correlation_")

    @property
    def anchors_(self) -> Any:
        """Column of the anchor of each topic."""
        return self._fitted("anchors_")

    @property
    def text_rule_(self) -> TextRule | None:
        """How texts are split into words."""
        return self._fitted("text_rule_")

    @classmethod
    def from_saved(cls, estimator: AnchorTopicModel, record: Mapping[str, Any], tokenizer: Any = None) -> Self:
        """Return the fitted model whose estimator and parameters were saved; ValueError or KeyError if they are invalid."""
        own = {name: getattr(estimator, name) for name in _OWN}
        vectorizer = TextVectorizer.from_dict(record["vectorizer"]).set_params(tokenizer=tokenizer)
        given = estimator.get_params(deep=False)
        usual = parameters_of_preset(record["preset"])
        if given["refinement"] != usual["refinement"]:  # which the rectifier of a preset depends on
            usual = parameters_of_preset(record["preset"], refinement=given["refinement"]) | {"refinement": "other"}
        default = AnchorTopicModel().get_params(deep=False) | usual
        options = {name: value for name, value in given.items() if name not in _OWN and value != default[name]}
        model = cls(**own, preset=record["preset"], vectorizer=vectorizer, options=options or None)
        saved = estimator.model_
        made = saved.provenance
        if saved.vocabulary is None:
            raise ValueError("its words have no names")
        model.vectorizer_ = clone(vectorizer).adopt(
            saved.vocabulary, made.reading, made.vocabulary_rule, tokenized=made.tokenized
        )
        return model._take(estimator)

    def _fitted(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.estimator_, name)

    def _fit(self, X: Any, progress: Report | None, reading: dict[str, Any]) -> Corpus:
        """Learn topics; returns all documents."""
        estimator = AnchorTopicModel(**self._parameters())
        if not isinstance(self.vectorizer, TextVectorizer | None):
            raise InputError(f"vectorizer must be a TextVectorizer, but is {type(self.vectorizer).__name__}.")
        vectorizer = TextVectorizer(n_jobs=self.n_jobs) if self.vectorizer is None else clone(self.vectorizer)
        with shown_progress("Topics", self.verbose):  # one bar for reading and learning
            whole, pruned = vectorizer.fit_corpus(X, **reading)
            self._learn(estimator, vectorizer, pruned, progress)
        self.reading_ = {name: value for name, value in reading.items() if name in _WHERE}
        return whole

    def fit_chosen(self, vectorizer: TextVectorizer, corpus: Corpus, progress: Report | None = None) -> Self:
        """Learn topics from a corpus whose words a fitted vectoriser has chosen; ``anchorwords fit`` reports them first.

        Parameters
        ----------
        vectorizer : TextVectorizer
            Takes the place of a fitted copy of the parameter ``vectorizer``.
        corpus : Corpus
            What its method ``choose_words`` returned.
        progress : callable, optional
            As for :meth:`fit`.
        """
        self._learn(AnchorTopicModel(**self._parameters()), vectorizer, corpus, progress)
        return self

    def _learn(
        self, estimator: AnchorTopicModel, vectorizer: TextVectorizer, corpus: Corpus, progress: Report | None
    ) -> None:
        estimator.fit(corpus, progress=progress)
        self.vectorizer_, self.corpus_ = vectorizer, corpus
        self._take(estimator)

    def _parameters(self) -> dict[str, Any]:
        """Return the parameters of the estimator."""
        options = {} if self.options is None else self.options
        if not isinstance(options, Mapping):
            raise InputError(f"options must be a dict of parameters of AnchorTopicModel, but is {options!r}.")
        known = AnchorTopicModel._get_param_names()
        for name in options:
            if name not in known or name in _OWN:
                there = ", ".join(other for other in known if other not in _OWN)
                raise InputError(f"options may hold {there}, but holds {name!r}.")
        own = {name: getattr(self, name) for name in _OWN}
        return parameters_of_preset(self.preset, **options) | own

    def _prototype(self) -> Any:
        """An empty tensor on the device; None for NumPy on the processor."""
        return prototype(self.device)

    def _computing_estimator(self) -> AnchorTopicModel:
        """The fitted estimator, on the device that is set now."""
        self.estimator_.device = self.device
        return self.estimator_

    def _take(self, estimator: AnchorTopicModel) -> Self:
        self.estimator_ = estimator
        self.n_features_in_ = estimator.n_features_in_
        return self

    def read(self, X: Any, **reading: Any) -> Corpus:
        """Read documents as those of the fit were read, for functions that take a Corpus, such as :func:`top_documents`.

        Parameters
        ----------
        X : list of str, Series, path, data frame, or Corpus
            A Corpus is returned as it is.
        **reading
            Where documents are found, as for ``fit``. The default for a table is what ``fit`` was given.
        """
        check_is_fitted(self)
        if isinstance(X, Corpus):
            return self.vectorizer_.read(X, **reading)
        if not reading and hasattr(self, "reading_") and format_of(refused_if_text(X)) in TABLE_FORMATS:
            reading = self.reading_
        if self.text_rule_ is None:
            return self.vectorizer_.read(X, like=self, **reading)
        tokenizer = self.vectorizer_.tokenizer or getattr(self.vectorizer, "tokenizer", None)
        # With words that the model does not know, to say how many there are.
        return read_corpus(
            refused_if_text(X), like=self, every_word=True, tokenizer=tokenizer, n_jobs=self.n_jobs, **reading
        )

    def _shown_model(self) -> TopicModel | None:
        return self.estimator_._shown_model() if "estimator_" in vars(self) else None

    def __sklearn_is_fitted__(self) -> bool:
        return "estimator_" in vars(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


def _names(model: TopicModel) -> list[str]:
    """Return the labels of the topics; an automatic or repeated one with the id of its topic before it."""
    names, labels = topic_names(model), model.labels or ("",) * model.n_components
    own = [bool(label) and names.count(label) == 1 for label in labels]
    return [name if mine else f"{number} {name}" for number, name, mine in zip(model.ids, names, own, strict=True)]
