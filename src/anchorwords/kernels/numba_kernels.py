"""The kernels for NumPy arrays: compiled by numba, threads over blocks.

The module itself is the implementation of :class:`anchorwords.kernels.protocol.Kernels`.
"""

from __future__ import annotations

from typing import Any

from .cone import project_to_cone as project_to_cone
from .descent import descend as descend
from .descent import sparse_product as sparse_product
from .gram import HeldCounts, LaneStream
from .gram import add_pair_sums as add_pair_sums
from .gram import gram_apply as gram_apply
from .gram import gram_rows as gram_rows
from .gram import squared_row_norms as squared_row_norms
from .marks import marks_in as marks_in
from .pairs import negative_part as negative_part
from .proportions import compose as compose
from .protocol import Kernels
from .simplex import simplex_least_squares as simplex_least_squares
from .sweep import expect as expect
from .sweep import gather as gather
from .sweep import removal_losses as removal_losses
from .text import HashedWords
from .triples import parse_triples as parse_triples

prepared, gram_stream, word_table = HeldCounts, LaneStream, HashedWords


def kernels_like(_: Any) -> Kernels:
    """The implementation, the same for all arrays."""
    from . import numba_kernels

    return numba_kernels
