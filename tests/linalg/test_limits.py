"""Limits on threads, and threads over blocks, when a KeyboardInterrupt comes between any two instructions."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from anchorwords.linalg import limits, parallel
from anchorwords.linalg.parallel import for_each_block, limited_threads, n_threads, one_library_thread

# A program that enters and leaves limits without a pause while another thread interrupts it a few hundred times: with every
# interruption, no limit may be left. Interruptions are allowed only inside the try, as a shell allows them inside a command.
INTERRUPTED = """
import _thread, os, random, sys, threading, time
from threadpoolctl import ThreadpoolController
from anchorwords.linalg.parallel import for_each_block, limited_threads, n_threads, one_library_thread

sys.setswitchinterval(1e-5)
os.sched_getaffinity = lambda _: range(8)
blas = ThreadpoolController().select(user_api="blas").lib_controllers
random.seed(0)

def state():
    found = [library.get_num_threads() for library in blas] + [n_threads(None)]

    def share():  # of the cores, which the threads that are in a limit share
        with limited_threads(None):
            found.append(n_threads(None))

    other = threading.Thread(target=share)
    other.start()
    other.join()
    return found

before, busy, wanted, done = state(), set(), threading.Event(), threading.Event()

def interrupt():
    while not done.is_set():
        if wanted.wait(0.01):
            wanted.clear()
            for _ in range(random.randrange(2000)):
                pass
            known = n_interrupted
            _thread.interrupt_main()
            # Python drops an exception in a callback of the garbage collector: again, in that case.
            while not wanted.wait(1.0) and n_interrupted == known:
                _thread.interrupt_main()

def work(start, stop):
    if threading.current_thread() is not threading.main_thread():
        busy.add(start)
        time.sleep(1e-4)
        busy.discard(start)

BODY

n_interrupted = 0
thread = threading.Thread(target=interrupt, daemon=True)
thread.start()
while n_interrupted < TIMES:
    try:
        wanted.set()
        while True:
            body()
    except KeyboardInterrupt:
        n_interrupted += 1
    assert not busy, "a helper still works"
    found = state()
    assert found == before, (found, before)
done.set()
thread.join()
print("clean")
"""
BODIES = {
    "limits": """
def body():
    with limited_threads(1), one_library_thread():
        with limited_threads(None):
            pass
""",
    "blocks": """
def body():
    for_each_block(work, 40, 1, 3)
    assert not busy, "a helper still works"
""",
}


@pytest.mark.parametrize("name", BODIES)
def test_an_interruption_at_any_point_leaves_no_limit_and_no_work(name):
    program = INTERRUPTED.replace("BODY", BODIES[name]).replace("TIMES", "1000")
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"} | {
        "PYTHONPATH": path
    }
    found = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120
    )
    assert found.stdout == "clean\n", found.stderr


def _blas_threads() -> list[int]:
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def test_a_limit_whose_exit_is_lost_leaves_when_it_is_dropped():
    """As when an exception comes after a limit was entered, and before the body of its ``with``."""
    before = (n_threads(None), _blas_threads())
    limit = limited_threads(1)
    limit.__enter__()
    assert n_threads(None) == 1
    assert set(_blas_threads()) == {1}
    del limit
    gc.collect()
    assert (n_threads(None), _blas_threads()) == before


def test_leaving_twice_is_leaving_once():
    before = (n_threads(None), _blas_threads())
    with limited_threads(1):
        limit = one_library_thread()
        limit.__enter__()
        limit.__exit__(None, None, None)
        limit.__exit__(None, None, None)
        assert n_threads(None) == 1
        assert set(_blas_threads()) == {1}
    assert (n_threads(None), _blas_threads()) == before


def test_a_failure_stops_all_threads_before_it_is_raised():
    working, failed = set(), threading.Event()

    def work(start, stop):
        if start == 0:
            failed.set()
            raise KeyError("the first block")
        working.add(start)
        failed.wait()
        time.sleep(0.01)
        working.discard(start)

    for _ in range(5):
        failed.clear()
        with pytest.raises(KeyError, match="the first block"):
            for_each_block(work, 100, 1, 4)
        assert not working


def test_work_is_done_where_no_thread_can_be_started(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel, "_HELPERS", parallel._Helpers())
    monkeypatch.setattr(threading.Thread, "start", refuse)
    seen = []
    for_each_block(lambda start, _: seen.append(start), 8, 1, 4)
    assert seen == list(range(8))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_inside_a_limit_keeps_it_and_no_other():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with limited_threads(1):
            entered.set()
            leave.wait()

    before = (n_threads(None), _blas_threads())
    thread = threading.Thread(target=other)
    thread.start()
    entered.wait()
    limit = limited_threads(2)
    limit.__enter__()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            limit.__exit__(None, None, None)
            with limited_threads(None):
                pass
            code = 0 if (n_threads(None), _blas_threads()) == before else 2
        finally:
            os._exit(code)
    limit.__exit__(None, None, None)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
    assert (n_threads(None), _blas_threads()) == before


def test_what_others_set_after_a_limit_is_left_alone():
    with limited_threads(1):
        pass
    with threadpool_limits(1, user_api="blas"):
        with limited_threads(None):
            assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}
        assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} == {1}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_waits_while_the_library_is_set(monkeypatch):
    """A child that is forked in the midst of it finds the library's own lock held, for ever."""
    setting, set_threads, seen = threading.Event(), limits._set_threads, []

    def slowly(library, number):
        setting.set()
        seen.append("begin")
        time.sleep(0.05)
        set_threads(library, number)
        seen.append("end")

    monkeypatch.setattr(limits, "_set_threads", slowly)

    def other():
        with limited_threads(1):
            pass

    if not _blas_threads():
        pytest.skip("NumPy's linear algebra library is not one whose threads can be set")
    thread = threading.Thread(target=other)
    thread.start()
    setting.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if seen.count("begin") == seen.count("end") else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
