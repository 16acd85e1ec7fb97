"""Split a topic into sub-topics, learned on its own share of the documents.

Notation
--------
k                 the topic to split; s, t its sub-topics
r_mi              share of the tokens of word i in document m that are the topic's: theta_mk B_ik / (theta_m B')_i
q_is              p(s | word i, topic k), of a model that is learned on the counts n_mi r_mi
B_is = B_ik q_is / w_s with w_s = sum_i B_ik q_is, so that sum_s w_s B_s = B_k: merging gives the topic back
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from .._validation import check_n_jobs, check_positive_integer
from ..exceptions import DegenerateWarning, FractionalCountsWarning, InputError
from ..fitting import FitOptions, fit_documents
from ..infer.aware import learn_dual
from ..infer.compose import compositions, prototype_of
from ..linalg.sparse import csr_parts
from ..model import Edit, Parts, TopicModel, as_topic_model, of_parts, with_dual
from ..presets import READERS
from ..sources.convert import as_source, in_columns, read_by
from ..sources.source import Source
from .apply import like, noted, unused_ids
from .regroup import by_bayes, own_parts, weights_within

# Expected tokens of a topic in a document that its sub-topics are learned from: a pair, which Eq. 1 needs.
_FEWEST_TOKENS = 2.0
# Documents per sub-topic without which there is nothing to learn them from.
_FEWEST_DOCUMENTS = 10
# Share of a topic below which a sub-topic holds next to nothing of it: most likely the topic has fewer parts.
_SMALL = 0.01
# Share of independence in the estimated joint probabilities of sub-topics: keeps every entry positive, so that scaling to
# given sums converges.
_FLOOR = 1e-3
_SCALINGS = 500
assert READERS.refinement is not None
_WITHOUT_BACKGROUND = replace(READERS.refinement, background=0.0)
# Entries of the counts that are shared out at a time: a few megabytes for 50 topics.
_PIECE = 1 << 15


def split_topic(
    model: Any, topic: int, corpus: Any, into: int = 2, *, random_state: int = 0, n_jobs: int | None = None
) -> Any:
    """Split a topic into sub-topics.

    The tokens of the topic in each document are treated as documents of their own. Topics are learned from these by the
    preset "readers", also if the model itself is not refined, because spectral sub-topics measured worse
    (``benchmarks/splits.py``). All other topics stay as they are, and merging the sub-topics gives the topic back.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    topic : int
        Id of the topic to split.
    corpus : Corpus, counts, or texts
        Documents to learn from, such as those of the fit. Texts need a TextTopicModel.
    into : int, default=2
        Number of sub-topics.
    random_state : int, default=0
        Seed.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given, with the sub-topics in the place of the topic. They have new ids and no labels. The
        model has no stability, and its dual matrix for prior-aware proportions, if it has one, is learned again.

    Warns
    -----
    DegenerateWarning
        If a sub-topic has less than 1% of the topic: ask for fewer sub-topics.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> model = aw.merge_topics(aw.AnchorTopicModel(3).fit(corpus), [[0, 2]])
    >>> aw.split_topic(model, 0, corpus).model_.ids
    (3, 4, 1)
    """
    record, n_jobs = as_topic_model(model), check_n_jobs(n_jobs)
    k, n = record.position(topic), check_positive_integer(into, "into")
    if n < 2:
        raise InputError(f"into must be at least 2, the number of sub-topics, but is {n}.")
    source = in_columns(read_by(model, corpus), record.vocabulary, record.n_words)
    prototype = prototype_of(model, source)
    sub = _sub_model(record, k, _share_of_topic(record, source, k, n, prototype, n_jobs), n, random_state, n_jobs)
    q = _within_topic(sub, record.B[:, k])
    w = record.B[:, k] @ q
    B = record.B[:, [k]] * q / w
    parts = _split_parts(own_parts(record), k, B, w)
    moment = _moment(of_parts(record, parts), source, prototype, n_jobs)
    _warn_of_small(record, k, w)
    edited = _with_split(record, k, B, w, sub, parts, moment)
    if record.inference.composition_dual is not None:
        edited = with_dual(edited, learn_dual(edited.inference, source, n_jobs=n_jobs).matrix)
    number = record.ids[k]
    ids = unused_ids(record, n)
    edited = replace(edited, ids=(*record.ids[:k], *ids, *record.ids[k + 1 :]), flags=record.flags)
    return like(model, noted(edited, Edit("split", (number,), tuple(ids))))


def _warn_of_small(record: TopicModel, k: int, w: FloatArray) -> None:
    """Say so if a sub-topic has next to nothing of the topic."""
    small = int(np.count_nonzero(w < _SMALL))
    if small:
        shares = ", ".join(f"{share:.2%}" for share in sorted(w, reverse=True))
        warnings.warn(
            f"splitting topic {record.ids[k]} into {w.size} gives sub-topics with {shares} of it, of which {small} "
            f"{'has' if small == 1 else 'have'} less than {_SMALL:.0%}: {_instead(w.size - small)}.",
            DegenerateWarning,
            stacklevel=3,
        )


def _instead(n: int) -> str:
    return f"split it into {n}" if n > 1 else "leave the topic as it is, or give more documents"


def _share_of_topic(record: TopicModel, source: Source, k: int, n: int, prototype: Any, n_jobs: int | None) -> Source:
    """Counts of the tokens of a topic, expected given the documents."""
    parts = own_parts(record)
    own = np.flatnonzero(parts.topic_of == k)
    found = []
    for block in source.blocks(whole=True):
        for part in compositions(
            of_parts(record, parts), as_source(block), whole_blocks=True, like=prototype, n_jobs=n_jobs
        ):
            share = _expected_counts(block, part.weights, parts.B, own)
            found.append(share[np.asarray(share.sum(axis=1)).ravel() >= _FEWEST_TOKENS])
    documents = sp.csr_array(sp.vstack(found, format="csr"))
    if documents.shape[0] < _FEWEST_DOCUMENTS * n:
        raise InputError(
            f"splitting topic {record.ids[k]} into {n} needs {_FEWEST_DOCUMENTS * n} documents with two of its tokens, "
            f"but {documents.shape[0]} have them: give more documents, or ask for fewer sub-topics."
        )
    return as_source(documents)


def _expected_counts(counts: SparseLike, theta: FloatArray, B: FloatArray, own: IntArray) -> SparseLike:
    """Counts n_mi r_mi of the parts ``own``, in pieces that bound the memory."""
    csr = sp.csr_array(counts, dtype=np.float64)
    indptr, indices, data = csr_parts(csr)
    document = np.repeat(np.arange(csr.shape[0]), np.diff(indptr))
    B_own, theta_own = B[:, own], theta[:, own]
    expected = np.empty(data.size)
    for start in range(0, data.size, _PIECE):
        piece = slice(start, start + _PIECE)
        i, m = indices[piece], document[piece]
        total = np.einsum("nk,nk->n", B[i], theta[m])
        share = np.einsum("nk,nk->n", B_own[i], theta_own[m])
        expected[piece] = data[piece] * share / np.where(total > 0.0, total, 1.0)
    return sp.csr_array((expected, indices, indptr), shape=csr.shape)


def _sub_model(
    record: TopicModel, k: int, documents: Source, n: int, random_state: int, n_jobs: int | None
) -> TopicModel:
    """A model of the topic's tokens."""
    # Common words have been left to the background of the model, if it has one.
    parameters = READERS.parameters() | {"refinement": _WITHOUT_BACKGROUND}
    options = FitOptions(n, **parameters, random_state=random_state, n_jobs=n_jobs)
    try:
        with warnings.catch_warnings():
            # Expected counts are not whole. What that adds to the diagonal of Eq. 1 is taken back by the rectification.
            warnings.simplefilter("ignore", FractionalCountsWarning)
            return fit_documents(documents, options)
    except InputError as error:
        raise InputError(f"topic {record.ids[k]} cannot be split into {n}: {error}") from error


