"""Words of UTF-8 text, counted document by document: one scan into a table (:mod:`anchorwords.kernels.text`).

A word is a run of letters, digits, underscores and the marks that belong to letters, in any script that separates
words. Words are numbered in the order in which a counter meets them, so counters that share the work have numbers of
their own: :func:`common_numbers` gives all of them the same ones, which depend on the set of words alone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels import kernels_for
from ..kernels.protocol import LETTER, PART, UNSPACED, TokenRule

# Scripts that put no spaces between words.
_UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
# Planes of Unicode that hold characters; asking for the others would take most of the time.
_ASSIGNED = ((0, 0x40000), (0xE0000, 0xE1000))
# Zero-width joiners are inside words of Persian and of scripts of India.
_JOINERS = (0x200C, 0x200D)


class Rows(NamedTuple):
    """Rows of a count matrix, columns in the counter's own numbers and in no order.

    Attributes
    ----------
    lengths : (documents,) array
        Entries of each row.
    indices, counts : (entries,) arrays
    """

    lengths: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    counts: npt.NDArray[Any]


class WordCounter:
    """Counts the words of documents, and numbers them.

    Parameters
    ----------
    stop_words : iterable of str
        Words that are passed over.
    min_length, max_length : int
        Characters of a word; what is shorter or longer is passed over.
    numbers : bool
        Whether a word may do without a letter.
    ngrams : (int, int)
        Fewest and most consecutive words, stop words left out, that are counted as one, joined by spaces.
    """

    def __init__(
        self,
        stop_words: Iterable[str] = (),
        *,
        min_length: int = 2,
        max_length: int = 100,
        numbers: bool = False,
        ngrams: tuple[int, int] = (1, 1),
    ) -> None:
        rule = TokenRule(min_length, max_length, not numbers, *ngrams)
        stops = tuple(_encoded(word) for word in sorted(set(stop_words)))
        self._table = kernels_for().word_table(character_kinds(), rule, stops)

    @property
    def n_tokens(self) -> int:
        """Words met that are of a length to count, stop words included."""
        return self._table.n_tokens

    @property
    def n_unspaced(self) -> int:
        """Those of them in a script that puts no spaces between words."""
        return self._table.n_unspaced

    @property
    def n_known(self) -> int:
        """Numbers given so far."""
        return self._table.n_known

    def count(self, text: bytes, bounds: npt.NDArray[np.int64]) -> Rows:
        """Count the words of documents ``text[bounds[i]:bounds[i + 1]]``, valid UTF-8 and lower-cased as wanted."""
        return Rows(*self._table.count(text, bounds))

    def number(self, word: str) -> int:
        """Number of a word, which becomes known if it was not."""
        return self._table.number(_encoded(word))

    def numbers(self, words: Iterable[str]) -> npt.NDArray[np.int64]:
        """Numbers of words, which become known if they were not."""
        return self._table.numbers([word.encode("utf-8", "surrogatepass") for word in words])

    def words(self) -> dict[int, bytes]:
        """The words that were counted, as UTF-8, by their numbers; stop words and parts of phrases are not among them."""
        return self._table.words()


def _encoded(word: str) -> bytes:
    return word.encode("utf-8", "replace")


def common_numbers(own: Sequence[tuple[int, Mapping[int, bytes]]]) -> tuple[list[str], list[npt.NDArray[np.int32]]]:
    """Words of several numberings, in the order of their characters, and the new number of each old one.

    Parameters
    ----------
    own : sequence of (int, mapping)
        How many numbers each has given, and the words by their numbers; what has no word becomes -1.
    """
    words = sorted(set().union(*(names.values() for _, names in own)))  # the order of UTF-8 is that of the characters
    names = [word.decode("utf-8", "surrogatepass") for word in words]  # tokens may hold any characters
    return names, numbers_among(own, {word: number for number, word in enumerate(words)})


def numbers_among(
    own: Sequence[tuple[int, Mapping[int, bytes]]], place: Mapping[bytes, int]
) -> list[npt.NDArray[np.int32]]:
    """For each numbering the new number of each old one, -1 where the word has no place."""
    maps = []
    for n_known, names in own:
        numbers = np.full(n_known, -1, dtype=np.int32)
        numbers[np.fromiter(names, np.int64, len(names))] = np.fromiter(
            (place.get(word, -1) for word in names.values()), np.int32, len(names)
        )
        maps.append(numbers)
    return maps


@cache
def character_kinds() -> npt.NDArray[np.uint8]:
    """What each character is for a word."""
    kinds = np.zeros(0x110000, dtype=np.uint8)
    kind_of = {"L": LETTER, "M": PART, "N": PART}
    for first, last in _ASSIGNED:
        kinds[first:last] = [kind_of.get(unicodedata.category(chr(point))[0], 0) for point in range(first, last)]
    kinds[[ord("_"), *_JOINERS]] = PART
    for first, last in _UNSPACED_SCRIPTS:
        part = kinds[first : last + 1]
        part[part == LETTER] = UNSPACED
    kinds.setflags(write=False)
    return kinds
