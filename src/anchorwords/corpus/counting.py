"""Counting the words of documents, given as text or as tokens: from batches of documents to rows of counts.

Texts are prepared first: cleaned, lower-cased and encoded, which holds the interpreter's lock for most of the time. Then
compiled code scans them, which does not hold it. With two threads, a batch is therefore prepared while the one before it is
scanned; more threads would not help. One thread at a time scans, in the order of the batches, so that no result depends on
the number of threads. ``benchmarks/vectorizer.py`` measures the gain.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from ..linalg.parallel import in_two_steps
from .files import sentence, short
from .joined import end_to_end
from .parts import Part
from .readers import Batch
from .scanner import WordCounter, common_numbers, numbers_among
from .text_rule import TextRule

# Share of tokens in scripts without spaces between words above which the reader warns.
_UNSPACED_SHARE = 0.05
# Documents end to end as UTF-8, and where each begins.
Prepared: TypeAlias = tuple[bytes, npt.NDArray[np.int64]]


class DocumentCounter:
    """Counts documents by a rule; words get their final numbers when all are known.

    Documents are all texts or all lists of tokens (:func:`anchorwords.corpus.readers.batches` sees to it), so that there is
    one numbering: that of the compiled scan for text, that of a dict for tokens and for text that a tokenizer splits.
    """

    def __init__(self, rule: TextRule, n_jobs: int | None = None) -> None:
        tokenizer = rule.with_tokenizer(None).tokenizer  # or InputError if it is known by name only
        assert not isinstance(tokenizer, str)
        self.rule = rule
        self._n_jobs = n_jobs
        self._tokenizer = tokenizer
        options = {name: getattr(rule, name) for name in ("min_length", "max_length", "numbers", "ngrams")}
        self._counter = WordCounter(rule.stop_words, **options)
        self._numbers: dict[str, int] = {}  # of words that come as tokens
        self.has_text = False  # and not lists of tokens alone

    def parts(self, batches: Iterable[Batch]) -> Iterator[Part]:
        """Return the rows of batch after batch, in their order."""
        # A tokenizer is the caller's own, and is called in the caller's thread.
        n_jobs = self._n_jobs if self._tokenizer is None else 1
        return in_two_steps(batches, self._ready, self._counted, n_jobs)

    @property
    def n_numbers(self) -> int:
        """How many numbers have been given to words."""
        return len(self._numbers) if self._numbers else self._counter.n_known

    def names(self) -> dict[int, str]:
        """Return the word of each number, in the order of the numbers."""
        if self._numbers:
            return {number: token for token, number in self._numbers.items()}
        words = self._counter.words()
        # Decoded together: no word of text holds the end of a line.
        return dict(zip(words, b"\n".join(words.values()).decode().split("\n"), strict=bool(words)))

    def vocabulary(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return all words, sorted by their characters, and the new number of each old one."""
        words, (numbers,) = common_numbers([self._own()])
        return words, numbers

    def numbers_among(self, vocabulary: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the column of each word in a vocabulary, or -1."""
        if self._numbers:
            (numbers,) = numbers_among([self._own()], {_bytes(word): column for column, word in enumerate(vocabulary)})
            return numbers
        # Look up the words of the vocabulary: text holds many more.
        known = self._counter.numbers(vocabulary)
        numbers = np.full(self._counter.n_known, -1, dtype=np.int32)
        numbers[known] = np.arange(len(vocabulary), dtype=np.int32)
        return numbers

    def _own(self) -> tuple[int, dict[int, bytes]]:
        if self._numbers:
            return len(self._numbers), {number: _bytes(token) for token, number in self._numbers.items()}
        return self._counter.n_known, self._counter.words()

    def remark(self) -> str | None:
        """Return a warning about the text in one sentence, or None."""
        tokens, unspaced = self._counter.n_tokens, self._counter.n_unspaced
        if unspaced > _UNSPACED_SHARE * max(tokens, 1):
            return (
                f"{unspaced:,} of {tokens:,} words are of a script that puts no spaces between words (Chinese, Japanese, "
                "Thai, ...), so a whole clause counts as one: give a tokenizer, for example tokenizer=jieba.lcut, or "
                "--tokenizer jieba:lcut on the command line."
            )
        return None

    def _ready(self, batch: Batch) -> tuple[Batch, Prepared | None]:
        """Return a batch, and its texts as the scan takes them if that is what is to split them."""
        # Missing values are empty texts, whatever the others are.
        self.has_text = self.has_text or any(isinstance(document, str) and document for document in batch.documents)
        scanned = batch.documents and isinstance(batch.documents[0], str) and self._tokenizer is None
        return batch, self._prepared(batch.documents) if scanned else None

    def _counted(self, ready: tuple[Batch, Prepared | None]) -> Part:
        batch, prepared = ready
        if prepared is None:
            return self._count_tokens(batch)
        rows = self._counter.count(*prepared)
        return Part(rows.lengths, rows.indices, rows.counts, batch.ids, batch.values)

    def _prepared(self, texts: list[str]) -> Prepared:
        """Return the documents as UTF-8, in lower case if the rule says so, and where each begins."""
        raw, bounds = end_to_end(
            [
                text.encode() if text.isascii() else self._prepared_text(text).encode("utf-8", "replace")
                for text in self.rule.cleaning.all(texts)
            ]
        )
        return raw.lower() if self.rule.lowercase else raw, bounds  # of bytes, lower() changes A to Z alone

    def _prepared_text(self, text: str) -> str:
        composed = unicodedata.normalize("NFC", text)
        return composed.lower() if self.rule.lowercase else composed

    def _count_tokens(self, batch: Batch) -> Part:
        numbers = self._numbers
        bags = [Counter(self._tokens(document)) for document in batch.documents]
        tokens = (token for bag in bags for token in bag)
        indices = np.fromiter((numbers.setdefault(token, len(numbers)) for token in tokens), dtype=np.int32)
        counts = np.fromiter((n for bag in bags for n in bag.values()), dtype=np.int64)
        lengths = np.fromiter((len(bag) for bag in bags), dtype=np.int64)
        return Part(lengths, indices, counts, batch.ids, batch.values)

    def _tokens(self, document: Any) -> Iterator[str]:
        if isinstance(document, str):
            assert self._tokenizer is not None
            try:
                document = list(self._tokenizer(self._prepared_text(self.rule.cleaning(document))))
            except Exception as error:
                raise InputError(
                    f"the tokenizer failed on the document {short(document)}: {type(error).__name__}: {sentence(error)}"
                ) from error
        stop_words = self.rule.stop_words
        try:
            tokens = [name for token in document if token is not None and (name := str(token)) not in stop_words]
        except Exception as error:  # of the str of an object, or of a number with more digits than Python writes
            raise InputError(
                f"a token of a document cannot be written as text ({type(error).__name__}: {sentence(error)}): give words "
                "or numbers."
            ) from error
        least, most = self.rule.ngrams
        for n in range(least, most + 1):
            if n == 1:
                yield from tokens
            else:
                yield from (" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")
