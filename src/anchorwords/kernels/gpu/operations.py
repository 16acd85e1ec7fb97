"""All operations of :class:`anchorwords.kernels.protocol.Kernels` on one GPU."""

from __future__ import annotations

from typing import Any, cast

import torch

from ..host import host_kernels
from ..protocol import CsrParts, Expectation, GramStream, Kernels, NegativePart, PreparedCounts, Proportions
from . import cone, descent, gram, pairs, proportions, simplex, sweep
from .current import on_its_device
from .tensors import on_device


@on_its_device
class GpuKernels:
    """The kernels on one device; see the protocol for what they do. What works on text runs on the host.

    Parameters
    ----------
    device : torch.device
        Results are on it.
    """

    def __init__(self, device: Any) -> None:
        from .. import numba_kernels

        self._device = device
        self._host = host_kernels(torch.zeros(0, device=device), cast(Kernels, numba_kernels))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    # ---- products with G'G

    def gram_apply(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """G'(G V)."""
        return self.prepared(rows, V.shape[0]).gram(None, V)

    def prepared(self, rows: CsrParts, n_columns: int) -> PreparedCounts:
        """Prepare counts for sums and products."""
        return gram.GpuCounts(rows, n_columns, self._device)

    def gram_stream(self, V: Any) -> GramStream:
        """Start a sum of G_b'(G_b V) over blocks of rows."""
        return gram.GpuStream(V)

    def add_pair_sums(self, rows: CsrParts, weights: Any, d: Any, squares: Any, df: Any) -> tuple[Any, Any, Any]:
        """Add sums over documents of positive weight."""
        more = self.prepared(rows, d.shape[0]).pair_sums(weights)
        return d + more[0], squares + more[1], df + more[2].to(df.dtype)

    # ---- rectification

    def negative_part(self, Y: Any, n_checked: int, *, n_jobs: int | None = None) -> NegativePart:  # noqa: ARG002
        """E of Y with the ``n_checked`` rows to check first."""
        return pairs.negative_part(Y, n_checked)

    def project_to_cone(
        self, indptr: Any, partners: Any, normals: Any, start: Any, *, spare: float, n_jobs: int | None = None
    ) -> Any:
        """Project every row of ``start`` to its own cone."""
        start = on_device(start, self._device)
        return cone.project_to_cone(indptr, partners, normals, start, spare=spare, n_jobs=n_jobs)

    # ---- recovery and refinement

    def simplex_least_squares(self, G: Any, rhs: Any, n_jobs: int | None = None) -> Any:
        """Least squares on the simplex for every row of ``rhs``."""
        return simplex.simplex_least_squares(G, on_device(rhs, self._device), n_jobs)

    def sparse_product(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """X V."""
        return sweep.sparse_product(rows, V, self._device)

    def descend(self, P: Any, G: Any, W: Any, rounds: int, n_jobs: int | None = None) -> Any:
        """Coordinate descent from every row of the accumulator ``W``."""
        return descent.descend(P, G, on_device(W, self._device), rounds, n_jobs)

    def expect(
        self,
        rows: CsrParts,
        B: Any,
        alpha: Any,
        gamma: Any,
        steps: int,
        n_jobs: int | None = None,  # noqa: ARG002
    ) -> Expectation:
        """Fixed-point steps of the Dirichlet parameters."""
        return sweep.expect(rows, B, alpha, gamma, steps, self._device)

    def gather(
        self,
        by_word: Any,
        ratio: Any,
        v: Any,
        B: Any,
        words: Any,
        n_jobs: int | None = None,  # noqa: ARG002
    ) -> Any:
        """Expected tokens of words and topics."""
        return sweep.gather(by_word, ratio, v, B, words, self._device)

    def removal_losses(
        self,
        rows: CsrParts,
        B: Any,
        gamma: Any,
        background: Any,
        n_jobs: int | None = None,  # noqa: ARG002
    ) -> Any:
        """First-order loss of the log-likelihood without each topic."""
        return sweep.removal_losses(rows, B, gamma, background, self._device)

    def compose(
        self,
        rows: CsrParts,
        topics: Any,
        chance: Any,
        prior: tuple[Any, Any, Any],
        n_jobs: int | None = None,
    ) -> Proportions:
        """Topic proportions of documents by penalised likelihood."""
        return proportions.compose(rows, topics, chance, prior, n_jobs, self._device)
