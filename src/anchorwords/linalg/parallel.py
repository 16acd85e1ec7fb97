"""Threads over contiguous blocks of rows.

The blocks do not depend on the number of threads, and no block's result depends on another's: the answer is
the same, bit for bit, for any ``n_jobs``.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


def n_threads(n_jobs: int | None) -> int:
    """Resolve ``n_jobs``: None or -1 is every core this process may use, -2 all but one, and so on."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return cores
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return max(1, n_jobs)


class _SharedLimit:
    """One limit on the linear algebra library for all fits that run side by side in this process.

    The library's setting is global: fits that each saved and restored it would restore each other's. Here the
    strictest limit asked for holds, never more threads than there were, and the last to leave puts it back.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted: list[int] = []
        self._libraries: list[tuple[Any, int]] = []

    def push(self, limit: int) -> None:
        with self._lock:
            if not self._wanted:
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._libraries = [(library, library.get_num_threads()) for library in libraries]
            self._wanted.append(limit)
            self._apply()

    def pop(self, limit: int) -> None:
        with self._lock:
            self._wanted.remove(limit)
            self._apply()

    def _apply(self) -> None:
        for library, original in self._libraries:
            library.set_num_threads(min([original, *self._wanted]))


_SHARED_LIMIT = _SharedLimit()


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Hold the linear algebra library to at most ``n_jobs`` threads; None leaves it as the environment set it."""
    if n_jobs is None:
        yield
        return
    limit = n_threads(n_jobs)
    _SHARED_LIMIT.push(limit)
    try:
        yield
    finally:
        _SHARED_LIMIT.pop(limit)


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
