"""The kernels for NumPy arrays: compiled by numba, threads over blocks."""

from __future__ import annotations

from typing import Any

from .cone import project_to_cone
from .gram import LaneStream, add_pair_sums, gram_apply, gram_rows, squared_row_norms
from .pairs import negative_part
from .proportions import compose
from .protocol import Kernels
from .simplex import simplex_least_squares
from .sweep import expect, gather, removal_losses
from .text import HashedWords
from .triples import parse_triples


class NumbaKernels:
    """Implementation of :class:`anchorwords.kernels.protocol.Kernels` for NumPy arrays."""

    gram_apply = staticmethod(gram_apply)
    gram_stream = staticmethod(LaneStream)
    gram_rows = staticmethod(gram_rows)
    squared_row_norms = staticmethod(squared_row_norms)
    add_pair_sums = staticmethod(add_pair_sums)
    negative_part = staticmethod(negative_part)
    project_to_cone = staticmethod(project_to_cone)
    simplex_least_squares = staticmethod(simplex_least_squares)
    expect = staticmethod(expect)
    gather = staticmethod(gather)
    removal_losses = staticmethod(removal_losses)
    compose = staticmethod(compose)
    word_table = staticmethod(HashedWords)
    parse_triples = staticmethod(parse_triples)


NUMBA: Kernels = NumbaKernels()


def kernels_like(_: Any) -> Kernels:
    """The implementation, the same for all arrays."""
    return NUMBA
