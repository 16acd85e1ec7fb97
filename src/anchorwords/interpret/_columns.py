"""Documents in the columns of a model, whatever they come as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .._typing import FloatArray, SparseLike
from ..corpus.blocks import InVocabulary, in_columns
from ..corpus.corpus import Corpus
from ..exceptions import InputError
from ..model import TopicModel


def blocks_in_columns(model: TopicModel, X: Any) -> Iterator[SparseLike]:
    """Blocks of a Corpus, matched to the model by word, or of counts over the model's columns."""
    return (block() for block in in_columns(X, model.vocabulary, model.n_words).lazy_blocks())


def number_of_documents(X: Any) -> int | None:
    """How many there are; None where only reading them would tell."""
    if isinstance(X, Corpus):
        return X.n_docs
    shape = getattr(X, "shape", None)
    return int(shape[0]) if shape else None


def frequencies(model: TopicModel, X: Any) -> tuple[npt.NDArray[np.int64], FloatArray]:
    """Documents and tokens in X of each word of the model."""
    if isinstance(X, Corpus):  # which knows them, also on disk
        source = InVocabulary(X, model.vocabulary, model.n_words)
        if not source.document_frequencies.any():
            raise InputError("the corpus holds none of the model's words: check that the vocabularies match.")
        return source.document_frequencies, source.term_frequencies
    documents, tokens = np.zeros(model.n_words, dtype=np.int64), np.zeros(model.n_words)
    for block in blocks_in_columns(model, X):
        documents += np.bincount(block.indices, minlength=model.n_words)
        tokens += np.bincount(block.indices, weights=block.data, minlength=model.n_words)
    return documents, tokens


def number(value: float) -> int | float:
    """A count as an int where it is whole: tokens are, weights of words need not be."""
    return int(value) if float(value).is_integer() else float(value)