def _within_topic(sub: TopicModel, of_topic: FloatArray) -> FloatArray:
    """q: p(sub-topic | word) within the topic; a word that the sub-topics lack is theirs by prevalence."""
    q, _ = by_bayes(sub.B, sub.prevalence, sub.word_probs)
    w = of_topic @ q
    if (w <= 0.0).any():
        raise InputError("a sub-topic would have none of the words of the topic: ask for fewer sub-topics.")
    return q


def _split_parts(parts: Parts, k: int, B: FloatArray, w: FloatArray) -> Parts:
    """Parts with those of topic k replaced by its sub-topics, with A as if these were independent of the documents.

    Topics after k move up by the number of sub-topics less one. The dual matrix of the parts does not fit the new ones.
    """
    own = np.flatnonzero(parts.topic_of == k)
    others = np.flatnonzero(parts.topic_of != k)
    n = w.size
    # Parts x new parts: the others stay, and what was of topic k is shared out.
    S = np.zeros((parts.n_components, others.size + n))
    S[others, np.arange(others.size)] = 1.0
    S[own, others.size :] = w
    A = S.T @ parts.A @ S
    before = parts.topic_of[others]
    topic_of = np.concatenate([np.where(before > k, before + n - 1, before), k + np.arange(n)])
    background = None if parts.background is None else int(np.searchsorted(others, parts.background))
    B = np.concatenate([parts.B[:, others], B], axis=1)
    return Parts(B, (A + A.T) / (2.0 * A.sum()), topic_of, background=background)


