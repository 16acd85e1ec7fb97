"""Topics over time: prevalence, trends and words."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.trends import over_time
from anchorwords.trends.regression import TrendSums, adjusted_p_values
from tests.interpret.records import random_topics, record_of

# Sums of some hundred numbers in another order.
ROUNDING = 1e-11


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


@pytest.fixture(scope="module")
def years():
    return np.random.default_rng(0).integers(1960, 1973, size=600)


def same(found, expected):
    assert found.periods == expected.periods
    for name in ("n_docs", "n_tokens", "prevalence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-8, atol=1e-10, err_msg=name)
    for line in ("by_periods", "by_documents"):
        for one, other in zip(getattr(found, line), getattr(expected, line), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-10)
    for one, other in zip(found.word_counts, expected.word_counts, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("by_tokens", [False, True])
def test_periods_as_groups_agree_with_prevalence_by(model, sampled, years, by_tokens):
    found = aw.topics_over_time(model, sampled.corpus, years, by_tokens=by_tokens)
    groups = aw.prevalence_by(model, sampled.corpus, years, by_tokens=by_tokens, min_docs=1)
    assert found.periods == groups.groups
    for ours, theirs in (("prevalence", "prevalence"), ("lower", "low"), ("upper", "high"), ("n_docs", "n_docs")):
        np.testing.assert_allclose(getattr(found, ours), getattr(groups, theirs), rtol=ROUNDING, atol=1e-14)


def test_any_form_order_and_blocks_are_the_same(model, sampled, years, tmp_path, monkeypatch):
    corpus = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents={"year": years})
    expected = aw.topics_over_time(model, corpus)
    assert expected.by == "year"
    corpus.save(tmp_path / "c")
    order = np.random.default_rng(1).permutation(600)
    same(aw.topics_over_time(model, aw.open_corpus(tmp_path / "c")), expected)
    same(aw.topics_over_time(model.model_, corpus[order], n_jobs=2), expected)
    same(aw.topics_over_time(model, [corpus.counts[:100], corpus.counts[100:]], years), expected)
    words = np.random.default_rng(2).permutation(corpus.n_words)
    shuffled = aw.Corpus(corpus.counts[:, words], [corpus.vocabulary[i] for i in words])
    same(aw.topics_over_time(model, shuffled, years), expected)
    monkeypatch.setattr(over_time, "_SHARES", 5 * 7)  # seven documents at a time
    same(aw.topics_over_time(model, lambda: [corpus.counts[:7], corpus.counts[7:]], years), expected)


@pytest.mark.parametrize("errors", ["periods", "documents"])
def test_the_table_follows_from_slopes_and_errors(model, sampled, years, errors):
    found = aw.topics_over_time(model, sampled.corpus, years)
    table = {row["topic"]: row for row in found.trends(level=0.8, errors=errors).rows()}
    line = found.by_periods if errors == "periods" else found.by_documents
    one, other = (stats.t(600 - 2), line.error), (stats.t(line.freedom), line.shared_error)
    for k in range(5):
        assert table[k]["slope"] == line.slope[k]
        half = [law.ppf(0.9) * error[k] for law, error in (one, other)]
        p = [2 * law.sf(abs(line.slope[k]) / error[k]) for law, error in (one, other)]
        take = max if errors == "periods" else (lambda values: values[0])
        assert table[k]["upper"] - table[k]["slope"] == pytest.approx(take(half), rel=1e-9)
        assert table[k]["slope"] - table[k]["lower"] == pytest.approx(take(half), rel=1e-9)
        assert table[k]["p_value"] == pytest.approx(take(p), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_regression_is_the_textbook_one(weighted):
    rng = np.random.default_rng(0)
    t, w = rng.uniform(1990, 2020, 200), rng.dirichlet(np.ones(3), 200)
    a = rng.integers(1, 50, 200).astype(float) if weighted else np.ones(200)
    periods = ((t - 1990) // 5).astype(int)
    sums = TrendSums(t, np.full(3, 1 / 3), 6)
    for rows in np.array_split(np.arange(200), 7):
        sums.add(periods[rows], t[rows], w[rows], a[rows])
    slope, error, *_ = sums.line(levelled=False)
    Z = np.column_stack([np.ones(200), t - t.mean()])
    bread = np.linalg.inv(Z.T * a @ Z)
    for k in range(3):
        beta = bread @ (Z.T * a @ w[:, k])
        e = w[:, k] - Z @ beta
        V = bread @ (Z.T * (a * e) ** 2 @ Z) @ bread * 200 / 198
        assert slope[k] == pytest.approx(beta[1], rel=1e-9)
        assert error[k] == pytest.approx(np.sqrt(V[1, 1]), rel=1e-9)
    # Proportions sum to one, so that slopes sum to zero.
    assert slope.sum() == pytest.approx(0.0, abs=1e-15)


def test_slopes_are_those_of_a_line_through_inferred_proportions(model, sampled):
    """Two routes: sums in one pass, and NumPy's own line through what ``transform`` returns."""
    rng = np.random.default_rng(5)
    day = np.datetime64("2001-01-01") + rng.integers(0, 4000, 600).astype("m8[D]")
    found = aw.topics_over_time(model, sampled.corpus, day, "YE", n_words=0)
    years = day.astype(np.int64) / 365.2425
    W = model.transform(sampled.corpus)
    np.testing.assert_allclose(found.by_documents.slope, np.polyfit(years, W, 1)[0], rtol=1e-6, atol=1e-12)
    code = np.unique(day.astype("M8[Y]"), return_inverse=True)[1]
    weight = 1.0 / (1.0 + found.by_periods.ratio * np.bincount(code))[code]
    line = np.polyfit(years, W, 1, w=np.sqrt(weight))[0]
    np.testing.assert_allclose(found.by_periods.slope, line, rtol=1e-6, atol=1e-12)


