"""Kernels for GPUs run with their own device as torch's current one, in every thread."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")


def kernels_on(device):
    from anchorwords.kernels.gpu.current import on_its_device

    @on_its_device
    class Kernels:
        def __init__(self):
            self._device = device

        def double(self, number, *, plus=0):
            return 2 * number + plus

        def _private(self):
            return "private"

        @staticmethod
        def plain(number):
            return number

    return Kernels()


@pytest.fixture
def entered(monkeypatch):
    """The devices that were made current."""
    devices = []

    @contextmanager
    def device(given):
        devices.append(given)
        yield

    monkeypatch.setattr(torch.cuda, "device", device)
    return devices


def test_a_public_method_makes_its_device_current(entered):
    second = SimpleNamespace(type="cuda", index=1)
    kernels = kernels_on(second)
    assert kernels.double(3, plus=1) == 7
    assert entered == [second]
    assert (kernels._private(), kernels.plain(2), kernels.double.__name__) == ("private", 2, "double")
    assert entered == [second]


def test_the_interpreter_needs_none(entered):
    assert kernels_on(torch.device("cpu")).double(3) == 6
    assert entered == []


def test_all_kernels_for_gpus_do(entered):
    from anchorwords.kernels.gpu.operations import GpuKernels

    own = [name for name, value in vars(GpuKernels).items() if not name.startswith("_") and callable(value)]
    assert all(hasattr(vars(GpuKernels)[name], "__wrapped__") for name in own)


@pytest.mark.cuda
def test_the_current_device_is_as_it_was_afterwards():
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU")
    last = torch.device("cuda", torch.cuda.device_count() - 1)
    before = torch.cuda.current_device()
    assert kernels_on(last).double(1) == 2
    assert torch.cuda.current_device() == before
