"""Every rectifier keeps the contract, on sampled and population statistics."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import ConvergenceWarning, InputError
from tests.contracts import check_rectified

RECTIFIERS = {
    "ap": lambda C, K, **o: aw.rectify_ap(C, K, **{"max_iter": 400, "tol": 1e-5} | o),
    "enn": lambda C, K, **o: aw.rectify_enn(C, K, **o),
    "enn plain": lambda C, K, **o: aw.rectify_enn(C, K, **{"relaxation": 1.0, "tol": 1e-4} | o),
    "enn relaxed": lambda C, K, **o: aw.rectify_enn(C, K, **{"relaxation": 1.7, "tol": 1e-5} | o),
    "palm": lambda C, K, **o: aw.rectify_palm(C, K, **{"max_iter": 3000, "tol": 1e-5} | o),
    "ipalm": lambda C, K, **o: aw.rectify_palm(C, K, **{"max_iter": 3000, "tol": 1e-5, "inertial": True} | o),
}
every = pytest.mark.parametrize("rectify", RECTIFIERS.values(), ids=RECTIFIERS.keys())


@every
def test_contract_on_sampled_statistics(rectify, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    result = rectify(C, 5)
    assert result.converged
    check_rectified(result, C, 5)
    matrix = result.C if result.Y is None else result.Y @ result.Y.T
    # PALM trades the sum against the fit. For the others the correction left over, |E + r ee'|_F, bounds its own sum
    # by N times its norm.
    left_over = len(C) * result.history[-1].violation * np.linalg.norm(matrix)
    assert matrix.sum() == pytest.approx(1.0, abs=0.02 if result.method == "palm" else 1e-12 + left_over)
    assert matrix.min() >= -1e-4 * np.abs(matrix).max()


@every
def test_input_is_not_changed_and_the_answer_repeats(rectify, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    C.setflags(write=False)
    first, second = rectify(C, 4), rectify(C, 4)
    a, b = (r.C if r.Y is None else r.Y for r in (first, second))
    np.testing.assert_array_equal(a, b)


@every
def test_ending_on_max_iter_warns_and_says_what_to_try(rectify, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 .* raise max_iter") as caught:
        result = rectify(C, 5, max_iter=3, tol=1e-12)
    from sklearn.exceptions import ConvergenceWarning as Base

    assert issubclass(caught[0].category, Base)
    assert not result.converged
    assert result.n_iter == 3


@every
def test_tol_zero_runs_exactly_max_iter_without_a_warning(rectify, sampled):
    C = aw.cooccurrence(sampled.corpus.counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = rectify(C, 5, max_iter=7, tol=0)
    assert result.n_iter == 7
    assert result.converged


@every
def test_callback_follows_the_history(rectify, sampled):
    seen = []
    C = aw.cooccurrence(sampled.corpus.counts)
    result = rectify(C, 5, max_iter=4, tol=0, callback=lambda step, iteration: seen.append((step, iteration)))
    assert [step for step, _ in seen] == [1, 2, 3, 4]
    assert tuple(iteration for _, iteration in seen) == result.history


@every
@pytest.mark.parametrize(
    ("C", "message"),
    [
        (np.ones((3, 4)), r"square matrix.*\(3, 4\)"),
        (np.arange(9.0).reshape(3, 3), "symmetric"),
        (np.full((3, 3), np.nan), "finite"),
        (np.zeros((3, 3)), "all zeros"),
        (np.zeros((0, 0)), "empty|fit"),
    ],
)
def test_bad_matrices_get_one_sentence(rectify, C, message):
    with pytest.raises(InputError, match=message):
        rectify(C, 2)


@every
@pytest.mark.parametrize("K", [0, -1, 4, 2.5, "two", True])
def test_bad_number_of_topics(rectify, K):
    with pytest.raises(InputError, match="n_components"):
        rectify(np.eye(3) / 3, K)


@every
@pytest.mark.parametrize(
    ("name", "value"),
    [("max_iter", 0), ("max_iter", 1.5), ("tol", -1.0), ("tol", "small"), ("tol", float("nan"))],
)
def test_bad_loop_options(rectify, name, value):
    with pytest.raises(InputError, match=name):
        rectify(np.eye(3) / 3, 2, **{name: value})
