"""How much of documents a model knows: tokens of its words, tokens that its own rule leaves out, and unknown ones."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, NamedTuple

from ..corpus.left_out import LeftOut, are_among
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
        Tokens of words that the vocabulary rule of the model leaves out.
    n_unknown : float
        Tokens of other words that the model does not have.
    exact : bool
        Whether the words that the rule has removed are known. If not, only stop words count as left out, and words that were
        too rare or too frequent in the documents of the fit as unknown.
    """

    n_tokens: float
    n_left_out: float
    n_unknown: float
    exact: bool = True

    def sentence(self) -> str:
        """Describe the coverage."""
        left_out, unknown = _share(self.n_left_out, self.n_tokens), _share(self.n_unknown, self.n_tokens)
        if self.exact:
            return (
                f"{left_out} tokens are of words that the model's vocabulary rule leaves out (stop words, and words too "
                f"rare or too frequent in the documents of the fit); {unknown} are of words that the model does not know"
            )
        return (
            f"{left_out} tokens are stop words, which the model's vocabulary rule leaves out; {unknown} are of words that "
            "the model does not know (too rare or too frequent in the documents of the fit, or not in them)"
        )

    def warning(self) -> str | None:
        """Return a warning in one sentence if most words are unknown, otherwise None."""
        if self.n_unknown <= _MOST * (self.n_tokens - self.n_left_out):
            return None
        return (
            f"the model does not know most of the words: {_share(self.n_unknown, self.n_tokens)} tokens are unknown, "
            "besides those that its vocabulary rule leaves out; check that the documents are of the kind and language of "
            "those of the fit, and that they are split into words in the same way."
        )

    def warn(self, stacklevel: int = 2) -> None:
        """Warn if most words are unknown."""
        if (sentence := self.warning()) is not None:
            warnings.warn(sentence, UnknownWordWarning, stacklevel=stacklevel + 1)


def coverage(source: Source, rule: VocabularyRule | None, left_out: LeftOut | None = None) -> Coverage:
    """Return how much of documents a model knows.

    Parameters
    ----------
    source : Source
        Documents in the columns of the model.
    rule : VocabularyRule or None
        The rule of the model.
    left_out : array or None
        The words that the rule has removed from the documents of the fit.
    """
    unknown = source.unknown_tokens()
    if not unknown:
        return Coverage(0.0, 0.0, 0.0)
    stop_words = frozenset() if rule is None else rule.stop_set
    removed = {} if left_out is None else dict(zip(unknown, are_among(list(unknown), left_out).tolist(), strict=True))
    by_rule = sum(tokens for word, tokens in unknown.items() if word in stop_words or removed.get(word, False))
    total = sum(unknown.values())
    exact = left_out is not None or rule is None
    return Coverage(float(source.frequencies()[1].sum()) + total, by_rule, total - by_rule, exact)


def _share(part: float, whole: float) -> str:
    percent = 100.0 * part / whole if whole else 0.0
    return f"{part:,.0f} of {whole:,.0f} ({percent:.1f}%)"
