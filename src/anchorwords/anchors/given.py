"""What a user says about anchors, as columns: given anchors, forbidden words, and how frequent the others must be.

A word may be missing from one corpus among several: that gives a warning with close matches, and the fit goes on. A number
names a column of the data at hand, so a wrong one is an error.
"""

from __future__ import annotations

import logging
import numbers
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray, IntArray
from ..corpus.missing import warn_of_absent, warn_of_missing
from ..corpus.vocabulary_rule import document_limit
from ..exceptions import InputError
from ..provenance import ANY_WORD, AUTO_SHARE, AnchorThreshold
from ..sources.in_use import WordsInUse
from .tandem import Groups

logger = logging.getLogger("anchorwords.fit")

# Candidates per topic below which "auto" drops the threshold: with two or three, coherence suffers
# (docs/tables/threshold.md, 20ng and kos at 10%).
_CANDIDATES_PER_TOPIC = 5
# But if at least this share of the words are candidates, dropping the threshold would add no better ones.
_MOST_WORDS = 0.5


# How strongly a refinement holds topics to their seeds: see anchorwords.refine.guided.
# On kos and nips12 (K 20, five topics with seeds) 0.01 brings all seeds to the first five words of their topics and lowers
# the log-likelihood per token by 0.0005 or less; 0.1 lowers it by 0.01 to 0.016 (docs/guidance.md).
DEFAULT_STRENGTH = 0.01


class Choice(NamedTuple):
    """Which words may be anchors, in columns of the words in use.

    Attributes
    ----------
    groups : tuple of tuples of int
        Words of the first topics' anchors.
    candidates : (N,) bool array or None
        Words among which the other anchors are chosen; None is all of them.
    threshold : AnchorThreshold
        In how many documents a candidate occurs.
    forbidden : tuple of int
        Words that the user has forbidden.
    liftable : tuple of int
        Those that would be candidates if they were not forbidden.
    neutral : (N,) bool array or None
        Words of forbidden topics: never candidates, and the same in every topic.
    """

    groups: Groups
    candidates: BoolArray | None
    threshold: AnchorThreshold = ANY_WORD
    forbidden: tuple[int, ...] = ()
    liftable: tuple[int, ...] = ()
    neutral: BoolArray | None = None

    @property
    def min_docs(self) -> int:
        """Number of documents in which a candidate must occur."""
        return self.threshold.min_docs

    @property
    def relaxed(self) -> bool:
        """Whether ``min_anchor_docs="auto"`` dropped its threshold."""
        return self.threshold.relaxed

    def lifted(self) -> Choice:
        """The same choice without the ban on the forbidden words."""
        if self.candidates is None or not self.liftable:
            return self
        candidates = self.candidates.copy()
        candidates[list(self.liftable)] = True
        return self._replace(candidates=candidates)

    def without(self, neutral: BoolArray) -> Choice:
        """The same choice without these words, which are the same in every topic."""
        candidates = ~neutral if self.candidates is None else self.candidates & ~neutral
        return self._replace(candidates=candidates, neutral=neutral)

    def n_choosable(self) -> int | None:
        """Words that are left to choose from, given ones included; None if that is all of them."""
        if self.candidates is None:
            return None
        allowed = self.candidates.copy()
        allowed[[column for group in self.groups for column in group]] = False
        return int(allowed.sum()) + len(self.groups)

    def candidates_among(self, words: WordsInUse) -> BoolArray:
        """Which of all words may be anchors."""
        return words.mask if self.candidates is None else words.spread(self.candidates, fill=False)


def guided_choice(
    K: int,
    anchors: Any,
    forbidden: Any,
    min_anchor_docs: float | str,
    *,
    used: BoolArray,
    df: IntArray,
    n_docs: int,
    vocabulary: Sequence[str] | None = None,
    stop_words: Container[str] = (),
) -> Choice:
    """Guidance as the factorisations take it.

    Parameters
    ----------
    K : int
    anchors : sequence, optional
        Up to K entries, each a word, a column, or a list of them.
    forbidden : iterable, optional
        Words or columns that are not to be chosen.
    min_anchor_docs : int, float or "auto"
        Fewest documents of a word that is chosen: a number of them, or a share between 0 and 1. "auto" is one per cent of
        the documents, or any word if that leaves too few candidates.
    used : (all words,) bool array
        Words that occur in documents that carry a pair.
    df : (used words,) int array
        Such documents of each.
    n_docs : int
        All of them.
    vocabulary : sequence of str, optional
        All words, for those that are given by name.
    stop_words : container of str
        Words that were removed, for the warning if one of them is given.
    """
    named = _Lookup("anchors", used.size, vocabulary, stop_words)
    groups = _occurring(_groups(anchors, K, named), used, named)
    barred = _forbidden_columns(forbidden, _Lookup("forbidden anchors", used.size, vocabulary, stop_words))
    both = barred.intersection(column for group in groups for column in group)
    if both:
        raise InputError(f"anchors and forbidden anchors must differ, but {named.name(min(both))} is given as both.")
    place = np.cumsum(used) - 1
    groups = tuple(tuple(int(place[column]) for column in group) for group in groups)
    free = np.ones(df.size, dtype=bool)
    free[[place[column] for column in barred if used[column]]] = False
    threshold = _threshold(min_anchor_docs, K - len(groups), df[choosable(free, None, groups)], n_docs)
    if (why := threshold.sentence()) is not None:
        logger.info("anchors: %s", why)
    if threshold.min_docs <= 1 and not barred:
        return Choice(groups, None, threshold)
    candidates = free & (df >= threshold.min_docs)
    _require_enough(K, groups, candidates, min_anchor_docs, threshold.min_docs)
    frequent = df >= threshold.min_docs
    banned = tuple(sorted(int(place[column]) for column in barred if used[column]))
    return Choice(groups, candidates, threshold, banned, tuple(word for word in banned if frequent[word]))


