"""Words of UTF-8 text, counted document by document: one compiled scan into a hash table."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .compiled import (
    BYTES,
    HASH,
    INDICES,
    INT,
    INT_MATRIX,
    READ_INDICES,
    SHORT_INDICES,
    VOID,
    WRITE_BYTES,
    compiled,
    inlined,
)
from .protocol import LETTER as _LETTER
from .protocol import UNSPACED as _UNSPACED
from .protocol import TokenRule

# The state of a scan: where it is, what it holds, and what it has passed over.
(
    _DOCUMENT, _POSITION, _WORDS, _LETTERS, _ENTRIES, _BASE, _ROW, _RECENT, _TOKENS, _UNSPACED_TOKENS,
) = range(10)  # fmt: skip
# What is known of a word, side by side: half of the time goes into waiting for memory.
_HASH_OF, _BEGIN, _END, _SEEN = range(4)
# Why a scan stopped.
_DONE, _WORDS_FULL, _LETTERS_FULL, _ENTRIES_FULL = range(4)


class HashedWords:
    """A table of words: see :class:`anchorwords.kernels.protocol.WordTable`.

    Parameters
    ----------
    kinds : (0x110000,) array
        What each character is.
    rule : TokenRule
    stop_words : tuple of bytes
        Words that are passed over.
    """

    def __init__(self, kinds: npt.NDArray[np.uint8], rule: TokenRule, stop_words: tuple[bytes, ...] = ()) -> None:
        self._kinds = kinds
        # A secret seed: nobody can prepare words that all fall into one slot. No result depends on it.
        self._seed = np.uint64(secrets.randbits(64))
        self._state = np.zeros(10, dtype=np.int64)
        self._known = np.zeros((0, 4), dtype=np.int64)
        self._make_room(1 << 12)
        self._letters = np.empty(1 << 16, dtype=np.uint8)
        self._indices = np.empty(1 << 16, dtype=np.int32)
        self._counts = np.empty(1 << 16, dtype=np.int64)
        self._joined = np.empty(rule.most * (4 * rule.max_length + 1) if rule.most > 1 else 1, dtype=np.uint8)
        self._recent = np.zeros(rule.most, dtype=np.int64)
        # Stop words go first: their numbers tell them apart.
        self.numbers(stop_words)
        self._rule = np.array([*rule, self.n_known], dtype=np.int64)

    @property
    def n_known(self) -> int:
        """Numbers given so far."""
        return int(self._state[_WORDS])

    @property
    def n_tokens(self) -> int:
        """Words met that the rule admits, stop words included."""
        return int(self._state[_TOKENS])

    @property
    def n_unspaced(self) -> int:
        """Those of them with a letter of a script without spaces."""
        return int(self._state[_UNSPACED_TOKENS])

    def count(self, text: bytes, bounds: npt.NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Entries per document, and the number and count of each entry, in no order within a document."""
        indptr = np.zeros(bounds.size, dtype=np.int64)
        state = self._state
        state[_DOCUMENT], state[_POSITION], state[_ENTRIES], state[_RECENT] = 0, bounds[0], 0, 0
        state[_ROW] = state[_BASE]
        buffer = np.frombuffer(text, dtype=np.uint8)
        while True:
            why = _scan(
                buffer, bounds, self._kinds, self._rule, self._seed, self._slots, self._known, self._letters,
                self._joined, self._recent, indptr, self._indices, self._counts, state,
            )  # fmt: skip
            if why == _DONE:
                break
            if why == _WORDS_FULL:
                self._make_room(2 * len(self._known))
            elif why == _LETTERS_FULL:
                self._letters = _grown(self._letters, 2 * self._letters.size + buffer.size // 8, self._letters.size)
            else:
                size = int(state[_ENTRIES])
                self._indices = _grown(self._indices, 2 * self._indices.size, size)
                self._counts = _grown(self._counts, 2 * self._counts.size, size)
        size = int(state[_ENTRIES])
        state[_BASE] += size
        return np.diff(indptr), self._indices[:size].copy(), self._counts[:size].copy()

    def number(self, word: bytes) -> int:
        """Number of a word, which becomes known if it was not."""
        return int(self.numbers([word])[0])

    def numbers(self, words: Sequence[bytes]) -> npt.NDArray[np.int64]:
        """Numbers of words, which become known if they were not."""
        bounds = np.cumsum([0, *map(len, words)], dtype=np.int64)
        while self.n_known + len(words) > len(self._known):
            self._make_room(2 * len(self._known))
        needed = int(self._state[_LETTERS] + bounds[-1])
        if needed > self._letters.size:
            self._letters = _grown(self._letters, 2 * needed, self._letters.size)
        numbers = np.empty(len(words), dtype=np.int64)
        text = np.frombuffer(b"".join(words), dtype=np.uint8)
        _find_each(text, bounds, self._seed, self._slots, self._known, self._letters, self._state, numbers)
        return numbers

    def words(self) -> dict[int, bytes]:
        """Words and n-grams counted so far, by number."""
        counted = np.flatnonzero(self._known[: self.n_known, _SEEN])
        begins, ends = self._known[counted, _BEGIN].tolist(), self._known[counted, _END].tolist()
        letters = self._letters.tobytes()
        return {word: letters[b:e] for word, b, e in zip(counted.tolist(), begins, ends, strict=True)}

    def _make_room(self, room: int) -> None:
        """Make room for so many words: half of the slots stay empty."""
        known = np.zeros((room, 4), dtype=np.int64)
        known[: self.n_known] = self._known[: self.n_known]
        self._known = known
        self._slots = np.full(2 * room, -1, dtype=np.int32)
        _fill_slots(known, self.n_known, self._slots)


def _grown(array: npt.NDArray[Any], room: int, used: int) -> npt.NDArray[Any]:
    larger = np.empty(room, dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


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


@compiled(VOID, BYTES, READ_INDICES, HASH, SHORT_INDICES, INT_MATRIX, WRITE_BYTES, INDICES, INDICES)
def _find_each(text, bounds, seed, slots, known, letters, state, numbers):  # type: ignore[no-untyped-def]
    """Numbers of the words text[bounds[i]:bounds[i + 1]]. There must be room."""
    for i in range(bounds.size - 1):
        h = _hashed(text, bounds[i], bounds[i + 1], seed)
        numbers[i] = _find(text, bounds[i], bounds[i + 1], h, slots, known, letters, state)


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