def _moment(model: TopicModel, source: Source, prototype: Any, n_jobs: int | None) -> FloatArray:
    """Sum of theta theta' over documents."""
    total = np.zeros((model.n_components, model.n_components))
    for part in compositions(model, source, like=prototype, n_jobs=n_jobs):
        weights = part.weights[part.n_known > 0.0]
        total += weights.T @ weights
    return total


def _joint(A: FloatArray, moment: FloatArray, n: int) -> FloatArray:
    """A whose last n rows and columns, of the sub-topics, follow the documents.

    The sums of its rows, and what the sub-topics together have with each other part, stay those of A, in which sub-topics
    are independent of the documents: the model stays consistent with B, and merging the sub-topics restores it.
    """
    first = A.shape[0] - n
    rows, w = A[first:].sum(axis=1), weights_within(A[first:].sum(axis=1))
    columns = np.append(A[first:, :first].sum(axis=0), A[first:, first:].sum())
    seen = np.column_stack([moment[first:, :first], moment[first:, first:].sum(axis=1)])
    shares = seen / np.maximum(seen.sum(axis=0), np.finfo(np.float64).tiny)
    table = columns * ((1.0 - _FLOOR) * shares + _FLOOR * w[:, None])
    for _ in range(_SCALINGS):
        table *= (rows / table.sum(axis=1))[:, None]
        table *= columns / np.where(columns > 0.0, table.sum(axis=0), 1.0)
    block = moment[first:, first:]
    block = (1.0 - _FLOOR) * block / block.sum() + _FLOOR * np.outer(w, w)
    d = np.ones(n)
    for _ in range(_SCALINGS):
        d = np.sqrt(d * table[:, -1] / (block @ d))
    result = np.array(A)
    result[first:, :first] = table[:, :-1]
    result[:first, first:] = table[:, :-1].T
    result[first:, first:] = d[:, None] * block * d
    return result / result.sum()


def _with_split(
    record: TopicModel, k: int, B: FloatArray, w: FloatArray, sub: TopicModel, parts: Parts, moment: FloatArray
) -> TopicModel:
    """The model with sub-topics in the place of topic k."""
    n = w.size
    fine = _joint(parts.A, moment, n)
    # That of the topics is not read off that of the parts: without those that are no topic, the sub-topics' shares of the
    # topic would be others than w.
    whole = _split_parts(Parts(record.B, record.A, np.arange(record.n_components)), k, B, w)
    place = np.argsort(whole.topic_of)
    member = np.zeros((parts.n_components, whole.n_components))
    shown = np.flatnonzero(parts.topic_of >= 0)
    member[shown, place[parts.topic_of[shown]]] = 1.0
    A = _joint(whole.A, member.T @ moment @ member, n)[np.ix_(place, place)]
    of_topic = np.asarray(record.B[:, [k]])
    q = np.where(of_topic > 0.0, B * w / np.where(of_topic > 0.0, of_topic, 1.0), w)
    groups = record.anchor_groups
    if groups is not None:
        groups = (*groups[:k], *((int(word),) for word in sub.anchors), *groups[k + 1 :])
    rows = None
    if record.anchor_rows is not None and sub.anchor_rows is not None:
        old = sp.csr_array(record.anchor_rows)
        rows = sp.csr_array(sp.vstack([old[:k], sp.csr_array(sub.anchor_rows), old[k + 1 :]], format="csr"))
    return replace(
        record,
        B=_in_place(record.B, k, B),
        A=(A + A.T) / 2.0,
        anchors=np.concatenate([record.anchors[:k], sub.anchors, record.anchors[k + 1 :]]).astype(record.anchors.dtype),
        word_topics=_in_place(record.word_topics, k, record.word_topics[:, [k]] * q),
        anchor_rows=rows,
        anchor_groups=groups,
        composition_dual=None,
        stability=None,
        labels=None if record.labels is None else (*record.labels[:k], *([""] * n), *record.labels[k + 1 :]),
        ids=(),
        flags=(),
        parts=replace(parts, A=fine),
        keyword_weights=None if record.keyword_weights is None else _split_keywords(record.keyword_weights, k, q),
    )


def _split_keywords(weights: FloatArray, k: int, q: FloatArray) -> FloatArray:
    """Keyword weights of which those of topic k are shared out as its tokens are."""
    own = weights[:, [k]] * q
    sums = own.sum(axis=0)
    # A sub-topic with none of the keywords is listed by its share of all words.
    own = np.where(sums > 0.0, own / np.where(sums > 0.0, sums, 1.0), q / q.sum(axis=0))
    return _in_place(weights, k, own.astype(weights.dtype))


def _in_place(columns: FloatArray, k: int, new: FloatArray) -> FloatArray:
    """Columns with the k-th replaced by others."""
    return np.concatenate([columns[:, :k], new, columns[:, k + 1 :]], axis=1)
