"""What commands say and do before kernels are compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from anchorwords.cli import compiling
from anchorwords.kernels import ahead

LINE = "compiling numerical kernels, once per installation (about "


@pytest.fixture
def few_missing(monkeypatch):
    """As if two small kernels were not compiled."""
    monkeypatch.setattr(ahead, "missing_kernels", lambda _=(): ["gram._add_pairs", "text._fill_slots"])
    yield
    compiling.stop_compiling()


def called(*arguments, environment=None):
    return subprocess.run(
        [sys.executable, "-m", "anchorwords", *arguments], capture_output=True, text=True,
        env=os.environ | (environment or {}),
    )  # fmt: skip


def test_one_line_says_that_kernels_are_compiled(few_missing, capsys):
    compiling.compile_ahead("text", quiet=False)
    compiling.compile_ahead("text", quiet=False)  # is at work already
    (running,) = compiling._running
    compiling.await_kernels(quiet=False)
    assert compiling._running == []
    assert [process.poll() for process in running._processes] == []
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"{LINE}1 s)\n")


def test_quiet_says_nothing(few_missing, capsys):
    compiling.compile_ahead("text", quiet=True)
    compiling.await_kernels(quiet=True)
    assert capsys.readouterr() == ("", "")


def test_what_does_without_the_kernels_does_not_wait(few_missing):
    compiling.compile_ahead("text", quiet=True)
    compiling.await_kernels(True, ("marks", "proportions"))
    assert compiling._running
    compiling.await_kernels(True, ("marks", "gram"))
    assert not compiling._running


def test_a_command_that_fails_leaves_no_process(few_missing):
    compiling.compile_ahead("text", quiet=True)
    processes = list(compiling._running[0]._processes)
    compiling.stop_compiling()
    assert processes
    assert all(process.returncode is not None for process in processes)


def test_nothing_to_do():
    """The tests before this one, or this one, have compiled everything."""
    called("warmup")
    done = called("warmup")
    assert (done.returncode, done.stdout, done.stderr) == (0, "all kernels are compiled already\n", "")
    assert called("warmup", "--quiet").stdout == ""
    assert json.loads(called("warmup", "--json").stdout)["compiled"] == 0
    assert called("warmup", "--jobs", "0").returncode == 2


@pytest.mark.slow
def test_the_first_use_of_an_installation(tmp_path):
    cache, texts, model = (
        {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
        tmp_path / "texts.txt",
        str(tmp_path / "model"),
    )
    subjects = ("lion tiger zebra gorilla giraffe", "flour butter oven sugar recipe", "orbit rocket planet comet lunar")
    texts.write_text("\n".join(f"{subjects[i % 3]} word{i % 20}" for i in range(300)), encoding="utf-8")
    for arguments in (["fit", str(texts), "-o", model, "-k", "3"], ["transform", model, str(texts)]):
        first, second = called(*arguments, environment=cache), called(*arguments, environment=cache)
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        assert first.stderr.startswith(LINE)
        assert first.stderr.count(LINE) == 1
        assert LINE not in second.stderr
        if arguments[0] == "transform":
            assert first.stdout == second.stdout
    done = called("warmup", environment=cache)
    assert done.stderr.startswith(LINE)
    assert done.stdout.startswith("compiled ")
    assert called("warmup", environment=cache).stdout == "all kernels are compiled already\n"
    # A cache that cannot be written to: kernels are compiled in the process itself.
    nowhere = tmp_path / "a file"
    nowhere.touch()
    alone = called("transform", model, str(texts), environment={"NUMBA_CACHE_DIR": str(nowhere / "kernels")})
    assert alone.returncode == 0, alone.stderr
    assert alone.stdout == called("transform", model, str(texts), environment=cache).stdout
