"""Devices: what the name of one stands for, what keeps it from being used, and what is said when it fails.

Torch is imported only when a GPU is asked for. There is no global device: computations take a prototype, an empty tensor
on the device, and two of them with different devices may run side by side.
"""

from __future__ import annotations

import logging
import re
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from importlib.util import find_spec
from typing import Any

import array_api_compat
import numpy as np

from ._memory import gpu_is_full
from ._namespace import is_numpy, on_host, to_numpy
from ._typing import SparseLike
from .exceptions import AnchorwordsError, DeviceError, InputError, TooLargeError
from .linalg.parallel import for_each_block, n_threads

logger = logging.getLogger("anchorwords.device")

_GIB = float(1 << 30)
# The oldest GPUs that Triton compiles for (Volta).
_CAPABILITY = (7, 0)
# What a fit keeps on a GPU: matrices of words x topics in double precision, and the counts by documents and by words, each
# with a column of 4 bytes and a value of 2 bytes, or of 8 if values are not small whole numbers.
_MATRICES, _COLUMN, _SMALL_VALUE, _VALUE = 17, 4, 2, 8
# Matrices of more bytes than the first are copied from a GPU in pieces of the second, by as many threads as the third.
_LARGE, _PIECE, _THREADS = 1 << 26, 1 << 23, 8
_INSTALL = "pip install 'anchorwords[gpu]'"


def check_device(device: Any) -> str | None:
    """Return the name of a device, which need not exist, or InputError."""
    if device is None or device == "cpu":
        return device
    if isinstance(device, str) and re.fullmatch("cuda(:[0-9]{1,3})?", device):
        return device
    raise InputError(f"device must be None, 'cpu', 'cuda' or the number of a GPU such as 'cuda:1', but is {device!r}.")


def prototype(device: Any) -> Any:
    """An empty float64 tensor on a device, whose namespace and device a computation is to use.

    Parameters
    ----------
    device : {None, "cpu", "cuda", "cuda:0", "cuda:1", ...}
        "cuda" is torch's current GPU, which is the first one unless the program has chosen another.

    Returns
    -------
    tensor or None
        None for a device of None or "cpu", where NumPy computes.

    Raises
    ------
    InputError
        If there is no such device, or if something that it needs is missing.
    """
    name = check_device(device)
    if name is None or name == "cpu":
        return None
    torch = _torch(name)
    if torch.version.cuda is None:
        raise InputError(
            f"device={name!r} needs a version of torch that was built with CUDA, but torch {torch.__version__} was not: "
            "install one that https://pytorch.org/get-started lists for CUDA, or use device='cpu'."
        )
    if not torch.cuda.is_available():
        raise InputError(
            f"device={name!r} needs an NVIDIA GPU and its driver, but torch finds none (nvidia-smi lists the GPUs, and "
            "CUDA_VISIBLE_DEVICES may hide them): use device='cpu'."
        )
    try:
        index = _index(torch, name)
        _require_triton(torch, index, name)
        return torch.zeros(0, dtype=torch.float64, device=f"cuda:{index}")
    except RuntimeError as error:  # a GPU that is lost or in exclusive use, or a process forked from one that uses CUDA
        raise DeviceError(f"{name} cannot be used ({_first_line(error)}): use device='cpu'.") from error


def on_gpu(array: Any) -> bool:
    """Whether an array is a torch tensor that is not in the memory of the processor."""
    return array is not None and array_api_compat.is_torch_array(array) and array.device.type != "cpu"


def own_numpy(array: Any) -> Any:
    """An array of any namespace as NumPy's, in memory that no other array shares; NumPy's own stay as they are."""
    if is_numpy(array):
        return array
    if on_gpu(array) and array.ndim == 2 and array.numel() * array.element_size() > _LARGE:
        return _downloaded(array)
    host = to_numpy(array, dtype=None)
    return host.copy() if on_host(array) else host


