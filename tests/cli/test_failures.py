"""What ends a command other than its own error: one sentence and exit code 1, unless it is a defect of ours."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.cli import main


def failing(monkeypatch, error):
    def load_model(path):
        raise error

    monkeypatch.setattr(aw, "load_model", load_model)
    monkeypatch.setattr(sys, "argv", ["anchorwords", "similar", "model", "word"])


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError("no room"),
        aw.exceptions.TooLargeError("C takes 5 GiB: use a sketch."),
        OSError(28, "full"),
    ],
    ids=["bare", "said", "ours", "disk"],
)
def test_one_sentence(monkeypatch, capsys, error):
    failing(monkeypatch, error)
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert (stopped.value.code, out) == (1, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_numpy_says_how_much(monkeypatch, capsys):
    with pytest.raises(MemoryError) as caught:
        np.empty((1 << 40, 1 << 10))
    failing(monkeypatch, caught.value)
    with pytest.raises(SystemExit):
        main()
    assert "not enough memory (Unable to allocate 8.00 PiB" in capsys.readouterr().err


def test_a_defect_of_ours_shows_its_traceback(monkeypatch):
    failing(monkeypatch, ZeroDivisionError())
    with pytest.raises(ZeroDivisionError):
        main()
