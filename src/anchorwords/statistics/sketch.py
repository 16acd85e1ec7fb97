"""Sketches of the co-occurrence: one pass over documents that need never be seen again.

Notation
--------
S : (N, l)     sum_m g_m' (g_m Omega) over documents, g_m = h_m / sqrt(n_m (n_m - 1)), before the division by M
Omega : (N, l) Gaussian; the row of a word is made from the word and the seed (:mod:`anchorwords.statistics.probe`)
U, theta       the leading eigenpairs of the sum, kept block by block (:mod:`anchorwords.statistics.incremental`)

Two methods. "linear" keeps S: sums of documents, so shards add and documents can be taken out again, exactly up to
rounding. "incremental" keeps U and theta: at the same memory several times nearer to C, shards merge, but nothing can be
taken out. Both keep what Eq. 1 needs of each word, documents as integers among it: a word whose last document is taken out
is gone, exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_counts, check_n_components, check_n_jobs, check_positive_integer, check_vocabulary
from ..corpus.corpus import Corpus
from ..corpus.text_rule import TextRule, key_of
from ..corpus.vocabulary_rule import VocabularyRule
from ..exceptions import InputError
from ..storage.sketch_folder import BY_WORD
from .incremental import IncrementalPart
from .linear import LinearPart
from .moments import no_pair, require_exact, warn_of_fractions
from .sums import TOTALS, PairSums, pair_weights

if TYPE_CHECKING:
    import os

# Columns a topic, from the table in docs/algorithms.md.
_COLUMNS = {"linear": 8, "incremental": 4}
_PARTS: dict[str, type[LinearPart] | type[IncrementalPart]] = {"linear": LinearPart, "incremental": IncrementalPart}
# What must be the same in sketches that come together, and its name in a message.
_ALIKE = {
    "method": "methods", "n_columns": "numbers of columns", "random_state": "seeds", "rule": "rules of what a word is",
    "vocabulary_key": "fixed vocabularies",
}  # fmt: skip


class CooccurrenceSketch:
    """What one pass over documents leaves of their co-occurrence, in memory of words x columns.

    Parameters
    ----------
    n_components : int
        K, the topics it is to serve.
    method : {"linear", "incremental"}
        "linear" adds and subtracts; "incremental" is nearer to C at the same memory, and merges.
    n_columns : int, optional
        Columns of the sketch; ``8 K`` ("linear") or ``4 K`` ("incremental") by default.
    vocabulary : sequence of str, optional
        The only words to count, fixed before the pass: a sketch cannot be pruned afterwards. By default all words count.
    rule : str, optional
        How documents were made into words, in any form: sketches of different rules do not merge.
    random_state : int, optional
        Seed; sketches of different seeds do not merge.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Attributes
    ----------
    n_features : int
        Columns of data without names.

    Examples
    --------
    >>> from anchorwords import AnchorTopicModel, CooccurrenceSketch
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> monday = CooccurrenceSketch(3).update(corpus.counts[:200], corpus.vocabulary)
    >>> tuesday = CooccurrenceSketch(3).update(corpus.counts[200:], corpus.vocabulary)
    >>> model = AnchorTopicModel(3).fit(monday + tuesday)
    >>> (monday + tuesday - monday).n_docs
    200
    """

    def __init__(
        self,
        n_components: int,
        *,
        method: str = "linear",
        n_columns: int | None = None,
        vocabulary: Sequence[str] | None = None,
        rule: str | None = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = check_positive_integer(n_components, "n_components")
        if method not in _COLUMNS:
            raise InputError(f"method must be one of {', '.join(_COLUMNS)}, but is {method!r}.")
        self.method = method
        columns = _COLUMNS[method] * self.n_components if n_columns is None else n_columns
        self.n_columns = check_positive_integer(columns, "n_columns")
        if self.n_columns < self.n_components:
            raise InputError(
                f"n_columns must be at least n_components={self.n_components}, but is {self.n_columns}: two to eight times "
                "as many serve well."
            )
        if random_state is not None and not isinstance(random_state, (int, np.integer)):
            raise InputError(f"random_state must be a whole number, which sketches share, but is {random_state!r}.")
        self.random_state = 0 if random_state is None else int(random_state)
        if not 0 <= self.random_state < 2**32:
            raise InputError(f"random_state must be from 0 to 2^32 - 1, but is {random_state!r}.")
        self.rule = rule
        self.n_jobs = check_n_jobs(n_jobs)
        words = None if vocabulary is None else check_vocabulary(vocabulary, len(vocabulary))
        self.fixed_words = None if words is None else frozenset(words)
        self.vocabulary_key = None if words is None else key_of(words)
        self.n_features = 0
        self._named: bool | None = None
        self._places: dict[str, int] = {}
        self._sums = PairSums(0)
        self._part: Any = _PARTS[method](self.n_columns, self.random_state)

    # ---- What it holds.

    @property
    def n_docs(self) -> int:
        """Documents with at least two tokens."""
        return self._sums.n_docs

    @property
    def n_skipped(self) -> int:
        """Documents with fewer."""
        return self._sums.n_skipped

    @property
    def n_tokens(self) -> int:
        """Tokens of the former."""
        return round(self._sums.n_tokens)

    @property
    def n_words(self) -> int:
        """Words in at least one document."""
        return len(self._places)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """Words in at least one document, in the order of their characters; of nameless columns, their numbers in order."""
        return self.words()

    @property
    def named(self) -> bool:
        """Whether words have names, and are not just numbers of columns."""
        return self._named is not False

    @property
    def text_rule(self) -> TextRule | None:
        """How text was split into words, or None if :attr:`rule` does not say: see :func:`rule_of_text`."""
        try:
            return _text_rule_in(self.rule)
        except ValueError:
            return None

    def words(self, min_df: int = 1) -> tuple[str, ...]:
        """Words in at least ``min_df`` documents: the rows of :meth:`eigh`."""
        names = list(self._places)
        return tuple(names[row] for row in self._rows(min_df))

    @property
    def document_frequencies(self) -> IntArray:
        """Documents of each word of :attr:`vocabulary`, of those that carry a pair."""
        return self._sums.df[self._rows(1)]

    def __repr__(self) -> str:
        return (
            f"CooccurrenceSketch({self.method}, {self.n_docs:,} documents, {self.n_words:,} words, "
            f"{self.n_columns} columns)"
        )

    def _rows(self, min_df: int) -> IntArray:
        """Rows of words in so many documents, in the order of the vocabulary."""
        names = list(self._places)
        rows = np.flatnonzero(self._sums.df >= check_positive_integer(min_df, "min_df")).tolist()
        rows.sort(key=lambda row: names[row] if self.named else int(names[row]))
        return np.array(rows, dtype=np.intp)

    # ---- Documents come.

    def update(self, X: Any, vocabulary: Sequence[str] | None = None) -> CooccurrenceSketch:
        """Add documents.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, or Corpus
        vocabulary : sequence of str, optional
            The word of each column; a Corpus brings its own. Without it words are the numbers of the columns.

        Returns
        -------
        self
        """
        if isinstance(X, Corpus):
            if vocabulary is not None:
                raise InputError("a Corpus has its own vocabulary: give the corpus, or counts with a vocabulary.")
            updated = self.copy()  # a block on disk may turn out to be damaged: all documents are added or none
            for block in X.blocks():
                updated._add(block, X.vocabulary, True)
            self.__dict__.update(updated.__dict__)
            return self
        counts = check_counts(X)
        words = check_vocabulary(vocabulary, counts.shape[1])
        self._add(counts, words or tuple(map(str, range(counts.shape[1]))), words is not None)
        if words is None:
            self.n_features = max(self.n_features, counts.shape[1])
        return self

    def _add(self, counts: SparseLike, words: Sequence[str], named: bool) -> None:
        self._require_naming(named)
        columns = np.flatnonzero(np.bincount(counts.indices, minlength=counts.shape[1]) > 0).tolist()
        if self.fixed_words is not None:
            columns = [j for j in columns if words[j] in self.fixed_words]
        counts = sp.csr_array(counts[:, columns])
        sums = PairSums(len(columns))
        sums.add(counts)
        weights = pair_weights(np.asarray(counts.sum(axis=1)).ravel())
        carried = np.flatnonzero(sums.df > 0)  # a word of documents without a pair is not in C
        sums.keep(carried)
        rows = self._places_of([words[columns[j]] for j in carried])
        self._sums.combine(sums, rows)
        if rows.size:
            self._part.add(sp.csr_array(counts[:, carried]), weights, rows, self.n_jobs)

    def _require_naming(self, named: bool) -> None:
        if self._named is None:
            self._named = named
        elif self._named and not named:
            raise InputError("this sketch has words with names: give a vocabulary with the counts.")
        elif named and not self._named:
            raise InputError("this sketch has columns without names: give no vocabulary, or start a new sketch.")

    def _places_of(self, names: Sequence[str]) -> IntArray:
        """Rows of words; new ones are added."""
        places = self._places
        before = len(places)
        rows = np.fromiter((places.setdefault(name, len(places)) for name in names), dtype=np.intp, count=len(names))
        if len(places) > before:
            self._sums.grow(len(places) - before)
            self._part.grow(list(places)[before:])
        return rows

    # ---- Sketches come together.

    def merge(self, other: CooccurrenceSketch) -> CooccurrenceSketch:
        """Add the documents of another sketch to this one; returns self."""
        self._require_alike(other)
        self._combine(other, 1)
        return self

    def __add__(self, other: CooccurrenceSketch) -> CooccurrenceSketch:
        return self.copy().merge(other) if isinstance(other, CooccurrenceSketch) else NotImplemented

    def __sub__(self, other: CooccurrenceSketch) -> CooccurrenceSketch:
        if not isinstance(other, CooccurrenceSketch):
            return NotImplemented
        self._require_alike(other)
        self._require_part(other)
        result = self.copy()
        result._combine(other, -1)
        return result

    def copy(self) -> CooccurrenceSketch:
        """Another sketch of the same documents."""
        twin = object.__new__(CooccurrenceSketch)
        twin.__dict__.update(self.__dict__)
        twin._places = dict(self._places)
        twin._sums, twin._part = self._sums.copy(), self._part.copy()
        return twin

    def _require_alike(self, other: CooccurrenceSketch) -> None:
        for name, what in _ALIKE.items():
            mine, yours = getattr(self, name), getattr(other, name)
            if mine != yours:
                shown = f" ({mine} and {yours})" if name in ("method", "n_columns", "random_state") else ""
                raise InputError(f"sketches of different {what}{shown} cannot be combined: build them alike.")
        if None not in (self._named, other._named) and self._named != other._named:
            raise InputError("a sketch of named words and one of nameless columns cannot be combined.")

    def _require_part(self, other: CooccurrenceSketch) -> None:
        """Raise unless the other's documents can be among these."""
        known = np.array([self._places.get(name, -1) for name in other._places], dtype=np.intp)
        possible = bool((known >= 0).all())
        for name in (*BY_WORD, *TOTALS):
            mine, yours = getattr(self._sums, name), getattr(other._sums, name)
            there = mine[known] if possible and name in BY_WORD else mine
            # Sums of the same numbers in another order may differ in the last digits.
            possible = possible and bool(np.all(yours <= there * (1.0 + 1e-9)))
        if not possible:
            raise InputError("the documents to take out are not all in the sketch: subtract only what was added.")

    def _combine(self, other: CooccurrenceSketch, sign: int) -> None:
        self._named = other._named if self._named is None else self._named
        self.n_features = max(self.n_features, other.n_features)
        rows = self._places_of(list(other._places))
        self._part.combine(other._part, rows, sign, self.n_jobs)
        self._sums.combine(other._sums, rows, sign)
        self._forget_vanished()

    def _forget_vanished(self) -> None:
        """Drop words that are in no document any more, with the rounding that is left of them."""
        kept = np.flatnonzero(self._sums.df > 0)
        names = list(self._places)
        if kept.size < len(names):
            self._places = {names[row]: number for number, row in enumerate(kept)}
            self._sums.keep(kept)
            self._part.keep(kept)

    # ---- What is learned from it.

    def eigh(self, n_components: int | None = None, *, min_df: int = 1) -> tuple[FloatArray, FloatArray]:
        """Estimate the K algebraically largest eigenpairs of C.

        Parameters
        ----------
        n_components : int, optional
            K, by default that of the sketch; fewer are nearer to the truth than more.
        min_df : int
            Leave out words in fewer documents, from the estimate, not from the documents: the lengths n_m of Eq. 1 still
            count them. What is left is scaled to sum to one.

        Returns
        -------
        values : (K,) array
            In descending order.
        vectors : (words, K) array
            Rows in the order of :meth:`words`.
        """
        wanted = self.n_components if n_components is None else n_components
        self._require_usable()
        rows = self._rows(1)
        K = check_n_components(wanted, min(rows.size, self.n_columns), "words or columns of the sketch")
        values, vectors = self._part.eigh(rows, self._sums, K, self.n_jobs)
        if check_positive_integer(min_df, "min_df") == 1:
            return values, vectors
        kept = self._sums.df[rows] >= min_df
        if kept.sum() < K:
            raise InputError(
                f"only {int(kept.sum())} words are in at least {min_df} documents, but {K} topics are wanted."
            )
        return _restricted(values, vectors[kept])

    def probe_product(self) -> tuple[FloatArray, FloatArray]:
        """Omega and C Omega of a linear sketch, rows in the order of the vocabulary."""
        if not isinstance(self._part, LinearPart):
            raise InputError("only a linear sketch holds C Omega.")
        self._require_usable()
        return self._part.probe_product(self._rows(1), self._sums)

    def basis(self, vocabulary: Sequence[str] | None, n_words: int) -> FloatArray:
        """Leading eigenvectors in the columns of other data: where further passes start from."""
        wanted = self.n_components + max(8, self.n_components // 4)
        _, vectors = self.eigh(min(wanted, self._part.available(self.n_words, self.n_jobs)))
        place = {word: row for row, word in enumerate(self.vocabulary)}
        names: Iterable[str] = map(str, range(n_words)) if vocabulary is None else vocabulary
        known = [(column, place[word]) for column, word in enumerate(names) if word in place]
        if not known:
            raise InputError("the sketch and the data have no word in common: check that they belong together.")
        start = np.zeros((n_words, vectors.shape[1]))
        columns, rows = (np.array(part) for part in zip(*known, strict=True))
        start[columns] = vectors[rows]
        return start

    def _require_usable(self) -> None:
        """Raise where nothing can be learned; warn of counts that are not whole."""
        if self.n_docs == 0:
            raise no_pair(self.n_skipped, self.n_words)
        require_exact(self._sums.largest)
        if self._sums.fractions:
            warn_of_fractions(5)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sketch as a folder, whole or not at all; see :func:`load_sketch`."""
        from .saved_sketch import save_sketch

        save_sketch(path, self)


def _restricted(values: FloatArray, vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenpairs of U_W diag(values) U_W', scaled to sum to one."""
    Q, R = np.linalg.qr(vectors)
    theta, S = np.linalg.eigh((R * values) @ R.T)
    theta, U = theta[::-1], Q @ S[:, ::-1]
    sums = U.sum(axis=0)
    return theta / float(sums @ (theta * sums)), U


def require_rule_of_text(rule: str | None) -> None:
    """Raise ValueError if a rule says how text was split into words, but not in a way that can be."""
    _text_rule_in(rule)


def _text_rule_in(rule: str | None) -> TextRule | None:
    try:
        found = json.loads(rule or "null")
    except (ValueError, RecursionError):  # a rule of the user's own, in any form
        return None
    if not isinstance(found, dict) or found.get("text_rule") is None:
        return None
    if not isinstance(found["text_rule"], dict):
        raise ValueError("its text rule is not an object")
    return TextRule.from_dict(found["text_rule"])


def rule_of_text(text_rule: TextRule | None, vocabulary_rule: VocabularyRule | None = None) -> str | None:
    """Return the rule of a sketch of a corpus with these rules; sketches merge if these strings are equal.

    Of the vocabulary rule only the stop words count, because a sketch cannot be pruned by frequency.
    """
    if text_rule is None:
        return None
    whole = text_rule if vocabulary_rule is None else text_rule.without_words(vocabulary_rule.stop_set)
    return json.dumps({"text_rule": whole.to_dict()}, sort_keys=True)
