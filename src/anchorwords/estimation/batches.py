"""Learning from batches and sketches: statistics come first, topics when they are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from .._progress import shown_progress
from .._validation import check_n_jobs
from ..exceptions import AnchorwordsError, InputError
from ..fitting import fit_sketch
from ..infer.compose import check_method
from ..linalg.parallel import limited_threads
from ..rectify.progress import Report
from ..statistics.of_sketch import SketchedCooccurrence
from ..statistics.sketch import CooccurrenceSketch, rule_of_text
from .parts import restored_on_failure

# What a fit leaves behind, and partial_fit leaves to be learned when it is asked for.
_LEARNED = (
    "model_", "n_iter_", "converged_", "history_", "n_docs_", "n_skipped_", "components_", "anchors_",
    "topic_correlation_", "topic_prevalence_", "word_topics_", "_n_features_out",
)  # fmt: skip


class LearnedLater:
    """A fitted attribute that ``partial_fit`` leaves to be learned when it is first read.

    The value stands in the instance as any attribute does; this is looked up only while it does not. An estimator that has
    seen batches learns its topics then; one that has not has no such attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self
        if "sketch_" not in vars(estimator):
            raise AttributeError(f"{type(estimator).__name__!r} object has no attribute {self._name!r}")
        try:
            estimator._learn_from_batches()
        except AnchorwordsError as error:  # so that hasattr works
            raise AttributeError(f"{self._name} cannot be learned from the batches so far: {error}") from error
        return vars(estimator)[self._name]


class BatchesMixin:
    """``partial_fit``, and the fit of a sketch."""

    model_: Any = LearnedLater()
    n_iter_, converged_, history_ = LearnedLater(), LearnedLater(), LearnedLater()
    n_docs_, n_skipped_ = LearnedLater(), LearnedLater()
    components_, anchors_, word_topics_ = LearnedLater(), LearnedLater(), LearnedLater()
    topic_correlation_, topic_prevalence_, _n_features_out = LearnedLater(), LearnedLater(), LearnedLater()

    _is_loaded: bool = False
    n_components: int
    n_jobs: int | None
    verbose: int
    refinement: Any
    composition: str
    _adopt: Any
    _computing: Any
    _options: Any
    _seed: Any
    _source: Any

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn from a batch of documents, which is not kept.

        The first batch starts anew, also after ``fit``; a model that was loaded from disk refuses to. Statistics are
        updated, in memory of words x topics (an incremental :class:`CooccurrenceSketch`, in ``sketch_``); topics are learned
        when a fitted attribute is next read.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
            Batches of a Corpus may bring new words; the model's are in the order of their characters.

        Returns
        -------
        self
        """
        so_far: CooccurrenceSketch | None = vars(self).get("sketch_")
        if so_far is None and self._is_loaded and self.model_.edits:
            raise InputError(
                "the topics of this model were edited, and partial_fit would learn others in their place: apply it to the "
                "model before the edits, or start anew with sklearn.base.clone(model)."
            )
        if so_far is None and self._is_loaded:
            raise InputError(
                "the model was loaded from disk, where the statistics of its documents are not kept, so that partial_fit "
                "cannot go on from it: save sketch_ with the model, update load_sketch(path) and fit that; or start anew "
                "with sklearn.base.clone(model)."
            )
        self._require_no_documents_needed()
        with restored_on_failure(self):
            source = self._source(X, reset=so_far is None)
            rule = rule_of_text(source.reading)
            sketch = self._new_sketch(rule) if so_far is None else so_far.copy()
            if sketch.rule != rule:
                raise InputError("the text of this batch was split into words by another rule than that of the others.")
            for block in source.blocks(whole=True):
                sketch.update(block, source.words if source.by_word else None)
            if source.by_word:
                self.n_features_in_ = sketch.n_words
        self.sketch_, self.text_rule_ = sketch, sketch.text_rule
        for name in (*_LEARNED, "composition_prior_"):
            self.__dict__.pop(name, None)
        return self

    def _fit_sketch(self, sketch: CooccurrenceSketch, min_df: int, progress: Report | None) -> Self:
        self._require_no_documents_needed()
        own = sketch is vars(self).get("sketch_")  # batches may have been of a data frame, whose columns have names
        statistics = SketchedCooccurrence(sketch, min_df, self.n_features_in_ if own else 0)
        names = vars(self).get("feature_names_in_") if own else None
        model = fit_sketch(statistics, self._options(progress), vocabulary=names)
        if statistics.vocabulary is not None or not own:
            self.n_features_in_ = statistics.words.n_words
            self.__dict__.pop("feature_names_in_", None)
        return self._adopt(replace(model, provenance=model.provenance.with_changes(reading=sketch.text_rule)))

    def _learn_from_batches(self) -> None:
        """Topics of what partial_fit has seen."""
        with (
            shown_progress("Topics", self.verbose) as report, self._computing(),
            limited_threads(check_n_jobs(self.n_jobs)),
        ):  # fmt: skip
            self._fit_sketch(self.sketch_, 1, report)

    def _new_sketch(self, rule: str | None) -> CooccurrenceSketch:
        n_jobs = check_n_jobs(self.n_jobs)
        return CooccurrenceSketch(
            self.n_components, method="incremental", rule=rule, random_state=self._seed(), n_jobs=n_jobs
        )

    def _require_no_documents_needed(self) -> None:
        """Raise for what a sketch of documents cannot give."""
        if self.refinement is not None:
            raise InputError("a sketch holds no documents to refine topics on: use refinement=None, or give documents.")
        if check_method(self.composition) == "prior-aware":
            raise InputError(
                "a sketch holds no documents to learn the prior of proportions on: use composition='posterior-mean', then "
                "learn_composition_prior on documents."
            )
