"""How much memory a dense matrix would take, and whether it is there."""

from __future__ import annotations

import os
from pathlib import Path

from .exceptions import TooLargeError

_GIB = float(1 << 30)
# What libraries say that allocate memory of a GPU next to torch.
_FULL = (
    "CUDA out of memory", "CUDA error: out of memory", "Triton Error [CUDA]: out of memory", "STATUS_ALLOC_FAILED",
)  # fmt: skip


def available_bytes() -> int | None:
    """Memory that can be had now, the container's limit included; None where the system does not say."""
    candidates = [_meminfo_available(), _cgroup_headroom()]
    known = [value for value in candidates if value is not None]
    if known:
        return min(known)
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _meminfo_available() -> int | None:
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return None


def _cgroup_headroom() -> int | None:
    root = Path("/sys/fs/cgroup")
    try:
        limit = (root / "memory.max").read_text(encoding="ascii").strip()
        used = (root / "memory.current").read_text(encoding="ascii").strip()
    except OSError:
        return None
    return None if limit == "max" else max(int(limit) - int(used), 0)


def gpu_is_full(error: BaseException) -> bool:
    """Whether an error says that the memory of a GPU is not enough: torch's own, or one of CUDA's libraries or of Triton."""
    import torch  # it is there if anything runs on a GPU

    if isinstance(error, torch.OutOfMemoryError):
        return True
    said = str(error)
    return isinstance(error, RuntimeError) and any(sign in said for sign in _FULL)


def require_dense(n_words: int, copies: float, what: str, alternative: str) -> None:
    """Refuse a dense N x N computation that cannot fit.

    Parameters
    ----------
    n_words : int
        N.
    copies : float
        How many N x N float64 matrices are alive at the peak.
    what, alternative : str
        The computation and what to use instead, for the message.

    Raises
    ------
    TooLargeError
        When the peak exceeds the memory available now.
    """
    needed = copies * 8.0 * n_words * n_words
    available = available_bytes()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{what} holds dense {n_words:,} x {n_words:,} matrices and would take {needed / _GIB:,.1f} GiB, "
            f"but {available / _GIB:,.1f} GiB are available: {alternative}"
        )
