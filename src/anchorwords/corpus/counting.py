"""From documents, as text or as tokens, to rows of counts: the rule that says what a word is, and who applies it."""

from __future__ import annotations

import hashlib
import os
import queue
import threading
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..linalg.parallel import n_threads
from .files import sentence, short
from .parts import Part
from .readers import Batch
from .scanner import WordCounter, common_numbers, numbers_among
from .stopwords import stop_words as as_stop_words

# Tokens of a script without spaces that make the reader say so: a share of all.
_UNSPACED_SHARE = 0.05
# Documents that are lower-cased and encoded at once.
_TOGETHER = 64


@dataclass(frozen=True)
class TextRule:
    """What counts as a word.

    Parameters
    ----------
    lowercase : bool
        Text is lower-cased first (and brought to the composed form NFC in any case).
    stop_words : frozenset of str
        Words passed over.
    ngrams : (int, int)
        Fewest and most consecutive words, stop words left out, that are counted as one, joined by spaces.
    min_length, max_length : int
        Characters of a word.
    numbers : bool
        Whether a word may do without a letter.
    tokenizer : callable, optional
        From a text to its words, in place of the runs of letters and digits; lengths and numbers are then its affair.
    """

    lowercase: bool = True
    stop_words: frozenset[str] = field(default_factory=frozenset)
    ngrams: tuple[int, int] = (1, 1)
    min_length: int = 2
    max_length: int = 100
    numbers: bool = False
    tokenizer: Callable[[str], Iterable[str]] | None = None

    def to_dict(self, fixed_words: Sequence[str] | None = None) -> dict[str, Any]:
        """As JSON can hold it; a tokenizer by its name, and words that alone were counted by a mark of theirs."""
        name = None if self.tokenizer is None else _qualified_name(self.tokenizer)
        return {
            "lowercase": self.lowercase, "stop_words": sorted(self.stop_words), "ngrams": list(self.ngrams),
            "min_length": self.min_length, "max_length": self.max_length, "numbers": self.numbers, "tokenizer": name,
            "vocabulary": None if fixed_words is None else key_of(fixed_words),
        }  # fmt: skip

    @classmethod
    def from_dict(cls, record: dict[str, Any], tokenizer: Callable[[str], Iterable[str]] | None = None) -> TextRule:
        """The rule that :meth:`to_dict` described; a tokenizer has to be given again."""
        if record["tokenizer"] is not None and tokenizer is None:
            raise InputError(
                f"the documents were split by the tokenizer {record['tokenizer']}: give it again (tokenizer, --tokenizer)."
            )
        own = {name: value for name, value in record.items() if name != "vocabulary"}
        return checked_rule(**{**own, "ngrams": tuple(record["ngrams"]), "tokenizer": tokenizer})


def checked_rule(
    *,
    lowercase: bool = True,
    stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
    ngrams: tuple[int, int] = (1, 1),
    min_length: int = 2,
    max_length: int = 100,
    numbers: bool = False,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
) -> TextRule:
    """A TextRule, or InputError."""
    try:
        least, most = (int(n) for n in ngrams)
    except (TypeError, ValueError):
        raise InputError(f"ngrams must be a pair (fewest, most) of words, but is {ngrams!r}.") from None
    if not 1 <= least <= most <= 8:
        raise InputError(f"ngrams must be a pair (fewest, most) of words from 1 to 8, but is {ngrams!r}.")
    if not 1 <= min_length <= max_length <= 10_000:
        raise InputError(
            f"words must be of at least one and at most 10,000 characters, but min_length={min_length!r} and "
            f"max_length={max_length!r}."
        )
    if tokenizer is not None and not callable(tokenizer):
        raise InputError(f"tokenizer must be a function from a text to its words, but is {tokenizer!r}.")
    return TextRule(lowercase, as_stop_words(stop_words), (least, most), min_length, max_length, numbers, tokenizer)