def test_proportions_that_are_all_the_same_have_no_trend():
    found = aw.topics_over_time(record_of(np.full((3, 1), 1 / 3)), np.ones((60, 3)), np.repeat(np.arange(6), 10))
    (row,) = found.trends().rows()
    assert (row["slope"], row["p_value"], row["verdict"]) == (0.0, 1.0, "no clear trend")
    y = np.full((60, 1), 0.3)
    sums = TrendSums(np.arange(60.0), np.array([0.1]), 6)
    sums.add(np.repeat(np.arange(6), 10), np.arange(60.0), y, np.ones(60))
    assert sums.line(levelled=True).slope.tolist() == [0.0]


def test_adjusted_p_values():
    p = np.random.default_rng(0).uniform(size=30) ** 3
    np.testing.assert_allclose(adjusted_p_values(p), stats.false_discovery_control(p), rtol=1e-12)
    np.testing.assert_allclose(adjusted_p_values(np.array([np.nan, 0.2])), [np.nan, 0.2])


def drifting(rng, n_docs=1500, length=80):
    """Topics of separate words, of which the first rises by 0.02 a year and the second falls; others stay."""
    B = np.kron(np.eye(4), np.ones((10, 1)) / 10)
    year = rng.integers(2000, 2010, n_docs)
    mean = np.column_stack([0.15 + 0.02 * (year - 2000), 0.35 - 0.02 * (year - 2000), *[np.full(n_docs, 0.25)] * 2])
    shares = np.array([rng.dirichlet(4 * row) for row in mean])
    counts = np.array([rng.multinomial(length, row) for row in shares @ B.T])
    return B, year, counts


def test_a_linear_drift_is_recovered():
    B, year, counts = drifting(np.random.default_rng(0))
    found = aw.topics_over_time(record_of(B), counts, year)
    trends = {row["topic"]: row for row in found.trends(level=0.999).rows()}
    for k, slope in enumerate((0.02, -0.02, 0.0, 0.0)):
        # Topics of separate words: proportions are shares of words, drawn in towards the prior by far less than the error.
        assert trends[k]["lower"] < slope < trends[k]["upper"]
    assert [trends[k]["verdict"] for k in range(2)] == ["rising", "falling"]
    assert trends[0]["change"] == pytest.approx(9 * trends[0]["slope"])
    assert {row["topic"] for row in found.trends().rows()[:2]} == {0, 1}
    expected = 0.15 + 0.02 * np.arange(10)
    # 150 documents a year and a level of 90%: each of ten intervals misses with probability 0.1.
    assert ((found.lower[:, 0] <= expected) & (expected <= found.upper[:, 0])).sum() >= 6


def test_no_drift_is_no_clear_trend():
    rng = np.random.default_rng(1)
    B, _, counts = drifting(rng)
    found = aw.topics_over_time(record_of(B), counts, rng.integers(2000, 2010, len(counts)))
    assert {row["verdict"] for row in found.trends().rows()} == {"no clear trend"}


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    rng = np.random.default_rng(2)
    model = record_of(np.kron(np.eye(4), np.ones((10, 1)) / 10))
    slope, mean = [], []
    for _ in range(300):
        _, year, counts = drifting(rng, 300)
        found = aw.topics_over_time(model, counts, year, n_words=0)
        for row in found.trends().rows():
            if row["topic"] < 2:
                slope.append(row["lower"] <= (0.02, -0.02)[row["topic"]] <= row["upper"])
        expected = 0.15 + 0.02 * (np.array(found.periods) - 2000)
        mean += ((found.lower[:, 0] <= expected) & (expected <= found.upper[:, 0])).tolist()
    # 300 corpora: a share of 0.9 is seen within three standard errors of 0.017; 30 documents a year are a little skewed.
    assert np.mean(slope) == pytest.approx(0.9, abs=0.05)
    assert np.mean(mean) == pytest.approx(0.9, abs=0.03)


