"""Every bad input gets one clear sentence, from the estimator and from the functions, and never a kernel's traceback."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import AnchorwordsError, FractionalCountsWarning

GOOD = np.random.default_rng(0).integers(0, 4, (20, 12))


def with_entry(value):
    X = GOOD.astype(float)
    X[3, 4] = value
    return X


BAD = {
    "negative": (with_entry(-1), "Negative values in data"),
    "nan": (with_entry(np.nan), "NaN or infinity"),
    "infinite": (with_entry(np.inf), "NaN or infinity"),
    "sparse nan": (sp.csr_array(with_entry(np.nan)), "NaN or infinity"),
    "sparse negative": (sp.csc_matrix(with_entry(-2)), "Negative"),
    "no documents": (np.zeros((0, 5)), "0 sample|no documents"),
    "no words": (np.zeros((5, 0)), r"0 feature|no words"),
    "all zero": (np.zeros((5, 5)), "needs two tokens"),
    "all too short": (np.eye(5), "needs two tokens"),
    "one dimension": (np.ones(5), "1D array|two-dimensional|Expected 2D"),
    "three dimensions": (np.ones((2, 2, 2)), "dim 3|dimension"),
    "text": (np.array([["a", "b"], ["c", "d"]]), "not a number|could not convert|numeric"),
    "complex": (sp.csr_array(np.eye(3) * 1j), "real numbers|Complex"),
}


@pytest.mark.parametrize("name", BAD)
def test_estimator(name):
    X, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        aw.AnchorTopicModel(2).fit(X)


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("function", [aw.cooccurrence, aw.CooccurrenceOperator])
def test_functions(name, function):
    X, message = BAD[name]
    with pytest.raises(AnchorwordsError, match=message) as caught:
        function(X)
    assert "\n" not in str(caught.value)


def test_more_topics_than_usable_words():
    with pytest.raises(AnchorwordsError, match=r"n_components=13 exceeds the 12 usable words"):
        aw.AnchorTopicModel(13).fit(GOOD)
    X = GOOD.copy()
    X[:, 5:] = 0
    with pytest.raises(AnchorwordsError, match="exceeds the 5 usable words"):
        aw.AnchorTopicModel(6).fit(X)


@pytest.mark.parametrize("K", [0, -3, 2.0, "2", None, True])
def test_topics_that_are_no_number(K):
    with pytest.raises(AnchorwordsError, match="n_components must be"):
        aw.AnchorTopicModel(K).fit(GOOD)


def test_transform_of_other_columns():
    model = aw.AnchorTopicModel(2).fit(GOOD)
    with pytest.raises(ValueError, match="13 features"):
        model.transform(np.ones((2, 13)))
    with pytest.raises(ValueError, match="Negative"):
        model.transform(-np.ones((2, 12)))


def test_fractional_counts_warn_and_go_on():
    with pytest.warns(FractionalCountsWarning, match="whole numbers"):
        model = aw.AnchorTopicModel(2).fit(GOOD + 0.25)
    assert np.isfinite(model.components_).all()


def test_extreme_but_legal_counts():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (30, 10)) * 10**9
    X[0] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = aw.AnchorTopicModel(2).fit(X)
    assert np.isfinite(model.components_).all()


def test_too_large_for_a_dense_method_names_enn():
    X = sp.random_array((50, 400_000), density=1e-4, rng=np.random.default_rng(0), format="csr")
    X.data = np.ceil(X.data)
    X = sp.hstack([X, sp.csr_array(np.ones((50, 2)))], format="csr")
    # Every word occurs somewhere, or the unused ones would be dropped first.
    X = sp.vstack([X, sp.csr_array(np.ones((1, 400_002)))], format="csr")
    for rectifier in ("ap", None):
        with pytest.raises(AnchorwordsError, match=r"GiB.*(ENN|enn)"):
            aw.AnchorTopicModel(2, rectifier=rectifier).fit(X)
