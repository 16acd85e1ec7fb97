"""The linear sketch S = sum_m g_m' (g_m Omega): sums of documents, which add and subtract."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..kernels import kernels_for
from ..linalg.parallel import limited_threads
from ..linalg.randomized import eigh_from_probe
from ..linalg.sparse import csr_parts
from .probe import probe_rows, word_keys
from .sums import PairSums


class LinearPart:
    """S, and the probe Omega whose rows belong to the words.

    Parameters
    ----------
    n_columns : int
    seed : int
    """

    def __init__(self, n_columns: int, seed: int) -> None:
        self._n_columns, self._seed = n_columns, seed
        self._S = np.zeros((0, n_columns))
        self._Omega = np.zeros((0, n_columns))

    def grow(self, names: list[str]) -> None:
        """Make room for new words."""
        self._Omega = np.concatenate([self._Omega, probe_rows(word_keys(names, self._seed), self._n_columns)])
        self._S = np.concatenate([self._S, np.zeros((len(names), self._n_columns))])

    def add(self, counts: SparseLike, weights: FloatArray, rows: IntArray, n_jobs: int | None) -> None:
        """Add documents; columns belong to these rows."""
        G = sp.csr_array(sp.diags_array(np.sqrt(weights)) @ counts)
        Omega = self._Omega[rows]
        self._S[rows] += kernels_for(Omega).gram_apply(csr_parts(G), Omega, n_jobs)

    def combine(self, other: LinearPart, rows: IntArray, sign: int, n_jobs: int | None) -> None:  # noqa: ARG002
        """Add another's documents, or take them out; its words are these rows here."""
        self._S[rows] += sign * other._S

    def keep(self, rows: IntArray) -> None:
        """Forget all words but these."""
        self._S, self._Omega = self._S[rows], self._Omega[rows]

    def copy(self) -> LinearPart:
        """The same once more."""
        twin = LinearPart(self._n_columns, self._seed)
        twin._S, twin._Omega = self._S.copy(), self._Omega
        return twin

    def probe_product(self, rows: IntArray, sums: PairSums) -> tuple[FloatArray, FloatArray]:
        """Omega and C Omega."""
        d, scale = sums.diagonal(rows)
        Omega = self._Omega[rows]
        return Omega, self._S[rows] / scale - d[:, None] * Omega

    def available(self, n_words: int, n_jobs: int | None) -> int:  # noqa: ARG002
        """Pairs that can be asked for."""
        return min(n_words, self._n_columns)

    def eigh(self, rows: IntArray, sums: PairSums, K: int, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
        """K leading eigenpairs of C, from C Omega alone."""
        with limited_threads(n_jobs):
            pairs = eigh_from_probe(*self.probe_product(rows, sums), K)
        return pairs.values, pairs.vectors

    def arrays(self, n_jobs: int | None) -> dict[str, Any]:  # noqa: ARG002
        """What is written to disk; the probe can be made again."""
        return {"S": self._S}

    def restore(self, names: list[str], arrays: dict[str, Any]) -> None:
        """Take what was written; ValueError where it does not fit."""
        if arrays["S"].shape != (len(names), self._n_columns):
            raise ValueError(f"S has shape {arrays['S'].shape}")
        self._S = np.array(arrays["S"], dtype=np.float64)
        self._Omega = probe_rows(word_keys(names, self._seed), self._n_columns)
