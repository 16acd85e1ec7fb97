"""Disks that fail: errors of system calls, full disks, limits of file sizes, and targets that cannot be written."""

from __future__ import annotations

import ctypes
import os
import resource
import socket
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .calls import Call, options_to_fail
from .campaign import Area, Trial
from .forked import Child, Ran, needs_fork, needs_strace
from .kills import calls_of
from .writers import WRITERS, Place, Stage, Writer, assert_one_sentence, stage_of

# ---- Errors of one system call, or of all of its kind from then on.

_ERRORS = {
    "open": ("ENOSPC", "EACCES", "EROFS", "EDQUOT", "EMFILE", "EIO"),
    "write": ("ENOSPC", "EIO", "EDQUOT", "EFBIG"),
    "rename": ("EACCES", "ENOSPC", "EROFS", "EIO", "EBUSY"),
    "renameat2": ("EACCES", "ENOSPC", "EROFS", "EIO", "EINVAL", "ENOSYS"),
    "mkdir": ("ENOSPC", "EACCES", "EROFS", "EDQUOT", "EIO"),
    "unlink": ("EACCES", "EBUSY", "EIO", "EROFS"),
    "truncate": ("ENOSPC", "EIO", "EFBIG"),
    "fallocate": ("ENOSPC", "EIO", "EOPNOTSUPP"),
    "sync": ("EIO", "ENOSPC", "EDQUOT", "EINVAL"),
    "ch": ("EPERM", "EROFS"),
    "link": ("EACCES", "ENOSPC", "EPERM"),
    "flock": ("ENOLCK", "EOPNOTSUPP", "EAGAIN"),
}
# What a failed call of this name leaves behind, nobody can clear away before the next run.
_REMOVING = ("unlink", "unlinkat", "rmdir")


def _errors_of(call: Call) -> tuple[str, ...]:
    if call.name in _ERRORS:
        return _ERRORS[call.name]
    if call.name == "rmdir":
        return _ERRORS["unlink"]
    found = [errors for part, errors in _ERRORS.items() if part in call.name]
    return found[-1] if found else ("EIO",)


def _fail_a_call(trial: Trial) -> str:
    """Make a writer's call fail; then run the writer once more."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    old = bool(trial.rng.integers(2))
    calls = [call for call in calls_of(stage, trial, writer, old=old) if call.main]
    names = sorted({call.name for call in calls})
    chosen = names[trial.rng.integers(len(names))]  # of rare calls as many as of frequent ones
    calls = [call for call in calls if call.name == chosen]
    call = calls[trial.rng.integers(len(calls))]
    errors = _errors_of(call)
    error = errors[trial.rng.integers(len(errors))]
    # Not all writes and opens: that would also silence the message, and lose the libraries that are still to be loaded.
    forever = trial.rng.random() < 0.5 and not ("open" in chosen or "write" in chosen)
    place = stage.place(trial.folder / "trial", writer, old=old)
    ran = place.start(strace=options_to_fail(call, error, from_then_on=forever)).wait()
    what = f"{writer.name}, {error} {'from' if forever else 'at'} {call.text}"
    outcome = _after_error(place, ran, what, cleans=chosen not in _REMOVING)
    lost = chosen in ("fsync", "fdatasync", "msync") and error != "EINVAL" and "/here/." in call.text
    assert not (lost and ran.code == 0), f"success although the data may not be on the disk: {what}: {ran}"
    place.run_clean()
    return outcome


def _after_error(place: Place, ran: Ran, what: str, *, cleans: bool = True) -> str:
    """Success with the new result, or one sentence with the old one; nothing left over."""
    try:
        found = place.found()
    except AssertionError as error:
        raise AssertionError(f"{error}; {what}: {ran}") from None
    if ran.code == 0:
        assert found == "new", f"success, but the result is the {found} one; {what}: {ran}"
    else:
        assert_one_sentence(ran, what)
        place.take_what_was_saved_elsewhere(ran)
    if cleans:
        place.assert_clean(f"{what}: {ran}")
    return "success" if ran.code == 0 else "one sentence, new result" if found == "new" else "one sentence"


# ---- A limit of file sizes.


def _limit_file_sizes(trial: Trial) -> str:
    """Run a writer under a limit on the size of files."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    place = stage.place(trial.folder / "trial", writer, old=bool(trial.rng.integers(2)))
    size = int(trial.rng.integers(1, 2 * _largest(place)))
    ran = place.start(limits=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))).wait()
    outcome = _after_error(place, ran, f"{writer.name}, files of at most {size} bytes")
    place.run_clean()
    return outcome