def check_strength(strength: Any) -> float:
    """The strength of guidance as a number, or InputError."""
    number = isinstance(strength, (int, float, np.integer, np.floating)) and not isinstance(strength, bool)
    if not number or not 0.0 <= strength < np.inf:
        raise InputError(f"strength must be a number, 0 or more, such as 0.1, but is {strength!r}.")
    return float(strength)


def anchor_groups(anchors: Any, n_words: int, K: int) -> Groups:
    """Anchors given as columns, or lists of them, as groups; InputError where they cannot be that."""
    return _groups(anchors, K, _Lookup("anchors", n_words, None))


def check_candidates(candidates: Any, n_words: int) -> BoolArray | None:
    """Candidates as a mask of the words, or InputError."""
    if candidates is None:
        return None
    mask = np.asarray(candidates)
    if mask.dtype != bool or mask.shape != (n_words,):
        raise InputError(
            f"candidates must say of each of the {n_words} words whether it may be an anchor, an array of bool of shape "
            f"({n_words},), but is of type {mask.dtype} and shape {mask.shape}."
        )
    return mask


def choosable(usable: BoolArray, candidates: BoolArray | None, groups: Groups) -> BoolArray:
    """Words that pivoting may choose: usable ones among the candidates, outside the groups that are given."""
    allowed = usable.copy() if candidates is None else usable & candidates
    allowed[[column for group in groups for column in group]] = False
    return allowed


def as_plain(entries: Any) -> Any:
    """What was given, as JSON holds it: None, words, whole numbers, and lists of these."""
    if entries is None or isinstance(entries, str):
        return entries
    return int(entries) if _is_number(entries) else [as_plain(entry) for entry in entries]


class _Lookup:
    """Columns of entries, words or numbers.

    Attributes
    ----------
    missing : list of str
        Words that no column has.
    numbers : set of int
        Columns that were given by their number.
    """

    def __init__(
        self, what: str, n_words: int, vocabulary: Sequence[str] | None, stop_words: Container[str] = ()
    ) -> None:
        self.what, self._n_words, self.vocabulary, self._stop_words = what, n_words, vocabulary, stop_words
        self._places: dict[str, int] | None = None
        self.missing: list[str] = []
        self.numbers: set[int] = set()

    def column(self, entry: Any) -> int | None:
        """Its column, None where it is a word that is missing."""
        if isinstance(entry, str):
            return self._column_of(str(entry))
        if not _is_number(entry):
            each = {"anchors": "each anchor"}.get(self.what, f"each of the {self.what}")
            lists = ", or a list of them for one topic" if self.what == "anchors" else ""
            raise InputError(f"{each} must be a word or a column index{lists}, but one is {entry!r}.")
        if not 0 <= entry < self._n_words:
            raise InputError(f"{self.what} must be column indices from 0 to {self._n_words - 1}, but one is {entry}.")
        self.numbers.add(int(entry))
        return int(entry)

    def _column_of(self, word: str) -> int | None:
        if self.vocabulary is None:
            raise InputError(
                f"{self.what}: {word!r} cannot be looked up without a vocabulary: give column indices, or documents as a "
                "Corpus or a data frame."
            )
        if self._places is None:
            self._places = {str(known): column for column, known in enumerate(self.vocabulary)}
        if word not in self._places:
            self.missing.append(word)
        return self._places.get(word)

    def name(self, column: int) -> str:
        """A column in a message."""
        return f"column {column}" if self.vocabulary is None else repr(str(self.vocabulary[column]))

    def warn(self) -> None:
        """Say which words are missing."""
        if self.missing:
            assert self.vocabulary is not None
            known = [str(word) for word in self.vocabulary]
            warn_of_missing(self.missing, known, self.what, stop_words=self._stop_words, stacklevel=8)


