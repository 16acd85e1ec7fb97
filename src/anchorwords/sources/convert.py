"""The one place that looks at what documents came as."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._namespace import is_array, is_numpy, to_numpy
from .._validation import check_counts, refuse_masked
from ..corpus.corpus import Corpus
from ..corpus.stored import StoredCorpus
from ..exceptions import InputError
from .kinds import CorpusSource, HeldCounts, MatchedSource, MatrixBlocks
from .source import Source

# A corpus on disk of at most this many counts is loaded, some 300 MB: the operator on counts in memory is faster.
_HELD = 1 << 23


TEXTS = (
    "X must hold counts of words, but holds texts: TextTopicModel learns topics from texts, and its method read, "
    "read_corpus or TextVectorizer turn them into counts."
)


def as_source(X: Any, *, validated: Callable[[Any], Any] | None = None) -> Source:
    """Documents in any form as a :class:`Source`.

    Parameters
    ----------
    X : Source, Corpus, blocks of counts, array of any namespace, sparse matrix or data frame
        Blocks are a list of sparse matrices, or a function that returns an iterable of them. A sparse matrix or an array
        is documents x words. Arrays other than NumPy's, such as torch tensors, make a fit use their namespace and device.
    validated : callable, optional
        Called with an array-like, a sparse matrix or a data frame before anything else looks at it, and returns it as an
        array: scikit-learn's own check.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        For an iterator, which can be read only once, and for counts that are none.
    """
    if isinstance(X, Source):
        return X
    if isinstance(X, Corpus):
        return CorpusSource(X, loadable=not (isinstance(X, StoredCorpus) and X.n_entries > _HELD))
    if isinstance(X, Iterator):
        raise InputError(
            "X is an iterator, which can be read only once, but its documents are read several times: give a list of "
            "blocks, or a function that returns them; partial_fit learns from one batch after the other."
        )
    if _is_blocks(X):
        return MatrixBlocks(X)
    if holds_texts(X):
        raise InputError(TEXTS)
    refuse_masked(X, "X", "counts")  # before scikit-learn's check, which reads what is under the mask
    if is_array(X) and not is_numpy(X):
        return HeldCounts(check_counts(_host_matrix(X), copy=False), like=X)
    names = tuple(getattr(X, "columns", ()))
    words = names if names and all(isinstance(name, str) for name in names) else None
    return HeldCounts(check_counts(X if validated is None else validated(X), copy=False), words)


def holds_texts(X: Any) -> bool:
    """Whether this is a path, a list or a series of texts."""
    return isinstance(X, (str, os.PathLike)) or any(isinstance(one, str) for one in _first_items(X))


def read_by(model: Any, X: Any) -> Any:
    """Documents as a corpus if they are texts and the model is an estimator that reads texts, else as they are."""
    return model.read(X) if hasattr(model, "read") and holds_texts(X) else X


def in_columns(X: Any, vocabulary: tuple[str, ...] | None, n_words: int) -> Source:
    """Documents in any form, in the columns of a model: matched by word, or counts over the same columns."""
    source = as_source(X)
    if vocabulary is None or source.words is None or source.words == vocabulary:
        if source.n_words != n_words:
            raise InputError(
                f"the model knows {n_words} words, but X has {source.n_words} columns: give counts over the columns of the "
                "fit, or a Corpus, which is matched by word where the model has words."
            )
        return source
    if not source.by_word:  # a data frame
        raise InputError(
            "the columns of a data frame must be the words of the model, in their order, but are not: bring them into the "
            "order of model_.vocabulary, or give a Corpus, which is matched by word."
        )
    return MatchedSource(source, vocabulary)


def require_known_words(source: Source) -> Source:
    """The source, or InputError where its documents hold none of the words of its columns."""
    if isinstance(source, MatchedSource) and not source.frequencies()[0].any():
        raise InputError("the corpus holds none of the model's words: check that the vocabularies match.")
    return source


def _first_items(X: Any) -> list[Any]:
    """Return the first of a list, a series or a one-dimensional array."""
    if isinstance(X, (list, tuple)):
        return list(X[:1])
    if getattr(X, "ndim", 0) == 1 and hasattr(X, "__iter__"):
        return list(islice(X, 1))
    return []


def _is_blocks(X: Any) -> bool:
    """Whether this is a list of sparse matrices, or a function that gives them."""
    return (isinstance(X, (list, tuple)) and bool(X) and all(sp.issparse(block) for block in X)) or (
        callable(X) and not hasattr(X, "shape") and not isinstance(X, type)
    )


def _host_matrix(X: Any) -> Any:
    """An array of another namespace, dense or torch's sparse CSR or COO, as NumPy's or SciPy's."""
    if hasattr(X, "to_sparse_csr") and "sparse" in str(getattr(X, "layout", "")):
        csr = X.to_sparse_csr()
        parts = (csr.values(), csr.col_indices(), csr.crow_indices())
        data, indices, indptr = (np.asarray(part.cpu()) for part in parts)
        return sp.csr_array((data, indices, indptr), shape=tuple(X.shape))
    return to_numpy(X)
