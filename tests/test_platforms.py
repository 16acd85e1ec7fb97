"""Systems other than Linux, tried here by hiding what they do not have.

A process that has lost the modules and functions of a system goes through everything that touches files, memory or
processes. It shows that nothing is used without a fallback; it does not show that another system behaves as its
documentation says, which ``docs/platforms.md`` is honest about.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

# Run before anything else is imported: SYSTEM is "macOS" or "Windows".
HIDE = """
import builtins, ctypes, io, os, sys
import asyncio, subprocess  # the standard library decides by the name of the system, which stays
for name in ("shutil", "tempfile"):  # but these look at what there is
    sys.modules.pop(name, None)

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

# What Linux alone offers, and then what Windows lacks as well.
NAMES = set()
ATTRIBUTES = {
    "O_TMPFILE", "O_DIRECT", "O_PATH", "copy_file_range", "getxattr", "memfd_create", "posix_fadvise", "posix_fallocate",
    "sched_getaffinity", "sched_setaffinity", "sendfile", "setxattr", "splice", "eventfd", "pidfd_open",
}
if SYSTEM == "Windows":
    NAMES |= {"fcntl", "grp", "pty", "pwd", "readline", "resource", "syslog", "termios", "tty"}
    ATTRIBUTES |= {
        "O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "chown", "fchmod", "fchown", "fork", "forkpty",
        "getegid", "geteuid", "getgid", "getpgid", "getuid", "killpg", "lchown", "mkfifo", "mknod", "pathconf", "pread",
        "preadv", "pwrite", "pwritev", "register_at_fork", "setsid", "statvfs", "fstatvfs", "sync", "sysconf",
    }
for name in NAMES:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hidden())
for name in ATTRIBUTES:
    if hasattr(os, name):
        delattr(os, name)

# The C library has no renameat2; that of Windows has no library without a name either.
right_library = ctypes.CDLL
class Library:
    def __init__(self, library): self._library = library
    def __getattr__(self, name):
        if name in ("renameat2", "syscall", "renamex_np", "renameatx_np"):
            raise AttributeError(name)
        return getattr(self._library, name)
def CDLL(name, *arguments, **options):
    if name is not None:
        return right_library(name, *arguments, **options)
    if SYSTEM == "Windows":
        raise TypeError("bad argument type for built-in operation")
    return Library(right_library(None, *arguments, **options))
ctypes.CDLL = CDLL

# No files of the kernel, but for those that third-party code looks for by the name of this system.
right_open = io.open
def open_(file, *arguments, **options):
    if isinstance(file, (str, os.PathLike)) and str(file).startswith(("/proc/meminfo", "/proc/cpuinfo", "/sys/")):
        raise FileNotFoundError(2, "No such file or directory", str(file))
    return right_open(file, *arguments, **options)
io.open = builtins.open = open_

if SYSTEM == "Windows":
    os.supports_dir_fd = os.supports_fd = os.supports_follow_symlinks = frozenset()
    # Folders cannot be opened, and moves do not replace folders.
    right_os_open, right_rename, right_replace = os.open, os.rename, os.replace
    def os_open(path, *arguments, **options):
        if isinstance(path, (str, bytes, os.PathLike)) and os.path.isdir(path):
            raise PermissionError(13, "Permission denied", str(path))
        return right_os_open(path, *arguments, **options)
    def rename(source, target, **options):
        if os.path.lexists(target):
            raise FileExistsError(17, "Cannot create a file when that file already exists", str(target))
        return right_rename(source, target, **options)
    def replace(source, target, **options):
        if os.path.isdir(target):
            raise PermissionError(13, "Access is denied", str(target))
        return right_replace(source, target, **options)
    os.open, os.rename, os.replace = os_open, rename, replace
"""

WORK = """
from pathlib import Path
import numpy as np
import anchorwords as aw

here = Path.cwd()
corpus = aw.read_corpus("documents.txt")
stored = aw.import_corpus("documents.txt", here / "stored")
stored = aw.import_corpus("documents.txt", here / "stored")          # in place of the first
model = aw.AnchorTopicModel.from_preset("readers", 3, random_state=0).fit(corpus.prune())
out_of_core = aw.AnchorTopicModel.from_preset("readers", 3, random_state=0).fit(aw.read_corpus("stored").prune())
np.testing.assert_allclose(out_of_core.model_.B, model.model_.B, atol=1e-10)
for _ in range(2):                                                   # the second replaces the first
    model.save(here / "model")
    loaded = aw.load_model(here / "model")
    np.testing.assert_array_equal(loaded.transform(corpus), model.transform(corpus))
for suffix in ("csv", "npy", "npz", "jsonl"):
    for _ in range(2):
        aw.export.write_compositions(loaded, corpus, here / f"topics.{suffix}")

from anchorwords.cli import main

def command(*arguments):
    sys.argv = ["anchorwords", *arguments]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, (arguments, stop.code)

command("--help")
command("import", "documents.txt", "-o", "corpus", "-q")
command("fit", "corpus", "-k", "3", "-o", "fitted", "-q")
command("fit", "corpus", "-k", "3", "-o", "fitted", "-q", "--replicates", "2")
command("topics", "fitted", "--corpus", "documents.txt", "--documents", "2")
command("transform", "fitted", "documents.txt", "-o", "fitted.csv", "-q")
command("evaluate", "fitted", "documents.txt", "-q")
command("compare", "fitted", "model")
command("groups", "fitted", "documents.txt", "--table", "labels.csv", "--by", "label", "-o", "groups.csv", "-q")
for kind in ("graphml", "gexf", "gensim"):
    command("export", "fitted", "--to", kind, "-o", f"fitted.{kind}")
command("export", "fitted", "documents.txt", "--to", "pyldavis", "-o", "fitted.json")
command("explore", "fitted", "--corpus", "documents.txt", "-o", "fitted.html", "-q")
command("sketch", "build", "documents.txt", "-k", "3", "-o", "sketch", "-q")
command("sketch", "build", "documents.txt", "-k", "3", "-o", "sketch", "-q")
command("fit", "sketch", "-k", "3", "-q")
command("scan", "documents.txt", "-k", "2,3", "-q")
left = sorted(path.name for path in here.iterdir() if path.name.startswith("."))
assert not left, left
print("done")
"""

WORDS = {
    "animals": ["lion", "tiger", "zebra", "gorilla", "giraffe", "safari", "savanna", "predator", "herd", "jungle"],
    "kitchen": ["flour", "butter", "oven", "sugar", "recipe", "dough", "pastry", "whisk", "cinnamon", "bakery"],
    "space": ["orbit", "rocket", "planet", "comet", "telescope", "galaxy", "astronaut", "launch", "gravity", "lunar"],
}


def write_documents(folder: Path) -> None:
    """Documents on three subjects, and a label for each."""
    chance = random.Random(0)
    subjects = [chance.choice(sorted(WORDS)) for _ in range(240)]
    lines = [
        " ".join(chance.choices(WORDS[subject], k=9) + chance.choices(WORDS["space"], k=3)) for subject in subjects
    ]
    (folder / "documents.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "labels.csv").write_text("label\n" + "\n".join(subjects) + "\n", encoding="utf-8")


@pytest.mark.parametrize("system", ["macOS", "Windows"])
def test_everything_works_without_what_linux_has(system, tmp_path):
    write_documents(tmp_path)
    # Of its own: processes that hold locks do not see that one without them is alive.
    (tmp_path / "temporary").mkdir()
    code = f"SYSTEM = {system!r}\n{HIDE}\n{WORK}"
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "120", "TMPDIR": str(tmp_path / "temporary")}
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")
