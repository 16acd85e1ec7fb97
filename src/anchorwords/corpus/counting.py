"""Counting the words of documents, given as text or as tokens: from batches of documents to rows of counts.

Documents are counted in the calling thread, because more threads hardly help: reading and lower-casing text hold the
interpreter's lock. Measured on the 167,093 descriptions of cve, two cores that others used too, seven interleaved rounds,
median and fastest: 1.89 and 1.68 s in the calling thread, 1.83 and 1.65 s in one worker thread, 1.91 and 1.24 s in two.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import InputError
from .files import sentence, short
from .parts import Part
from .readers import Batch
from .scanner import WordCounter, common_numbers, numbers_among
from .text_rule import TextRule

# Share of tokens in scripts without spaces between words above which the reader warns.
_UNSPACED_SHARE = 0.05
# Documents that are lower-cased and encoded together.
_TOGETHER = 64


class DocumentCounter:
    """Counts documents by a rule; words get their final numbers when all are known.

    Documents are all texts or all lists of tokens (:func:`anchorwords.corpus.readers.batches` sees to it), so that there is
    one numbering: that of the compiled scan for text, that of a dict for tokens and for text that a tokenizer splits.
    """

    def __init__(self, rule: TextRule) -> None:
        tokenizer = rule.with_tokenizer(None).tokenizer  # or InputError if it is known by name only
        assert not isinstance(tokenizer, str)
        self.rule = rule
        self._tokenizer = tokenizer
        options = {name: getattr(rule, name) for name in ("min_length", "max_length", "numbers", "ngrams")}
        self._counter = WordCounter(rule.stop_words, **options)
        self._numbers: dict[str, int] = {}  # of words that come as tokens
        self.has_text = False  # and not lists of tokens alone

    def parts(self, batches: Iterable[Batch]) -> Iterator[Part]:
        """Return the rows of batch after batch, in their order."""
        return map(self._counted, batches)

    def vocabulary(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return all words, sorted by their characters, and the new number of each old one."""
        words, (numbers,) = common_numbers([self._own()])
        return words, numbers

    def numbers_among(self, vocabulary: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the column of each word in a vocabulary, or -1."""
        (numbers,) = numbers_among([self._own()], {_bytes(word): column for column, word in enumerate(vocabulary)})
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

    def _counted(self, batch: Batch) -> Part:
        # Missing values are empty texts, whatever the others are.
        self.has_text = self.has_text or any(isinstance(document, str) and document for document in batch.documents)
        if batch.documents and isinstance(batch.documents[0], str) and self._tokenizer is None:
            return self._count_text(batch)
        return self._count_tokens(batch)

    def _count_text(self, batch: Batch) -> Part:
        rows = self._counter.count(*self._prepared(batch.documents))
        return Part(rows.lengths, rows.indices, rows.counts, batch.ids)

    def _prepared(self, texts: list[str]) -> tuple[bytes, npt.NDArray[np.int64]]:
        """Return the documents as UTF-8, in lower case if the rule says so, and where each begins."""
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
        bags = [Counter(self._tokens(document)) for document in batch.documents]
        tokens = (token for bag in bags for token in bag)
        indices = np.fromiter((numbers.setdefault(token, len(numbers)) for token in tokens), dtype=np.int32)
        counts = np.fromiter((n for bag in bags for n in bag.values()), dtype=np.int64)
        lengths = np.fromiter((len(bag) for bag in bags), dtype=np.int64)
        return Part(lengths, indices, counts, batch.ids)

    def _tokens(self, document: Any) -> Iterator[str]:
        if isinstance(document, str):
            assert self._tokenizer is not None
            try:
                document = list(self._tokenizer(self._prepared_text(document)))
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
