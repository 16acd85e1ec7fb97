"""Limits on threads, ours and the linear algebra library's, that survive an interruption at any point.

A limit is counted for as long as the object behind its ``with`` is registered, and everything else follows from the limits
that are registered: nothing is counted up and down, so an exception between two steps, such as a KeyboardInterrupt, leaves
nothing out of balance. A step that was interrupted is repeated, and a limit whose ``with`` never began or never ended leaves
when its object is dropped.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The threads that one ``with`` allows.

    Parameters
    ----------
    library : int or None
        Threads of the linear algebra library, for the whole process; None leaves them as they are.
    ours : int or None
        Our threads, for the Python thread that enters; None leaves them as they are.
    """

    thread: int | None = None

    def __init__(self, library: int | None, ours: int | None) -> None:
        self.library = math.inf if library is None else library
        self.ours = math.inf if ours is None else ours

    def __enter__(self) -> None:
        try:
            LIMITS.enter(self)
        except BaseException:
            LIMITS.leave(self)
            raise

    def __exit__(self, *_: object) -> None:
        try:
            LIMITS.leave(self)
        except BaseException:
            LIMITS.leave(self)
            raise


class _Limits:
    """All limits of this process.

    The library's setting is global: fits that each saved and restored it would restore each other's. Here the strictest
    limit asked for holds, never more threads than there were, and the last to leave puts it back.
    """

    def __init__(self) -> None:
        # Reentrant: the garbage collector may drop a limit, which then leaves, in the midst of anything.
        self._lock = threading.RLock()
        self._registered: dict[int, weakref.ref[_Limit]] = {}
        self._libraries: list[tuple[Any, int]] = []
        self._left_behind = False

    def enter(self, limit: _Limit) -> None:
        """Count a limit."""
        with self._lock:
            if self._left_behind:
                self._apply()
                self._left_behind = False
            if math.isfinite(limit.library) and not math.isfinite(self._strictest()):
                libraries = ThreadpoolController().select(user_api="blas").lib_controllers
                self._libraries = [(library, library.get_num_threads()) for library in libraries]
            limit.thread = threading.get_ident()
            self._registered[id(limit)] = weakref.ref(limit, self._dropped)
            self._apply()

    def leave(self, limit: _Limit) -> None:
        """Count a limit no longer. Leaving again does nothing."""
        if limit.thread is None:
            return
        with self._lock:
            # Once the library is set, not before: another thread must not take the setting of this limit for the original.
            self._apply(without=limit)
            self._registered.pop(id(limit), None)
            limit.thread = None

    def _dropped(self, reference: weakref.ref[_Limit]) -> None:
        """Forget a limit that is gone without having left; one that has left is not registered and does not come here."""
        with self._lock:
            self._apply()
            for key in [key for key, registered in list(self._registered.items()) if registered is reference]:
                self._registered.pop(key, None)

    def n_callers(self) -> int:
        """Python threads that are inside a limit now."""
        return len({limit.thread for limit in self._entered()})

    def ours(self) -> list[float]:
        """Limits on our threads in the Python thread that asks."""
        here = threading.get_ident()
        return [limit.ours for limit in self._entered() if limit.thread == here and math.isfinite(limit.ours)]

    def before_fork(self) -> None:
        """Wait until no thread sets the library's threads: a child would find the library's own lock held for ever."""
        self._lock.acquire()

    def after_fork_in_parent(self) -> None:
        """Let limits be entered and left again."""
        self._lock.release()

    def after_fork(self) -> None:
        """Keep, in a forked child, the limits of the thread that forked: there are no other threads.

        The library is set when a limit is next entered, because its threads should not start while the process forks.
        """
        self._lock = threading.RLock()
        here = threading.get_ident()
        for limit in self._entered():
            if limit.thread != here:
                limit.thread = None
                self._left_behind = True

    def _entered(self) -> list[_Limit]:
        found = [reference() for reference in list(self._registered.values())]
        return [limit for limit in found if limit is not None and limit.thread is not None]

    def _strictest(self, without: _Limit | None = None) -> float:
        return min((limit.library for limit in self._entered() if limit is not without), default=math.inf)

    def _apply(self, without: _Limit | None = None) -> None:
        """Set the library to the strictest limit, again if that has changed meanwhile."""
        while True:
            strictest = self._strictest(without)
            for library, original in self._libraries:
                _set_threads(library, int(min(original, strictest)))
            if self._strictest(without) == strictest:
                break
        if not math.isfinite(strictest):  # put back: what others set from now on is not ours to change
            self._libraries = []


LIMITS = _Limits()


def _set_threads(library: Any, number: int) -> None:
    # From version 3.8 on threadpoolctl lets one Python thread alone set the limit and ignores the others, silently: here the
    # lock sees to it that they do not fight, whichever thread it is.
    release = getattr(library, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)
    library.set_num_threads(number)
    if release is not None:
        release(force=True)


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
        return int(min([max(1, cores // max(1, LIMITS.n_callers())), *LIMITS.ours()]))
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return max(1, n_jobs)


def limited_threads(n_jobs: int | None) -> AbstractContextManager[None]:
    """Hold our threads and the linear algebra library's to at most ``n_jobs``; None leaves them as they are."""
    limit = None if n_jobs is None else n_threads(n_jobs)
    return _Limit(limit, limit)


def one_library_thread() -> AbstractContextManager[None]:
    """Hold the linear algebra library to one thread, for work whose threads are ours: its own would only spin beside."""
    return _Limit(1, None)
