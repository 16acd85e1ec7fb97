"""All operations of :class:`anchorwords.kernels.protocol.Kernels` on one GPU."""

from __future__ import annotations

from typing import Any, cast

import torch

from ..host import host_kernels
from ..protocol import CsrParts, GramProduct, GramStream, Kernels, NegativePart
from .gram import GpuGram, GpuStream, add_pair_sums
from .pairs import negative_part
from .sums import chunks_of, row_sums
from .tensors import csr_on_device


class GpuKernels:
    """The kernels on one device; what works on text runs on the host.

    Parameters
    ----------
    device : torch.device
        Results are on it.
    """

    def __init__(self, device: Any) -> None:
        from .. import numba_kernels

        self._device = device
        self._host = host_kernels(torch.zeros(0, device=device), cast(Kernels, numba_kernels))

    def gram_apply(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """G'(G V)."""
        return self.gram_product(rows, None, V.shape[0]).times(V)

    def gram_product(self, rows: CsrParts, weights: Any, n_columns: int) -> GramProduct:
        """Prepare products with G'WG."""
        return GpuGram(rows, weights, n_columns, self._device)

    def gram_stream(self, V: Any) -> GramStream:
        """Start a sum of G_b'(G_b V) over blocks of rows."""
        return GpuStream(V)

    def add_pair_sums(self, rows: CsrParts, weights: Any, d: Any, squares: Any, df: Any) -> tuple[Any, Any, Any]:
        """Add sums over documents of positive weight."""
        return add_pair_sums(csr_on_device(rows, self._device), weights, d, squares, df)

    def sparse_product(self, rows: CsrParts, V: Any, n_jobs: int | None = None) -> Any:  # noqa: ARG002
        """X V."""
        indptr, indices, data = csr_on_device(rows, self._device)
        return row_sums(chunks_of(indptr), indices, data, V)

    def negative_part(self, Y: Any, n_checked: int, *, coarse: bool = False, n_jobs: int | None = None) -> NegativePart:  # noqa: ARG002
        """E of Y with the ``n_checked`` rows to check first."""
        return negative_part(Y, n_checked, coarse=coarse)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)
