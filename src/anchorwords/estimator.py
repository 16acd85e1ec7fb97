"""The scikit-learn estimator: a shell around the pipeline."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._typing import FloatArray, SparseLike
from ._validation import check_counts, check_n_jobs
from .anchors.given import as_plain
from .corpus.blocks import BlockSource, InVocabulary, MatrixBlocks, is_blocks
from .corpus.corpus import Corpus
from .corpus.stored import held_counts
from .exceptions import AnchorwordsError, InputError, ModelFormatError
from .infer.aware import learn_dual
from .infer.complete import complete_documents
from .infer.compose import check_method, compositions, joined
from .infer.fold_in import Compositions
from .linalg.parallel import limited_threads
from .model import Stability, TopicModel, embed_words
from .pipeline import Progress, fit_sketch, fit_topics
from .presets import preset
from .rectify.course import Course, course_from_dict, course_to_dict
from .rectify.options import rectifier_from_dict, rectifier_to_dict
from .refine.refinement import Refinement, check_refinement
from .resampling.stability import stability
from .statistics.sketch import CooccurrenceSketch, rule_of_text
from .storage.model_folder import read_model, write_model

logger = logging.getLogger("anchorwords.estimator")

# What a fit leaves behind, and partial_fit leaves to be learned when it is asked for.
_SOLVED = frozenset(
    {
        "model_", "n_iter_", "converged_", "components_", "anchors_", "topic_correlation_", "topic_prevalence_",
        "word_topics_", "n_docs_", "n_skipped_", "history_", "_n_features_out",
    }
)  # fmt: skip


class AnchorTopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Topic model learned from word co-occurrence by rectified anchor words.

    With the default rectifier this is LR-JSMF (Algorithm 6 of Lee et al., ICML 2021): the co-occurrence of Eq. 1
    is only ever an operator, its leading eigenpairs start ENN, and LAW reads anchors, topics and their
    correlations off the compressed result, in time and memory linear in the vocabulary.

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
        Words (or columns) that must not be chosen.
    min_anchor_docs : int or float, default=1
        Fewest documents of a word that is chosen as an anchor: a number, or a share between 0 and 1.
    refinement : Refinement or None, default=None
        Polish the spectral topics by sweeps of likelihood over the documents; None is the paper's Algorithm 6.
    composition : {"map", "prior-aware"}, default="map"
        How ``transform`` finds compositions; "prior-aware" has ``fit`` learn the dual matrix that it needs.
    random_state : int, RandomState or None, default=None
        Seed of the probe that starts the eigendecomposition. Topics do not depend on it beyond rounding, so None means
        a fixed seed: two fits on the same data are the same.
    n_jobs : int or None, default=None
        Threads, ours and the linear algebra library's; None uses all cores. Results do not depend on it.
    verbose : int, default=0
        1 shows the log of the stages of ``fit`` on standard error.

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
        Change, violation and objective of each of these steps; empty without a rectifier. A saved model keeps numbers that
        are not finite as NaN. This and the two below are None in a model loaded from a folder that an earlier version wrote.
    n_docs_ : int or None
        Documents that were used.
    n_skipped_ : int or None
        Documents that were not, having fewer than two tokens.
    model_ : TopicModel
        The record behind these.
    n_features_in_ : int
    feature_names_in_ : (N,) array
        Only when fitted on a data frame.
    composition_prior_ : Dual
        Only after a fit for prior-aware compositions: their dual matrix and how near it brings the documents to A. A saved
        model keeps the matrix, in ``model_.composition_dual``.
    text_rule_ : dict or None
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

    model_: TopicModel

    def __init__(
        self,
        n_components: int = 10,
        *,
        rectifier: Any = "enn",
        anchors: Any = None,
        forbidden_anchors: Any = None,
        min_anchor_docs: float = 1,
        refinement: Refinement | None = None,
        composition: str = "map",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.rectifier = rectifier
        self.anchors = anchors
        self.forbidden_anchors = forbidden_anchors
        self.min_anchor_docs = min_anchor_docs
        self.refinement = refinement
        self.composition = composition
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_preset(cls, name: str, n_components: int = 10, **parameters: Any) -> AnchorTopicModel:
        """An estimator with the parameters of a named preset; others may be given beside them.

        Parameters
        ----------
        name : {"paper", "readers"}
            "paper" is Algorithm 6 as it stands, the default of the estimator. "readers" is what measurement found best to
            read (docs/refinement.md): anchors in at least a hundredth of the documents, and refined topics. Read them by
            ``topic_table(model, ranking="relevance")``.
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
        progress: Progress | None = None,
        start: CooccurrenceSketch | None = None,
        min_df: int = 1,
    ) -> AnchorTopicModel:
        """Learn topics.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, blocks, or CooccurrenceSketch
            What is larger than memory is read pass by pass: a corpus opened by :func:`open_corpus`, a list of sparse
            blocks of documents, or a function that returns an iterable of blocks. Peak memory then depends on words and
            topics alone.
        y : ignored
        progress : callable, optional
            Called with the name of a stage and the share of it that is done.
        start : CooccurrenceSketch, optional
            Sketch of these documents, or of others like them: the eigenpairs of the data are looked for from there, in
            fewer passes. The result is that of a fit without it.
        min_df : int
            Leave out words of a sketch that are in fewer documents; see :meth:`CooccurrenceSketch.eigh`. Other data are
            pruned beforehand.

        Returns
        -------
        self
        """
        is_sketch = isinstance(X, CooccurrenceSketch)
        if is_sketch and start is not None:
            raise InputError("a sketch is fitted as it is: start belongs to a fit that reads documents.")
        if not is_sketch and min_df != 1:
            raise InputError("min_df belongs to the fit of a sketch: prune other data beforehand, with Corpus.prune.")
        with _restored_on_failure(self):
            self.__dict__.pop("_sketch", None)
            if is_sketch:
                return self._fit_sketch(X, min_df, progress)
            return self._fit(X, progress, start)

    def partial_fit(self, X: Any, y: Any = None) -> AnchorTopicModel:  # noqa: ARG002
        """Learn from a batch of documents, which is not kept.

        The first batch starts anew, also after ``fit``. Statistics are updated, in memory of words x topics (an
        incremental :class:`CooccurrenceSketch`, in ``sketch_``); topics are learned anew when a fitted attribute is next
        asked for.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, or Corpus
            Batches of a Corpus may bring new words; the model's are in the order of their characters.

        Returns
        -------
        self
        """
        self._require_no_documents_needed()
        so_far: CooccurrenceSketch | None = getattr(self, "_sketch", None)
        rule = rule_of_text(X.text_rule) if isinstance(X, Corpus) else None
        with _restored_on_failure(self):
            batch = X if isinstance(X, Corpus) else self._counts(X, reset=so_far is None)
            sketch = self._new_sketch(rule) if so_far is None else so_far.copy()
            if sketch.rule != rule:
                raise InputError("the text of this batch was split into words by another rule than that of the others.")
            sketch.update(batch)
            if isinstance(X, Corpus):
                self.n_features_in_ = sketch.n_words
        self._sketch = sketch
        self.text_rule_ = sketch.text_rule
        for name in (*_SOLVED, "composition_prior_"):
            self.__dict__.pop(name, None)
        return self

    def _require_no_documents_needed(self) -> None:
        """Raise for what a sketch of documents cannot give."""
        if self.refinement is not None:
            raise InputError("a sketch holds no documents to refine topics on: use refinement=None, or give documents.")
        if check_method(self.composition) == "prior-aware":
            raise InputError(
                "a sketch holds no documents to learn the prior of compositions on: use composition='map', then "
                "learn_composition_prior on documents."
            )

    def _new_sketch(self, rule: str | None) -> CooccurrenceSketch:
        return CooccurrenceSketch(
            self.n_components,
            method="incremental",
            rule=rule,
            random_state=self._seed(),
            n_jobs=check_n_jobs(self.n_jobs),
        )

    def __getattr__(self, name: str) -> Any:
        # Only called for what is not there: topics of partial_fit are learned when they are asked for.
        sketch = self.__dict__.get("_sketch")
        if sketch is not None and name == "sketch_":
            return sketch
        if sketch is not None and name in _SOLVED:
            try:
                self._fit_sketch(sketch, 1, None)
            except AnchorwordsError as error:  # so that hasattr works
                raise AttributeError(f"{name} cannot be learned from the batches so far: {error}") from error
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in self.__dict__ or self.__dict__.get("_sketch") is not None

    def _fit_sketch(self, sketch: CooccurrenceSketch, min_df: int, progress: Progress | None) -> AnchorTopicModel:
        words = sketch.words(min_df)
        if not words:
            raise InputError(f"the sketch of {sketch.n_docs} documents holds no word in at least {min_df} of them.")
        n_jobs = check_n_jobs(self.n_jobs)
        vocabulary: Any = words
        used = None
        if not sketch.named:  # words are columns, of which some may never have occurred
            if getattr(self, "_sketch", None) is not sketch:
                self.n_features_in_ = sketch.n_features
                self.__dict__.pop("feature_names_in_", None)
            vocabulary = getattr(self, "feature_names_in_", None)
            used = np.zeros(self.n_features_in_, dtype=bool)
            used[[int(word) for word in words]] = True
        self._require_no_documents_needed()
        self.__dict__.pop("composition_prior_", None)
        with _logging(self.verbose), limited_threads(n_jobs):
            fit = fit_sketch(
                sketch, self.n_components, rectifier=self.rectifier, anchors=self.anchors,
                forbidden=self.forbidden_anchors, min_anchor_docs=self.min_anchor_docs, vocabulary=vocabulary, used=used,
                min_df=min_df, n_jobs=n_jobs, progress=progress,
            )  # fmt: skip
        model = fit.model if used is None else embed_words(fit.model, used)
        if used is None:
            self.n_features_in_ = len(words)
            self.__dict__.pop("feature_names_in_", None)
        self.text_rule_ = sketch.text_rule
        return self._adopt(model.with_vocabulary(vocabulary), fit.course)

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fit(self, X: Any, progress: Progress | None, start: CooccurrenceSketch | None) -> AnchorTopicModel:
        data = self._data(X)
        n_jobs = check_n_jobs(self.n_jobs)
        vocabulary = X.vocabulary if isinstance(X, Corpus) else getattr(self, "feature_names_in_", None)
        check_method(self.composition)
        refinement = check_refinement(self.refinement)
        if start is not None and start.named and vocabulary is None:
            raise InputError("the sketch has words with names, but the data have none: give a Corpus or a data frame.")
        basis = None if start is None else start.basis(vocabulary if start.named else None, self.n_features_in_)
        seed = self._seed()
        with _logging(self.verbose), limited_threads(n_jobs):
            fit = fit_topics(
                data, self.n_components, rectifier=self.rectifier, anchors=self.anchors,
                forbidden=self.forbidden_anchors, min_anchor_docs=self.min_anchor_docs, vocabulary=vocabulary,
                random_state=seed, n_jobs=n_jobs, progress=progress, start=basis, refinement=refinement,
            )  # fmt: skip
        self.text_rule_ = X.text_rule if isinstance(X, Corpus) else None
        self._adopt(fit.model.with_vocabulary(vocabulary), fit.course)
        self.__dict__.pop("composition_prior_", None)
        return self.learn_composition_prior(X) if self.composition == "prior-aware" else self

    def learn_composition_prior(self, X: Any) -> AnchorTopicModel:
        """Learn what prior-aware compositions need, on the documents of the fit; ``fit`` does where it was asked to.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
            Read once; of more than fifty thousand documents every s-th is used.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        n_jobs = check_n_jobs(self.n_jobs)
        with limited_threads(n_jobs):
            self.composition_prior_ = learn_dual(self.model_, self._blocks_to_compose(X), n_jobs=n_jobs)
        self.model_ = replace(self.model_, composition_dual=self.composition_prior_.matrix)
        return self

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
        found = stability(self, X, **({"n_jobs": self.n_jobs} | options))
        self.model_ = replace(self.model_, stability=found)
        return found

    def _adopt(self, model: TopicModel, course: Course) -> AnchorTopicModel:
        self.model_ = model
        self.n_iter_, self.converged_, self.n_docs_, self.n_skipped_, self.history_ = course
        self.components_ = np.array(model.B.T)
        self.anchors_ = np.array(model.anchors)
        self.topic_correlation_ = np.array(model.A)
        self.topic_prevalence_ = model.prevalence
        self.word_topics_ = np.array(model.word_topics)
        self._n_features_out = model.n_components
        return self

    def transform(self, X: Any, method: str | None = None) -> FloatArray:
        """Topic composition of each document, which depends on no other document.

        Words the model has never seen are ignored, counted and logged; a document with no known word gets
        the topic prevalence.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, or Corpus
            A Corpus is matched to the model by its words.
        method : {"map", "prior-aware"}, optional
            Penalised likelihood, document by document, or least squares under the dual matrix with which documents have the
            second moment A; by default ``composition``.

        Returns
        -------
        (M, K) array, rows sum to one
        """
        check_is_fitted(self)
        return joined(self._compositions(X, method, whole_blocks=True)).weights

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Log-likelihood of a token, natural logarithm, over the known words of the documents; higher is better.

        Documents are folded in on the very tokens they are scored on, so the score grows with the number of topics: it
        compares models of the same ``n_components``, and does not choose it.
        """
        check_is_fitted(self)
        result = joined(self._compositions(X, "map", whole_blocks=True))
        tokens = float(result.n_known.sum())
        if tokens == 0.0:
            raise InputError("no document holds a word the model knows: check that the vocabularies match.")
        return float(result.log_likelihood.sum()) / tokens

    def perplexity(self, X: Any, method: str = "map") -> float:
        """Perplexity of documents by completion: each is inferred from every second token and scored on the others.

        Unlike :meth:`score` it does not grow better with ``n_components`` by itself, and compares numbers of topics on
        documents that were held out.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
        method : {"map", "prior-aware"}
            How compositions are inferred, as in :meth:`transform`. Those of "map" give every known word a probability,
            whatever ``composition`` is. Prior-aware ones leave topics out altogether: a word of these topics alone is then
            impossible, and the perplexity infinite.
        """
        check_is_fitted(self)
        return complete_documents(
            self.model_, self._blocks_to_compose(X), method=method, n_jobs=check_n_jobs(self.n_jobs)
        ).perplexity  # fmt: skip

    def transform_blocks(self, X: Any, method: str | None = None) -> Iterator[FloatArray]:
        """As :meth:`transform`, block after block: for what is larger than memory, or to tell of progress."""
        check_is_fitted(self)
        return (part.weights for part in self._compositions(X, method))

    def _compositions(self, X: Any, method: str | None, *, whole_blocks: bool = False) -> Iterator[Compositions]:
        chosen = self.composition if method is None else method
        return compositions(
            self.model_,
            self._blocks_to_compose(X),
            method=chosen,
            whole_blocks=whole_blocks,
            n_jobs=check_n_jobs(self.n_jobs),
        )

    def _data(self, X: Any) -> SparseLike | BlockSource:
        """What to fit: counts in memory, or a source that is read block by block."""
        if isinstance(X, Iterator):
            raise InputError(
                "X is an iterator, which can be read only once, but a fit reads its data several times: give a list of "
                "blocks or a function that returns them, or learn from each batch with partial_fit."
            )
        if not isinstance(X, Corpus) and not is_blocks(X):
            return self._counts(X, reset=True)
        source = X if isinstance(X, Corpus) else MatrixBlocks(X)
        self.n_features_in_ = source.n_words
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return held_counts(source) if isinstance(source, Corpus) else source

    def _blocks_to_compose(self, X: Any) -> Iterable[SparseLike]:
        if isinstance(X, Corpus):
            return _matched(X, self.model_)
        if is_blocks(X):
            source = MatrixBlocks(X)
            if source.n_words != self.n_features_in_:
                raise InputError(
                    f"X has {source.n_words} features, but AnchorTopicModel is expecting {self.n_features_in_} features as "
                    "input."
                )
            return (block() for block in source.lazy_blocks())
        return [self._counts(X, reset=False)]

    def _counts(self, X: Any, *, reset: bool) -> SparseLike:
        try:
            checked = validate_data(
                self, X, accept_sparse=True, dtype=np.float64, ensure_all_finite=False, reset=reset
            )  # fmt: skip
        except ValueError as error:
            if "could not convert string" not in str(error):
                raise
            raise InputError(
                f"X must hold counts of words, but holds text ({error}): turn documents into counts first, with "
                "anchorwords.read_corpus or scikit-learn's CountVectorizer."
            ) from error
        return check_counts(checked, copy=reset)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as a folder of arrays and JSON, whole or not at all; see :func:`load_model`."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        params = {
            "n_components": int(self.n_components),
            "rectifier": rectifier_to_dict(self.rectifier),
            "anchors": as_plain(self.anchors),
            "forbidden_anchors": as_plain(self.forbidden_anchors),
            "min_anchor_docs": np.asarray(self.min_anchor_docs).item(),
            "refinement": None if self.refinement is None else asdict(self.refinement),
            "composition": self.composition,
            "random_state": int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else None,
            "n_jobs": check_n_jobs(self.n_jobs),
            "verbose": int(self.verbose),
        }
        course = Course(self.n_iter_, self.converged_, self.n_docs_, self.n_skipped_, self.history_)
        metadata = {
            "params": params,
            **course_to_dict(course),
            "feature_names_in": names is not None,
            "text_rule": getattr(self, "text_rule_", None),
        }
        write_model(path, self.model_, metadata)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        return tags


