"""How much of documents a model knows: tokens of its words, tokens that its own rule leaves out, and unknown ones."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..exceptions import UnknownWordWarning
from .source import Source

if TYPE_CHECKING:
    from ..corpus.vocabulary_rule import VocabularyRule

# Share of the tokens that are not left out by rule above which unknown ones are warned of. New documents of the kind that a
# model was fitted on have a tenth or so: words that were too rare, and new ones.
_MOST = 0.5


class Coverage(NamedTuple):
    """Tokens of documents, by what a model knows of their words.

    Attributes
    ----------
    n_tokens : float
        All tokens.
    n_left_out : float
        Tokens of stop words, which the vocabulary rule of the model leaves out.
    n_unknown : float
        Tokens of other words that the model does not have: they were too rare, too frequent or not there in the documents
        of the fit.
    """

    n_tokens: float
    n_left_out: float
    n_unknown: float

    def sentence(self) -> str:
        """Describe the coverage."""
        return (
            f"{_share(self.n_left_out, self.n_tokens)} tokens are stop words, which the model's vocabulary rule leaves out; "
            f"{_share(self.n_unknown, self.n_tokens)} are of words that the model does not know (too rare or too frequent "
            "in the documents of the fit, or not in them)"
        )

    def warning(self) -> str | None:
        """Return a warning in one sentence if most words are unknown, otherwise None."""
        if self.n_unknown <= _MOST * (self.n_tokens - self.n_left_out):
            return None
        return (
            f"the model does not know most of the words: {_share(self.n_unknown, self.n_tokens)} tokens are unknown, apart "
            "from stop words; check that the documents are of the kind and the language of those of the fit, and that they "
            "are split into words in the same way."
        )

    def warn(self, stacklevel: int = 2) -> None:
        """Warn if most words are unknown."""
        if (sentence := self.warning()) is not None:
            warnings.warn(sentence, UnknownWordWarning, stacklevel=stacklevel + 1)


def coverage(source: Source, rule: VocabularyRule | None) -> Coverage:
    """Return how much of documents a model knows.

    Parameters
    ----------
    source : Source
        Documents in the columns of the model.
    rule : VocabularyRule or None
        The rule of the model.
    """
    unknown = source.unknown_tokens()
    if not unknown:
        return Coverage(0.0, 0.0, 0.0)
    left_out = frozenset() if rule is None else rule.stop_set
    stopped = sum(tokens for word, tokens in unknown.items() if word in left_out)
    total = sum(unknown.values())
    return Coverage(float(source.frequencies()[1].sum()) + total, stopped, total - stopped)


def _share(part: float, whole: float) -> str:
    percent = 100.0 * part / whole if whole else 0.0
    return f"{part:,.0f} of {whole:,.0f} ({percent:.1f}%)"
