"""The short form of the campaign: a few trials of every area; and that the campaign itself notices what it must."""

from __future__ import annotations

import os
import signal
import time

import pytest

from .areas import AREAS
from .campaign import Area, Trial, run_campaign


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS, ids=lambda area: area.name)
def test_an_area_keeps_its_promise(area):
    (tally,) = run_campaign([area])
    if tally.skipped is not None:
        pytest.skip(tally.skipped)
    assert not tally.finds, "\n".join(f"trial {find.number}: {find.kind}\n{find.report}" for find in tally.finds)
    assert tally.n_trials == area.short


def _fails(trial: Trial) -> str:
    if trial.number == 1:
        raise AssertionError("the result is lost")
    if trial.number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if trial.number == 3:
        time.sleep(60.0)
    return f"draw {trial.rng.integers(10**6)}"


@pytest.mark.slow
def test_the_campaign_counts_broken_promises_crashes_and_hangs():
    area = Area("self-test", "nothing", _fails, short=6, limit=5.0)
    (tally,) = run_campaign([area], n_workers=2)
    assert sorted((find.number, find.kind) for find in tally.finds) == [
        (1, "broken promise"),
        (2, "crash"),
        (3, "hang"),
    ]
    assert "the result is lost" in next(find.report for find in tally.finds if find.number == 1)
    assert tally.outcomes.total() == 3
    (again,) = run_campaign([area], n_workers=1)
    assert again.outcomes == tally.outcomes  # a trial depends on the seed and its number alone


def _not_here() -> str:
    return "needs a tool that is not installed"


def test_an_area_that_cannot_be_tried_says_why():
    area = Area("self-test", "nothing", _fails, short=1, needs=_not_here)
    (tally,) = run_campaign([area])
    assert (tally.skipped, tally.n_trials) == ("needs a tool that is not installed", 0)
