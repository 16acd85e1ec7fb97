"""Other ways to do the three operations that a fit of a large vocabulary consists of, for ablation.py.

Every way has the same input and gives the same result as the package's own, to the tolerance that is noted with it; what
cannot give it says what it does instead. None of this is part of the package: these are the attempts that lost, and the
kernels that were replaced.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

import numba
import numpy as np
from common import seconds_of

from anchorwords.kernels import gram as gram_kernels
from anchorwords.kernels import pairs
from anchorwords.kernels.compiled import CSR, INT, MATRIX, READ_MATRIX, VOID, compiled
from anchorwords.kernels.pairs import SparseCorrection
from anchorwords.kernels.tiled import TiledCorrection
from anchorwords.linalg.parallel import for_each_block, one_library_thread
from anchorwords.linalg.sparse import csr_parts
from anchorwords.rectify.correction import checked_first
from anchorwords.rectify.enn import _BURN_IN
from anchorwords.rectify.tangent import Point

COLUMNS = 16
MARGIN = 0.02
PIVOTS = 16
PANEL = 500


class Way(NamedTuple):
    """A way to do an operation: its title, what is called, and the result to compare with the default's."""

    title: str
    call: Callable[[], Any]


def compare_operations(operator, Y, n_checked: int, repeat: int) -> list[dict]:
    """Rows of the table: median seconds of every way, and its largest difference from the default, relative."""
    Y = np.ascontiguousarray(Y[checked_first(Y, n_checked).order])
    with one_library_thread():
        V = np.ascontiguousarray(np.linalg.qr(Y)[0], dtype=np.float32)
        P = np.ascontiguousarray(V[:, ::-1])
        E = SparseCorrection(Y, n_checked)
        density = E.nnz / 2 / (n_checked * Y.shape[0])
        groups = {
            f"E and E V, {100 * density:.1f} % of the pairs negative": sweeps(Y, V, n_checked),
            "product of conjugate gradients": gradients(E, Y, V, P, n_checked),
            f"product of C with {COLUMNS} columns": products(operator),
        }
        rows = []
        for operation, ways in groups.items():
            expected, base = None, 0.0
            for way in ways:
                found = way.call()  # compiles
                expected = found if expected is None else expected
                seconds = median(seconds_of(way.call) for _ in range(repeat))
                base = base or seconds
                difference = None if found is None else float(np.abs(found - expected).max() / np.abs(expected).max())
                rows.append(
                    {"operation": operation, "way": way.title, "seconds": seconds, "factor": seconds / base,
                     "difference": difference}
                )  # fmt: skip
    return rows


def plain_steps(Y, n_rows: int):
    """Y after the plain steps of ENN, where E is still dense."""
    with one_library_thread():
        for _ in range(_BURN_IN):
            Y, _ = Point(Y, n_rows).plain_step(1)
    return Y


# ---- E, and its product with V: a plain step.


def sweeps(Y, V, n: int) -> list[Way]:
    def with_lists():
        return SparseCorrection(Y, n).times(V)

    def one_list():
        E = SparseCorrection(Y, n)
        np.concatenate([span.indices for span in E._spans]), np.concatenate([span.values for span in E._spans])
        return E.times(V)

    candidates = near_pairs(Y, n, MARGIN)

    def from_candidates():
        spans: list[Any] = [None] * len(candidates)

        def work(number: int, _: int) -> None:
            first, indptr, indices = candidates[number]
            entries = np.empty((1, indices.size), dtype=np.float32)
            pairs._moved_entries(indptr, indices, single, half, first, entries)
            spans[number] = pairs.span_of(first, indptr, indices, np.maximum(-entries[0], 0.0))

        for_each_block(work, len(candidates), 1)
        return correction_of_spans(spans, n).times(V)

    single = Y.astype(np.float32)
    half = 0.5 * single
    size = sum(indices.size for _, _, indices in candidates) / (n * Y.shape[0])
    proven = proven_positive(Y, n, PIVOTS)
    return [
        Way("default: pairs in spans, then their product", with_lists),
        Way("the pairs as one list", one_list),
        Way("dense tiles in single precision, nothing listed", lambda: TiledCorrection(single, n).times(V)),
        Way("dense tiles in double precision, on one thread",
            lambda: TiledCorrection(Y, n, 1).times(V.astype(np.float64)).astype(np.float32)),
        Way(f"entries of last step's pairs of cosine below {MARGIN}, {100 * size:.1f} % of all",
            from_candidates),
        Way(f"skipping what angles to {PIVOTS} pivots prove positive: {100 * proven:.2f} % of the pairs", lambda: None),
    ]  # fmt: skip


def correction_of_spans(spans: list, n: int) -> SparseCorrection:
    """E with these pairs."""
    E = object.__new__(SparseCorrection)
    E._spans, E._n, E._n_jobs = spans, n, None
    E._groups = pairs.even_bounds(np.concatenate([[0], np.cumsum([span.values.size for span in spans])]), pairs._GROUPS)
    return E


