"""The scikit-learn estimator: a shell around the pipeline."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ._typing import FloatArray, IntArray, SparseLike
from ._validation import check_counts, check_n_jobs
from .corpus.blocks import BlockSource, InVocabulary, MatrixBlocks, is_blocks
from .corpus.corpus import Corpus
from .corpus.stored import held_counts
from .exceptions import AnchorwordsError, ConvergenceWarning, InputError, ModelFormatError
from .infer.fold_in import Compositions, fold_in
from .linalg.parallel import limited_threads
from .model import TopicModel, embed_words
from .persist import read_model, write_model
from .pipeline import Progress, fit_sketch, fit_topics, used_positions
from .rectify.options import rectifier_from_dict, rectifier_to_dict
from .statistics.sketch import CooccurrenceSketch, rule_of_text

logger = logging.getLogger("anchorwords.estimator")

# What a token's log-likelihood may lack before transform says so.
_WIDE_GAP = 1e-6
# What a fit leaves behind, and partial_fit leaves to be learned when it is asked for.
_SOLVED = frozenset(
    {
        "model_", "n_iter_", "converged_", "components_", "anchors_", "topic_correlation_", "topic_prevalence_",
        "word_topics_", "_n_features_out",
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
    anchors : sequence of str or int, optional
        Up to K words (or columns) taken as anchors, one a topic; the rest are chosen.
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
    model_ : TopicModel
        The record behind these.
    n_features_in_ : int
    feature_names_in_ : (N,) array
        Only when fitted on a data frame.
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

    def __init__(
        self,
        n_components: int = 10,
        *,
        rectifier: Any = "enn",
        anchors: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.rectifier = rectifier
        self.anchors = anchors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        for name in _SOLVED:
            self.__dict__.pop(name, None)
        return self

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
        anchors = _anchor_columns(self.anchors, vocabulary)
        if used is not None:
            anchors = used_positions(anchors, used, self.n_components)
        with _logging(self.verbose), limited_threads(n_jobs):
            fit = fit_sketch(
                sketch, self.n_components, rectifier=self.rectifier, anchors=anchors, min_df=min_df, n_jobs=n_jobs,
                progress=progress,
            )  # fmt: skip
        model = fit.model if used is None else embed_words(fit.model, used)
        if used is None:
            self.n_features_in_ = len(words)
            self.__dict__.pop("feature_names_in_", None)
        assert fit.rectified is not None
        self.text_rule_ = sketch.text_rule
        return self._adopt(model.with_vocabulary(vocabulary), fit.rectified.n_iter, fit.rectified.converged)

    def _seed(self) -> int:
        return 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

    def _fit(self, X: Any, progress: Progress | None, start: CooccurrenceSketch | None) -> AnchorTopicModel:
        data = self._data(X)
        n_jobs = check_n_jobs(self.n_jobs)
        vocabulary = X.vocabulary if isinstance(X, Corpus) else getattr(self, "feature_names_in_", None)
        anchors = _anchor_columns(self.anchors, vocabulary)
        if start is not None and start.named and vocabulary is None:
            raise InputError("the sketch has words with names, but the data have none: give a Corpus or a data frame.")
        basis = None if start is None else start.basis(vocabulary if start.named else None, self.n_features_in_)
        seed = self._seed()
        with _logging(self.verbose), limited_threads(n_jobs):
            fit = fit_topics(
                data, self.n_components, rectifier=self.rectifier, anchors=anchors, random_state=seed,
                n_jobs=n_jobs, progress=progress, start=basis,
            )  # fmt: skip
        self.text_rule_ = X.text_rule if isinstance(X, Corpus) else None
        n_iter = 0 if fit.rectified is None else fit.rectified.n_iter
        converged = fit.rectified is None or fit.rectified.converged
        return self._adopt(fit.model.with_vocabulary(vocabulary), n_iter, converged)

    def _adopt(self, model: TopicModel, n_iter: int, converged: bool) -> AnchorTopicModel:
        self.model_ = model
        self.n_iter_ = n_iter
        self.converged_ = converged
        self.components_ = np.array(model.B.T)
        self.anchors_ = np.array(model.anchors)
        self.topic_correlation_ = np.array(model.A)
        self.topic_prevalence_ = model.prevalence
        self.word_topics_ = np.array(model.word_topics)
        self._n_features_out = model.n_components
        return self

    def transform(self, X: Any) -> FloatArray:
        """Topic composition of each document, by maximum likelihood on the simplex.

        Words the model has never seen are ignored, counted and logged; a document with no known word gets
        the topic prevalence.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, or Corpus
            A Corpus is matched to the model by its words.

        Returns
        -------
        (M, K) array, rows sum to one
        """
        check_is_fitted(self)
        return self._compose(X).weights

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Log-likelihood of a token, natural logarithm, over the known words of the documents; higher is better.

        Documents are folded in on the very tokens they are scored on, so the score grows with the number of topics: it
        compares models of the same ``n_components``, and does not choose it.
        """
        check_is_fitted(self)
        result = self._compose(X)
        tokens = float(result.n_known.sum())
        if tokens == 0.0:
            raise InputError("no document holds a word the model knows: check that the vocabularies match.")
        return float(result.log_likelihood.sum()) / tokens

    def transform_blocks(self, X: Any) -> Iterator[FloatArray]:
        """As :meth:`transform`, block after block: for what is larger than memory, or to tell of progress."""
        check_is_fitted(self)
        return (part.weights for part in self._compositions(X))

    def _compose(self, X: Any) -> Compositions:
        return Compositions(*(np.concatenate(arrays) for arrays in zip(*self._compositions(X), strict=True)))

    def _compositions(self, X: Any) -> Iterator[Compositions]:
        model = self.model_
        n_jobs = check_n_jobs(self.n_jobs)
        unknown = widest = 0.0
        n_wide = 0
        with limited_threads(n_jobs):
            for counts in self._blocks_to_compose(X):
                part = fold_in(counts, model.B, model.prevalence, n_jobs=n_jobs)
                unknown += float(counts.sum()) - float(part.n_known.sum())
                widest = max(widest, float(part.gap.max(initial=0.0)))
                n_wide += int((part.gap > _WIDE_GAP).sum())
                yield part
        if n_wide:
            warnings.warn(
                f"{n_wide} documents were not solved to optimality: their log-likelihood a token may be up to {widest:.1g} "
                "below the best.",
                ConvergenceWarning,
                stacklevel=4,
            )
        if unknown > 0:
            logger.info("transform: %g tokens are of words the model has never seen", unknown)

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
        return check_counts(checked)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model as a folder of arrays and JSON, whole or not at all; see :func:`load_model`."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        params = {
            "n_components": int(self.n_components),
            "rectifier": rectifier_to_dict(self.rectifier),
            "anchors": None if self.anchors is None else [a if isinstance(a, str) else int(a) for a in self.anchors],
            "random_state": int(self.random_state) if isinstance(self.random_state, (int, np.integer)) else None,
            "n_jobs": check_n_jobs(self.n_jobs),
            "verbose": int(self.verbose),
        }
        metadata = {
            "params": params,
            "n_iter": self.n_iter_,
            "converged": self.converged_,
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
        estimator = AnchorTopicModel(**params)
        estimator.n_features_in_ = model.n_words
        if metadata["feature_names_in"]:
            if model.vocabulary is None:
                raise KeyError("vocabulary")
            estimator.feature_names_in_ = np.array(model.vocabulary, dtype=object)
        rule = metadata.get("text_rule")
        estimator.text_rule_ = rule if isinstance(rule, dict) else None
        return estimator._adopt(model, int(metadata["n_iter"]), bool(metadata["converged"]))
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFormatError(f"{path} does not describe a fitted estimator ({error}): save it again.") from error


def _anchor_columns(anchors: Any, vocabulary: Any) -> IntArray | None:
    """Anchors given as words or columns, as columns."""
    if anchors is None:
        return None
    if isinstance(anchors, str):
        raise InputError(f"anchors must be a sequence of words or columns, but is the single string {anchors!r}.")
    if not isinstance(anchors, (Sequence, np.ndarray)):
        raise InputError(f"anchors must be a sequence of words or columns, but is {anchors!r}.")
    positions = {} if vocabulary is None else {str(word): i for i, word in enumerate(vocabulary)}
    columns = []
    for anchor in anchors:
        if isinstance(anchor, str):
            if anchor not in positions:
                known = "is not in the vocabulary" if positions else "cannot be looked up without a vocabulary"
                raise InputError(f"the anchor {anchor!r} {known}: give a word of the corpus or a column index.")
            columns.append(positions[anchor])
        elif isinstance(anchor, (int, np.integer)) and not isinstance(anchor, bool):
            columns.append(int(anchor))
        else:
            raise InputError(f"each anchor must be a word or a column index, but one is {anchor!r}.")
    return np.array(columns, dtype=np.intp)


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
    names = ("n_features_in_", "feature_names_in_", "_sketch")
    before = {name: vars(estimator)[name] for name in names if name in vars(estimator)}
    try:
        yield
    except BaseException:
        for name in names:
            estimator.__dict__.pop(name, None)
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
