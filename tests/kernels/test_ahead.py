"""Kernels compiled in advance by processes of their own, which may fail, be killed or not exist."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import numba
import pytest

import anchorwords as aw
from anchorwords.kernels import ahead
from anchorwords.kernels.compiled import Kernel

QUICK = ["gram._add_pairs", "text._fill_slots"]


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return tmp_path


def all_kernels():
    folder = Path(ahead.__file__).parent
    modules = {path.stem: import_module(f"anchorwords.kernels.{path.stem}") for path in folder.glob("[!_]*.py")}
    return {
        f"{stem}.{name}"
        for stem, module in modules.items()
        for name, value in vars(module).items()
        if isinstance(value, Kernel) and value.py_func.__module__ == module.__name__
    }


def test_every_kernel_is_missing_from_an_empty_cache(empty_cache):
    assert sorted(ahead.missing_kernels()) == sorted(all_kernels())
    assert set(ahead.missing_kernels(ahead.READING)) < all_kernels()
    assert set(ahead._SECONDS) < all_kernels()


def test_processes_compile_into_the_cache(empty_cache):
    shares = []
    with ahead.Compilation(QUICK, 2) as compilation:
        assert len(compilation._processes) == 2
        compilation.wait(shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    assert all_kernels() - set(ahead.missing_kernels()) == set(QUICK)


def test_the_longest_kernels_are_shared_out_first():
    names = sorted(all_kernels())
    compilation = ahead.Compilation(names, 2)
    assert sorted(name for share in compilation._shares for name in share) == names
    totals = sorted(map(ahead._total, compilation._shares))
    assert totals[1] - totals[0] <= ahead._USUAL
    assert compilation.seconds == ahead._START + totals[1]
    assert len(ahead.Compilation(names, 100)._shares) == ahead._PROCESSES
    assert ahead.Compilation([]).seconds == ahead._START


def test_a_process_that_fails_is_no_error(empty_cache):
    with ahead.Compilation(["text._nothing", "elsewhere._fill_slots"], 2) as compilation:
        compilation.wait()
        assert all(process.wait() != 0 for process in compilation._processes)
    assert set(ahead.missing_kernels()) == all_kernels()


def test_no_process_is_left_behind(empty_cache):
    processes = []

    def interrupted(_):
        raise KeyboardInterrupt

    def compiled():
        with ahead.Compilation(sorted(all_kernels()), 2) as compilation:
            processes.extend(compilation._processes)
            compilation.wait(interrupted)

    with pytest.raises(KeyboardInterrupt):
        compiled()
    assert len(processes) == 2
    assert all(process.returncode is not None for process in processes)


@pytest.mark.parametrize("how", ["frozen", "no executable", "cannot start"])
def test_without_processes_there_is_nothing_to_wait_for(monkeypatch, how, tmp_path):
    if how == "frozen":
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr(sys, "executable", "" if how == "no executable" else str(tmp_path / "nothing"))
    with ahead.Compilation(QUICK, 2) as compilation:
        assert compilation._processes == []
        compilation.wait()


def test_warmup_compiles_here_what_no_process_could(monkeypatch):
    compiled = []
    monkeypatch.setattr(ahead, "missing_kernels", lambda: list(QUICK))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(Kernel, "build", lambda kernel: compiled.append(kernel.py_func.__name__))
    assert aw.warmup() == 2
    assert compiled == ["_add_pairs", "_fill_slots"]
    with pytest.raises(aw.exceptions.InputError, match="n_jobs"):
        aw.warmup(n_jobs=0)


def test_nothing_is_missing_where_there_is_no_cache_to_look_at(monkeypatch):
    monkeypatch.setattr(Kernel, "is_cached", lambda _: None)
    assert ahead.missing_kernels() == []


def test_a_cache_that_cannot_be_read_counts_as_empty(empty_cache):
    ahead.compile_here(["text._fill_slots"])  # compiled, and held, by this process before, so the cache stays empty
    with ahead.Compilation(["text._fill_slots"], 1) as compilation:
        compilation.wait()
    (index,) = empty_cache.rglob("*.nbi")
    index.write_bytes(b"\x80nothing")
    assert "text._fill_slots" in ahead.missing_kernels()


def test_a_process_reports_what_it_compiled(capsys, monkeypatch):
    monkeypatch.setattr(ahead.gc, "disable", lambda: None)  # this process goes on
    ahead.main(QUICK)
    assert capsys.readouterr().out.split() == QUICK
