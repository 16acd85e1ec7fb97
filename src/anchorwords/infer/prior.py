"""The prior of a document's composition, as far as the first two moments tell: a Dirichlet's.

Notation
--------
A : (K, K)      E[w w'], p(topic, topic')
p : (K,)        E[w] = A e
b : (K,)        parameters of the Dirichlet, summing to the concentration
q = b / (b + 0.3)
alpha = b q     weights of the logarithms of w in the penalised likelihood: the prior where it is flat
1 - q           penalty for a topic that is present, in tokens: the prior where it is sparse
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._typing import FloatArray

# Where correlations say nothing (every document of one topic, or all documents alike) the concentration stays finite.
_LEAST, _MOST = 1e-2, 1e3
# Share of an even prior that a topic keeps whose prevalence is zero: no logarithm is without a weight.
_FLOOR = 1e-6
# Parameter of a topic at which the prior is half flat, half sparse: by benchmarks/composition_error.py.
_HALF = 0.3


class Prior(NamedTuple):
    """What :func:`anchorwords.infer.penalised.penalised_compositions` knows of compositions beforehand.

    Attributes
    ----------
    weights : (K,) array
        alpha, positive.
    penalties : (K,) array
        Penalty for each topic that is present, in tokens, from 0 to 1. All zero for the mode alone.
    parameters : (K,) array
        b, which the mean takes in: the tokens of each topic before any is seen. As the weights for the mode alone.
    """

    weights: FloatArray
    penalties: FloatArray
    parameters: FloatArray


def concentration(A: FloatArray) -> float:
    """Sum of the parameters of the Dirichlet whose E[w w'] has the trace of A.

    With E[w w'] = (alpha_0 p p' + diag(p)) / (alpha_0 + 1) that is (1 - tr A) / (tr A - |p|^2): small where documents
    are of one topic each, large where they are all alike.
    """
    p = A.sum(axis=1)
    own, together = float(np.trace(A)), float(p @ p)
    if own - together <= 0.0:
        return _MOST
    return float(np.clip((1.0 - own) / (own - together), _LEAST, _MOST))


def prior_of(A: FloatArray) -> Prior:
    """The concentration shared out by prevalence; each parameter b is a weight of b q, and a penalty of 1 - q.

    The density of a Dirichlet has exponents b - 1: where b is large the logarithms have the weight b, where it is small
    the -1 wins, which no concave problem has. How much of each is used was set on synthetic documents with known
    compositions, short and long, of symmetric and skewed priors.
    """
    p = A.sum(axis=1)
    shares = np.maximum(p, _FLOOR / p.size)
    return prior_from(concentration(A) * shares / shares.sum())


def prior_from(parameters: FloatArray, half: float = _HALF) -> Prior:
    """The prior with these parameters."""
    flat = parameters / (parameters + half)
    return Prior(parameters * flat, 1.0 - flat, parameters)
