"""Phrases: pairs of words that occur together far more often than by chance, counted as one word.

All pairs of consecutive words are counted while text is read, and those that are phrases are kept. A word inside a phrase is
not counted on its own: from "new york times" with the phrase "new york", the words "new york" and "times" are counted.

Notation
--------
T                  tokens of single words
p(a), p(ab)        tokens of a word and of a pair, divided by T
NPMI(ab)           log(p(ab) / (p(a) p(b))) / -log p(ab), from -1 (never together) over 0 (by chance) to 1 (only together)
G(ab)              2 T p(ab) log(p(ab) / (p(a) p(b))), the likelihood-ratio statistic of the pair (Dunning 1993), one cell
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, IntArray, SparseLike

# Least NPMI of a phrase; at 0.5, p(ab) is the geometric mean of its values by chance and if both words never occur apart.
_LEAST_NPMI = 0.5
# Least statistic: a pair that occurs by chance exceeds it with a probability of about one in a million.
_LEAST_STATISTIC = 24.0
# Fewest documents of a phrase.
_FEWEST_DOCUMENTS = 5
# What joins the words of an n-gram.
JOINT = " "


def are_phrases(vocabulary: Sequence[str], df: IntArray, tf: FloatArray) -> BoolArray:
    """Return which words of a vocabulary of single words and pairs are phrases.

    Parameters
    ----------
    vocabulary : sequence of str
        Single words, and pairs with a space between their words.
    df, tf : (N,) arrays
        Documents and tokens of each.
    """
    pairs, first, second = pairs_in(vocabulary)
    found = np.zeros(len(vocabulary), dtype=bool)
    single = np.ones(len(vocabulary), dtype=bool)
    single[pairs] = False
    total = float(tf[single].sum())
    usable = (first >= 0) & (second >= 0) & (df[pairs] >= _FEWEST_DOCUMENTS)
    pairs, first, second = pairs[usable], first[usable], second[usable]
    if pairs.size == 0:
        return found
    p_pair, p_first, p_second = tf[pairs] / total, tf[first] / total, tf[second] / total
    surprise = np.log(p_pair / (p_first * p_second))
    npmi = surprise / -np.log(np.minimum(p_pair, 1.0 - 1e-12))
    found[pairs] = (npmi >= _LEAST_NPMI) & (2.0 * tf[pairs] * surprise >= _LEAST_STATISTIC)
    return found


def pairs_in(vocabulary: Sequence[str]) -> tuple[IntArray, IntArray, IntArray]:
    """Return the places of the pairs in a vocabulary, and those of their two words, -1 if a word is not there."""
    place = {word: column for column, word in enumerate(vocabulary)}
    pairs, first, second = [], [], []
    for column, word in enumerate(vocabulary):
        parts = word.split(JOINT)
        if len(parts) == 2:
            pairs.append(column)
            first.append(place.get(parts[0], -1))
            second.append(place.get(parts[1], -1))
    return np.array(pairs, np.int64), np.array(first, np.int64), np.array(second, np.int64)


class PhraseCounts:
    """Counts in which the words of a phrase are not counted on their own.

    Parameters
    ----------
    vocabulary : sequence of str
        The columns: single words and phrases.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        pairs, first, second = pairs_in(vocabulary)
        n_words = len(vocabulary)
        rows, columns = np.concatenate([pairs, pairs]), np.concatenate([first, second])
        known = columns >= 0
        ones = np.ones(int(known.sum()))
        self._words: SparseLike = sp.csr_array((ones, (rows[known], columns[known])), shape=(n_words, n_words))

    def __call__(self, counts: SparseLike) -> SparseLike:
        """Return rows of counts without the words inside phrases.

        Overlapping phrases ("new york", "york times") share a word, which is then not counted either; no count falls below
        zero.
        """
        inside = counts @ self._words
        left = sp.csr_array(counts - counts.minimum(inside))
        left.eliminate_zeros()
        left.sort_indices()
        return left


def columns_with_phrases(vocabulary: Sequence[str], df: IntArray, tf: FloatArray) -> npt.NDArray[np.int64]:
    """Return the columns that stay: single words, and pairs that are phrases."""
    single = np.array([JOINT not in word for word in vocabulary], dtype=bool)
    return np.flatnonzero(single | are_phrases(vocabulary, df, tf))
