"""Non-negative least squares that can be relied on with every SciPy we support."""

from __future__ import annotations

import numpy as np
from scipy.optimize import lsq_linear


def nnls(A, b):
    """The non-negative x with the shortest A x - b.

    Not by ``scipy.optimize.nnls``: before SciPy 1.15 it gives up on repeated columns, and in 1.15 it can be wrong.
    """
    return lsq_linear(A, b, bounds=(0.0, np.inf), method="bvls", tol=1e-14).x
