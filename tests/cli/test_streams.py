"""Standard streams that are full, closed or no longer read: an exit code and at most one sentence, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")


def run(*arguments, stdout=subprocess.PIPE, close=None):
    # Without a buffer nothing is left to be written when Python ends.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-m", "anchorwords", *arguments],
        stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=environment,
        preexec_fn=None if close is None else lambda: os.close(close),
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [("--version",), ("fit", "--help")], ids=" ".join)
def test_a_full_device(arguments):
    with open("/dev/full", "w") as full:
        done = run(*arguments, stdout=full)
    assert done.returncode == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert "No space left on device" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("arguments", [("--version",), ("fit", "--help")], ids=" ".join)
def test_a_reader_that_has_seen_enough(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = run(*arguments, stdout=writing)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("close", [0, 1, 2])
def test_a_closed_stream(close):
    done = run("--version", close=close)
    assert (done.returncode, done.stderr) == (0, "")
