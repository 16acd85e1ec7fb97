"""Documents put end to end, as compiled code takes them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


def end_to_end(documents: Sequence[bytes]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return the documents as one, and its bounds: document i is ``whole[bounds[i]:bounds[i + 1]]``."""
    bounds = np.zeros(len(documents) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, documents), np.int64, len(documents)), out=bounds[1:])
    return b"".join(documents), bounds
