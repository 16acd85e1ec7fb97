"""Effects of covariates: agreement with regressions written out, invariances, and recovery of known effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.effects import responses
from anchorwords.effects.calibration import calibration, simulated
from anchorwords.effects.responses import METHODS, unbiased_weights
from anchorwords.exceptions import InputError
from anchorwords.infer.prior import prior_of
from tests.interpret.records import record_of

pytest.importorskip("formulaic")
K = 4
# Sums of some hundred numbers in another order, and a triangular solve of a well-conditioned matrix.
ROUNDING = 1e-9


def model_with(alpha, B):
    total = alpha.sum()
    return replace(record_of(B), A=(np.outer(alpha, alpha) + np.diag(alpha)) / (total * (total + 1.0)))


@pytest.fixture(scope="module")
def model():
    return model_with(np.array([1.0, 0.5, 0.8, 1.2]), make_topics(n_docs=2, n_words=120, n_topics=K, random_state=0).B)


@pytest.fixture(scope="module")
def drawn(model):
    """Counts and covariates: the first topic grows by 0.2 over the unit interval of x, the second falls."""
    return draw(model, np.random.default_rng(0), 300, 40)


def draw(model, rng, n, length, slope=0.2):
    x, kind = rng.uniform(size=n), rng.choice(["a", "b", "c"], n)
    mean = np.full(K, 1.0 / K) + np.outer(x - 0.5, [slope, -slope, 0.0, 0.0])
    w = np.array([rng.dirichlet(K * one) for one in mean])
    counts = np.array([rng.multinomial(rng.poisson(length) + 1, p / p.sum()) for p in w @ model.B.T])
    return sp.csr_array(counts.astype(float)), {"x": x, "kind": kind.tolist(), "year": rng.integers(1990, 2010, n)}


def by_hand(Z, Y, a):
    """Weighted least squares with an HC2 sandwich, by the textbook: coefficients and their covariances."""
    bread = np.linalg.inv(Z.T @ (a[:, None] * Z))
    beta = bread @ Z.T @ (a[:, None] * Y)
    leverage = a * np.einsum("mp,pq,mq->m", Z, bread, Z)
    covariances = []
    for k in range(Y.shape[1]):
        e = Y[:, k] - Z @ beta[:, k]
        covariances.append(bread @ (Z.T @ ((a**2 * e**2 / (1 - leverage))[:, None] * Z)) @ bread)
    return beta, np.array(covariances)


def dummies(data):
    kind = np.array(data["kind"])
    return np.column_stack([np.ones(kind.size), kind == "b", kind == "c", data["x"]]).astype(float)


def test_calibrated_proportions_are_shares_of_words_if_topics_share_none():
    """Then the posterior mean is (n_k + alpha_k) / (n + alpha_0), whose shrinkage is known: undoing it leaves n_k / n."""
    model = model_with(np.array([1.0, 0.5, 0.8, 1.2]), np.eye(K))
    rng = np.random.default_rng(4)
    counts = rng.multinomial(20, rng.dirichlet([1.0, 0.5, 0.8, 1.2], size=500))
    alpha = prior_of(model.A).parameters
    exact = (20 * np.eye(K) + alpha[None, :]) / (20 + alpha.sum())
    # Entries of the matrix are known to about 1 %.
    np.testing.assert_allclose(np.linalg.inv(calibration(model, np.full(500, 20.0))), exact, atol=0.01)
    found = aw.estimate_effects(model, counts, "x", data={"x": counts[:, 0] / 20.0})
    np.testing.assert_allclose(found.estimate[1, 0], 1.0, atol=0.03)
    np.testing.assert_allclose(found.estimate.sum(axis=1), [1.0, 0.0], atol=1e-9)


def test_simulated_documents_follow_the_model(model):
    lengths = np.random.default_rng(0).integers(0, 80, 3000).astype(float)
    theta, counts = simulated(model, lengths)
    n = counts.sum(axis=1)
    np.testing.assert_allclose(
        np.quantile(n, [0.1, 0.5, 0.9]), np.quantile(lengths[lengths > 0], [0.1, 0.5, 0.9]), atol=1
    )
    prior = prior_of(model.A).parameters
    # Means of 20,000 documents with a standard deviation of at most 0.3.
    np.testing.assert_allclose(theta.mean(axis=0), prior / prior.sum(), atol=4 * 0.3 / 20_000**0.5)
    expected = (n[:, None] * (theta @ model.B.T)).sum(axis=0)
    # Poisson errors of sums, at five standard deviations.
    assert (np.abs(counts.sum(axis=0) - expected) < 5 * np.sqrt(expected + 1)).all()
    again = simulated(model, np.random.default_rng(1).permutation(lengths))
    np.testing.assert_array_equal(theta, again[0])
    assert (counts != again[1]).nnz == 0


def test_topics_that_cannot_be_told_apart_are_refused(model):
    twins = model_with(np.array([1.0, 1.0, 1.0, 1.0]), model.B[:, [0, 1, 1, 2]])
    with pytest.raises(InputError, match="cannot tell some topics"):
        calibration(twins, np.full(50, 10.0))


def test_long_documents_leave_nothing_to_estimate(model):
    """With thousands of tokens the proportions are known: all methods agree with a regression on the truth."""
    rng = np.random.default_rng(6)
    x = rng.uniform(size=300)
    w = rng.dirichlet(np.ones(K), size=300)
    w[:, 0] += x
    w /= w.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(20_000, p / p.sum()) for p in w @ model.B.T])
    Z, a = np.column_stack([np.ones(300), x]), rng.uniform(0.5, 2.0, 300)
    truth = by_hand(Z, w, a)[0]
    for method in METHODS:
        found = aw.estimate_effects(model, counts, "x", data={"x": x}, weights=a, method=method)
        # The error of a proportion is sqrt(w / n), below 0.01; averaged over 300 documents, below 0.002.
        np.testing.assert_allclose(found.estimate, truth, atol=0.005)


@pytest.mark.parametrize("weighted", [False, True])
def test_agrees_with_the_textbook(model, drawn, weighted):
    counts, data = drawn
    a = np.random.default_rng(1).uniform(0.1, 5, 300) if weighted else np.ones(300)
    found = aw.estimate_effects(model, counts, "C(kind) + x", data=data, weights=a if weighted else None, level=0.8,
                                method="unbiased")  # fmt: skip
    Y = (counts.toarray() / counts.sum(axis=1)[:, None]) @ unbiased_weights(model.B, model.prevalence)
    beta, covariances = by_hand(dummies(data), Y, a)
    assert found.terms == ("Intercept", "C(kind)[T.b]", "C(kind)[T.c]", "x")
    np.testing.assert_allclose(found.estimate, beta, rtol=ROUNDING, atol=ROUNDING)
    error = np.sqrt(np.diagonal(covariances, axis1=1, axis2=2)).T
    np.testing.assert_allclose(found.std_error, error, rtol=ROUNDING)
    half = stats.t.ppf(0.9, 296) * error
    np.testing.assert_allclose(found.upper - found.lower, 2 * half, rtol=ROUNDING)
    np.testing.assert_allclose(found.p_value, 2 * stats.t.sf(np.abs(beta / error), 296), rtol=1e-6, atol=1e-12)
    # Unbiased proportions sum to one: so do intercepts, and effects sum to zero.
    np.testing.assert_allclose(found.estimate.sum(axis=1), [1, 0, 0, 0], atol=ROUNDING)


def test_posterior_means_by_the_method_of_composition(model, drawn):
    counts, data = drawn
    found = aw.estimate_effects(model, counts, "x", data=data, method="posterior-mean")
    from anchorwords.interpret.compositions import document_compositions
    from anchorwords.sources.convert import as_source

    Y = np.concatenate([w for w, _ in document_compositions(model, as_source(counts))])
    Z = np.column_stack([np.ones(300), data["x"]])
    np.testing.assert_allclose(found.estimate, by_hand(Z, Y, np.ones(300))[0], rtol=ROUNDING, atol=ROUNDING)
    # Draws of each document's posterior, regressed and combined by Rubin's rules.
    rng, concentration = np.random.default_rng(2), counts.sum(axis=1) + prior_of(model.A).parameters.sum()
    coefficients, within = [], []
    for _ in range(600):
        gamma = rng.gamma(Y * concentration[:, None])
        beta, covariances = by_hand(Z, gamma / gamma.sum(axis=1, keepdims=True), np.ones(300))
        coefficients.append(beta)
        within.append(np.diagonal(covariances, axis1=1, axis2=2).T)
    total = np.mean(within, axis=0) + (1 + 1 / 600) * np.var(coefficients, axis=0, ddof=1)
    # A variance of 600 draws is known to sqrt(2 / 600), 6 %, and is less than half of the total.
    np.testing.assert_allclose(found.std_error, np.sqrt(total), rtol=0.06)


def test_unbiased_weights(model):
    weights = unbiased_weights(model.B, model.prevalence)
    np.testing.assert_allclose(weights.T @ model.B, np.eye(K), atol=1e-10)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-10)
    with pytest.raises(InputError, match="linearly dependent"):
        unbiased_weights(model.B[:, [0, 1, 1, 2]], model.prevalence)


def test_any_order_blocks_and_threads(model, drawn, monkeypatch):
    counts, data = drawn
    expected = aw.estimate_effects(model, counts, "bs(x, df=4) + C(kind)", data=data)
    order = np.random.default_rng(3).permutation(300)
    moved = {name: np.asarray(values)[order].tolist() for name, values in data.items()}
    monkeypatch.setattr(responses, "BLOCK", 7 * 40)
    for X, given in ((counts[order], moved), ([counts[:11], counts[11:]], data), (counts, data)):
        for n_jobs in (1, 2):
            found = aw.estimate_effects(model, X, "bs(x, df=4) + C(kind)", data=given, n_jobs=n_jobs)
            assert found.terms == expected.terms
            for name in ("estimate", "std_error", "lower", "upper", "p_value"):
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-7, atol=1e-10)


def test_contrasts_are_differences_of_predictions_in_any_coding(model, drawn):
    counts, data = drawn
    grid = {"kind": ["a", "b", "c"], "x": 0.3}
    first = None
    for coding in ("C(kind)", "C(kind, contr.sum)", "C(kind, contr.treatment('b'))", "0 + C(kind)"):
        found = aw.estimate_effects(model, counts, f"{coding} + x", data=data)
        predicted = found.predict(grid)
        contrast = found.contrast({"kind": "c", "x": 0.3}, {"kind": "a", "x": 0.3})
        np.testing.assert_allclose(contrast.estimate[0], predicted.estimate[2] - predicted.estimate[0], atol=1e-12)
        first = first or (predicted, contrast)
        for one, other in ((predicted, first[0]), (contrast, first[1])):
            np.testing.assert_allclose(one.estimate, other.estimate, atol=1e-10)
            np.testing.assert_allclose(one.std_error, other.std_error, rtol=1e-8)
    found = aw.estimate_effects(model, counts, "C(kind) + x", data=data)
    coefficient = found.contrast("C(kind)[T.c]")
    np.testing.assert_allclose(coefficient.lower, first[1].lower, atol=1e-10)
    both = found.contrast("C(kind)[T.c]", "C(kind)[T.b]")
    np.testing.assert_allclose(both.estimate[0], found.estimate[2] - found.estimate[1], atol=1e-12)


def test_a_contrast_says_what_other_columns_are_held_at(model, drawn):
    counts, data = drawn
    found = aw.estimate_effects(model, counts, "C(kind) * x", data=data)
    by_kind = found.contrast({"kind": "c"}, {"kind": "a"})
    assert by_kind.held == {"x": pytest.approx(np.mean(data["x"]))}
    assert f"Columns that are not given: x={np.mean(data['x']):g} (mean)." in str(by_kind)
    expected = found.predict({"kind": ["c", "a"], "x": np.mean(data["x"])}).estimate
    np.testing.assert_allclose(by_kind.estimate[0], expected[0] - expected[1], atol=1e-12)
    by_x = found.contrast({"x": 1.0}, {"x": 0.0})
    kinds, sizes = np.unique(data["kind"], return_counts=True)
    assert f"Columns that are not given: kind={kinds[np.argmax(sizes)]} (most frequent value)." in str(by_x)
    both = found.contrast({"kind": "c", "x": 1.0}, {"kind": "a", "x": 1.0})
    assert both.held == found.contrast("x").held == {}
    assert "not given" not in str(both)


def test_moving_the_origin_of_a_covariate_changes_nothing(model, drawn):
    counts, data = drawn
    far = {"year": data["year"] + 1e4, "near": data["year"] - 2000.0}
    one = aw.estimate_effects(model, counts, "poly(year, 3)", data=far).predict({"year": [11990.0, 12003.0]})
    other = aw.estimate_effects(model, counts, "near + I(near**2) + I(near**3)", data=far).predict(
        {"near": [-10.0, 3.0]}
    )
    np.testing.assert_allclose(one.estimate, other.estimate, atol=1e-7)
    np.testing.assert_allclose(one.std_error, other.std_error, rtol=1e-5)


def test_documents_left_out_are_counted(model, drawn):
    counts, data = drawn
    x, kind = np.array(data["x"]), list(data["kind"])
    x[3], kind[5] = np.nan, None
    changed = counts.toarray()
    changed[9] = 0
    found = aw.estimate_effects(model, changed, "x + C(kind)", data={"x": x, "kind": kind})
    assert (found.n_docs, found.n_missing, found.n_without_words) == (297, 2, 1)
    rest = np.setdiff1d(np.arange(300), [3, 5, 9])
    alone = {"x": x[rest], "kind": [kind[m] for m in rest]}
    expected = aw.estimate_effects(model, changed[rest], "x + C(kind)", data=alone)
    np.testing.assert_allclose(found.std_error, expected.std_error, rtol=ROUNDING)
    assert "left out: 2 with a missing value and 1 without a known word" in str(found)


def test_a_category_of_one_document_has_no_standard_error(model, drawn):
    counts, data = drawn
    found = aw.estimate_effects(model, counts, "C(kind)", data={"kind": ["only", *data["kind"][1:]]})
    nan = np.isnan(found.std_error).all(axis=1)
    assert dict(zip(found.terms, nan.tolist(), strict=True)) == {
        "Intercept": False, "C(kind)[T.b]": False, "C(kind)[T.c]": False, "C(kind)[T.only]": True,
    }  # fmt: skip
    assert np.isfinite(found.estimate).all()
    assert np.isfinite(found.predict({"kind": ["a", "b"]}).std_error).all()


def test_some_topics_dates_and_rows(model, drawn):
    counts, data = drawn
    edited = replace(model, ids=(10, 3, 7, 8), labels=("one", "two", "three", "four"))
    days = np.datetime64("1990-01-01") + (data["x"] * 3652.425).astype(int)
    table = {"day": days.astype("datetime64[D]")}
    found = aw.estimate_effects(edited, counts, "day", data=table, topics=[7, 3])
    assert (found.topics, found.labels) == ((7, 3), ("three", "two"))
    everything = aw.estimate_effects(edited, counts, "day", data=table)
    np.testing.assert_allclose(found.estimate, everything.estimate[:, [2, 1]], rtol=ROUNDING)
    # Dates are decimal years: ten of them are the unit interval of x.
    by_x = aw.estimate_effects(edited, counts, "x", data=data)
    np.testing.assert_allclose(everything.estimate[1] * 10, by_x.estimate[1], atol=1e-4)
    rows = found.table(3)
    assert [row["term"] for row in rows] == ["Intercept", "day"]
    assert list(rows[0]) == ["topic", "label", "term", "estimate", "std_error", "lower", "upper", "p_value"]
    curve = found.predict({"day": np.array(["1995-01-01"], dtype="datetime64[D]")}, topics=[3])
    assert curve.estimate.shape == (1, 1)
    assert found.to_frame().shape == (4, 8)
    assert "two" in found._repr_html_()
    assert "Dates (day) are decimal years: their coefficients are per year." in str(found)
    assert "decimal years" not in str(by_x)


def test_replicates_of_the_topics_widen_intervals(sampled):
    fitted = aw.AnchorTopicModel(5).fit(sampled.corpus)
    data = {"x": sampled.compositions[:, 0] + np.random.default_rng(0).normal(size=600)}
    fixed = aw.estimate_effects(fitted, sampled.corpus, "x", data=data)
    found = aw.estimate_effects(fitted, sampled.corpus, "x", data=data, replicates=6)
    again = aw.estimate_effects(fitted, sampled.corpus, "x", data=data, replicates=6)
    np.testing.assert_array_equal(found.estimate, fixed.estimate)
    np.testing.assert_array_equal(found.std_error, again.std_error)
    assert (found.std_error > fixed.std_error).all()
    assert (found.n_replicates, fixed.n_replicates) == (6, 0)
    for method in ("unbiased", "posterior-mean"):
        fixed, found = (
            aw.estimate_effects(fitted, sampled.corpus, "x", data=data, replicates=n, method=method) for n in (0, 6)
        )
        np.testing.assert_array_equal(found.estimate, fixed.estimate)
        assert (found.std_error > fixed.std_error).all()


@pytest.mark.parametrize(
    ("formula", "options", "sentence"),
    [
        ("nowhere", {}, "no column"),
        ("x + nowhere", {}, "nowhere"),
        ("x +", {}, "cannot be used"),
        ("y ~ x", {}, "right-hand side"),
        ("", {}, "must be a string"),
        ("x + I(2*x)", {}, "linearly dependent"),
        ("log(zero)", {}, "finite"),
        ("many", {}, "lists"),
        ("x", {"level": 90}, "between 0 and 1"),
        ("x", {"topics": [9]}, "no topic 9"),
        ("x", {"topics": []}, "at least one"),
        ("x", {"topics": 3}, "list of topic ids"),
        ("s(x)", {}, r"bs\(year, df=4\)"),
        ("x", {"weights": [1.0]}, "one number for each"),
        ("x", {"weights": [-1.0] * 300}, "negative"),
        ("x", {"method": "mode"}, "one of"),
        ("x", {"replicates": 1}, "at least 2"),
        ("C(each)", {}, "coefficients"),
        ("gone", {}, "no document"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_bad_input_gives_a_sentence(model, drawn, formula, options, sentence):
    counts, data = drawn
    more = {"zero": np.zeros(300), "many": [["a"]] * 300, "each": [f"d{m}" for m in range(300)], "gone": [np.nan] * 300}
    with pytest.raises(InputError, match=sentence) as caught:
        aw.estimate_effects(model, counts, formula, data=data | more, **options)
    assert "\n" not in str(caught.value)


def test_too_many_categories_are_refused(model):
    counts = np.random.default_rng(0).poisson(1.0, size=(700, model.n_words)) + 1.0
    names = [f"name {m // 2}" for m in range(700)]
    with pytest.raises(InputError, match="350 different texts, such as 'name 0'"):
        aw.estimate_effects(model, counts, "C(name)", data={"name": names})
    with pytest.raises(InputError, match="350 coefficients"):
        aw.estimate_effects(model, counts, "C(number)", data={"number": np.arange(700) // 2})


def test_bad_values_give_a_sentence(model, drawn):
    counts, data = drawn
    found = aw.estimate_effects(model, counts, "x + C(kind)", data=data)
    for call, sentence in (
        (lambda: found.predict({"z": 1}), "no column"),
        (lambda: found.predict({"kind": ["d"]}), "no value"),
        (lambda: found.predict({"x": ["a"]}), "numbers"),
        (lambda: found.predict({"x": [1, 2], "kind": ["a", "b", "c"]}), "same length"),
        (lambda: found.predict({"x": 1}, topics=[9]), "no topic 9"),
        (lambda: found.contrast({"x": 1}), "two sets"),
        (lambda: found.contrast("x", {"x": 1}), "one of each"),
        (lambda: found.contrast("z"), "no term"),
        (lambda: found.contrast({"x": [1, 2]}, {"x": 1}), "one value"),
        (lambda: found.table(9), "no topic 9"),
    ):
        with pytest.raises(InputError, match=sentence):
            call()


def test_short_documents_do_not_attenuate_effects(model):
    counts, data = draw(model, np.random.default_rng(5), 3000, 12)
    for method in ("calibrated", "unbiased"):
        found = aw.estimate_effects(model, counts, "x", data=data, level=0.999, method=method)
        assert (found.lower[1] <= [0.2, -0.2, 0, 0]).all()
        assert (found.upper[1] >= [0.2, -0.2, 0, 0]).all()
    shrunk = aw.estimate_effects(model, counts, "x", data=data, method="posterior-mean", level=0.999)
    assert shrunk.upper[1, 0] < 0.2  # why it is not the default


@pytest.mark.parametrize("method", [pytest.param("calibrated", marks=pytest.mark.slow), "unbiased"])
def test_intervals_cover_known_effects(model, method):
    held = []
    for seed in range(150):
        counts, data = draw(model, np.random.default_rng([9, seed]), 200, 25)
        found = aw.estimate_effects(model, counts, "x + C(kind)", data=data, method=method)
        truth = np.array([[0.2, -0.2, 0, 0], [0] * 4, [0] * 4])
        rows = [found.terms.index(term) for term in ("x", "C(kind)[T.b]", "C(kind)[T.c]")]
        held.append((found.lower[rows] <= truth) & (truth <= found.upper[rows]))
    # 150 trials of four dependent topics: a standard error of 0.02 for any one row.
    np.testing.assert_allclose(np.mean(held, axis=(0, 2)), 0.9, atol=0.05)