def load_model(path: str | os.PathLike[str]) -> AnchorTopicModel:
    """Read a model that :meth:`AnchorTopicModel.save` or ``anchorwords fit`` wrote."""
    model, metadata = read_model(path)
    try:
        params = dict(metadata["params"])
        params["rectifier"] = rectifier_from_dict(params["rectifier"])
        if params.get("refinement") is not None:
            params["refinement"] = Refinement(**params["refinement"])
        estimator = AnchorTopicModel(**params)
        estimator.n_features_in_ = model.n_words
        if metadata["feature_names_in"]:
            if model.vocabulary is None:
                raise KeyError("vocabulary")
            estimator.feature_names_in_ = np.array(model.vocabulary, dtype=object)
        rule = metadata.get("text_rule")
        estimator.text_rule_ = rule if isinstance(rule, dict) else None
        return estimator._adopt(model, course_from_dict(metadata))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(f"{path} does not describe a fitted estimator ({error}): save it again.") from error


def _matched(corpus: Corpus, model: TopicModel) -> Iterator[SparseLike]:
    """Blocks of a corpus in the model's columns, matched by word where both have words."""
    source = InVocabulary(corpus, model.vocabulary, model.n_words)
    yield from source.blocks()
    unknown = source.n_unknown_tokens
    if unknown:
        logger.info("transform: %g tokens are of words outside the model's vocabulary", unknown)


@contextmanager
def _restored_on_failure(estimator: AnchorTopicModel) -> Iterator[None]:
    """A refused refit leaves the fitted model as it was, not with the columns of the refused data."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


@contextmanager
def _logging(verbose: int) -> Iterator[None]:
    """Show the package's log on standard error while a verbose fit runs."""
    if not verbose:
        yield
        return
    root = logging.getLogger("anchorwords")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
