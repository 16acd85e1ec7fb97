"""Which words a fit keeps when the user does not say: what has proved readable for text, everything for the rest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus


class Vocabulary(NamedTuple):
    """The rule, as Corpus.prune takes it; stop_words by name."""

    stop_words: str | None
    min_df: int
    max_df: float
    n_words: int | None
    keep_words: tuple[str, ...] = ()

    def options(self) -> dict[str, Any]:
        """Arguments of Corpus.prune."""
        return {name: value for name, value in self._asdict().items() if name != "keep_words" or value}

    def sentence(self, n_docs: int) -> str:
        """The rule in words."""
        stop = f"{self.stop_words} stop words left out" if self.stop_words else "no stop words left out"
        most = "" if self.max_df >= 1.0 else f" to {math.floor(self.max_df * n_docs):,} ({self.max_df:.0%})"
        cap = "no cap" if self.n_words is None else f"the {self.n_words:,} best by tf-idf"
        kept = f", but in any case {', '.join(self.keep_words)}" if self.keep_words else ""
        return f"{stop}, words in {self.min_df:,}{most} of {n_docs:,} documents, {cap}{kept}"


def vocabulary_rule(corpus: Corpus, choosing: dict[str, Any]) -> Vocabulary:
    """What the user said, and the defaults for the rest."""
    is_text = corpus.text_rule is not None
    default = Vocabulary(**corpus.text_preset()) if is_text else Vocabulary(None, 1, 1.0, None)
    rule = default._replace(**{name: value for name, value in choosing.items() if value is not None})
    return rule._replace(stop_words=None) if rule.stop_words == "none" else rule


def dropped_sentence(corpus: Corpus, pruned: Corpus) -> str:
    """What the rule left out, in words."""
    d = pruned.dropped
    assert d is not None
    words = [
        (d.stop_words, "stop words"), (d.rare_words, "too rare"), (d.frequent_words, "too frequent"),
        (d.words_beyond_cap, "beyond the cap"), (d.orphaned_words, "left in no document"),
    ]  # fmt: skip
    parts = ", ".join(f"{number:,} {what}" for number, what in words if number) or "none"
    return (
        f"{pruned.n_words:,} of {corpus.n_words:,} words kept (left out: {parts}); {pruned.n_docs:,} of {corpus.n_docs:,} "
        f"documents kept ({d.short_documents:,} with fewer than 5 tokens or 3 distinct words)"
    )
