"""Topic proportions of documents: the record that every method of inference returns."""

from __future__ import annotations

from typing import NamedTuple

from .._typing import FloatArray, SparseLike
from ..exceptions import InputError


class Compositions(NamedTuple):
    """Topic proportions of documents and how well they explain the documents.

    Attributes
    ----------
    weights : (M, K) array
        Topic proportions. Each row is non-negative and sums to one.
    log_likelihood : (M,) array
        sum_i x_i log(B w)_i over the known words of each document.
    n_known : (M,) array
        Number of tokens of known words in each document.
    gap : (M,) array
        Upper bound on how much the objective per token can still increase. For "posterior-mean" this is the objective of
        the concave problem from whose solution the posterior mean is computed.
    """

    weights: FloatArray
    log_likelihood: FloatArray
    n_known: FloatArray
    gap: FloatArray


def require_columns(counts: SparseLike, B: FloatArray) -> None:
    """Raise InputError unless the documents have one column per word of the model."""
    if counts.shape[1] != B.shape[0]:
        raise InputError(f"the model knows {B.shape[0]} words, but the documents have {counts.shape[1]} columns.")