def _largest(place: Place) -> int:
    assert place.new is not None
    return max(map(len, place.new.values())) if isinstance(place.new, dict) else len(place.new)


# ---- Full disks: a small file system of a child's own, which nobody else sees and which ends with it.

_CLONE_NEWNS, _CLONE_NEWUSER = 0x00020000, 0x10000000
_MS_RDONLY, _MS_REMOUNT, _MS_REC, _MS_PRIVATE = 1, 32, 0x4000, 0x40000


def _libc(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _own_mounts() -> None:
    """Give this process mounts of its own."""
    user, group = os.getuid(), os.getgid()
    _libc("unshare", _CLONE_NEWNS if user == 0 else _CLONE_NEWNS | _CLONE_NEWUSER)
    if user != 0:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    _libc("mount", b"none", b"/", None, _MS_REC | _MS_PRIVATE, None)


def mount_small(folder: Path, options: str) -> None:
    """Mount a file system in memory."""
    _libc("mount", b"none", os.fsencode(folder), b"tmpfs", 0, options.encode())


def mount_read_only(folder: Path) -> None:
    """Make a mounted file system read-only."""
    _libc("mount", b"none", os.fsencode(folder), b"tmpfs", _MS_REMOUNT | _MS_RDONLY, None)


def in_own_mounts(work: Callable[[], str]) -> str:
    """What a function returns that runs in a child with mounts of its own; AssertionError if it fails."""

    def run() -> None:
        _own_mounts()
        print(work(), end="")

    ran = Child(run).wait(seconds=100.0)
    assert ran.code == 0, ran.err
    return ran.out


def _needs_mounts() -> str | None:
    if (why := needs_fork()) is not None:
        return why
    return None if Child(_own_mounts).wait().code == 0 else "needs the right to mount"


def _fill_the_disk(trial: Trial) -> str:
    """Run a writer on a disk that is too small, or has too few inodes, for what it writes or for what it keeps meanwhile."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    old = bool(trial.rng.integers(2))
    for variant in (1, 2):
        stage.expected(writer, variant)
    return in_own_mounts(partial(_write_on_small_disk, trial, stage, writer, old))


def _write_on_small_disk(trial: Trial, stage: Stage, writer: Writer, old: bool) -> str:
    folder, rng = trial.folder / "trial", trial.rng
    full_tmp = writer.scratch and bool(rng.integers(2))
    disk = folder / "tmp" if full_tmp else folder
    disk.mkdir(parents=True)
    mount_small(disk, "size=16m,nr_inodes=1000")
    place = stage.place(folder, writer, old=old)
    by_inodes = rng.random() < 0.25
    # A small corpus, of which every file takes a page, needs some twenty; what is written needs its size.
    most = 16 if by_inodes else 24 if full_tmp else 8 + _pages(place)
    limit = _fill(disk, by_inodes=by_inodes, room=int(rng.integers(0, most)))
    ran = place.start().wait()
    outcome = _after_error(place, ran, f"{writer.name}, {'TMPDIR' if full_tmp else 'target'} on a disk of {limit}")
    _libc("mount", b"none", os.fsencode(disk), b"tmpfs", _MS_REMOUNT, b"size=16m,nr_inodes=1000")
    place.run_clean()
    return outcome


def _pages(place: Place) -> int:
    files = [place.new] if isinstance(place.new, bytes) else list((place.new or {}).values())
    return sum(1 + len(raw) // 4096 for raw in files)


def _fill(disk: Path, *, by_inodes: bool, room: int) -> str:
    """Leave room for so many inodes or pages."""
    found = os.statvfs(disk)
    used = found.f_files - found.f_ffree if by_inodes else found.f_blocks - found.f_bfree
    for spare in range(room, room + 50):  # a system may want more than it said
        number = max(used + spare, 1)  # no limit is called 0
        limit = f"nr_inodes={number}" if by_inodes else f"size={number * found.f_frsize}"
        try:
            _libc("mount", b"none", os.fsencode(disk), b"tmpfs", _MS_REMOUNT, limit.encode())
        except OSError:
            continue
        return limit
    raise RuntimeError(f"{disk} cannot be made smaller")


# ---- Targets that cannot be written, or must not be replaced.


def _parent_is_a_file(place: Place) -> Path:
    (place.folder / "file").write_text("mine", encoding="utf-8")
    return place.folder / "file" / place.writer.target


def _name_too_long(place: Place) -> Path:
    return place.folder / ("x" * 300 + place.writer.target)


def _name_almost_too_long(place: Place) -> Path:
    """A name that the file system takes, but not with what a temporary name adds to it."""
    return place.folder / ("x" * (250 - len(place.writer.target)) + place.writer.target)


def _is_a_pipe(place: Place) -> Path:
    os.mkfifo(place.target)
    return place.target


def _is_a_device(place: Place) -> Path:
    os.mknod(place.target, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    return place.target


def _is_a_socket(place: Place) -> Path:
    here = os.getcwd()
    os.chdir(place.folder)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(place.writer.target)
    finally:
        os.chdir(here)
    return place.target


def _is_of_the_other_kind(place: Place) -> Path:
    if place.writer.writes_folder:
        place.target.write_text("mine", encoding="utf-8")
    else:
        place.target.mkdir()
        (place.target / "mine").write_text("mine", encoding="utf-8")
    return place.target


def _is_a_folder_of_mine(place: Place) -> Path:
    place.target.mkdir()
    (place.target / "mine").write_text("mine", encoding="utf-8")
    return place.target


def _is_a_result_with_more(place: Place) -> Path:
    if not place.writer.writes_folder:
        return _is_of_the_other_kind(place)
    assert isinstance(place.new, dict)
    place.target.mkdir()
    for name, raw in place.new.items():
        (place.target / name).write_bytes(raw)
    (place.target / "mine").write_text("mine", encoding="utf-8")
    return place.target


def _is_mounted(place: Place) -> Path:
    _is_of_the_other_kind(place) if not place.writer.writes_folder else place.target.mkdir()
    mount_small(place.target, "size=1m")
    return place.target


def _is_on_a_read_only_disk(place: Place) -> Path:
    disk = place.folder / "disk"
    disk.mkdir()
    mount_small(disk, "size=1m")
    (disk / "mine").write_text("mine", encoding="utf-8")
    mount_read_only(disk)
    return disk / place.writer.target


def _is_in_a_folder_of_another_user(place: Place) -> Path:
    theirs = place.folder / "theirs"
    theirs.mkdir(mode=0o755)
    (theirs / "mine").write_text("mine", encoding="utf-8")
    return theirs / place.writer.target


_REFUSED = (
    _parent_is_a_file, _name_too_long, _is_a_pipe, _is_a_device, _is_a_socket, _is_of_the_other_kind, _is_a_folder_of_mine,
    _is_a_result_with_more, _is_mounted, _is_on_a_read_only_disk, _is_in_a_folder_of_another_user, _name_almost_too_long,
)  # fmt: skip


def _write_where_it_cannot_be(trial: Trial) -> str:
    """Write to a target that must be refused."""
    # Both lists are gone through together; 12 and 25 have no common divisor.
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    case = _REFUSED[trial.number % len(_REFUSED)]
    for variant in (1, 2):
        stage.expected(writer, variant)
    return in_own_mounts(partial(_refused, trial, stage, writer, case))


def _refused(trial: Trial, stage: Stage, writer: Writer, case: Callable[[Place], Path]) -> str:
    place = stage.place(trial.folder / "trial", writer, old=False)
    target = case(place)
    before = _listing(place.folder)
    drop = case is _is_in_a_folder_of_another_user
    if drop:
        for folder in (trial.folder, trial.folder / "trial", trial.shared, *trial.shared.rglob("*")):
            folder.chmod(0o755 if folder.is_dir() else 0o644)
        place.tmp.chmod(0o777)
    ran = Child(
        partial(writer.run, stage.inputs, 2, target),
        folder=place.folder,
        tmp=place.tmp,
        limits=_become_nobody if drop else None,
    ).wait(seconds=30.0)
    what = f"{writer.name}, {case.__name__.strip('_').replace('_', ' ')}"
    assert not list(place.tmp.iterdir()), f"left over in TMPDIR: {what}: {list(place.tmp.iterdir())}"
    after = _listing(place.folder)
    if ran.code == 0 and case is _name_almost_too_long:
        return "written"
    if ran.code == 0 and case in (_is_a_pipe, _is_a_device, _is_a_socket):
        assert after == before, f"changed: {what}: {before} became {after}"
        return "written through"
    assert_one_sentence(ran, what)
    assert after == before, f"changed: {what}: {before} became {after}"
    return "refused"


def _become_nobody() -> None:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def _listing(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything in a folder: kind and rights, device, content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        if stat.S_ISLNK(status.st_mode):
            content = os.fsencode(os.readlink(path))
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_rdev, content)
    return found


# ---- Links and rights of what is replaced.


def _write_through_a_link(trial: Trial) -> str:
    """Write to a symbolic link, or over a file that nobody else may read."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    case = ("link to a result", "link to nothing", "link to a link", "private")[trial.rng.integers(4)]
    place = stage.place(trial.folder / "trial", writer, old=False)
    elsewhere = place.folder / "elsewhere"
    elsewhere.mkdir()
    real = elsewhere / f"real-{writer.target}" if case != "private" else place.target
    if case != "link to nothing":
        result = stage.result(writer, 1)
        if writer.writes_folder:
            real.mkdir()
            for file in result.iterdir():
                (real / file.name).write_bytes(file.read_bytes())
            real.chmod(0o700)
        else:
            real.write_bytes(result.read_bytes())
            real.chmod(0o600)
    links = [] if case == "private" else [place.target]
    if case == "link to a link":
        links.append(place.folder / "between")
        links[0].symlink_to(links[1])
    if links:
        links[-1].symlink_to(real)
    before = _listing(place.folder)
    ran = place.start().wait()
    what = f"{writer.name}, {case}"
    for link in links:
        assert link.is_symlink(), f"a link was replaced: {what}: {ran}"
    after = _listing(place.folder)
    if ran.code != 0:
        assert_one_sentence(ran, what)
        assert after == before, f"changed: {what}: {before} became {after}"
        return "refused"
    assert place.found() == "new", f"{what}: {ran}"
    assert after.keys() - before.keys() <= {str(real.relative_to(place.folder))} | {
        f"{real.relative_to(place.folder)}/{name}" for name in (place.new if isinstance(place.new, dict) else ())
    }, f"left over: {what}: {sorted(after)}"
    if case != "link to nothing":
        mode = stat.S_IMODE(real.stat().st_mode)
        assert mode == (0o700 if writer.writes_folder else 0o600), f"the rights became {mode:o}: {what}"
    assert not list(place.tmp.iterdir()), f"left over in TMPDIR: {what}: {list(place.tmp.iterdir())}"
    return "written through the link" if links else "rights kept"


_PROMISE = "one sentence and exit code 1 with the old result intact, or success with the new one; nothing is left over"
AREAS: tuple[Area, ...] = (
    Area("errors of system calls", _PROMISE, _fail_a_call, short=15, limit=120.0, weight=3.0, needs=needs_strace),
    Area("full disks", _PROMISE, _fill_the_disk, short=12, limit=120.0, weight=2.0, needs=_needs_mounts),
    Area("limits of file sizes", _PROMISE, _limit_file_sizes, short=8, limit=120.0, needs=needs_fork),
    Area(
        "targets that cannot be written",
        "one sentence, and nothing is changed: devices and pipes least of all",
        _write_where_it_cannot_be,
        short=24,
        limit=120.0,
        needs=_needs_mounts,
    ),
    Area(
        "links and private targets",
        "links stay links, and what only its owner may read stays so",
        _write_through_a_link,
        short=8,
        limit=120.0,
        weight=0.5,
        needs=needs_fork,
    ),
)
