"""The kernels of text as readable Python: words by a dictionary, numbers by ``int``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .protocol import LETTER, UNSPACED, TokenRule

_LARGEST = 10**15


class DictionaryWords:
    """A table of words: see :class:`anchorwords.kernels.protocol.WordTable`."""

    def __init__(self, kinds: npt.NDArray[np.uint8], rule: TokenRule, stop_words: tuple[bytes, ...] = ()) -> None:
        self._kinds, self._rule = kinds, rule
        self._numbers: dict[bytes, int] = {}
        self._counted: set[int] = set()
        self.n_tokens = self.n_unspaced = 0
        for word in stop_words:
            self.number(word)
        self._n_stop = self.n_known

    @property
    def n_known(self) -> int:
        """Numbers given so far."""
        return len(self._numbers)

    def number(self, word: bytes) -> int:
        """Number of a word, which becomes known if it was not."""
        return self._numbers.setdefault(word, len(self._numbers))

    def numbers(self, words: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Numbers of words, which become known if they were not."""
        return np.array([self.number(word) for word in words], dtype=np.int64)

    def words(self) -> dict[int, bytes]:
        """Words and n-grams counted so far, by number."""
        return {number: word for word, number in self._numbers.items() if number in self._counted}

    def count(self, text: bytes, bounds: npt.NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Entries per document, and the number and count of each entry."""
        rows = [Counter(self._terms(text[begin:end].decode())) for begin, end in pairwise(bounds)]
        self._counted.update(*rows)
        return (
            np.array([len(row) for row in rows], dtype=np.int64),
            np.array([number for row in rows for number in row], dtype=np.int32),
            np.array([count for row in rows for count in row.values()], dtype=np.int64),
        )

    def _terms(self, document: str) -> Iterator[int]:
        """Numbers of the words and n-grams of a document, as they end."""
        recent: list[bytes] = []
        for separates, characters in groupby(document, key=lambda character: not self._kinds[ord(character)]):
            run = list(characters)
            kinds = [self._kinds[ord(character)] for character in run]
            if separates or not self._rule.min_length <= len(run) <= self._rule.max_length:
                continue
            if self._rule.need_letter and max(kinds) < LETTER:
                continue
            self.n_tokens += 1
            self.n_unspaced += UNSPACED in kinds
            word = "".join(run).encode()
            if self.number(word) < self._n_stop:
                continue
            recent = [*recent, word][-self._rule.most :]
            for n in range(self._rule.least, len(recent) + 1):
                yield self.number(b" ".join(recent[len(recent) - n :]))


def marks_in(text: bytes, bounds: npt.NDArray[np.int64], marks: tuple[bytes, ...]) -> npt.NDArray[np.int64]:
    """For each document, a number whose bit m is 1 if it holds mark m."""
    documents = [text[begin:end] for begin, end in pairwise(bounds)]
    return np.array(
        [sum((mark in document) << m for m, mark in enumerate(marks)) for document in documents], dtype=np.int64
    )


def parse_triples(text: bytes) -> tuple[npt.NDArray[np.int64], int, bool]:
    """The triples, the complete lines, and whether a line is faulty."""
    triples: list[list[int]] = []
    lines = text.split(b"\n")
    for number, line in enumerate(lines):
        fields = line.replace(b"\t", b" ").replace(b"\r", b" ").split(b" ")
        fields = [field for field in fields if field]
        good = all(field.isdigit() and int(field) <= _LARGEST for field in fields) and len(fields) in (0, 3)
        if not good:
            return np.array(triples, dtype=np.int64).reshape(-1, 3), number, True
        triples += [[int(field) for field in fields]] if fields else []
    return np.array(triples, dtype=np.int64).reshape(-1, 3), len(lines) - 1, False
