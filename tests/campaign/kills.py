"""Kills: at every system call that writes, and at any time."""

from __future__ import annotations

import os
import signal
import subprocess
import time

from .calls import Call, listed_calls, options_to_kill, options_to_list
from .campaign import Area, Trial
from .forked import INTERRUPTED, Ran, needs_fork, needs_strace
from .writers import WRITERS, Command, Place, Stage, Writer, stage_of


def calls_of(stage: Stage, trial: Trial, writer: Writer, *, old: bool) -> list[Call]:
    """The calls of a clean run on paths of a trial; listed once per worker."""
    if (writer.name, old) not in stage.calls:
        folder = trial.folder / "listing"
        place = stage.place(folder, writer, old=old)
        ran = place.start(strace=options_to_list(trial.folder / "calls.txt")).wait()
        assert ran.code == 0, f"{writer.name}: a traced run failed: {ran}"
        assert place.found() == "new"
        stage.calls[writer.name, old] = listed_calls(trial.folder / "calls.txt", folder)
    return stage.calls[writer.name, old]


def _kill_at_a_call(trial: Trial) -> str:
    """Kill a writer before one of its calls, sometimes twice; then run it once more."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    old = bool(trial.rng.integers(2))
    calls = calls_of(stage, trial, writer, old=old)
    place = stage.place(trial.folder / "trial", writer, old=old)
    found = ""
    for _ in range(1 if trial.rng.random() < 0.75 else 2):
        call = calls[trial.rng.integers(len(calls))]
        ran = place.start(strace=options_to_kill(call)).wait()
        assert ran.code in (0, -signal.SIGKILL), f"{writer.name} killed at {call.text}: {ran}"
        try:
            found = place.found()
            left = place.left_over()
        except AssertionError as error:
            raise AssertionError(f"{error}; killed at {call.text}") from None
        assert ran.code != 0 or not left, f"{writer.name}: left over by a run that was not killed: {left}"
    try:
        place.run_clean()
    except AssertionError as error:
        raise AssertionError(f"{error}\nkilled at {call.text}, which left {left}") from None
    return _told(found, old)


def _kill_at_any_time(trial: Trial) -> str:
    """Send a signal at a random time of a run; then run it once more."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    old = bool(trial.rng.integers(2))
    number = (signal.SIGKILL, signal.SIGINT, signal.SIGTERM)[trial.rng.integers(3)]
    if writer.name not in stage.usual:
        stage.usual[writer.name] = stage.place(trial.folder / "usual", writer, old=old).run_clean().seconds
    place = stage.place(trial.folder / "trial", writer, old=old)
    ran = place.start().wait((number, trial.rng.random() * 1.1 * stage.usual[writer.name]))
    return _after_signal(place, ran, number)


def _interrupt_a_new_process(trial: Trial) -> str:
    """Interrupt a command that was started as users start it, at a random time after it has begun to load."""
    stage = stage_of(trial)
    commands = [writer for writer in WRITERS if isinstance(writer.run, Command)]
    writer = commands[trial.number % len(commands)]
    assert isinstance(writer.run, Command)
    number = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[trial.rng.integers(3)]
    key = f"new process: {writer.name}"
    place = stage.place(trial.folder / "trial", writer, old=bool(trial.rng.integers(2)))
    line = writer.run.line(stage.inputs, 2, place.target)

    def run(after: float | None) -> Ran:
        begin = time.monotonic()
        with subprocess.Popen(
            line, cwd=place.folder, env=os.environ | {"TMPDIR": str(place.tmp)}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        ) as process:  # fmt: skip
            try:
                out, err = process.communicate(timeout=after or 60.0)
            except subprocess.TimeoutExpired:
                process.send_signal(number if after else signal.SIGKILL)
                out, err = process.communicate(timeout=30.0)
        return Ran(process.returncode, out, err, time.monotonic() - begin)

    if key not in stage.usual:
        ran = run(None)
        assert ran.code == 0, f"{writer.name}: {ran}"
        stage.usual[key] = ran.seconds
        place = stage.place(trial.folder / "again", writer, old=place.old is not None)
        line = writer.run.line(stage.inputs, 2, place.target)
    # Python itself takes the first tenth of a second, and prints a traceback when it is interrupted there.
    ran = run(0.1 + trial.rng.random() * stage.usual[key])
    return _after_signal(place, ran, number)


def _after_signal(place: Place, ran: Ran, number: int) -> str:
    """The old or the new result, whole; after an interrupt a clean prompt, and nothing left over."""
    name, old = signal.Signals(number).name, place.old is not None
    code = ran.code
    if number == signal.SIGINT:
        # Python itself, before our first line or after our last one, prints what it likes and dies by the signal.
        if code in (INTERRUPTED, -signal.SIGINT) and "/anchorwords/" not in ran.err:
            code = 130
        elif (
            code == 0 and "Exception ignored in" in ran.err
        ):  # it came while Python cleared an object away, which goes on
            assert place.found() == "new", f"{place.writer.name} after {name}: {ran}"
            place.assert_clean(name)
            return "interrupt lost in a finalizer, new result complete"
        else:
            assert code == 0 or "interrupted" in ran.err, f"{place.writer.name} after {name}: {ran}"
            assert "Traceback" not in ran.err, f"{place.writer.name} after {name}: {ran}"
    assert code in (0, 130 if number == signal.SIGINT else -number), f"{place.writer.name} after {name}: {ran}"
    found = place.found()
    if code in (0, 130):
        assert code == 130 or found == "new", f"{place.writer.name} after {name}: success, but {found}: {ran}"
        place.assert_clean(f"{name} (exit code {code})")
    place.run_clean()
    return _told(found, old)


def _told(found: str, old: bool) -> str:
    return "new result complete" if found == "new" else "old result intact" if old else "nothing written"


_PROMISE = (
    "the target is the old result or the new one, bit for bit; after one clean run no temporary file or folder is left"
)
_PROMPT = f"{_PROMISE}; Ctrl-C leaves a clean prompt"
AREAS: tuple[Area, ...] = (
    Area("kills at system calls", _PROMISE, _kill_at_a_call, short=15, limit=120.0, weight=3.0, needs=needs_strace),
    Area("kills at random times", _PROMPT, _kill_at_any_time, short=15, limit=120.0, weight=2.0, needs=needs_fork),
    Area("interrupts of new processes", _PROMPT, _interrupt_a_new_process, short=2, limit=120.0, needs=needs_fork),
)