def _is_number(entry: Any) -> bool:
    return isinstance(entry, numbers.Integral) and not isinstance(entry, (bool, np.bool_))


def _is_list(entries: Any) -> bool:
    if isinstance(entries, np.ndarray):
        return entries.ndim > 0
    return isinstance(entries, Sequence) and not isinstance(entries, (str, bytes))


def _groups(anchors: Any, K: int, lookup: _Lookup) -> Groups:
    """Columns of each entry; words that are missing, and entries that hold no others, are left out."""
    if anchors is None:
        return ()
    if isinstance(anchors, str):
        raise InputError(f"anchors must be a sequence of words or columns, but is the single string {anchors!r}.")
    if not _is_list(anchors):
        raise InputError(f"anchors must be a sequence of words or columns, but is {anchors!r}.")
    if len(anchors) > K:
        raise InputError(f"at most n_components={K} anchors can be given, but there are {len(anchors)}.")
    groups = []
    seen: set[int] = set()
    for entry in anchors:
        members = list(entry) if _is_list(entry) else [entry]
        if not members:
            raise InputError("each anchor must hold a word, but one is an empty list: leave it out.")
        columns = [column for column in map(lookup.column, members) if column is not None]
        for column in columns:
            if column in seen:
                raise InputError(f"anchors must be distinct words, but {lookup.name(column)} is given more than once.")
            seen.add(column)
        if columns:
            groups.append(tuple(columns))
    lookup.warn()
    return tuple(groups)


def _occurring(groups: Groups, used: BoolArray, lookup: _Lookup) -> Groups:
    """Groups without words that never occur; InputError for such a column."""
    absent = [column for group in groups for column in group if not used[column]]
    for column in absent:
        if column in lookup.numbers:
            raise InputError(f"anchors must occur in the documents, but column {column} never does.")
    warn_of_absent(
        [] if lookup.vocabulary is None else [str(lookup.vocabulary[c]) for c in absent], "anchors", stacklevel=7
    )
    return tuple(left for group in groups if (left := tuple(column for column in group if used[column])))


def _forbidden_columns(forbidden: Any, lookup: _Lookup) -> set[int]:
    if forbidden is None:
        return set()
    if isinstance(forbidden, (str, bytes)) or not isinstance(forbidden, Iterable):
        raise InputError(f"forbidden anchors must be words or columns in a list, but are {forbidden!r}.")
    columns = {column for entry in forbidden if (column := lookup.column(entry)) is not None}
    lookup.warn()
    return columns


def _threshold(min_anchor_docs: Any, wanted: int, df: IntArray, n_docs: int) -> AnchorThreshold:
    """Return the threshold for this many anchors, chosen among words with these document frequencies."""
    automatic = isinstance(min_anchor_docs, str) and min_anchor_docs == "auto"
    value = AUTO_SHARE if automatic else min_anchor_docs
    whole = _is_number(value) and value >= 1
    share = isinstance(value, (float, np.floating)) and 0.0 < value < 1.0
    if not whole and not share:
        raise InputError(
            "min_anchor_docs must be a whole number of documents, at least 1, a share of them between 0 and 1, or 'auto', "
            f"but is {min_anchor_docs!r}."
        )
    fewest = int(np.ceil(document_limit(value, n_docs, "min_anchor_docs")))
    n_frequent = int((df >= fewest).sum())
    if automatic and not _enough(n_frequent, wanted, df.size):
        return AnchorThreshold(1, 1, True, n_frequent, fewest)
    return AnchorThreshold(max(fewest, 1), value)


def _enough(n_frequent: int, wanted: int, n_words: int) -> bool:
    """Whether so many frequent words are enough to choose anchors from, out of all words that may be chosen."""
    if n_frequent < _CANDIDATES_PER_TOPIC * wanted and n_frequent < _MOST_WORDS * n_words:
        return False
    return n_frequent >= wanted or n_words < wanted  # if there are more topics than words, the caller says so


def _require_enough(K: int, groups: Groups, candidates: BoolArray, min_anchor_docs: Any, fewest: int) -> None:
    everyone = np.ones(candidates.size, dtype=bool)
    left = int(choosable(everyone, candidates, groups).sum())
    if len(groups) + left < K:
        more = " more" if groups else ""
        raise InputError(
            f"n_components={K} needs {K - len(groups)}{more} words to choose as anchors, but only {left} are in at least "
            f"{fewest} documents (min_anchor_docs={min_anchor_docs!r}) and not forbidden: lower "
            "min_anchor_docs or n_components, or forbid fewer words."
        )
