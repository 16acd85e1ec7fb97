from __future__ import annotations

import numpy as np
import pytest

from anchorwords.anchors.lowrank import low_rank_anchor_words

ODD_WORDS = ("$x$", "<b>&amp;", "a\x07b\n", "機械学習", "🙂", "\ud800", "_under", "a\u202eb", "50\\$", "")


@pytest.fixture(scope="session")
def model_of():
    """Function (N, K) -> model of a random non-negative compression, with words w0, w1, ..."""

    def make(N, K, seed=0, words=None):
        rng = np.random.default_rng(seed)
        Y = rng.gamma(0.3, size=(N, K)) + 1e-4
        model = low_rank_anchor_words(Y / np.sqrt((Y.sum(axis=0) ** 2).sum()))
        return model.with_vocabulary(words or [f"w{i}" for i in range(N)])

    return make