def shifting(rng, n_docs=600):
    """The first topic goes from words 0 to 4 to words 5 to 9 over the years; the second stays."""
    year = rng.integers(0, 6, n_docs)
    late = year / 5.0
    phi = np.zeros((n_docs, 20))
    phi[:, :5], phi[:, 5:10] = 0.2 * (1 - late)[:, None], 0.2 * late[:, None]
    shares = rng.beta(2, 2, n_docs)
    phi *= shares[:, None]
    phi[:, 10:] = (1 - shares)[:, None] / 10
    counts = np.array([rng.multinomial(60, row) for row in phi])
    B = np.zeros((20, 2))
    B[:10, 0] = B[10:, 1] = 0.1
    return record_of(B, vocabulary=tuple(f"w{i:02d}" for i in range(20))), year, counts


def test_words_that_shift_are_found():
    model, year, counts = shifting(np.random.default_rng(0))
    found = aw.topics_over_time(model, counts, year)
    words = found.words(0, 5, smoothing=10)
    early, late = {f"w0{i}" for i in range(5)}, {f"w0{i}" for i in range(5, 10)}
    assert set(words.top[0]) == early
    assert set(words.top[-1]) == late
    assert {row["word"] for row in words.rising} == late
    assert {row["word"] for row in words.falling} == early
    expected = np.where([word in early for word in words.words], 0.2, 0.0)
    near = np.abs(words.probability[1, :10] - np.where(expected[:10] > 0, 0.16, 0.04))
    assert (near < 5 * words.error[1, :10]).all()
    # Nothing changes in the other topic: at 90%, an interval of ten words misses once by expectation.
    other = found.words(1, 10)
    assert len(other.rising) + len(other.falling) <= 4
    assert len(words.rows()) == 6 * 5
    named = found.words(0, 3, between=(0, 1))
    assert named.rising[0]["late"] > named.rising[0]["early"]


