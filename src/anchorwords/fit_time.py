"""How long a fit will take, said before it begins where that is minutes.

The work is counted in operations of matrix products, and their rate is measured when it matters. The shares of the stages
are those of real fits with two threads (docs/benchmarks.md): the estimate is right within a factor of two or so.
"""

from __future__ import annotations

import logging
from time import perf_counter

import numpy as np

from .linalg.parallel import for_each_block, limited_threads, n_threads, one_library_thread

logger = logging.getLogger("anchorwords.fit")

# Fits that take longer are worth a sentence.
_MINUTE = 60.0
# No machine is slower than this many operations a second: below a minute at this rate, the rate need not be measured.
_SLOWEST = 1e10
# Operations, in those of matrix products in single precision: of ENN for each checked row, word and topic; of eigenpairs,
# anchors and topics for each word and pair of topics; of products with C and of a refinement for each count and topic.
_RECTIFICATION, _DENSE, _PRODUCTS, _REFINEMENT = 200.0, 1000.0, 520.0, 2700.0
# Rows, inner size and columns of the product that the rate is measured by: those of a tile of ENN.
_SHAPE = (128, 100, 2000)


def expected_operations(n_words: int, n_counts: int, n_topics: int, n_rows: int, refined: bool) -> float:
    """Work of a fit with ENN.

    Parameters
    ----------
    n_words : int
        N.
    n_counts : int
        Counts that are not zero.
    n_topics : int
        K.
    n_rows : int
        |I|, the rows checked for negative entries.
    refined : bool
        Whether the topics are refined.
    """
    rectification = _RECTIFICATION * n_rows * n_words * n_topics
    dense = _DENSE * n_words * n_topics**2
    return rectification + dense + (_PRODUCTS + refined * _REFINEMENT) * n_counts * n_topics


def product_rate(n_jobs: int | None) -> float:
    """Operations a second of matrix products in single precision, with all threads of a fit; takes some milliseconds."""
    rows, inner, columns = _SHAPE
    with limited_threads(n_jobs), one_library_thread():
        threads = n_threads(n_jobs)
        A, B = np.ones((rows, inner), dtype=np.float32), np.ones((inner, columns), dtype=np.float32)
        out = np.empty((threads, rows, columns), dtype=np.float32)

        def work(thread: int, _: int) -> None:
            np.matmul(A, B, out=out[thread])

        seconds = []
        for _ in range(5):  # the first ones wake the threads
            begin = perf_counter()
            for_each_block(work, threads, 1, n_jobs)
            seconds.append(perf_counter() - begin)
    return 2.0 * threads * rows * inner * columns / max(min(seconds), 1e-9)


def say_if_long(n_words: int, n_counts: int, n_topics: int, n_rows: int, refined: bool, n_jobs: int | None) -> None:
    """Log one sentence, at the level of warnings, if a fit will take minutes."""
    operations = expected_operations(n_words, n_counts, n_topics, n_rows, refined)
    if operations < _MINUTE * _SLOWEST:
        return
    seconds = operations / product_rate(n_jobs)
    if seconds >= _MINUTE:
        logger.warning(
            "this fit of %s topics over %s words will take about %s; fewer topics or words take less",
            f"{n_topics:,}", f"{n_words:,}", in_words(seconds),
        )  # fmt: skip


def in_words(seconds: float) -> str:
    """A time of at least a minute to the precision of an estimate."""
    minutes = seconds / 60.0
    if minutes < 1.5:
        return "a minute"
    return f"{round(minutes)} minutes" if minutes < 100.0 else f"{round(minutes / 60.0)} hours"