class DocumentCounter:
    """Counts documents by a rule, on several threads; words are numbered when all are known."""

    def __init__(self, rule: TextRule, n_jobs: int | None = None) -> None:
        self.rule = rule
        self._threads = n_threads(n_jobs)
        options = {name: getattr(rule, name) for name in ("min_length", "max_length", "numbers", "ngrams")}
        self._counters = [WordCounter(rule.stop_words, **options) for _ in range(self._threads)]
        self._idle: queue.SimpleQueue[int] = queue.SimpleQueue()
        for number in range(self._threads):
            self._idle.put(number)
        self._numbers: dict[str, int] = {}  # of words that come as tokens
        self._one_at_a_time = threading.Lock()
        self.has_text = False  # and not lists of tokens alone

    def parts(self, batches: Iterable[Batch]) -> Iterator[Part]:
        """Rows of batch after batch, in their order."""
        with ThreadPoolExecutor(self._threads, thread_name_prefix="anchorwords-words") as pool:
            waiting: deque[Future[Part]] = deque()
            try:
                for batch in batches:
                    waiting.append(pool.submit(self._counted, batch))
                    if len(waiting) > self._threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def vocabulary(self) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
        """All words, by the order of their characters, and for each numbering the new number of each old one."""
        return common_numbers(self._own())

    def numbers_among(self, vocabulary: Sequence[str]) -> list[npt.NDArray[np.int32]]:
        """For each numbering the column of each word in a vocabulary, or -1."""
        return numbers_among(self._own(), {_bytes(word): column for column, word in enumerate(vocabulary)})

    def _own(self) -> list[tuple[int, dict[int, bytes]]]:
        tokens = {number: _bytes(token) for token, number in self._numbers.items()}
        return [*((c.n_known, c.words()) for c in self._counters), (len(tokens), tokens)]

    def remark(self) -> str | None:
        """What the reader of the counts should know, in a sentence, or None."""
        tokens = sum(counter.n_tokens for counter in self._counters)
        unspaced = sum(counter.n_unspaced for counter in self._counters)
        if unspaced > _UNSPACED_SHARE * max(tokens, 1):
            return (
                f"{unspaced:,} of {tokens:,} words are of a script that puts no spaces between words (Chinese, Japanese, "
                "Thai, ...), so a whole clause counts as one: give a tokenizer, for example tokenizer=jieba.lcut, or "
                "--tokenizer jieba:lcut on the command line."
            )
        return None

    def _counted(self, batch: Batch) -> Part:
        # Missing values are empty texts, whatever the others are.
        self.has_text = self.has_text or any(isinstance(document, str) and document for document in batch.documents)
        if batch.documents and isinstance(batch.documents[0], str) and self.rule.tokenizer is None:
            return self._count_text(batch)
        return self._count_tokens(batch)

    def _count_text(self, batch: Batch) -> Part:
        raw, bounds = self._prepared(batch.documents)
        number = self._idle.get()
        try:
            rows = self._counters[number].count(raw, bounds)
        finally:
            self._idle.put(number)
        return Part(rows.lengths, rows.indices, rows.counts, number, batch.ids)

    def _prepared(self, texts: list[str]) -> tuple[bytes, npt.NDArray[np.int64]]:
        """The documents as UTF-8, in small letters if so wanted, and where each begins."""
        raw: list[bytes] = []
        sizes: list[int] = []
        for start in range(0, len(texts), _TOGETHER):
            group = texts[start : start + _TOGETHER]
            whole = "".join(group)
            if whole.isascii():  # lengths stay what they are, so all go at once
                raw.append((whole.lower() if self.rule.lowercase else whole).encode())
                sizes += map(len, group)
            else:
                each = [self._prepared_text(text).encode("utf-8", "replace") for text in group]
                raw += each
                sizes += map(len, each)
        bounds = np.zeros(len(sizes) + 1, dtype=np.int64)
        np.cumsum(sizes, out=bounds[1:])
        return b"".join(raw), bounds

    def _prepared_text(self, text: str) -> str:
        composed = unicodedata.normalize("NFC", text)
        return composed.lower() if self.rule.lowercase else composed

    def _count_tokens(self, batch: Batch) -> Part:
        numbers = self._numbers
        with self._one_at_a_time:  # Python has one thread for this, and a user's tokenizer may expect no more
            bags = [Counter(self._tokens(document)) for document in batch.documents]
            tokens = (token for bag in bags for token in bag)
            indices = np.fromiter((numbers.setdefault(token, len(numbers)) for token in tokens), dtype=np.int32)
        counts = np.fromiter((n for bag in bags for n in bag.values()), dtype=np.int64)
        lengths = np.fromiter((len(bag) for bag in bags), dtype=np.int64)
        return Part(lengths, indices, counts, self._threads, batch.ids)

    def _tokens(self, document: Any) -> Iterator[str]:
        if isinstance(document, str):
            assert self.rule.tokenizer is not None
            try:
                document = list(self.rule.tokenizer(self._prepared_text(document)))
            except Exception as error:
                raise InputError(
                    f"the tokenizer failed on the document {short(document)}: {type(error).__name__}: {sentence(error)}"
                ) from error
        stop_words = self.rule.stop_words
        tokens = [name for token in document if token is not None and (name := str(token)) not in stop_words]
        least, most = self.rule.ngrams
        for n in range(least, most + 1):
            if n == 1:
                yield from tokens
            else:
                yield from (" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def key_of(words: Iterable[str]) -> str:
    """A stable mark of a set of words."""
    text = "\n".join(sorted(words)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def _qualified_name(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(named, '__module__', 'builtins')}:{named.__qualname__}"


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
