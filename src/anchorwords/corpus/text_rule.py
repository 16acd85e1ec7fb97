"""The text rule: how text is split into the words that are counted."""

from __future__ import annotations

import hashlib
import os
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeAlias

from ..exceptions import InputError
from .cleaning import Cleaning
from .stopwords import stop_words as as_stop_words

Tokenizer: TypeAlias = Callable[[str], Iterable[str]]


@dataclass(frozen=True)
class TextRule:
    """How text is split into words; a corpus, a sketch and a model each remember theirs.

    Two rules are equal if they split text in the same way; tokenizers are compared by their names.

    Parameters
    ----------
    lowercase : bool
        Convert text to lower case first. Text is always brought to the composed form NFC.
    stop_words : frozenset of str
        Words that are not counted.
    ngrams : (int, int)
        Shortest and longest n-grams to count. Their words are joined by spaces; stop words are removed first.
    min_length, max_length : int
        Fewest and most characters of a word.
    numbers : bool
        Also count tokens that contain no letters.
    tokenizer : callable, str or None
        Function from a text to its words, used instead of the built-in splitting into runs of letters and digits;
        ``min_length``, ``max_length`` and ``numbers`` are then ignored. A rule that was read from a file holds only the
        name, ``module:function``, and needs the function again before it can be applied: see :meth:`with_tokenizer`.
    phrases : bool
        Count pairs of words that occur together far more often than by chance as one word, joined by a space; ``ngrams``
        is then (1, 2).
    cleaning : Cleaning
        What is removed from text first, such as web addresses and HTML tags.
    fixed_words : str or None
        Digest of the vocabulary if only given words were counted.
    """

    lowercase: bool = True
    stop_words: frozenset[str] = field(default_factory=frozenset)
    ngrams: tuple[int, int] = (1, 1)
    min_length: int = 2
    max_length: int = 100
    numbers: bool = False
    tokenizer: Tokenizer | str | None = None
    cleaning: Cleaning = field(default_factory=Cleaning)
    phrases: bool = False
    fixed_words: str | None = None

    @classmethod
    def checked(
        cls,
        *,
        lowercase: bool = True,
        stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
        ngrams: tuple[int, int] | int = (1, 1),
        min_length: int = 2,
        max_length: int = 100,
        numbers: bool = False,
        tokenizer: Tokenizer | None = None,
        cleaning: Cleaning | bool | None = True,
        phrases: bool = False,
    ) -> TextRule:
        """Return the rule of these arguments of :func:`anchorwords.read_corpus`; raise InputError if they are invalid."""
        for name, value in (("lowercase", lowercase), ("numbers", numbers), ("phrases", phrases)):
            if not isinstance(value, bool):
                raise InputError(f"{name} must be True or False, but is {value!r}.")
        try:
            least, most = (int(n) for n in ((1, ngrams) if isinstance(ngrams, int) else ngrams))
        except (TypeError, ValueError):
            raise InputError(f"ngrams must be a pair (fewest, most) of words, but is {ngrams!r}.") from None
        if not _are_ngrams(least, most):
            raise InputError(f"ngrams must be a pair (fewest, most) of words from 1 to 8, but is {ngrams!r}.")
        if phrases and (least, most) not in ((1, 1), (1, 2)):
            raise InputError(f"phrases are pairs of words, found among all pairs: leave ngrams={ngrams!r} out.")
        if not _are_lengths(min_length, max_length):
            raise InputError(
                f"words must be of at least one and at most 10,000 characters, but min_length={min_length!r} and "
                f"max_length={max_length!r}."
            )
        if tokenizer is not None and not callable(tokenizer):
            raise InputError(f"tokenizer must be a function from a text to its words, but is {tokenizer!r}.")
        return cls(
            lowercase, as_stop_words(stop_words), (1, 2) if phrases else (least, most), min_length, max_length, numbers,
            tokenizer, Cleaning.of(cleaning), bool(phrases),
        )  # fmt: skip

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, TextRule) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.lowercase, self.stop_words, self.ngrams, self.min_length, self.max_length, self.numbers))

    def with_tokenizer(self, tokenizer: Tokenizer | None) -> TextRule:
        """Return the rule with this tokenizer, or InputError if a rule that was read from a file still lacks its own."""
        if isinstance(self.tokenizer, str) and tokenizer is None:
            raise InputError(
                f"the documents were split by the tokenizer {self.tokenizer}: give it again (tokenizer, which load_model "
                "takes too, or --tokenizer)."
            )
        return self if tokenizer is None else replace(self, tokenizer=tokenizer)

    def counting_only(self, words: Sequence[str] | None) -> TextRule:
        """Return the rule with a digest of the only words that are counted; None means that all are."""
        return replace(self, fixed_words=None if words is None else key_of(words))

    def without_words(self, words: Iterable[str]) -> TextRule:
        """Return the rule with these words added to its stop words."""
        return replace(self, stop_words=self.stop_words | frozenset(words))

    def changed_options(self) -> list[str]:
        """Names of the options of reading, other than the tokenizer, that differ from their defaults."""
        plain = TextRule()
        return [name for name in _OPTIONS if getattr(self, name) != getattr(plain, name)]

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a dict for JSON, with the tokenizer as its name."""
        name = self.tokenizer if isinstance(self.tokenizer, str | None) else _qualified_name(self.tokenizer)
        # What version 0.1 did not have is left out if it is not used: sketches of both versions can be merged.
        later: dict[str, Any] = {"cleaning": self.cleaning.to_dict()} if self.cleaning != Cleaning.none() else {}
        later |= {"phrases": True} if self.phrases else {}
        return {
            "lowercase": self.lowercase, "stop_words": sorted(self.stop_words), "ngrams": list(self.ngrams),
            "min_length": self.min_length, "max_length": self.max_length, "numbers": self.numbers, "tokenizer": name,
            "vocabulary": self.fixed_words, **later,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> TextRule:
        """Return the rule that :meth:`to_dict` described, with defaults for what is missing; ValueError if it is invalid.

        Whoever wrote it: nothing that it names is opened or imported, and its numbers are those that :meth:`checked` takes.
        """
        names = {one.name: "vocabulary" if one.name == "fixed_words" else one.name for one in fields(cls)}
        known = {name: record[key] for name, key in names.items() if key in record}

        def wrong(name: str, more: str = "") -> ValueError:
            return ValueError(f"its text rule has the value {reprlib.repr(known[name])} of {names[name]}{more}")

        for name, kinds in _JSON_TYPES.items():
            if name in known and (
                not isinstance(known[name], kinds) or (kinds is int and isinstance(known[name], bool))
            ):
                raise wrong(name, _WORDS_ONLY if name == "stop_words" else "")
        if "stop_words" in known:
            if not all(isinstance(word, str) for word in known["stop_words"]):
                raise wrong("stop_words", _WORDS_ONLY)
            known["stop_words"] = frozenset(known["stop_words"])
        if "ngrams" in known:
            bounds = known["ngrams"]
            if len(bounds) != 2 or not all(type(n) is int for n in bounds) or not _are_ngrams(*bounds):
                raise wrong("ngrams")
            known["ngrams"] = tuple(bounds)
        known["cleaning"] = Cleaning.from_dict(known.get("cleaning", {}))  # earlier versions cleaned nothing
        rule = cls(**known)
        if not _are_lengths(rule.min_length, rule.max_length):
            raise wrong("min_length" if "min_length" in known else "max_length")
        return rule


def _are_ngrams(least: int, most: int) -> bool:
    return 1 <= least <= most <= 8


def _are_lengths(least: int, most: int) -> bool:
    return 1 <= least <= most <= 10_000


# What a rule from a file may not do: name a file of the machine that it is read on.
_WORDS_ONLY = ": a saved rule holds the words themselves; name a file of your own when you read documents (stop_words)"
_OPTIONS = ("lowercase", "stop_words", "ngrams", "min_length", "max_length", "numbers", "cleaning", "phrases")
# Types of the values in JSON.
_JSON_TYPES: dict[str, Any] = {
    "lowercase": bool, "stop_words": list, "ngrams": list, "min_length": int, "max_length": int, "numbers": bool,
    "tokenizer": str | None, "cleaning": dict, "phrases": bool, "fixed_words": str | None,
}  # fmt: skip


def key_of(words: Iterable[str]) -> str:
    """Return a digest of a set of words that is the same on every machine."""
    text = "\n".join(sorted(words)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _qualified_name(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', 'builtins')}:{named.__qualname__}"
