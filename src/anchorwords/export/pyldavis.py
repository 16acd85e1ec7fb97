"""What pyLDAvis draws from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
from ..interpret.compositions import document_compositions
from ..interpret.topic_words import words_of
from ..model import as_topic_model
from ..sources.convert import in_columns, read_by

# pyLDAvis takes logarithms, and writes infinite ones into a page that cannot read them.
_FLOOR = 1e-12


def pyldavis_data(
    model: Any,
    X: Any,
    *,
    vocabulary: Sequence[str] | None = None,
    method: str | None = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Arguments of ``pyLDAvis.prepare``: ``pyLDAvis.prepare(**pyldavis_data(model, corpus))``.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus is matched to the model by its words.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else those of a Corpus, else their indices.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``. The default is the ``composition`` parameter of the
        estimator, or "posterior-mean" for a TopicModel.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    dict
        ``topic_term_dists`` (K, N') and ``doc_topic_dists`` (M', K), rows sum to one; ``doc_lengths`` (M',), ``vocab`` and
        ``term_frequency`` (N',), counted in X. Documents without a word the model knows are left out, and words that no
        topic has. Probabilities of zero become 1e-12, as pyLDAvis takes logarithms.

    Notes
    -----
    pyLDAvis numbers topics from 1, most prevalent first, unless ``sort_topics=False`` is given with ``start_index=0``.
    """
    record = as_topic_model(model)
    if record.vocabulary is None and vocabulary is not None:
        record = record.with_vocabulary(vocabulary)
    source = in_columns(read_by(model, X), record.vocabulary, record.n_words)
    parts, lengths = [], []
    for weights, tokens in document_compositions(model, source, method=method, n_jobs=n_jobs):
        parts.append(weights[tokens > 0.0])
        lengths.append(tokens[tokens > 0.0])
    doc_lengths = np.concatenate(lengths)
    if doc_lengths.size == 0:
        raise InputError("no document holds a word the model knows: check that the vocabularies match.")
    _, term_frequency = source.frequencies()
    if record.vocabulary is None:
        record = record.with_vocabulary(source.words)
    words = words_of(record, vocabulary)
    used = np.flatnonzero(record.B.any(axis=1))
    return {
        "topic_term_dists": _rows_to_one(np.maximum(record.B[used].T, _FLOOR)),
        "doc_topic_dists": _rows_to_one(np.concatenate(parts)),
        "doc_lengths": doc_lengths,
        "vocab": [words[i] for i in used.tolist()],
        "term_frequency": term_frequency[used],
    }


def _rows_to_one(matrix: FloatArray) -> FloatArray:
    return matrix / matrix.sum(axis=1, keepdims=True)
