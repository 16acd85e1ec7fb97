"""How the documents of a fitted model were read, so that new documents can be read in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..exceptions import InputError
from .corpus import Corpus
from .text_rule import TextRule
from .vocabulary_rule import VocabularyRule


class Reading(NamedTuple):
    """How the documents of a model were read.

    Attributes
    ----------
    rule : TextRule or None
        How text was split; None if the documents were not text.
    words : sequence of str or None
        The words of the model, if they have names.
    tokenized : bool
        Whether the documents were lists of tokens.
    """

    rule: TextRule | None
    words: Sequence[str] | None
    tokenized: bool = False

    @property
    def is_known(self) -> bool:
        """Whether text can be split as it was for the model."""
        return self.rule is not None


def reading_of(like: Any) -> Reading:
    """Return how the documents of a fitted estimator or a TopicModel were read."""
    if isinstance(like, Reading):
        return like
    record = getattr(like, "model_", like)
    if not hasattr(record, "provenance"):
        raise InputError(f"like must be a fitted AnchorTopicModel or a TopicModel, but is {type(like).__name__}.")
    made = record.provenance
    return Reading(made.reading, record.vocabulary, made.tokenized)


def kept_as_for_fit(like: Any, corpus: Corpus) -> Corpus:
    """Return the documents that hold enough words of a model, as those that it was fitted on did.

    Words that the model does not know are removed, then documents with too few tokens or distinct words: fewer than the
    model's own vocabulary rule asks for or, if it has none, than :meth:`anchorwords.Corpus.prune` asks for by default.
    A corpus that shares no word with the model is returned as it is.
    """
    record = getattr(like, "model_", like)
    known = frozenset(corpus.vocabulary if record.vocabulary is None else record.vocabulary)
    unknown = frozenset(corpus.vocabulary) - known  # a set: none of them stands for a language
    if len(unknown) == corpus.n_words:
        return corpus
    fitted = record.provenance.vocabulary_rule or VocabularyRule()
    rule = VocabularyRule(stop_words=unknown or None, min_tokens=fitted.min_tokens, min_types=fitted.min_types)
    return corpus.prune(rule=rule)