def unit_rows(Y):
    return Y / np.maximum(np.linalg.norm(Y, axis=1), 1e-300)[:, None]


def near_pairs(Y, n: int, margin: float) -> list[tuple]:
    """Runs of rows: first row, indptr and partners of cosine below the margin."""
    directions = unit_rows(Y).astype(np.float32)
    runs = []
    for first in range(0, Y.shape[0], 2048):
        cosines = directions[first : first + 2048] @ directions[:n].T
        near = (cosines < margin) & (np.arange(n) < np.arange(first, first + cosines.shape[0])[:, None])
        indptr = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
        runs.append((first, indptr, np.nonzero(near)[1].astype(np.int32)))
    return runs


def proven_positive(Y, n: int, n_pivots: int) -> float:
    """Share of pairs whose angles to one of the pivots sum to less than a right angle, so that their entry is positive."""
    directions = unit_rows(Y)
    pivots = [0]
    nearest = directions @ directions[0]
    for _ in range(n_pivots - 1):  # the word farthest from all pivots is the next
        pivots.append(int(np.argmin(nearest[:n])))
        nearest = np.maximum(nearest, directions @ directions[pivots[-1]])
    angles = np.arccos(np.clip(directions @ directions[pivots].T, -1.0, 1.0))
    sample = np.random.default_rng(0).choice(Y.shape[0], min(2000, Y.shape[0]), replace=False)
    return float(np.mean([((angles[:n] + angles[j]).min(axis=1) < np.pi / 2).mean() for j in sample]))


# ---- Products of conjugate gradients.


@compiled(VOID, *CSR[:2], READ_MATRIX, READ_MATRIX, INT, MATRIX, MATRIX, reorder=True, single=True)
def one_by_one(indptr, indices, V, P, first, out, mirror):
    """Entry by entry: the sum, then what it gives to both rows."""
    K = V.shape[1]
    for row in range(indptr.size - 1):
        j = first + row
        for p in range(indptr[row], indptr[row + 1]):
            i = indices[p]
            entry = V[j, 0] * 0
            for k in range(K):
                entry += P[j, k] * V[i, k] + V[j, k] * P[i, k]
            for k in range(K):
                out[j, k] += entry * V[i, k]
                mirror[i, k] += entry * V[j, k]


def gradients(E, Y, V, P, n: int) -> list[Way]:
    def entry_by_entry():
        out = np.zeros_like(V)
        mirror = np.zeros((E._groups.size - 1, n, V.shape[1]), dtype=V.dtype)

        def work(group: int, _: int) -> None:
            for span in E._spans[E._groups[group] : E._groups[group + 1]]:
                one_by_one(span.indptr, span.indices, V, P, span.first, out, mirror[group])

        for_each_block(work, E._groups.size - 1, 1)
        out[:n] += mirror.sum(axis=0)
        return out

    paneled = [split for span in E._spans for split in panels(span, n)]

    def in_panels():
        return correction_of_spans(paneled, n).curvature(V, P)

    return [
        Way("default: four entries at a time, then their product", lambda: E.curvature(V, P)),
        Way("entry by entry", entry_by_entry),
        Way(f"partners in panels of {PANEL}, which stay in the cache", in_panels),
        Way(
            "dense tiles in single precision, masked", lambda: TiledCorrection(Y.astype(np.float32), n).curvature(V, P)
        ),
    ]


def panels(span, n: int) -> list:
    """A span as several, each with the partners of one panel."""
    found = []
    for start in range(0, n, PANEL):
        inside = (span.indices >= start) & (span.indices < start + PANEL)
        indptr = np.concatenate([[0], np.cumsum(inside)])[span.indptr]
        found.append(pairs.span_of(span.first, indptr, span.indices[inside], span.values[inside]))
    return found


# ---- Products with C.


def products(operator) -> list[Way]:
    N = operator.shape[0]
    V = np.random.default_rng(0).standard_normal((N, COLUMNS))
    G = operator._G
    rarest = np.maximum.reduceat(G.indices, G.indptr[:-1])
    sorted_documents = G[np.argsort(rarest, kind="stable")]
    by_word, single = G.T.tocsr(), G.astype(np.float32)
    single_by_word, few = single.T.tocsr(), V.astype(np.float32)
    lanes = gram_kernels.gram_times_lanes
    looped = numba.njit(lanes._signatures[0], **lanes._options)(lanes.py_func)

    def package(rows=G):
        return gram_kernels.gram_apply(csr_parts(rows), V)

    def by_eights(kernel=lanes):
        with patch.object(gram_kernels, "_form", lambda _: (8, kernel)):
            return package()

    return [
        Way(f"default: {COLUMNS} columns in registers", package),
        Way("8 columns at a time", by_eights),
        Way("8 columns at a time, vectors across counts, which gather", lambda: by_eights(looped)),
        Way("documents in the order of their rarest word", lambda: package(sorted_documents)),
        Way("SciPy, on one thread", lambda: by_word @ (G @ V)),
        Way("SciPy in single precision, on one thread", lambda: single_by_word @ (single @ few)),
    ]
