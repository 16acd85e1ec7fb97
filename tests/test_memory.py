"""What dense computations are budgeted with covers what they hold at their peak."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords import _memory
from anchorwords.anchors.dense import anchor_words
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.streamed import StreamedOperator

N, K = 800, 5
# Of one matrix: the counts, vectors of length N and a few rows, which do not grow with N^2.
SPARE = 0.2


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    return sp.csr_array((rng.random((200, N)) < 0.05) * rng.integers(1, 4, (200, N)), dtype=float)


def _streamed(X):
    return StreamedOperator(MatrixBlocks([X[:70], X[70:140], X[140:]]), n_jobs=1, every_word=True)


def _projected(X):
    C = aw.cooccurrence(X)
    return lambda: aw.rectify_ap(C, K, max_iter=4)


def _with_anchors(X):
    C = aw.cooccurrence(X)
    return lambda: anchor_words(C, K, n_jobs=1)


COMPUTATIONS = {
    "cooccurrence": lambda X: lambda: aw.cooccurrence(X, n_jobs=1),
    "operator": lambda X: aw.CooccurrenceOperator(X, n_jobs=1).to_matrix,
    "streamed operator": lambda X: _streamed(X).to_matrix,
    "AP": _projected,
    "anchor words": _with_anchors,
}


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", COMPUTATIONS)
def test_the_budget_covers_the_peak(name, counts, monkeypatch):
    call = COMPUTATIONS[name](counts)
    call()  # compiles, and imports
    tracemalloc.start()
    try:
        call()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # What was used does not fit in less than that: the budget must say so.
    monkeypatch.setattr(_memory, "available_bytes", lambda: int(peak - SPARE * 8 * N * N))
    with pytest.raises(aw.exceptions.TooLargeError):
        call()
