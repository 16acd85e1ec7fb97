"""System calls of a clean run, as strace lists them, and how to tamper with one of them in the next run."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_NAMES = (
    "open", "openat", "openat2", "creat", "write", "pwrite64", "writev", "pwritev", "pwritev2", "rename", "renameat",
    "renameat2", "mkdir", "mkdirat", "unlink", "unlinkat", "rmdir", "truncate", "ftruncate", "fallocate", "fsync",
    "fdatasync", "msync", "sync_file_range", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "link", "linkat",
    "symlink", "symlinkat", "copy_file_range", "sendfile", "utimensat", "mknod", "mknodat", "flock",
)  # fmt: skip
# A question mark lets strace pass over a call that this processor's system does not have.
_SET = ",".join(f"?{name}" for name in _NAMES)
_WORKING_DIRECTORY = re.compile(r"AT_FDCWD<[^>]*>")
_LINE = re.compile(r"^(\d+) +(\w+)\((.*)")


@dataclass(frozen=True)
class Call:
    """A system call on a path of the trial.

    Attributes
    ----------
    name : str
    number : int
        Which of the thread's calls of this name, from 1: strace counts like this.
    main : bool
        Whether the main thread makes it.
    text : str
        As strace writes it.
    """

    name: str
    number: int
    main: bool
    text: str

    @property
    def opens_to_read(self) -> bool:
        """Whether it opens a file or a folder and changes nothing."""
        return self.name.startswith("open") and "O_CREAT" not in self.text and "O_RDONLY" in self.text


def options_to_list(file: Path) -> list[str]:
    """Options of strace that write every call to a file."""
    return ["-f", "-y", "-s", "0", "-o", str(file), "-e", f"trace={_SET}", "-e", "signal=none"]


def options_to_kill(call: Call) -> list[str]:
    """Options of strace that kill the process before the call."""
    inject = f"inject={call.name}:signal=SIGKILL:when={call.number}"
    return ["-f", "-o", "/dev/null", "-e", f"trace={call.name}", "-e", inject]


def options_to_fail(call: Call, error: str, *, from_then_on: bool) -> list[str]:
    """Options of strace that make the call fail, once or from then on; calls of other threads are left alone."""
    inject = f"inject={call.name}:error={error}:when={call.number}{'+' if from_then_on else ''}"
    return ["-o", "/dev/null", "-e", f"trace={call.name}", "-e", inject]


def listed_calls(file: Path, folder: Path) -> list[Call]:
    """The calls of a listing that name something in a folder."""
    counts: Counter[tuple[str, str]] = Counter()
    calls, main = [], None
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        if (match := _LINE.match(line)) is None:  # the end of a call that was interrupted, or a signal
            continue
        thread, name, rest = match.groups()
        rest = _WORKING_DIRECTORY.sub("AT_FDCWD", rest)
        main = main or thread
        counts[thread, name] += 1
        if str(folder) in rest:
            calls.append(Call(name, counts[thread, name], thread == main, f"{name}({rest}".replace(str(folder), "")))
    return calls
