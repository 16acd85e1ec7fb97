"""The vocabulary rule: which words and documents of a corpus are kept (the paper's curation)."""

from __future__ import annotations

import math
import numbers
import os
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from ..exceptions import InputError
from .stopwords import LANGUAGES, languages_in, stop_entries
from .stopwords import stop_words as as_stop_words

if TYPE_CHECKING:
    from .text_rule import TextRule

# What a rule from a file may not do: name a file of the machine that it is read on.
_WORDS_ONLY = ": a saved rule names a language or holds the words; name a file of your own where you prune (stop_words)"


class Described(Protocol):
    """What the default rule depends on; a Corpus and a CooccurrenceSketch have it."""

    @property
    def n_docs(self) -> int:
        """Number of documents."""
        ...

    @property
    def text_rule(self) -> TextRule | None:
        """How text was split into words; None if the documents were not text."""
        ...


@dataclass(frozen=True)
class VocabularyRule:
    """Which words and documents to keep; see :meth:`anchorwords.Corpus.prune`.

    Parameters
    ----------
    n_words : int, optional
        Keep this many words, the best by tf-idf. None keeps all.
    min_df, max_df : int or float
        Fewest and most documents in which a word may occur: an int counts documents, a float is a share of them.
    stop_words : str, frozenset of str or None
        Words to remove: the name of a language, or words, among which the name of a language stands for its words.
    min_tokens, min_types : int
        Fewest tokens and fewest distinct words of a document that is kept.
    keep_words : tuple of str
        Words to keep regardless of the other conditions.
    """

    n_words: int | None = None
    min_df: float = 1
    max_df: float = 1.0
    stop_words: str | frozenset[str] | None = None
    min_tokens: int = 5
    min_types: int = 3
    keep_words: tuple[str, ...] = ()

    @classmethod
    def checked(
        cls,
        n_words: int | None = None,
        min_df: float = 1,
        max_df: float = 1.0,
        stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
        min_tokens: int = 5,
        min_types: int = 3,
        keep_words: Iterable[str] | None = None,
    ) -> VocabularyRule:
        """Return the rule of these arguments of :meth:`anchorwords.Corpus.prune`; raise InputError if they are invalid."""
        entries = stop_entries(stop_words)
        languages = languages_in(entries)
        named: Any = languages[0] if len(entries) == len(languages) == 1 else (entries or None)
        return cls(n_words, min_df, max_df, named, min_tokens, min_types, _words_to_keep(keep_words))

    @classmethod
    def for_text(cls, n_docs: int) -> VocabularyRule:
        """Return the rule that gives readable topics for text: see docs/corpora.md.

        Remove English stop words; words in fewer than 5 documents or in fewer than a fifth of the square root of their
        number, because rows of rare words are noisy and noise makes anchors; words in more than half of the documents;
        and all but the 50,000 best by tf-idf.
        """
        return cls(n_words=50_000, min_df=max(5, round(math.sqrt(n_docs) / 5.0)), max_df=0.5, stop_words="english")

    @classmethod
    def for_corpus(cls, corpus: Described, **changes: Any) -> VocabularyRule:
        """Return the default rule for a corpus, which is also that of ``anchorwords fit``.

        A corpus of text gets the rule of :meth:`for_text`. Matrices, baskets and lists of tokens keep every word.

        Parameters
        ----------
        corpus : Corpus or CooccurrenceSketch
        **changes
            Arguments of :meth:`anchorwords.Corpus.prune` that replace those of the default rule.
        """
        default = cls() if corpus.text_rule is None else cls.for_text(corpus.n_docs)
        return cls.checked(**(default.arguments() | changes))

    @classmethod
    def for_sketch(cls, corpus: Described, **changes: Any) -> VocabularyRule:
        """Return the default rule for documents that are to be sketched, which is also that of ``anchorwords sketch build``.

        Remove English stop words from text, and nothing else: frequencies are not known before all shards are merged, and
        all documents must count in the same way on every machine. ``changes`` are as in :meth:`for_corpus`.
        """
        default = cls(stop_words=None if corpus.text_rule is None else "english", min_tokens=0, min_types=0)
        return cls.checked(**(default.arguments() | changes))

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages whose stop words are removed."""
        return tuple(languages_in(stop_entries(self.stop_words)))

    @property
    def given_stop_words(self) -> list[str]:
        """The stop words that were given as words, in addition to those of languages."""
        return sorted(stop_entries(self.stop_words) - stop_entries(self.languages))

    @property
    def stop_set(self) -> frozenset[str]:
        """The stop words themselves."""
        return as_stop_words(self.stop_words)

    def arguments(self) -> dict[str, Any]:
        """Return the rule as arguments of :meth:`anchorwords.Corpus.prune`."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def sentence(self, n_docs: int) -> str:
        """Describe what the rule does to a corpus of this many documents."""
        languages = self.languages
        n_given = len(self.given_stop_words)
        kinds = [*languages, *([f"{n_given:,} given"] if n_given else [])]
        one = n_given == 1 and not languages
        stop = f"{' and '.join(kinds) or 'no'} stop {'word' if one else 'words'} left out"
        fewest, most = document_limit(self.min_df, n_docs, "min_df"), document_limit(self.max_df, n_docs, "max_df")
        share = f" ({self.max_df:.0%})" if isinstance(self.max_df, float) else ""
        upper = "" if most >= n_docs else f" to {math.floor(most):,}{share}"
        cap = "any number of words" if self.n_words is None else f"at most the {self.n_words:,} best by tf-idf"
        kept = f", but in any case {', '.join(self.keep_words)}" if self.keep_words else ""
        least = "at least " if not upper else ""
        return f"{stop}, words in {least}{math.ceil(fewest):,}{upper} of {n_docs:,} documents, {cap}{kept}"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a dict for JSON."""
        stop = sorted(self.stop_words) if isinstance(self.stop_words, frozenset) else self.stop_words
        return self.arguments() | {"stop_words": stop, "keep_words": list(self.keep_words)}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> VocabularyRule:
        """Return the rule that :meth:`to_dict` described, with defaults for what is missing; ValueError if it is invalid.

        Whoever wrote it: nothing that it names is opened, as stop words are those of a language or the words themselves.
        """
        known = {one.name: record[one.name] for one in fields(cls) if one.name in record}

        def wrong(name: str, more: str = "") -> ValueError:
            return ValueError(f"its vocabulary rule has the value {reprlib.repr(known[name])} of {name}{more}")

        for name, kinds in _JSON_TYPES.items():
            if name in known and (not isinstance(known[name], kinds) or isinstance(known[name], bool)):
                raise wrong(name)
        for name in ("stop_words", "keep_words"):
            if isinstance(known.get(name), list) and not all(isinstance(word, str) for word in known[name]):
                raise wrong(name)
        if isinstance(known.get("stop_words"), str) and known["stop_words"] not in LANGUAGES:
            raise wrong("stop_words", _WORDS_ONLY)
        for name, least in _LEAST.items():
            value = known.get(name)
            if value is not None and not (least <= value < 2**63 and (type(value) is int or value <= 1.0)):
                raise wrong(name)
        if isinstance(known.get("stop_words"), list):
            known["stop_words"] = frozenset(known["stop_words"])
        known["keep_words"] = tuple(known.get("keep_words", ()))
        return cls(**known)


# Types of the values in JSON.
_JSON_TYPES: dict[str, Any] = {
    "n_words": int | None, "min_df": int | float, "max_df": int | float, "stop_words": str | list | None,
    "min_tokens": int, "min_types": int, "keep_words": list,
}  # fmt: skip
# Least values of numbers; those that are not whole are shares of the documents.
_LEAST = {"n_words": 1, "min_df": 0, "max_df": 0, "min_tokens": 0, "min_types": 0}


def pruning_rule(rule: VocabularyRule | None, **arguments: Any) -> VocabularyRule:
    """Return the rule that :meth:`anchorwords.Corpus.prune` was given, as a whole or argument by argument."""
    if rule is None:
        return VocabularyRule.checked(**arguments)
    if not isinstance(rule, VocabularyRule):
        raise InputError(f"rule must be a VocabularyRule, but is {rule!r}.")
    default = {**VocabularyRule().arguments(), "keep_words": None}
    given = [
        name
        for name, value in arguments.items()
        if value is not default[name] and not (isinstance(value, numbers.Real) and value == default[name])
    ]
    if given:
        raise InputError(
            f"a rule is complete in itself, but {', '.join(given)} {'is' if len(given) == 1 else 'are'} given next to it: "
            "change the rule with dataclasses.replace."
        )
    return rule


def stop_words_in_ngrams(ngrams: Any, stop_words: Any = "english", *, phrases: bool = False) -> Any:
    """Return the stop words to remove while n-grams or phrases are counted, None if only single words are.

    N-grams consist of the words that are left after stop words are removed, so that these must go before the n-grams are
    formed: give them to :func:`anchorwords.read_corpus`. Single stop words are removed by :meth:`anchorwords.Corpus.prune`,
    which also reports how many there were.
    """
    lengths = (1, ngrams) if isinstance(ngrams, int) else tuple(ngrams)
    return None if lengths == (1, 1) and not phrases else stop_words


def document_limit(value: float, n_docs: int, name: str) -> float:
    """Return a number of documents: an int is one already, a float between 0 and 1 is a share of all."""
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        if value < 0:
            raise InputError(f"{name} must not be negative, but is {value!r}.")
        return int(value)
    if not isinstance(value, numbers.Real) or not 0.0 <= value <= 1.0:
        raise InputError(
            f"{name} must be a whole number of documents or a share between 0.0 and 1.0, but is {value!r}."
        )
    # Round away floating-point error: 0.1 of 30 documents is 3, not 3.0000000000000004.
    share = float(value) * n_docs
    return round(share) if abs(share - round(share)) < 1e-9 * max(share, 1.0) else share


def _words_to_keep(keep_words: Iterable[str] | None) -> tuple[str, ...]:
    if keep_words is None:
        return ()
    if isinstance(keep_words, (str, bytes)) or not isinstance(keep_words, Iterable):
        raise InputError(f"keep_words must be words in a list, but is {keep_words!r}.")
    words = tuple(keep_words)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"keep_words must be words, but one is {word!r}.")
    return words
