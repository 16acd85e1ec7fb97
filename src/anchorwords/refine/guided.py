"""What the user says about topics, as a constraint on the M step of the refinement.

Notation
--------
n : (N, K)    expected tokens of words and topics after a sweep; n_k its column sums
q : (N, K)    seed distribution of a topic: equal shares of its seed words, zero elsewhere
s             strength
B : (N, K)    p(word | topic)

**Seeds.** A guided topic has a Dirichlet prior with s * n_k pseudo-tokens, shared equally among its seeds. Its posterior
mode is B_k = (n_k' + s q_k) / (1 + s), where n_k' is the distribution of its expected tokens: a mixture of what the
documents say and the seeds, in which the seeds have at least s / (1 + s) of the probability. The prior is relative to the
tokens of the topic, so that the same strength means the same thing for a hundred documents and for a million. s = 0 is
plain EM.

**Forbidden topics.** Words of a forbidden topic are tied: they have the same probability in every topic, that of the
documents. The M step under this constraint is exact: b_i = sum_k n_ik / sum n for a tied word, and
B_ik = (1 - sum b) n_ik / sum_j n_jk over the other words. A tied word says nothing about the topics of a document, so that
no topic can form around such words, while the documents that hold them are still explained.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .._namespace import array_namespace, like
from .._typing import BoolArray


class Guided(NamedTuple):
    """Guidance of a refinement, in columns of the model.

    Attributes
    ----------
    seeds : tuple of tuples of int
        Seed words of the first topics.
    strength : float
        Pseudo-tokens of the seeds of a topic, relative to the tokens of the topic.
    neutral : (N,) bool array or None
        Words of forbidden topics.
    """

    seeds: tuple[tuple[int, ...], ...] = ()
    strength: float = 0.0
    neutral: BoolArray | None = None

    @property
    def n_given(self) -> int:
        """Number of topics with seeds; they come first."""
        return len(self.seeds)

    def held(self, B: Any) -> Any:
        """Topics whose first ones are held to their seeds: the posterior mode; changes B in place."""
        if self.strength > 0.0:
            for k, words in enumerate(self.seeds):
                B[list(words), k] += self.strength / len(words)
                B[:, k] /= B[:, k].sum()
        return B

    def tied(self, B: Any, tokens: Any) -> Any:
        """Topics in which words of forbidden topics have the same probability everywhere: their share of the tokens."""
        if self.neutral is None or not self.neutral.any():
            return B
        xp, neutral = array_namespace(B), like(self.neutral, B)
        shared = tokens[neutral] / tokens.sum()
        others = xp.where(neutral[:, None], 0.0, B)
        sums = others.sum(axis=0)
        free = xp.where(neutral, 0.0, tokens)  # for a topic that held nothing else
        others[:, sums <= 0.0] = free[:, None]
        tied = others * ((1.0 - shared.sum()) / others.sum(axis=0))
        tied[neutral] = shared[:, None]
        return tied


UNGUIDED = Guided()
