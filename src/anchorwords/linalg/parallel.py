"""Threads over contiguous blocks of rows.

The blocks do not depend on the number of threads, and no block's result depends on another's: the answer is
the same, bit for bit, for any ``n_jobs``. Threads wait asleep: those of a linear algebra library spin for a while
after each call and would take the cores from ours, so a computation that uses this module holds the library to
one thread (:mod:`anchorwords.linalg.limits`).
"""

from __future__ import annotations

import os
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar

from .limits import LIMITS
from .limits import limited_threads as limited_threads
from .limits import n_threads as n_threads
from .limits import one_library_thread as one_library_thread

Item = TypeVar("Item")
Half = TypeVar("Half")
Result = TypeVar("Result")


class _Helpers:
    """Threads kept between calls: starting them anew for a millisecond of work would cost more than the work.

    They are daemons: a program that ends while they wait for work does not wait for them.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.n_started = 0

    def call(self, task: Callable[[], None], n_times: int) -> None:
        """Have up to this number of threads call the task; fewer if the system cannot start more threads."""
        with self._lock:
            while self.n_started < n_times:
                try:
                    threading.Thread(target=_serve, args=(self._tasks,), name="anchorwords", daemon=True).start()
                except RuntimeError:
                    break
                self.n_started += 1
        for _ in range(min(n_times, self.n_started)):
            self._tasks.put(task)


class _Here(threading.local):
    """What the Python thread that asks is doing: whether it is a helper, and the blocks it works on as a caller."""

    def __init__(self) -> None:
        self.is_helper = False
        self.blocks: weakref.ref[_Blocks] | None = None

    @property
    def is_inside(self) -> bool:
        """Whether this thread is working on a block. Blocks that nobody holds any more were interrupted."""
        return self.is_helper or (self.blocks is not None and self.blocks() is not None)


_HERE, _HELPERS = _Here(), _Helpers()


def _serve(tasks: SimpleQueue[Callable[[], None]]) -> None:
    _HERE.is_helper = True
    while True:
        task = tasks.get()
        task()
        del task  # and the arrays behind it: the next may be long in coming


def _forget_threads() -> None:
    """Start afresh: a forked child has none of its parent's threads."""
    global _HELPERS
    _HELPERS = _Helpers()
    LIMITS.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=LIMITS.before_fork, after_in_parent=LIMITS.after_fork_in_parent, after_in_child=_forget_threads
    )


class _Blocks:
    """Blocks of rows that several threads take until none are left.

    What the caller waits by are operations that an exception cannot cut in two, such as ``append``: a KeyboardInterrupt may
    come between any two of them.
    """

    def __init__(self, work: Callable[[int, int], object], n_items: int, block: int) -> None:
        self._work = work
        self._spans = deque((start, min(start + block, n_items)) for start in range(0, n_items, block))
        self._begun: list[None] = []
        self._ended: list[None] = []
        self._news: SimpleQueue[None] = SimpleQueue()
        self._errors: list[BaseException] = []

    def __len__(self) -> int:
        return len(self._spans)

    def drain(self) -> None:
        """Work on blocks until none are left, in the thread of the caller."""
        while True:
            try:
                span = self._spans.popleft()
            except IndexError:
                return
            self._work(*span)

    def help(self) -> None:
        """Work on blocks in a thread that helps: an error is kept for the caller, and ends the work of all."""
        self._begun.append(None)  # before a block is taken: a caller who finds none left knows all who have some
        try:
            self.drain()
        except BaseException as error:
            self._spans.clear()
            self._errors.append(error)
        finally:
            self._ended.append(None)
            self._news.put(None)

    def drain_with(self, helpers: _Helpers, n_helpers: int) -> None:
        """Work on all blocks together; whatever is raised, no helper works on one any more."""
        try:
            _HERE.blocks = weakref.ref(self)
            helpers.call(self.help, n_helpers)
            self.drain()
            self._wait()
        except BaseException:
            self._spans.clear()
            self._wait()
            raise
        finally:
            _HERE.blocks = None
        if self._errors:
            raise self._errors[0]

    def _wait(self) -> None:
        """Wait for the helpers that have begun; one that has not finds nothing to do."""
        while len(self._ended) < len(self._begun):
            self._news.get()


def for_each_block(work: Callable[[int, int], object], n_items: int, block: int, n_jobs: int | None = None) -> None:
    """Call ``work(start, stop)`` for consecutive blocks of ``range(n_items)``, side by side.

    The calling thread works too. A call from inside ``work`` runs in the thread it comes from. When this returns or raises,
    no thread works on a block any more.
    """
    blocks = _Blocks(work, n_items, block)
    threads = min(n_threads(n_jobs), len(blocks))
    if threads <= 1 or _HERE.is_inside:
        blocks.drain()
    else:
        blocks.drain_with(_HELPERS, threads - 1)


def in_two_steps(
    items: Iterable[Item], first: Callable[[Item], Half], second: Callable[[Half], Result], n_jobs: int | None = None
) -> Iterator[Result]:
    """Yield ``second(first(item))`` for each item, in order; the first step of the next item runs beside the second step.

    Both steps are called in the order of the items and by one thread at a time, so that each may keep a state of its own.
    The calling thread takes the items, and no other thread works while it has a result.
    """
    halves: list[Half] = []  # one, or none before the first item
    for item in items:
        results, halves = _side_by_side(partial(list, map(second, halves)), partial(list, map(first, [item])), n_jobs)
        yield from results
    yield from map(second, halves)


def _side_by_side(one: Callable[[], Any], other: Callable[[], Any], n_jobs: int | None) -> list[Any]:
    tasks = (one, other)
    results: list[Any] = [None, None]

    def work(number: int, _: int) -> None:
        results[number] = tasks[number]()

    for_each_block(work, len(tasks), 1, n_jobs)
    return results
