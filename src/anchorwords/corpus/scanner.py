"""Words of UTF-8 text, counted document by document: one compiled scan into a hash table.

A word is a run of letters, digits, underscores and the marks that belong to letters, in any script that separates
words. Words are numbered in the order in which a counter meets them, so counters that share the work have numbers of
their own: :func:`common_numbers` gives all of them the same ones, which depend on the set of words alone.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels.compiled import (
    BYTES,
    HASH,
    INDICES,
    INT,
    INT_MATRIX,
    READ_INDICES,
    SHORT_INDICES,
    WRITE_BYTES,
    compiled,
    inlined,
)

# What a character is for a word: nothing (it separates), a part, a letter, a letter of a script without spaces.
_PART, _LETTER, _UNSPACED = 1, 2, 3
_UNSPACED_SCRIPTS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF), (0x3040, 0x30FF),
    (0x31F0, 0x31FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F), (0x1B000, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip
# Planes of Unicode that hold characters; asking for the others would take most of the time.
_ASSIGNED = ((0, 0x40000), (0xE0000, 0xE1000))
# Zero-width joiners are inside words of Persian and of scripts of India.
_JOINERS = (0x200C, 0x200D)

# The state of a scan: where it is, what it holds, and what it has passed over.
(
    _DOCUMENT, _POSITION, _WORDS, _LETTERS, _ENTRIES, _BASE, _ROW, _RECENT, _TOKENS, _UNSPACED_TOKENS,
) = range(10)  # fmt: skip
# What is known of a word, side by side: half of the time goes into waiting for memory.
_HASH_OF, _BEGIN, _END, _SEEN = range(4)
# Why a scan stopped.
_DONE, _WORDS_FULL, _LETTERS_FULL, _ENTRIES_FULL = range(4)


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
        least, most = ngrams
        self._kinds = character_kinds()
        # A secret seed: nobody can prepare words that all fall into one slot. No result depends on it.
        self._seed = np.uint64(secrets.randbits(64))
        self._state = np.zeros(10, dtype=np.int64)
        self._known = np.zeros((0, 4), dtype=np.int64)
        self._words(1 << 12)
        self._letters = np.empty(1 << 16, dtype=np.uint8)
        self._indices = np.empty(1 << 16, dtype=np.int32)
        self._counts = np.empty(1 << 16, dtype=np.int64)
        self._joined = np.empty(most * (4 * max_length + 1) if most > 1 else 1, dtype=np.uint8)
        self._recent = np.zeros(most, dtype=np.int64)
        # Stop words go first: their numbers tell them apart.
        self._rule = np.array([1, 1 << 40, 0, 1, 1, 0], dtype=np.int64)
        for word in sorted(set(stop_words)):
            self.number(word)
        self._n_stop = int(self._state[_WORDS])
        self._rule = np.array([min_length, max_length, not numbers, least, most, self._n_stop], dtype=np.int64)

    @property
    def n_tokens(self) -> int:
        """Words met that are of a length to count, stop words included."""
        return int(self._state[_TOKENS])

    @property
    def n_unspaced(self) -> int:
        """Those of them in a script that puts no spaces between words."""
        return int(self._state[_UNSPACED_TOKENS])

    def count(self, text: bytes, bounds: npt.NDArray[np.int64]) -> Rows:
        """Count the words of documents ``text[bounds[i]:bounds[i + 1]]``, valid UTF-8 and lower-cased as wanted."""
        n_docs = bounds.size - 1
        indptr = np.zeros(n_docs + 1, dtype=np.int64)
        state = self._state
        state[_DOCUMENT], state[_POSITION], state[_ENTRIES], state[_ROW], state[_RECENT] = (
            0,
            bounds[0],
            0,
            state[_BASE],
            0,
        )
        buffer = np.frombuffer(text, dtype=np.uint8)
        while True:
            why = _scan(
                buffer, bounds, self._kinds, self._rule, self._seed, self._slots, self._known, self._letters,
                self._joined, self._recent, indptr, self._indices, self._counts, state,
            )  # fmt: skip
            if why == _DONE:
                break
            if why == _WORDS_FULL:
                self._words(2 * len(self._known))
            elif why == _LETTERS_FULL:
                self._letters = _grown(self._letters, 2 * self._letters.size + buffer.size // 8, self._letters.size)
            else:
                self._entries(2 * self._indices.size)
        size = int(state[_ENTRIES])
        state[_BASE] += size
        return Rows(np.diff(indptr), self._indices[:size].copy(), self._counts[:size].copy())

    def number(self, word: str) -> int:
        """Number of a word, which becomes known if it was not."""
        text = np.frombuffer(word.encode("utf-8", "replace"), dtype=np.uint8)
        while self.n_known + 1 > len(self._known):
            self._words(2 * len(self._known))
        needed = int(self._state[_LETTERS]) + text.size
        if needed > self._letters.size:
            self._letters = _grown(self._letters, 2 * needed, self._letters.size)
        return int(_find_whole(text, self._seed, self._slots, self._known, self._letters, self._state))

    @property
    def n_known(self) -> int:
        """Numbers given so far."""
        return int(self._state[_WORDS])

    def words(self) -> dict[int, bytes]:
        """The words that were counted, as UTF-8, by their numbers; stop words and parts of phrases are not among them."""
        counted = np.flatnonzero(self._known[: self.n_known, _SEEN])
        begins, ends = self._known[counted, _BEGIN].tolist(), self._known[counted, _END].tolist()
        letters = self._letters.tobytes()
        return {word: letters[b:e] for word, b, e in zip(counted.tolist(), begins, ends, strict=True)}

    def _words(self, room: int) -> None:
        """Make room for so many words: half of the slots stay empty."""
        known = np.zeros((room, 4), dtype=np.int64)
        known[: self.n_known] = self._known[: self.n_known]
        self._known = known
        self._slots = np.full(2 * room, -1, dtype=np.int32)
        _fill_slots(known, self.n_known, self._slots)

    def _entries(self, room: int) -> None:
        size = int(self._state[_ENTRIES])
        self._indices = _grown(self._indices, room, size)
        self._counts = _grown(self._counts, room, size)


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


def _grown(array: npt.NDArray[Any], room: int, used: int) -> npt.NDArray[Any]:
    larger = np.empty(room, dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


@cache
def character_kinds() -> npt.NDArray[np.uint8]:
    """What each character is for a word."""
    kinds = np.zeros(0x110000, dtype=np.uint8)
    kind_of = {"L": _LETTER, "M": _PART, "N": _PART}
    for first, last in _ASSIGNED:
        kinds[first:last] = [kind_of.get(unicodedata.category(chr(point))[0], 0) for point in range(first, last)]
    kinds[[ord("_"), *_JOINERS]] = _PART
    for first, last in _UNSPACED_SCRIPTS:
        part = kinds[first : last + 1]
        part[part == _LETTER] = _UNSPACED
    kinds.setflags(write=False)
    return kinds


@inlined
def _hashed(text, begin, end, seed):  # type: ignore[no-untyped-def]
    """63 bits of a word (FNV-1a from a seed)."""
    h = seed
    for p in range(begin, end):
        h = (h ^ np.uint64(text[p])) * np.uint64(1099511628211)
    return np.int64((h ^ (h >> np.uint64(29))) >> np.uint64(1))


@inlined
def _find(text, begin, end, h, slots, known, letters, state):  # type: ignore[no-untyped-def]
    """Number of the word text[begin:end]; a new one is added. There must be room."""
    mask = slots.size - 1
    slot = h & mask
    found = np.int64(-1)
    while slots[slot] >= 0:
        word = np.int64(slots[slot])
        if known[word, _HASH_OF] == h:
            at = known[word, _BEGIN]
            size = known[word, _END] - at
            if size == end - begin:
                p = 0
                while p < size and letters[at + p] == text[begin + p]:
                    p += 1
                if p == size:
                    found = word
                    break
        slot = (slot + 1) & mask
    if found < 0:
        found = state[_WORDS]
        slots[slot] = found
        at = state[_LETTERS]
        for p in range(end - begin):
            letters[at + p] = text[begin + p]
        known[found, _HASH_OF] = h
        known[found, _BEGIN] = at
        known[found, _END] = at + end - begin
        known[found, _SEEN] = 0
        state[_WORDS] += 1
        state[_LETTERS] += end - begin
    return found


@inlined
def _record(word, known, indices, counts, state):  # type: ignore[no-untyped-def]
    """Count a word in the current document."""
    at = known[word, _SEEN] - 1
    if at >= state[_ROW]:
        counts[at - state[_BASE]] += 1
    else:
        entry = state[_ENTRIES]
        indices[entry] = word
        counts[entry] = 1
        state[_ENTRIES] = entry + 1
        known[word, _SEEN] = state[_BASE] + entry + 1


@compiled(INT, BYTES, HASH, SHORT_INDICES, INT_MATRIX, WRITE_BYTES, INDICES)
def _find_whole(text, seed, slots, known, letters, state):  # type: ignore[no-untyped-def]
    return _find(text, 0, text.size, _hashed(text, 0, text.size, seed), slots, known, letters, state)


@compiled(INT, INT_MATRIX, INT, SHORT_INDICES)
def _fill_slots(known, n_words, slots):  # type: ignore[no-untyped-def]
    """Put known words into an empty table."""
    mask = slots.size - 1
    for word in range(n_words):
        slot = known[word, _HASH_OF] & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word
    return n_words


@compiled(
    INT, BYTES, READ_INDICES, BYTES, READ_INDICES, HASH, SHORT_INDICES, INT_MATRIX, WRITE_BYTES, WRITE_BYTES, INDICES,
    INDICES, SHORT_INDICES, INDICES, INDICES,
)  # fmt: skip
def _scan(  # type: ignore[no-untyped-def]
    text, bounds, kinds, rule, seed, slots, known, letters, joined, recent, indptr, indices, counts, state
):
    """Go on with the documents from where the state says, until they are done or some array is full."""
    min_length, max_length, need_letter, least, most, n_stop = rule[0], rule[1], rule[2], rule[3], rule[4], rule[5]
    document = state[_DOCUMENT]
    p = state[_POSITION]
    while document < bounds.size - 1:
        stop = bounds[document + 1]
        while p < stop:
            begin = p
            length = 0
            letter = False
            unspaced = False
            while p < stop:
                byte = np.int64(text[p])
                if byte < 0x80:
                    width = 1
                    point = byte
                elif byte < 0xE0:
                    width = 2
                    point = (byte & 0x1F) << 6 | np.int64(text[p + 1]) & 0x3F
                elif byte < 0xF0:
                    width = 3
                    point = (byte & 0x0F) << 12 | (np.int64(text[p + 1]) & 0x3F) << 6 | np.int64(text[p + 2]) & 0x3F
                else:
                    width = 4
                    point = (
                        (byte & 0x07) << 18
                        | (np.int64(text[p + 1]) & 0x3F) << 12
                        | (np.int64(text[p + 2]) & 0x3F) << 6
                        | np.int64(text[p + 3]) & 0x3F
                    )
                kind = kinds[point]
                if kind == 0:
                    break
                length += 1
                letter = letter or kind >= _LETTER
                unspaced = unspaced or kind == _UNSPACED
                p += width
            if length == 0:
                p += width
                continue
            if not min_length <= length <= max_length or (need_letter != 0 and not letter):
                continue
            # Is there room for this word and all that end with it? If not, come back to it.
            full = _DONE
            if state[_WORDS] + most > known.shape[0]:
                full = _WORDS_FULL
            elif state[_LETTERS] + (p - begin) + joined.size * most > letters.size:
                full = _LETTERS_FULL
            elif state[_ENTRIES] + most > indices.size:
                full = _ENTRIES_FULL
            if full != _DONE:
                state[_DOCUMENT] = document
                state[_POSITION] = begin
                return full
            state[_TOKENS] += 1
            if unspaced:
                state[_UNSPACED_TOKENS] += 1
            word = _find(text, begin, p, _hashed(text, begin, p, seed), slots, known, letters, state)
            if word < n_stop:
                continue
            if least == 1:
                _record(word, known, indices, counts, state)
            if most > 1:
                # recent holds the last words, this one first.
                for r in range(most - 1, 0, -1):
                    recent[r] = recent[r - 1]
                recent[0] = word
                state[_RECENT] = min(state[_RECENT] + 1, most)
                for n in range(max(least, 2), state[_RECENT] + 1):
                    size = 0
                    for r in range(n - 1, -1, -1):
                        for q in range(known[recent[r], _BEGIN], known[recent[r], _END]):
                            joined[size] = letters[q]
                            size += 1
                        if r > 0:
                            joined[size] = 32
                            size += 1
                    h = _hashed(joined, 0, size, seed)
                    phrase = _find(joined, 0, size, h, slots, known, letters, state)
                    _record(phrase, known, indices, counts, state)
        document += 1
        indptr[document] = state[_ENTRIES]
        state[_ROW] = state[_BASE] + state[_ENTRIES]
        state[_RECENT] = 0
    return _DONE