def _downloaded(tensor: Any) -> Any:
    """A large matrix, piece by piece, by several threads.

    Copying from the GPU is fast, but only to pinned memory, and memory that is touched for the first time is slow.
    """
    import torch

    out = np.empty(tuple(tensor.shape), dtype=torch.zeros(0, dtype=tensor.dtype).numpy().dtype)
    rows = max(1, _PIECE // (tensor.shape[1] * tensor.element_size()))
    torch.cuda.current_stream(tensor.device).synchronize()

    def work(start: int, stop: int) -> None:
        with torch.cuda.device(tensor.device), torch.cuda.stream(torch.cuda.Stream(tensor.device)):
            piece = torch.empty((stop - start, tensor.shape[1]), dtype=tensor.dtype, pin_memory=True)
            piece.copy_(tensor[start:stop], non_blocking=True)
            torch.cuda.current_stream(tensor.device).synchronize()
        out[start:stop] = piece.numpy()

    for_each_block(work, tensor.shape[0], rows, min(_THREADS, n_threads(None)))
    return out


def described(tensor: Any) -> str:
    """The device of a tensor with its name and memory, such as "cuda:0, NVIDIA H200 with 139.8 GiB of memory"."""
    if not on_gpu(tensor):
        return "cpu"
    import torch

    made = torch.cuda.get_device_properties(tensor.device)
    return f"{tensor.device}, {made.name} with {_in_gib(made.total_memory)} of memory"


def fit_bytes(n_words: int, n_topics: int, counts: SparseLike | None = None) -> int:
    """About how much memory a fit takes on a GPU.

    Parameters
    ----------
    n_words, n_topics : int
        N and K.
    counts : (M, N) CSR array, optional
        Counts that are kept on the GPU; those that are read pass by pass are not.
    """
    matrices = _MATRICES * 8 * n_words * n_topics
    if counts is None:
        return matrices
    data = counts.data
    small = data.size == 0 or bool(np.all((data == np.trunc(data)) & (np.abs(data) <= np.iinfo(np.int16).max)))
    return matrices + 2 * (_COLUMN + (_SMALL_VALUE if small else _VALUE)) * int(counts.nnz)


def fit_needs(n_words: int, n_topics: int, counts: SparseLike | None = None) -> str:
    """A part of a sentence: what a fit takes, for :func:`computing_on`."""
    held = "" if counts is None else f", {int(counts.nnz):,} counts"
    return (
        f"this fit of {n_words:,} words{held} and {n_topics:,} topics needs about "
        f"{_in_gib(fit_bytes(n_words, n_topics, counts))}"
    )


@contextmanager
def computing_on(tensor: Any, needs: Callable[[], str] | None = None, *, quiet: bool = False) -> Iterator[None]:
    """Compute on the device of a tensor, and say in one sentence what went wrong there.

    The device is torch's current one meanwhile, in this thread: Triton starts its kernels there.

    Parameters
    ----------
    tensor : array or None
        A prototype. If it is not a torch tensor, nothing is done.
    needs : callable, optional
        Returns a part of a sentence, how much memory the computation takes, where it has run out.
    quiet : bool
        Do not log the device.

    Raises
    ------
    TooLargeError
        If the memory of the GPU is not enough.
    DeviceError
        If the GPU, or the compilation of a kernel for it, has failed.
    """
    if tensor is None or not array_api_compat.is_torch_array(tensor):
        yield
        return
    import torch

    gpu = on_gpu(tensor)
    free = _free_bytes(tensor.device) if gpu else None
    if gpu and not quiet:
        logger.info("%s, of which %s are free", described(tensor), "?" if free is None else _in_gib(free))
    try:
        with torch.cuda.device(tensor.device) if gpu else nullcontext(), _full_precision(torch):
            yield
    except Exception as error:
        failure = _translated(error, tensor, free, needs)
        if failure is None:
            raise
        logger.debug("what was raised on %s", tensor.device, exc_info=error)
        if isinstance(failure, TooLargeError):  # what the frames of the computation hold would stay on the GPU
            _release(error)
            torch.cuda.empty_cache()
        raise failure from None


class _Precision:
    """How many computations need full precision now, and what torch was set to before the first."""

    lock = threading.Lock()
    users = 0
    before = "highest"


@contextmanager
def _full_precision(torch: Any) -> Iterator[None]:
    """Have torch multiply in the precision of the numbers, which programs may have lowered for all threads."""
    with _Precision.lock:
        if _Precision.users == 0:
            _Precision.before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("highest")
        _Precision.users += 1
    try:
        yield
    finally:
        with _Precision.lock:
            _Precision.users -= 1
            if _Precision.users == 0:
                torch.set_float32_matmul_precision(_Precision.before)


def _torch(name: str) -> Any:
    """The package torch, or InputError."""
    try:
        import torch
    except ImportError as error:
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        why = "" if missing else f", which cannot be imported ({_first_line(error)})"
        raise InputError(f"device={name!r} needs torch{why}: {_INSTALL}, or use device='cpu'.") from None
    except OSError as error:  # a library of CUDA that does not load
        raise InputError(
            f"device={name!r} needs torch, which cannot be imported ({_first_line(error)}): install it again, or use "
            "device='cpu'."
        ) from error
    return torch


def _index(torch: Any, name: str) -> int:
    """The number of a GPU, or InputError if there is no such GPU."""
    _, _, number = name.partition(":")
    if not number:
        return int(torch.cuda.current_device())
    n_devices = torch.cuda.device_count()
    if int(number) >= n_devices:
        there = "one GPU, cuda:0" if n_devices == 1 else f"{n_devices} GPUs, cuda:0 to cuda:{n_devices - 1}"
        raise InputError(f"there is no {name}: torch finds {there}.")
    return int(number)


def _require_triton(torch: Any, index: int, name: str) -> None:
    """Raise InputError unless Triton is there and compiles for this GPU."""
    if find_spec("triton") is None:
        raise InputError(
            f"device={name!r} needs Triton, which torch brings on Linux and which is not installed: pip install triton, "
            "or use device='cpu'."
        )
    capability = torch.cuda.get_device_capability(index)
    if tuple(capability) < _CAPABILITY:
        raise InputError(
            f"{torch.cuda.get_device_name(index)} is too old for Triton: it has compute capability "
            f"{'.'.join(map(str, capability))}, but {'.'.join(map(str, _CAPABILITY))} is needed: use device='cpu'."
        )


def _translated(
    error: Exception, tensor: Any, free: int | None, needs: Callable[[], str] | None
) -> AnchorwordsError | None:
    """The error as a sentence, or None if it has nothing to do with the device."""
    if isinstance(error, AnchorwordsError):
        return None
    if gpu_is_full(error):
        return TooLargeError(_memory_sentence(tensor, free, None if needs is None else needs()))
    if type(error).__name__ == "CalledProcessError" or "Failed to find C compiler" in str(error):
        return DeviceError(
            "Triton compiles kernels for GPUs with the help of a C compiler, which is missing or fails "
            f"({_first_line(error)}): install gcc and the header files of Python (python3-dev), or name a compiler in the "
            "environment variable CC; device='cpu' needs none."
        )
    if _is_failure(error):
        return DeviceError(
            f"the GPU {tensor.device} failed ({_first_line(error)}), and nothing was written: use device='cpu', or start "
            "the process again, as a GPU that has failed stays unusable for the process."
        )
    return None


def _memory_sentence(tensor: Any, free: int | None, needs: str | None) -> str:
    known = "" if free is None else f" {described(tensor)}, had {_in_gib(free)} free"
    both = " and" if known and needs else ""
    why = f":{known}{both}{' ' if needs else ''}{needs or ''}" if known or needs else ""
    advice = "use device='cpu', fewer topics or a smaller vocabulary" if needs else (
        "use device='cpu', or give fewer documents at a time"
    )  # fmt: skip
    return f"the memory of the GPU is not enough{why}; {advice}."


def _is_failure(error: Exception) -> bool:
    """Whether an error is one of CUDA, of its libraries or of Triton's driver."""
    import torch

    accelerator = getattr(torch, "AcceleratorError", None)  # since torch 2.8
    if accelerator is not None and isinstance(error, accelerator):
        return True
    said = str(error)
    return isinstance(error, RuntimeError) and any(
        sign in said for sign in ("CUDA error", "CUDA driver error", "Triton Error [CUDA]", "cusolver error")
    )


def _free_bytes(device: Any) -> int | None:
    """Memory of a GPU that this process can have: what is free, and what torch keeps for later tensors."""
    import torch

    try:
        free, _ = torch.cuda.mem_get_info(device)
        return int(free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device))
    except RuntimeError:
        return None


def _release(error: BaseException | None) -> None:
    """Clear the local variables of the frames that an error came through, except those that still run."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".:") if lines else type(error).__name__


def _in_gib(n_bytes: float) -> str:
    if n_bytes < _GIB / 10.0:
        return f"{max(n_bytes / float(1 << 20), 1.0):,.0f} MiB"
    return f"{n_bytes / _GIB:,.1f} GiB"
