"""Hypothesis strategies: count matrices as users bring them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


@st.composite
def counts(draw, max_docs: int = 12, max_words: int = 10):
    """Whole counts with at least one document of two tokens; empty rows and columns are likely."""
    shape = draw(st.tuples(st.integers(1, max_docs), st.integers(1, max_words)))
    X = draw(hnp.arrays(np.int64, shape, elements=st.one_of(st.just(0), st.integers(0, 6))))
    if (X.sum(axis=1) < 2).all():
        X[0, 0] += 2
    return X


@st.composite
def weights(draw):
    """Fractional counts, every document of at least two tokens."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(2, 8)))
    X = draw(hnp.arrays(np.float64, shape, elements=st.floats(0.0, 3.0, allow_subnormal=False)))
    X[:, 0] += 2.25
    return X
