"""Memory that runs out: limits of the address space and of data, for every command and call that writes."""

from __future__ import annotations

import resource
from functools import partial
from pathlib import Path

from .campaign import Area, Trial
from .forked import needs_fork
from .writers import WRITERS, assert_one_sentence, stage_of

_PAGE = resource.getpagesize()


def _limit(kind: int, more: int) -> None:
    """Let this process have so many bytes more than it has."""
    fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
    has = int(fields[0 if kind == resource.RLIMIT_AS else 5]) * _PAGE
    resource.setrlimit(kind, (has + more, has + more))


def _run_out_of_memory(trial: Trial) -> str:
    """Run a writer with little memory."""
    stage, writer = stage_of(trial), WRITERS[trial.number % len(WRITERS)]
    place = stage.place(trial.folder / "trial", writer, old=bool(trial.rng.integers(2)))
    kind = (resource.RLIMIT_AS, resource.RLIMIT_DATA)[trial.rng.integers(2)]
    more = int(2.0 ** trial.rng.uniform(10, 25))
    ran = place.start(limits=partial(_limit, kind, more)).wait()
    what = f"{writer.name}, {more:,} bytes of {'address space' if kind == resource.RLIMIT_AS else 'data'}"
    try:
        found = place.found()
    except AssertionError as error:
        raise AssertionError(f"{error}; {what}: {ran}") from None
    if ran.code == 0:
        assert found == "new", f"{what}: success, but {found}: {ran}"
    else:
        assert_one_sentence(ran, what)
        place.take_what_was_saved_elsewhere(ran)
        assert found == "old", f"{what}: failed, but the result is there: {ran}"
        assert "memory" in ran.err.lower(), f"{what}: memory is not mentioned: {ran}"
    place.assert_clean(f"{what}: {ran}")
    place.run_clean()
    return "success" if ran.code == 0 else "one sentence"


AREAS: tuple[Area, ...] = (
    Area(
        "memory that runs out",
        "one sentence that speaks of memory, with the old result intact, or success; never a traceback or a signal",
        _run_out_of_memory,
        short=12,
        limit=120.0,
        weight=2.0,
        needs=needs_fork,
    ),
)
