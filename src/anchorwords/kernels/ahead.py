"""Compile kernels before they are needed, side by side in processes of their own.

numba compiles with one thread. A process here compiles its share of the kernels into numba's cache on disk and ends; whoever
started it then loads them from there. Nothing depends on it: a kernel that is not in the cache is compiled when it is first
called, whether a process failed, was killed, or never started. Two commands that compile the same kernels at the same time
only do so twice: numba replaces the files of its cache as a whole, and each kernel has files of its own.

    python -P -m anchorwords.kernels.ahead MODULE.KERNEL ...

is such a process. It prints the name of each kernel when it is compiled.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from queue import Empty, SimpleQueue
from threading import Thread
from time import perf_counter
from typing import Any

from ..linalg.limits import n_threads

# Modules with the kernels that reading documents, learning topics by default, and topic proportions need.
READING = ("text", "marks")
LEARNING = ("gram", "pairs", "simplex", "descent", "sweep")
INFERENCE = ("proportions",)
ALL = (*READING, "triples", *LEARNING, "cone", *INFERENCE)

# Seconds that kernels take to compile on a core of 2024; the others take about _USUAL. Measured by benchmarks/first_use.py.
_SECONDS = {
    "proportions._compose_rows": 3.8,
    "simplex._solve_rows": 1.4,
    "text._scan": 1.0,
    "cone._project_rows": 0.8,
    "sweep._expect_rows": 0.4,
    "sweep._lose_rows": 0.4,
    "text._find_each": 0.4,
    "pairs._pair_product": 0.4,
    "pairs._moved_entries": 0.3,
}
_USUAL = 0.2
# Seconds for a process to start, import numba and compile the first line.
_START = 1.0
# Processes side by side, at most: a longest kernel is a third of all.
_PROCESSES = 4
# Share that is shown as done, at most, while a process is at work, unless more of the kernels are compiled.
_UNTIL_DONE = 0.95
# Seconds between two looks at the processes.
_PAUSE = 0.1


def missing_kernels(modules: Iterable[str] = ALL) -> list[str]:
    """Names, MODULE.KERNEL, of the kernels in these modules that are not in numba's cache; none if there is no cache."""
    from .compiled import Kernel

    found = []
    for module in modules:
        for name, kernel in vars(import_module(f".{module}", __package__)).items():
            if isinstance(kernel, Kernel) and kernel.py_func.__module__ == f"{__package__}.{module}":
                cached = kernel.is_cached()
                if cached is None:
                    return []
                if not cached:
                    found.append(f"{module}.{name}")
    return found


class Compilation:
    """Kernels that are being compiled by processes of their own; a context manager that leaves no process behind.

    Parameters
    ----------
    names : list of str
        As :func:`missing_kernels` returns them.
    n_jobs : int, optional
        Processes at most, as for threads; there are never more than 4.

    Attributes
    ----------
    modules : set of str
        Where the kernels are.
    seconds : float
        How long it may take.
    """

    def __init__(self, names: Iterable[str], n_jobs: int | None = None) -> None:
        shares: list[list[str]] = [[] for _ in range(min(_PROCESSES, n_threads(n_jobs)))]
        for name in sorted(names, key=_cost, reverse=True):  # the longest first, each to whoever has least to do
            min(shares, key=_total).append(name)
        self._shares = [share for share in shares if share]
        self.modules = {name.partition(".")[0] for share in shares for name in share}
        self._processes: list[subprocess.Popen[str]] = []
        self._begin = 0.0
        self._readers: list[Thread] = []
        self._said: SimpleQueue[str | None] = SimpleQueue()
        self.seconds = _START + max(map(_total, self._shares), default=0.0)

    def __enter__(self) -> Compilation:
        """Start the processes; without any, if that is not possible."""
        self._begin = perf_counter()
        if _can_start_processes():
            # -P: no module in the current folder is imported in place of ours.
            command = [sys.executable, "-P", "-m", __spec__.name if __name__ == "__main__" else __name__]
            for share in self._shares:
                with suppress(OSError):
                    process = subprocess.Popen(
                        [*command, *share],
                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                    )  # fmt: skip
                    self._processes.append(process)
                    reader = Thread(target=self._read, args=(process,), name="anchorwords-compilation", daemon=True)
                    reader.start()
                    self._readers.append(reader)
        return self

    def __exit__(self, *_: object) -> None:
        """End the processes that are still at work."""
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.wait()
        for reader in self._readers:
            reader.join()
        for process in self._processes:
            if process.stdout is not None:
                process.stdout.close()
        self._processes, self._readers = [], []

    def wait(self, report: Callable[[float], None] | None = None) -> None:
        """Return when all processes have ended, or failed; ``report`` is called with the share that is done."""
        everything = sum(map(_total, self._shares))
        done = shown = 0.0
        n_running = len(self._readers)
        while n_running:
            with suppress(Empty):
                name = self._said.get(timeout=_PAUSE)
                if name is None:
                    n_running -= 1
                else:
                    done += _cost(name) / everything
            # A kernel may take seconds: meanwhile the time that has passed says how much is done.
            passed = (perf_counter() - self._begin) / self.seconds
            shown = max(shown, done, min(passed, _UNTIL_DONE)) if n_running else 1.0
            if report is not None:
                report(min(shown, 1.0))

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            self._said.put(line.strip())
        self._said.put(None)


def warmup(*, n_jobs: int | None = None, progress: Callable[[float], None] | None = None) -> int:
    """Compile all kernels now, so that nothing has to wait for them later. Does nothing if they are compiled.

    The first use of a kernel compiles it, which takes up to some seconds once per installation. The commands of
    ``anchorwords`` do so in advance; in a notebook or a program this function does. Kernels are compiled side by side in
    processes of their own, and kept in a cache on disk.

    Parameters
    ----------
    n_jobs : int, optional
        Processes at most; by default one per core. There are never more than 4.
    progress : callable, optional
        Called with the share that is done, from 0 to 1.

    Returns
    -------
    int
        Number of kernels that were compiled.

    Examples
    --------
    >>> import anchorwords as aw
    >>> n_compiled = aw.warmup()
    >>> aw.warmup()
    0
    """
    from .._validation import check_n_jobs

    names = missing_kernels()
    if names:
        with Compilation(names, check_n_jobs(n_jobs)) as compilation:
            compilation.wait(progress)
        compile_here(names)
    return len(names)


def compile_here(names: Iterable[str]) -> None:
    """Load kernels from the cache; those that no process has compiled are compiled in this one."""
    for name in names:
        kernel_called(name).build()


def kernel_called(name: str) -> Any:
    """The kernel of a name such as "text._scan"."""
    module, _, kernel = name.partition(".")
    if module not in ALL:
        raise ValueError(f"there are no kernels in {module!r}.")
    return getattr(import_module(f".{module}", __package__), kernel)


def _cost(name: str) -> float:
    return _SECONDS.get(name, _USUAL)


def _total(names: Iterable[str]) -> float:
    return sum(map(_cost, names))


def _can_start_processes() -> bool:
    """Whether sys.executable is a Python: that of a program frozen into one file would start the program again."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def main(names: list[str]) -> None:
    """Compile kernels, and say so of each."""
    gc.disable()  # looking for garbage among what the compiler keeps takes a tenth of the time
    with suppress(BrokenPipeError, KeyboardInterrupt):
        for name in names:
            kernel_called(name).build()
            print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
