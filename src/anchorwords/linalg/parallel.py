"""Threads over contiguous blocks of rows.

The blocks do not depend on the number of threads, and no block's result depends on another's: the answer is
the same, bit for bit, for any ``n_jobs``. Threads wait asleep: those of a linear algebra library spin for a while
after each call and would take the cores from ours, so a computation that uses this module holds the library to
one thread.
"""

from __future__ import annotations

import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from threadpoolctl import ThreadpoolController


def n_threads(n_jobs: int | None) -> int:
    """Resolve ``n_jobs`` to a number of threads.

    None is a fair share: the cores this process may use, no more than ``OMP_NUM_THREADS`` where that is set (joblib
    sets it for its workers), divided among the fits that run side by side in this process, and no more than
    :func:`limited_threads` allows here. -1 is every core, -2 all but one, and so on.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        allowed = os.environ.get("OMP_NUM_THREADS", "")
        if allowed.isdecimal() and int(allowed) > 0:
            cores = min(cores, int(allowed))
        return min([max(1, cores // max(1, _SHARED_LIMIT.n_callers)), *_OUR_LIMITS.wanted])
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
        self._callers: Counter[int] = Counter()

    @property
    def n_callers(self) -> int:
        """Python threads that are inside a limit now."""
        return len(self._callers)

    def push(self, limit: int | None) -> None:
        with self._lock:
            self._callers[threading.get_ident()] += 1
            if limit is None:
                return
            if not self._wanted:
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._libraries = [(library, library.get_num_threads()) for library in libraries]
            self._wanted.append(limit)
            self._apply()

    def pop(self, limit: int | None) -> None:
        with self._lock:
            caller = threading.get_ident()
            self._callers[caller] -= 1
            if self._callers[caller] <= 0:
                del self._callers[caller]
            if limit is None:
                return
            self._wanted.remove(limit)
            self._apply()

    def _apply(self) -> None:
        for library, original in self._libraries:
            # From version 3.8 on threadpoolctl lets one Python thread alone set the limit and ignores the others,
            # silently: here the lock sees to it that they do not fight, whichever thread it is.
            release = getattr(library, "clear_controlling_thread", None)
            if release is not None:
                release(force=True)
            library.set_num_threads(min([original, *self._wanted]))
            if release is not None:
                release(force=True)


_SHARED_LIMIT = _SharedLimit()


class _OurLimits(threading.local):
    """Limits on our own threads, those of the Python thread that asks."""

    def __init__(self) -> None:
        self.wanted: list[int] = []


_OUR_LIMITS = _OurLimits()


@contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[None]:
    """Hold our threads and the linear algebra library's to at most ``n_jobs``; None leaves them as they are."""
    limit = None if n_jobs is None else n_threads(n_jobs)
    ours = [] if limit is None else [limit]
    _OUR_LIMITS.wanted += ours
    try:
        with _library_limit(limit):
            yield
    finally:
        for wanted in ours:
            _OUR_LIMITS.wanted.remove(wanted)


def one_library_thread() -> AbstractContextManager[None]:
    """Hold the linear algebra library to one thread, for work whose threads are ours: its own would only spin beside."""
    return _library_limit(1)


@contextmanager
def _library_limit(limit: int | None) -> Iterator[None]:
    _SHARED_LIMIT.push(limit)
    try:
        yield
    finally:
        _SHARED_LIMIT.pop(limit)


class _Helpers:
    """Threads kept between calls: starting them anew for a millisecond of work would cost more than the work."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._size = 0
        self.inside = threading.local()

    def pool(self, size: int) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None or self._size < size:
                self._pool = ThreadPoolExecutor(size, thread_name_prefix="anchorwords")
                self._size = size
            return self._pool


_HELPERS = _Helpers()


def _forget_threads() -> None:
    """Start afresh: a forked child has none of its parent's threads."""
    global _HELPERS, _SHARED_LIMIT
    _HELPERS, _SHARED_LIMIT = _Helpers(), _SharedLimit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def for_each_block(work: Callable[[int, int], object], n_items: int, block: int, n_jobs: int | None = None) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of ``range(n_items)``, side by side.

    The calling thread works too. A call from inside ``work`` runs in the thread it comes from.
    """
    spans = deque((start, min(start + block, n_items)) for start in range(0, n_items, block))
    threads = min(n_threads(n_jobs), len(spans))
    inside = _HELPERS.inside

    def drain() -> None:
        inside.busy = True
        try:
            while True:
                try:
                    span = spans.popleft()
                except IndexError:
                    return
                work(*span)
        except BaseException:
            spans.clear()
            raise
        finally:
            inside.busy = False

    if threads <= 1 or getattr(inside, "busy", False):
        while spans:
            work(*spans.popleft())
        return
    helpers = [_HELPERS.pool(threads - 1).submit(drain) for _ in range(threads - 1)]
    try:
        drain()
    finally:
        for helper in helpers:
            if not helper.cancel():  # one that has not begun is not needed
                helper.exception()  # wait
    for helper in helpers:
        if not helper.cancelled():
            helper.result()
