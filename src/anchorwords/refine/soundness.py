"""Whether the top words of a topic belong together, from the documents that hold several of them.

Notation
--------
D_i, D_ij     documents that hold word i, words i and j, of D in all
NPMI_ij       log(D D_ij / (D_i D_j)) / -log(D_ij / D): 1 if both words are always together, 0 if independent, -1 if never

A topic is *incoherent* if the mean NPMI of its words is far below that of the other topics: its words share a template, an
address or a habit of speech rather than a subject. The words of a large subject have a small NPMI as well, since no two of
them can be together more than 1/s times as often as by chance if a share s of the documents carries it: a topic whose words
come near that is coherent. It holds *two subjects* if its words fall into two groups that are
coherent within, and not across. It is a *template* if documents hold either nearly all of its first words or hardly any:
documents on a subject hold some of its words, now these and now those.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import rel_entr

from .._namespace import array_namespace, is_numpy, like, to_numpy
from .._typing import BoolArray, FloatArray, IntArray
from ..kernels import kernels_for
from ..linalg.tall import take_rows
from .sweep import Documents

# Words of a topic that are looked at: the first for coherence, all for two subjects.
COHERENT_WORDS, WORDS = 10, 20
# A topic is incoherent below this share of the median coherence of the topics, unless the logarithm of how much more often
# than by chance its words are together reaches that share of what its number of documents allows.
INCOHERENT, _ALLOWED = 0.5, 0.5
# Boilerplate, relative to the medians of all topics: its divergence, its documents, what its words say, and its company.
_INDEPENDENT, _WIDESPREAD, _VAGUE, _ACCOMPANIED = 0.45, 1.75, 0.9, 0.8
# Fewer topics than these have no medians to speak of.
_FEWEST_TOPICS = 5
# Documents hold some, or nearly all, of the first words of a topic from these shares on; fewer words than that cannot tell.
_SOME_WORDS, _NEARLY_ALL_WORDS = 0.4, 0.7
_FEWEST_TEMPLATE_WORDS = 8
# A topic is a template if the second are more than this share of the first, and less than that for the median topic: all
# playlists of a series repeat each other.
_TEMPLATE, _NOT_TEMPLATE = 0.8, 0.5
# Each of two subjects has at least this many of the words; within both the mean NPMI is above that across by this much,
# and that across is no better than for words of different topics.
_FEWEST_WORDS = 4
_APART = 0.15
# Numbers in a dense table of documents and top words (512 MB), and columns that are sorted together.
_TABLE, _COLUMNS = 1 << 26, 32


class Together(NamedTuple):
    """Documents that hold pairs of the words of each topic.

    Attributes
    ----------
    counts : list of (n, n) arrays
        Per topic: documents with both words; on the diagonal, with one.
    held : list of (n' + 1,) arrays
        Per topic: documents with exactly 0, 1, ... n' of its first words, of which there are up to ``COHERENT_WORDS``.
    n_docs : float
        All documents.
    """

    counts: list[FloatArray]
    held: list[FloatArray]
    n_docs: float


def words_together(pieces: Iterable[Documents], tops: Sequence[IntArray], n_words: int) -> Together:
    """Count, in one pass, the documents that hold pairs of the words of each topic."""
    counts = [np.zeros((top.size, top.size)) for top in tops]
    held = [np.zeros(min(top.size, COHERENT_WORDS) + 1) for top in tops]
    n_docs = 0.0
    for documents in pieces:
        n_docs += documents.number_with()
        add = _add_sparse if is_numpy(documents.by_row[0]) else _add_dense
        add(documents, tops, n_words, counts, held)
    return Together(counts, held, n_docs)


def _add_sparse(
    documents: Documents, tops: Sequence[IntArray], n_words: int, counts: list[FloatArray], held: list[FloatArray]
) -> None:
    """Add what some documents hold to the totals, topic by topic."""
    indptr, rows, _ = documents.by_word
    present = sp.csc_array((np.ones(rows.size), rows, indptr), shape=(documents.n_docs, n_words))
    often = documents.weights
    for top, total, numbers in zip(tops, counts, held, strict=True):
        own = present[:, top]
        weighted = own if often is None else sp.csc_array(own.multiply(often[:, None]))
        total += (own.T @ weighted).toarray()
        first = own.indices[: own.indptr[numbers.size - 1]]
        n_first = np.bincount(first, minlength=documents.n_docs)
        numbers += np.bincount(n_first, weights=often, minlength=numbers.size)


def _add_dense(
    documents: Documents, tops: Sequence[IntArray], n_words: int, counts: list[FloatArray], held: list[FloatArray]
) -> None:
    """The same by dense products for many topics at a time, which is what a GPU is good at."""
    indptr, indices, _ = documents.by_row
    xp, often = array_namespace(indices), documents.weights
    # The counts of words at the top of any topic, with columns of their own.
    words = np.unique(np.concatenate(tops))
    place = np.full(n_words, -1, dtype=np.int32)
    place[words] = np.arange(words.size)
    columns = like(place, indices)[indices]
    some = columns >= 0
    bounds = xp.cumulative_sum(xp.astype(some, xp.int64), include_initial=True)[indptr]
    columns = columns[some]
    rows = bounds, columns, xp.astype(columns >= 0, xp.float64)
    step = max(1, _TABLE // (WORDS * max(documents.n_docs, 1)))
    for start in range(0, len(tops), step):
        group = tops[start : start + step]
        ends = np.cumsum([0, *(top.size for top in group)])
        chosen = np.zeros((words.size, ends[-1]))
        chosen[np.searchsorted(words, np.concatenate(group)), np.arange(ends[-1])] = 1.0
        first = np.zeros((ends[-1], len(group)))
        for t, numbers in enumerate(held[start : start + step]):
            first[ends[t] : ends[t] + numbers.size - 1, t] = 1.0
        present = kernels_for(indices).sparse_product(rows, like(chosen, indices))
        weighted = present if often is None else present * often[:, None]
        both, n_first = to_numpy(present.T @ weighted), present @ like(first, indices)
        weights = xp.ones(n_first.shape[0], dtype=xp.float64, device=n_first.device) if often is None else often
        levels = [weights @ xp.astype(n_first == n, xp.float64) for n in range(COHERENT_WORDS + 1)]
        of_level = to_numpy(xp.stack(levels))
        for t in range(len(group)):
            own = slice(ends[t], ends[t + 1])
            counts[start + t] += both[own, own]
            held[start + t] += of_level[: held[start + t].size, t]


def npmi(counts: FloatArray, n_docs: float) -> FloatArray:
    """NPMI of all pairs of words; -1 for words that are never together, 0 on the diagonal."""
    single = np.diagonal(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(counts * n_docs / np.outer(single, single)) / -np.log(counts / n_docs)
    scores = np.where(counts <= 0.0, -1.0, np.where(counts >= n_docs, 1.0, scores))
    np.fill_diagonal(scores, 0.0)
    return np.asarray(scores)


def coherence(counts: FloatArray, n_docs: float) -> float:
    """Mean NPMI of the first words; 1 for a single word, which cannot disagree with itself."""
    n = min(counts.shape[0], COHERENT_WORDS)
    if n < 2:
        return 1.0
    return float(npmi(counts[:n, :n], n_docs)[np.triu_indices(n, 1)].mean())


def of_allowed(counts: FloatArray, n_docs: float, carriers: float) -> float:
    """Coherence of the first words relative to what a topic in so large a share of the documents can have; 0 if none can.

    The lower quartile over pairs of log(D D_ij / (D_i D_j)) / log(D / carriers): all words of a large subject meet.
    """
    n = min(counts.shape[0], COHERENT_WORDS)
    if n < 2 or not 0.0 < carriers < n_docs:
        return 0.0
    single = np.diagonal(counts)[:n]
    pairs = np.triu_indices(n, 1)
    # Words that occur in none of the documents are never together.
    expected = np.maximum(np.outer(single, single)[pairs], np.finfo(np.float64).tiny)
    with np.errstate(divide="ignore"):
        together = np.log(counts[:n, :n][pairs] * n_docs / expected)
    return float(np.quantile(together, 0.25, method="lower") / np.log(n_docs / carriers))


def incoherent(together: Together, carriers: FloatArray) -> tuple[BoolArray, FloatArray]:
    """Topics whose words do not belong together, and the coherence of all topics; none if most have no coherence at all.

    Parameters
    ----------
    together : Together
    carriers : (K,) array
        Documents that carry each topic.
    """
    scores = np.array([coherence(own, together.n_docs) for own in together.counts])
    median = float(np.median(scores))
    if median <= 0.0:
        return np.zeros(scores.size, dtype=bool), scores
    allowed = np.array([of_allowed(own, together.n_docs, n) for own, n in zip(together.counts, carriers, strict=True)])
    return np.asarray((scores < INCOHERENT * median) & (allowed < _ALLOWED)), scores


def repetition(held: FloatArray) -> float:
    """Of the documents that hold some of the first words of a topic the share that holds nearly all; 0 for few words."""
    n = held.size - 1
    if n < _FEWEST_TEMPLATE_WORDS:
        return 0.0
    some = float(held[int(np.ceil(_SOME_WORDS * n)) :].sum())
    return float(held[int(np.ceil(_NEARLY_ALL_WORDS * n)) :].sum()) / some if some > 0.0 else 0.0


def templates(repeated: FloatArray) -> BoolArray:
    """Topics whose first words come together or not at all: headings, signatures, and phrases that a source repeats."""
    return np.asarray((repeated > _TEMPLATE) & (float(np.median(repeated)) < _NOT_TEMPLATE))


def boilerplate(joint: FloatArray, spread: FloatArray, informative: FloatArray, template: BoolArray) -> BoolArray:
    """Topics of common words that are widespread and go with every subject, or that are templates of many documents.

    Habits of speech and closings of letters say little about what else a document is about; a template may come from one
    source, and keep its company. What is common, widespread and independent is told by comparison with the other topics.

    Parameters
    ----------
    joint : (K, K) array
        How much topics are together in documents, in any scale; symmetric.
    spread : (K,) array
        Documents that carry each topic.
    informative : (K,) array
        log(D / D_i), the mean over the first words of each topic.
    template : (K,) bool array
        Whether each topic is a template.
    """
    if joint.shape[0] < _FEWEST_TOPICS:
        return np.zeros(joint.shape[0], dtype=bool)
    others = joint - np.diag(np.diagonal(joint))
    sums = joint.sum(axis=1)
    conditional = others / np.maximum(others.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    expected = np.tile(sums, (sums.size, 1))
    np.fill_diagonal(expected, 0.0)
    expected /= np.maximum(expected.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
    # How far a topic's company is from the company of any topic: the divergence of Kullback and Leibler.
    said, wide, clear = (
        _of_median(values) for values in (rel_entr(conditional, expected).sum(axis=1), spread, informative)
    )
    # What keeps to itself goes with nothing.
    company = others.sum(axis=1) / np.maximum(sums, np.finfo(np.float64).tiny)
    accompanied = company > _ACCOMPANIED * np.median(company)
    vague = clear < _VAGUE
    anywhere = (said < _INDEPENDENT) & (wide > _WIDESPREAD) & accompanied
    return np.asarray((anywhere | (template & (wide > 1.0))) & vague)


def _of_median(values: FloatArray) -> FloatArray:
    median = float(np.median(values))
    return values / median if median > 0.0 else np.full(values.size, np.nan)


def two_subjects(counts: FloatArray, n_docs: float) -> tuple[IntArray, IntArray, float] | None:
    """The words of a topic in two groups that are coherent within and not across, and by how much; None if it has no such.

    Words are divided by the signs of the leading eigenvector of their NPMI less its mean.
    """
    n = counts.shape[0]
    if n < 2 * _FEWEST_WORDS:
        return None
    scores = npmi(counts, n_docs)
    pairs = np.triu_indices(n, 1)
    centred = scores - scores[pairs].mean()
    np.fill_diagonal(centred, 0.0)
    first = np.linalg.eigh(centred)[1][:, -1]
    one, other = np.flatnonzero(first >= 0.0), np.flatnonzero(first < 0.0)
    if min(one.size, other.size) < _FEWEST_WORDS:
        return None
    across = float(scores[np.ix_(one, other)].mean())
    within = min(float(scores[np.ix_(part, part)][np.triu_indices(part.size, 1)].mean()) for part in (one, other))
    if across > 0.0 or within - across < _APART:
        return None
    return (one, other, within - across) if one[0] == 0 else (other, one, within - across)


def top_rows(columns: Any, n: int) -> list[npt.NDArray[np.intp]]:
    """The n largest positive entries of each column, largest first, ties in order of row."""
    if not is_numpy(columns):
        rows = _rows_at_the_top(columns, n)
        return [rows[top] for top in top_rows(to_numpy(take_rows(columns, like(rows, columns)), dtype=None), n)]
    tops = []
    for column in np.ascontiguousarray(columns.T):
        if column.size > n:
            reach = np.flatnonzero(column >= np.partition(column, column.size - n)[column.size - n])
        else:
            reach = np.arange(column.size)
        order = reach[np.argsort(-column[reach], kind="stable")][:n]
        tops.append(order[column[order] > 0.0])
    return tops


def _rows_at_the_top(columns: Any, n: int) -> npt.NDArray[np.intp]:
    """Rows with a positive entry that is among the n largest of its column."""
    xp = array_namespace(columns)
    reach = np.zeros(columns.shape[0], dtype=bool)
    for start in range(0, columns.shape[1], _COLUMNS):
        some = columns[:, start : start + _COLUMNS]
        least = xp.sort(some, axis=0)[max(0, some.shape[0] - n)]
        reach |= to_numpy(xp.any((some >= least) & (some > 0.0), axis=1), dtype=None)
    return np.flatnonzero(reach)
