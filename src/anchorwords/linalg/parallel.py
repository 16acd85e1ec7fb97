"""Threads over contiguous blocks of rows.

The blocks do not depend on the number of threads, and no block's result depends on another's: the answer is
the same, bit for bit, for any ``n_jobs``.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext

from threadpoolctl import threadpool_limits


def n_threads(n_jobs: int | None) -> int:
    """Resolve ``n_jobs``: None or -1 is every core this process may use, -2 all but one, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return cores
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return max(1, n_jobs)


def limited_threads(n_jobs: int | None) -> AbstractContextManager[object]:
    """Hold the linear algebra library to ``n_jobs`` threads; None leaves it as the environment set it."""
    return nullcontext() if n_jobs is None else threadpool_limits(n_threads(n_jobs))


def for_each_block(work: Callable[[int, int], object], n_items: int, block: int, n_jobs: int | None = None) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of ``range(n_items)``, side by side."""
    spans = [(start, min(start + block, n_items)) for start in range(0, n_items, block)]
    threads = min(n_threads(n_jobs), len(spans))
    if threads <= 1:
        for start, stop in spans:
            work(start, stop)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda span: work(*span), spans):
            pass
