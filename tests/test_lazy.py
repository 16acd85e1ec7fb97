"""Attributes that are computed when they are first read."""

from __future__ import annotations

import os
import threading

import pytest

from anchorwords._lazy import cached_property


class Slow:
    def __init__(self, begun=None, go=None):
        self.begun, self.go, self.n_calls = begun, go, 0

    @cached_property
    def value(self) -> int:
        """What takes a while."""
        self.n_calls += 1
        if self.begun is not None:
            self.begun.set()
            self.go.wait()
        return 7


def test_a_value_is_computed_once_and_kept():
    one = Slow()
    assert "value" not in vars(one)
    assert (one.value, one.value, one.n_calls) == (7, 7, 1)
    assert Slow.value.__doc__ == "What takes a while."


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_child_forked_while_another_thread_computes_a_value_does_not_wait():
    begun, go = threading.Event(), threading.Event()
    busy = Slow(begun, go)
    thread = threading.Thread(target=lambda: busy.value)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if Slow().value == 7 else 1)
    for _ in range(1000):
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            break
        threading.Event().wait(0.01)
    else:
        os.kill(child, 9)
        status = os.waitpid(child, 0)[1]
    go.set()
    thread.join()
    assert status == 0
