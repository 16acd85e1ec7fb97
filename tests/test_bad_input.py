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
    "text": (np.array([["a", "b"], ["c", "d"]]), "not a number|holds text"),
    "complex array": (np.eye(3) * 1j, "complex|Complex"),
    "masked": (np.ma.masked_array(GOOD, GOOD == 1), "masked"),
    "too large to be exact": (with_entry(1e200), "2\\^53"),
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


@pytest.mark.parametrize("index", [10_000_000, -5])
def test_sparse_indices_out_of_range(index):
    X = sp.csr_array(GOOD.astype(float))
    model = aw.AnchorTopicModel(2).fit(X)
    X.indices[3] = index
    for function in (aw.cooccurrence, aw.CooccurrenceOperator, aw.AnchorTopicModel(2).fit, model.transform):
        with pytest.raises(ValueError, match="not a valid sparse matrix"):
            function(X)


@pytest.mark.parametrize("X", [[[1, 2], [3]], None, "text", [["1", "2"]], object()])
def test_things_that_are_no_matrix(X):
    with pytest.raises(AnchorwordsError) as caught:
        aw.cooccurrence(X)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "C", [5.0, None, "text", [["a"]], [[1, 2], [3]], np.eye(3) * 1j, aw.CooccurrenceOperator(GOOD)]
)
@pytest.mark.parametrize("function", [aw.anchor_words, aw.rectify_ap])
def test_things_that_are_no_square_matrix(function, C):
    with pytest.raises(AnchorwordsError, match="C must"):
        function(C, 2)


def test_small_integers_do_not_overflow():
    where = ([0, 0, 1, 1, 1], [0, 0, 0, 1, 2])
    for dtype, values in ((np.uint8, [200, 100, 7, 8, 9]), (np.int8, [100, 100, 7, 8, 9])):
        narrow = sp.coo_array((np.array(values, dtype), where), shape=(2, 3))
        wide = sp.coo_array((np.array(values, float), where), shape=(2, 3))
        np.testing.assert_array_equal(aw.cooccurrence(narrow), aw.cooccurrence(wide))
        a, b = (aw.AnchorTopicModel(1).fit(X).components_ for X in (narrow, wide))
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("n_jobs", [0, 2.0, "2", True])
def test_bad_n_jobs(n_jobs):
    with pytest.raises(AnchorwordsError, match="n_jobs"):
        aw.AnchorTopicModel(2, n_jobs=n_jobs).fit(GOOD)


def test_numpy_integers_are_numbers(tmp_path):
    model = aw.AnchorTopicModel(
        np.int64(2), n_jobs=np.int64(2), rectifier=aw.ENN(max_iter=np.int64(900), tol=np.float32(1e-6))
    )
    model.fit(GOOD).save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").rectifier.max_iter == 900


def test_a_refused_refit_leaves_the_model_as_it_was():
    model = aw.AnchorTopicModel(2).fit(GOOD)
    weights = model.transform(GOOD)
    with pytest.raises(ValueError, match="Negative"):
        model.fit(-np.ones((3, 40)))
    assert model.n_features_in_ == 12
    np.testing.assert_array_equal(model.transform(GOOD), weights)


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
    X = sp.random_array((50, 400_000), density=1e-4, random_state=np.random.default_rng(0), format="csr")
    X.data = np.ceil(X.data)
    X = sp.hstack([X, sp.csr_array(np.ones((50, 2)))], format="csr")
    # Every word occurs somewhere, or the unused ones would be dropped first.
    X = sp.vstack([X, sp.csr_array(np.ones((1, 400_002)))], format="csr")
    for rectifier in ("ap", None):
        with pytest.raises(AnchorwordsError, match=r"GiB.*(ENN|enn)"):
            aw.AnchorTopicModel(2, rectifier=rectifier).fit(X)