def test_expected_counts_by_their_definition(years):
    B, pi = random_topics(3, N=40, K=5)
    rng = np.random.default_rng(4)
    model = record_of(B, pi)
    counts = np.array([rng.multinomial(50, row) for row in rng.dirichlet(np.ones(5), 600) @ B.T])
    found = aw.topics_over_time(model, counts, years, n_words=7)
    w = over_time.compositions(model, aw.as_source(counts), whole_blocks=True)
    w = np.concatenate([part.weights for part in w])
    p = w @ B.T
    n = np.divide(counts, p, out=np.zeros(p.shape), where=p > 0)[:, :, None] * w[:, None, :] * B[None]
    kept = found.word_counts
    assert kept.words.shape == (5, 7)
    for t, year in enumerate(found.periods):
        own = n[years == year]
        np.testing.assert_allclose(kept.tokens[t], own.sum(axis=(0, 1)), rtol=1e-9)
        for k in range(5):
            word, total = own[:, kept.words[k], k], own[:, :, k].sum(axis=1)
            np.testing.assert_allclose(kept.counts[t, k], word.sum(axis=0), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(kept.squares[t, k], (word**2).sum(axis=0), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(kept.cross[t, k], total @ word, rtol=1e-9, atol=1e-12)
    # The expected tokens of all topics are the tokens.
    np.testing.assert_allclose(kept.tokens.sum(axis=1), found.n_tokens, rtol=1e-9)


def test_much_smoothing_is_the_topic_itself(model, sampled, years):
    found = aw.topics_over_time(model, sampled.corpus, years, n_words=20)
    words = found.words(2, 5, smoothing=1e12)
    own = [model.model_.B[sampled.corpus.vocabulary.index(word), 2] for word in words.words]
    np.testing.assert_allclose(words.probability, np.tile(own, (len(found.periods), 1)), rtol=1e-6)
    assert all(top == aw.top_words(model, 5)[2] for top in words.top)


def test_small_and_missing_periods(model, sampled):
    counts = sampled.corpus.counts.toarray()[:8]
    counts[3] = 0
    times = [1960, 1965, None, 1970, 1965, np.nan, 1965, 1965]
    found = aw.topics_over_time(model, counts, times)
    assert found.periods == (1960, 1965, 1970)
    assert found.n_docs.tolist() == [1, 4, 0]
    assert (found.n_without_time, found.n_without_words) == (2, 1)
    assert np.isnan(found.lower[[0, 2]]).all()
    assert np.isnan(found.prevalence[2]).all()
    np.testing.assert_allclose(found.prevalence[0], model.transform(counts)[0], rtol=ROUNDING)
    assert found.words(0, 3).top[2] == aw.top_words(model, 3)[0]  # nothing but pseudo-counts


def test_a_single_period_has_no_trend(model, sampled):
    found = aw.topics_over_time(model, sampled.corpus, [2000] * 600)
    whole = aw.prevalence_by(model, sampled.corpus, ["all"] * 600)
    np.testing.assert_allclose(found.prevalence, whole.prevalence, rtol=ROUNDING)
    assert np.isnan(found.by_periods.slope).all()
    assert np.isnan(found.by_periods.freedom)
    assert {row["verdict"] for row in found.trends().rows()} == {"no clear trend"}
    assert found.words(0, 3).rising == []


def test_two_periods_cannot_tell_a_trend_from_a_difference():
    B, year, counts = drifting(np.random.default_rng(0))
    found = aw.topics_over_time(record_of(B), counts, 2000 + (year > 2004))
    rows = found.trends().rows()
    assert {row["verdict"] for row in rows} == {"no clear trend"}
    assert all(np.isnan([row["lower"], row["upper"], row["p_value"]]).all() for row in rows)
    assert rows[0]["slope"] != 0.0
    # If documents are known to be independent, they can.
    assert {row["topic"]: row["verdict"] for row in found.trends(errors="documents").rows()}[0] == "rising"


def test_topics_are_reported_by_id_and_name(model, sampled, years):
    edited = dataclasses.replace(model.model_, ids=(7, 3, 0, 9, 4), labels=("p", "q", "r", "s", "t"))
    found = aw.topics_over_time(edited, sampled.corpus, years)
    names = dict(zip(edited.ids, edited.labels, strict=True))
    for row in [*found.rows(), *found.trends().rows()]:
        assert row["label"] == names[row["topic"]]
    assert found.words(9, 3).label == "s"
    with pytest.raises(InputError, match="there is no topic 1"):
        found.words(1)
    assert len(found.to_frame()) == len(found.rows())


def test_the_unit_of_a_trend_is_named(model, sampled, years):
    corpus = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents={"year": years})
    assert "points per year" in str(aw.topics_over_time(model, corpus, "year").trends())
    assert "points per unit of time" in str(aw.topics_over_time(model, corpus, years).trends())
    days = np.asarray(years).astype(int).astype(str).astype("M8[D]")
    assert "points per year" in str(aw.topics_over_time(model, corpus, days).trends())


def test_bad_input_is_refused(model, sampled, years):
    counts = sampled.corpus.counts
    for options, message in (
        ({"by": years[:-1]}, "for each of the 600 documents, but has 599"),
        ({"by": "year"}, "the documents have no column 'year'"),
        ({"by": ["x"] * 600}, "must hold dates or numbers"),
        ({"by": years, "level": 2}, "level must be a number between 0 and 1"),
        ({"by": years, "n_words": -1}, "n_words must be a whole number"),
        ({"by": years, "method": "guess"}, "method"),
    ):
        with pytest.raises(InputError, match=message):
            aw.topics_over_time(model, counts, **options)
    with pytest.raises(InputError, match="has 600 for the 599 of X"):
        aw.topics_over_time(model, lambda: [counts[:599]], years)
    with pytest.raises(InputError, match="X has more than its 599"):
        aw.topics_over_time(model, lambda: [counts], years[:599])
    with pytest.raises(InputError, match="holds a word the model knows"):
        aw.topics_over_time(model, np.zeros((600, 120)), years)
    found = aw.topics_over_time(model, counts, years, n_words=0)
    with pytest.raises(InputError, match="words were not followed"):
        found.words(0)
    with pytest.raises(InputError, match="fdr must be"):
        found.trends(fdr=5)
    with pytest.raises(InputError, match="errors must be one of 'periods', 'documents'"):
        found.trends(errors="years")
    followed = aw.topics_over_time(model, counts, years)
    with pytest.raises(InputError, match="there is no period 1800"):
        followed.words(0, between=(1800, 1960))
    with pytest.raises(InputError, match="smoothing must be"):
        followed.words(0, smoothing=-1)
