"""Runs in forked children of a worker: everything is imported and compiled once, so that a trial takes milliseconds.

A child is a process of its own for the system: it is killed, limited, traced or given another user without harm to the
worker. If the worker dies, so does the child.
"""

from __future__ import annotations

import ctypes
import faulthandler
import io
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from anchorwords.storage import temporary

_PR_SET_PDEATHSIG, _PR_SET_PTRACER, _PR_SET_PTRACER_ANY = 1, 0x59616D61, ctypes.c_ulong(-1)


# Exit codes of a child whose work ended by an exception, or by an interrupt, that nobody caught.
FAILED, INTERRUPTED = 70, 71


@dataclass(frozen=True)
class Ran:
    """How a run ended.

    Attributes
    ----------
    code : int
        Exit code; negative, the signal that ended it.
    out, err : str
        What it printed.
    seconds : float
    """

    code: int
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        return f"exit code {self.code} after {self.seconds:.2f} s\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Child:
    """A function that runs in a child, alongside.

    Parameters
    ----------
    work : callable
        Ends like a program: by returning, by SystemExit or by an exception, which is printed.
    folder : Path, optional
        Its working directory.
    tmp : Path, optional
        Its directory for temporary files.
    limits : callable, optional
        Called in the child before the work, to give it limits or another user.
    strace : list of str, optional
        Options of strace, which is attached before the work begins.
    """

    def __init__(
        self,
        work: Callable[[], object],
        *,
        folder: Path | None = None,
        tmp: Path | None = None,
        limits: Callable[[], object] | None = None,
        strace: Sequence[str] | None = None,
    ) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        (self._out, out), (self._err, err), (ready, go), (settled, settles) = (os.pipe() for _ in range(4))
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:  # a signal that comes before the work must not send the child back into the worker's own
                _become_child(parent, (out, err), (self._out, self._err, go, settled), folder, tmp)
                os.close(settles)
                os.read(ready, 1)
                os.close(ready)
                _end(work, limits)
            finally:
                os._exit(INTERRUPTED)
        for descriptor in (out, err, ready, settles):
            os.close(descriptor)
        os.read(settled, 1)  # what a child does to become one is not listed, counted or tampered with
        os.close(settled)
        try:
            self._tracer = None if strace is None else _attach(self.pid, strace)
        except BaseException:
            self.kill()
            os.waitpid(self.pid, 0)
            raise
        self._begin = time.monotonic()
        os.write(go, b"x")
        os.close(go)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self, kill: tuple[int, float] | None = None, seconds: float = 60.0) -> Ran:
        """Wait for its end.

        Parameters
        ----------
        kill : (signal, seconds), optional
            Send this signal after so much time.
        seconds : float
            Raise AssertionError if it takes longer.
        """
        printed: dict[int, bytearray] = {self._out: bytearray(), self._err: bytearray()}
        try:
            self._read_all(printed, kill, seconds)
        except BaseException:
            self.kill()
            raise
        finally:
            _, status = os.waitpid(self.pid, 0)
            if self._tracer is not None:
                self._tracer.wait(10)
                assert self._tracer.stderr is not None
                self._tracer.stderr.close()
            os.close(self._out)
            os.close(self._err)
        out, err = (bytes(text).decode("utf-8", "replace") for text in printed.values())
        return Ran(os.waitstatus_to_exitcode(status), out, err, time.monotonic() - self._begin)

    def _read_all(self, printed: dict[int, bytearray], kill: tuple[int, float] | None, seconds: float) -> None:
        """Read what it prints to the end, which is that of the child."""
        with selectors.DefaultSelector() as selector:
            for descriptor in printed:
                selector.register(descriptor, selectors.EVENT_READ)
            while selector.get_map():
                passed = time.monotonic() - self._begin
                if kill is not None and passed >= kill[1]:
                    self.kill(kill[0])
                    kill = None
                if passed > seconds:
                    raise AssertionError(f"not done after {seconds:.0f} seconds: {_where(self.pid)}")
                for key, _ in selector.select(max((seconds if kill is None else kill[1]) - passed, 0.0)):
                    piece = os.read(key.fd, 1 << 16)
                    printed[key.fd] += piece
                    if not piece:
                        selector.unregister(key.fd)


def run_forked(
    work: Callable[[], object],
    *,
    kill: tuple[int, float] | None = None,
    seconds: float = 60.0,
    folder: Path | None = None,
    tmp: Path | None = None,
    limits: Callable[[], object] | None = None,
    strace: Sequence[str] | None = None,
) -> Ran:
    """Run a function in a child and wait for it; the arguments are those of :class:`Child` and of its ``wait``."""
    return Child(work, folder=folder, tmp=tmp, limits=limits, strace=strace).wait(kill, seconds)


def _become_child(
    parent: int, theirs: tuple[int, int], ours: tuple[int, ...], folder: Path | None, tmp: Path | None
) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(99)
    libc.prctl(_PR_SET_PTRACER, _PR_SET_PTRACER_ANY)  # strace attaches where only parents may trace
    for descriptor in ours:
        os.close(descriptor)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for descriptor, number in ((nothing, 0), (theirs[0], 1), (theirs[1], 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(open(number, mode, closefd=False), encoding="utf-8")  # noqa: SIM115
        for number, mode in ((0, "rb"), (1, "wb"), (2, "wb"))
    )
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if folder is not None:
        os.chdir(folder)
    if tmp is not None:
        os.environ["TMPDIR"] = str(tmp)
        tempfile.tempdir = None
        tempfile.gettempdir()  # Python tries it with a file of its own, which is not what we look at


def _end(work: Callable[[], object], limits: Callable[[], object] | None) -> None:
    """Do the work and leave, as the interpreter does at the end of a program."""
    code = FAILED
    try:
        if limits is not None:
            limits()
        try:
            work()
            code = 0
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                print(stop.code, file=sys.stderr)
        except KeyboardInterrupt:
            code = INTERRUPTED
            traceback.print_exc()
        except BaseException:
            code = FAILED
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        if code in (INTERRUPTED, 130):  # what ours does at the end of a program; other ends must not need it
            temporary._remove_all_own()
    finally:
        os._exit(code)


def _attach(child: int, options: Sequence[str]) -> subprocess.Popen[bytes]:
    tracer = subprocess.Popen(
        ["strace", "-qq", "-p", str(child), *options], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    for _ in range(4000):
        if tracer.poll() is not None:
            assert tracer.stderr is not None
            raise RuntimeError(f"strace cannot attach: {tracer.stderr.read().decode()}")
        with open(f"/proc/{child}/status", encoding="ascii", errors="replace") as status:
            if any(line.startswith("TracerPid:") and line.split()[1] != "0" for line in status):
                return tracer
        time.sleep(0.001)
    raise RuntimeError("strace does not attach")


def _where(child: int) -> str:
    """What the kernel says that a process waits for."""
    with suppress(OSError):
        return f"it waits in {Path(f'/proc/{child}/wchan').read_text(encoding='ascii')}"
    return "it is gone"


def needs_fork() -> str | None:
    """Why a worker cannot fork here, or None."""
    return None if hasattr(os, "fork") and sys.platform == "linux" else "needs Linux"


def needs_strace() -> str | None:
    """Why system calls cannot be tampered with here, or None."""
    if (why := needs_fork()) is not None:
        return why
    if shutil.which("strace") is None:
        return "needs strace"
    tried = subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "-e", "inject=unlink:error=EIO:when=1", "true"], capture_output=True
    )
    return None if tried.returncode == 0 else "needs strace to be allowed to trace"
