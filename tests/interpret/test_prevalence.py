"""Prevalence of topics in groups of documents."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from scipy import stats

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.infer import compose
from anchorwords.interpret.group_sums import GroupSums
from anchorwords.interpret.naming import topic_names
from anchorwords.interpret.prevalence import prevalence_by
from anchorwords.interpret.topic_words import top_words
from tests.interpret.records import record_of

# Sums of some hundred numbers in another order.
ROUNDING = 1e-12


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


@pytest.fixture(scope="module")
def years():
    return np.random.default_rng(0).integers(1990, 1996, size=600).tolist()


def check_by_definition(found, weights, tokens, labels, level, by_tokens):
    for g, group in enumerate(found.groups):
        rows = [m for m, label in enumerate(labels) if label == group and tokens[m] > 0]
        a = tokens[rows] if by_tokens else np.ones(len(rows))
        mean = a @ weights[rows] / a.sum()
        n = len(rows)
        assert found.n_docs[g] == n
        assert found.n_tokens[g] == pytest.approx(tokens[rows].sum())
        np.testing.assert_allclose(found.prevalence[g], mean, rtol=ROUNDING)
        error = np.sqrt(n / (n - 1) * np.sum(a[:, None] ** 2 * (weights[rows] - mean) ** 2, axis=0)) / a.sum()
        if not by_tokens:
            np.testing.assert_allclose(error, stats.sem(weights[rows], axis=0), rtol=ROUNDING)
        half = stats.t.ppf((1 + level) / 2, n - 1) * error
        np.testing.assert_allclose(found.low[g], np.maximum(mean - half, 0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.high[g], np.minimum(mean + half, 1), rtol=1e-9)


@pytest.mark.parametrize("by_tokens", [False, True])
@pytest.mark.parametrize("level", [0.5, 0.9])
def test_from_the_definition(model, sampled, years, by_tokens, level, monkeypatch):
    counts = sampled.corpus.counts.toarray()
    counts[::7] *= 3  # documents of different length
    counts[11] = 0
    weights = model.transform(counts)
    for shares in (5 * 37, 1 << 22):  # documents at a time
        monkeypatch.setattr(compose, "_SHARES", shares)
        found = prevalence_by(model, counts, years, level=level, by_tokens=by_tokens)
        assert found.groups == (1990, 1991, 1992, 1993, 1994, 1995)
        assert (found.level, found.n_without_group, found.n_without_words) == (level, 0, 1)
        check_by_definition(found, weights, counts.sum(axis=1), years, level, by_tokens)
        # The mean composition is one too.
        np.testing.assert_allclose(found.prevalence.sum(axis=1), 1.0, rtol=ROUNDING)


def test_any_way_to_give_the_documents_and_any_order_is_the_same(model, sampled, years, tmp_path):
    corpus = sampled.corpus
    expected = prevalence_by(model, corpus, years)
    order = np.random.default_rng(1).permutation(600)
    words = np.random.default_rng(2).permutation(corpus.n_words)
    corpus.save(tmp_path / "corpus")
    for X, labels in (
        (corpus.counts, np.array(years)),
        (corpus.counts.toarray(), tuple(years)),
        ([corpus.counts[:100], corpus.counts[100:]], years),
        (lambda: [corpus.counts[:7], corpus.counts[7:]], years),
        (aw.open_corpus(tmp_path / "corpus"), years),
        (aw.Corpus(corpus.counts[:, words], [corpus.vocabulary[i] for i in words]), years),
        (corpus.counts[order], [years[m] for m in order]),
    ):
        for n_jobs in (1, 2):
            found = prevalence_by(model.model_, X, labels, n_jobs=n_jobs)
            assert found.groups == expected.groups
            assert {type(group) for group in found.groups} == {int}
            for name in ("n_docs", "n_tokens", "prevalence", "low", "high"):
                # Fold-in itself is the same for any order of documents; sums over words may differ in the last digits.
                np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-9, atol=1e-9)


def test_groups_with_other_topics_are_told_apart():
    # Documents of the first group are of the first two topics, those of the second of the others.
    rng = np.random.default_rng(0)
    B = make_topics(n_docs=2, n_words=300, n_topics=4, random_state=0).B
    shares = np.zeros((400, 4))
    shares[:200, :2] = rng.dirichlet([1, 2], size=200)
    shares[200:, 2:] = rng.dirichlet([3, 1], size=200)
    counts = rng.multinomial(400, shares @ B.T / (shares @ B.T).sum(axis=1, keepdims=True))
    found = prevalence_by(record_of(B), counts, ["a"] * 200 + ["b"] * 200)
    for g, rows in enumerate((slice(0, 200), slice(200, 400))):
        # Shares of a document of 400 words are known to a few hundredths, their mean over 200 far better.
        np.testing.assert_allclose(found.prevalence[g], shares[rows].mean(axis=0), atol=0.02)
        assert (found.low[g] <= found.prevalence[g]).all()
        assert (found.prevalence[g] <= found.high[g]).all()
    assert found.high[0, 2:].max() < 0.05 < found.low[1, 2:].min()


def test_the_interval_holds_as_often_as_it_says():
    rng = np.random.default_rng(5)
    # Words that each belong to one topic: the composition of a document is its shares of words, with mean (0.3, 0.7).
    model = record_of(np.eye(2))
    held = []
    for by_tokens in (False, True):
        lengths = rng.integers(5, 60, size=(300, 25))
        shares = rng.beta(3, 7, size=lengths.shape)
        counts = rng.binomial(lengths, shares)
        for trial in range(300):
            X = np.column_stack([counts[trial], lengths[trial] - counts[trial]])
            found = prevalence_by(model, X, ["all"] * 25, level=0.8, by_tokens=by_tokens)
            held.append(found.low[0, 0] <= 0.3 <= found.high[0, 0])
        # 300 trials: a share of 0.8 is seen within four standard errors of 0.023.
        assert np.mean(held[-300:]) == pytest.approx(0.8, abs=0.1)


def test_small_groups_and_documents_left_out(model, sampled):
    counts = sampled.corpus.counts.toarray()[:8]
    counts[3] = 0
    labels = ["one", "two", None, "none", "two", float("nan"), np.nan, "late"]
    found = prevalence_by(model, counts, labels, min_docs=1, order="natural")
    assert found.groups == ("late", "one", "two")  # a group without known words is smaller than any
    assert found.n_docs.tolist() == [1, 1, 2]
    assert (found.n_small_groups, found.n_in_small_groups) == (1, 0)
    assert (found.n_without_group, found.n_without_words) == (3, 1)
    weights = model.transform(counts)
    np.testing.assert_allclose(found.prevalence[1], weights[0], rtol=ROUNDING)
    assert np.isnan(found.low[:2]).all()
    assert np.isnan(found.high[:2]).all()
    # Two documents: the quantile of t with one degree of freedom is large.
    half = stats.t.ppf(0.95, 1) * np.abs(weights[1] - weights[4]) / 2
    np.testing.assert_allclose(found.high[2], np.minimum(weights[[1, 4]].mean(axis=0) + half, 1.0), rtol=1e-9)
    rows = found.rows()
    assert len(rows) == 3 * 5
    assert rows[11] == {
        "group": "two", "topic": 1, "label": topic_names(model)[1], "prevalence": found.prevalence[2, 1],
        "low": found.low[2, 1], "high": found.high[2, 1], "n_docs": 2, "n_tokens": int(counts[[1, 4]].sum()),
    }  # fmt: skip


def test_documents_that_are_all_alike_leave_no_doubt():
    model = record_of(np.eye(2))
    found = prevalence_by(model, [[1, 3]] * 1000, [0] * 1000)
    # Four tokens beside the prior's 0.01, half of these for each topic.
    np.testing.assert_allclose(found.prevalence, [[1.005 / 4.01, 3.005 / 4.01]], atol=1e-6)
    # Squares about the mean: no cancellation, however many documents.
    assert (found.high - found.low).max() < 1e-12


def test_labels_of_any_kind(model, sampled):
    import pandas as pd
    import polars as pl

    counts = sampled.corpus.counts[:6]
    day = datetime.date(2020, 1, 1)
    for labels, expected in (
        ([True, False] * 3, (False, True)),
        ([2.5, 1.0, 2.5, 1.0, 1.0, 2.5], (1.0, 2.5)),
        (["b", "a", "b", "é", "a", "Z"], ("Z", "a", "b", "é")),
        (["b", 1, "a", 2, "b", 1], (1, 2, "a", "b")),  # no order among them: by type, then by name
        ([day, None] * 3, (day,)),
        (np.array(["2001", "2000"] * 3), ("2000", "2001")),
        (np.array([2001, 2000] * 3, dtype=np.int16), (2000, 2001)),
        (np.array(["2001", "NaT", "2000"] * 2, dtype="datetime64[Y]"), (np.datetime64("2000"), np.datetime64("2001"))),
        (pd.Series(["x", None, "y"] * 2), ("x", "y")),
        (pd.Series([1, None, 3] * 2, dtype="Int64"), (1, 3)),
        (pd.Series(["x", None, "y"] * 2, dtype="category"), ("x", "y")),
        (pl.Series([3, None, 1] * 2), (1, 3)),
        ((label for label in "abcabc"), ("a", "b", "c")),
    ):
        found = prevalence_by(model, counts, labels, min_docs=1, order="natural")
        assert found.groups == expected
        assert found.n_docs.sum() + found.n_without_group == 6


def test_bad_input_is_refused(model, sampled):
    counts = sampled.corpus.counts[:6]
    for labels, message in (
        ("abcdef", "the documents have no column 'abcdef'"),
        (7, "one label per document, but is int"),
        ([[[1]], [[2]]] * 3, "but holds what is none"),
        ([[], [None]] * 3, "no document has a value"),
        ([None] * 6, "no document has a value"),
        (["a"] * 5, "for each of the 6 documents, but has 5"),
        (["a"] * 7, "for each of the 6 documents, but has 7"),
    ):
        with pytest.raises(InputError, match=message):
            prevalence_by(model, counts, labels)
    blocks = lambda: [counts[:3], counts[3:]]  # noqa: E731 - a function does not say how many there are
    with pytest.raises(InputError, match="X has more than its 5"):
        prevalence_by(model, blocks, ["a"] * 5)
    with pytest.raises(InputError, match="has 7 for the 6 of X"):
        prevalence_by(model, blocks, ["a"] * 7)
    for level in (0, 1, 90, "0.9", float("nan"), True):
        with pytest.raises(InputError, match="level must be a number between 0 and 1"):
            prevalence_by(model, counts, ["a"] * 6, level=level)
    with pytest.raises(InputError, match="holds a word the model knows"):
        prevalence_by(model, np.zeros((6, 120)), ["a"] * 6)
    with pytest.raises(InputError, match="but X has 3 columns"):
        prevalence_by(model, counts[:, :3], ["a"] * 6)
    with pytest.raises(InputError, match="method"):
        prevalence_by(model, counts, ["a"] * 6, method="guess")


@pytest.mark.data
def test_newsgroups_are_about_what_they_say(data_folder):
    corpus = aw.read_corpus(data_folder / "20ng")
    lines = (data_folder / "20ng" / "labels.20ng.tsv").read_text(encoding="utf-8").splitlines()
    groups = [line.split("\t")[1] for line in lines]
    model = aw.AnchorTopicModel(30).fit(corpus.prune(n_words=5000, stop_words="english"))
    found = prevalence_by(model, corpus, groups)
    # Groups together are the whole: their means, weighted by documents, are the mean of all.
    whole = prevalence_by(model, corpus, ["all"] * corpus.n_docs)
    overall = found.n_docs @ found.prevalence / found.n_docs.sum()
    np.testing.assert_allclose(overall, whole.prevalence[0], rtol=1e-9)
    assert found.n_docs.sum() + found.n_without_words == corpus.n_docs
    words = top_words(model, 10, ranking="relevance")
    for group, word in (
        ("sci.crypt", "encryption"), ("sci.space", "space"), ("soc.religion.christian", "god"),
        ("misc.forsale", "sale"), ("rec.autos", "car"), ("rec.sport.hockey", "hockey"),
    ):  # fmt: skip
        g = found.groups.index(group)
        k = int((found.prevalence[g] / overall).argmax())
        assert word in words[k]
        assert found.low[g, k] > whole.high[0, k]


@pytest.mark.parametrize("power", [-1000, -537, 0, 900])
@pytest.mark.parametrize("n_blocks", [1, 4])
def test_the_scale_of_weights_does_not_matter(power, n_blocks):
    # Squares of weights below 1e-162 are zero: found by the campaign, as a division of zero by zero.
    rng = np.random.default_rng(0)
    groups, w, a = rng.integers(0, 3, 40), rng.dirichlet([0.3] * 4, 40), rng.uniform(1.0, 100.0, 40)
    plain = GroupSums(3, 4)
    plain.add(groups, w, a, a)
    sums = GroupSums(3, 4)
    for rows in np.array_split(np.arange(40), n_blocks):
        tiny = np.ldexp(a[rows], power)
        sums.add(groups[rows], w[rows], tiny, tiny)
    for found, expected in zip(sums.mean_and_error(), plain.mean_and_error(), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("order", [1, -1])
def test_weights_that_differ_by_all_the_range_of_numbers(order):
    a = np.array([1e-300, 3e-300, 1e300, 2e300, 1e-300])[::order]
    w = np.array([[1.0, 0.0], [0.0, 1.0], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0]])[::order]
    sums = GroupSums(1, 2)
    for row in range(5):
        sums.add(np.array([0]), w[[row]], a[[row]], a[[row]])
    mean, error = sums.mean_and_error()
    np.testing.assert_allclose(mean, [[0.75, 0.25]], rtol=1e-12)
    # The definition, with what 1e-300 adds left out: n / (n - 1) sum a^2 (w - mean)^2 over (sum a)^2.
    np.testing.assert_allclose(error, np.sqrt(5 / 4 * (0.5**2 + 4 * 0.25**2)) / 3 * np.ones((1, 2)), rtol=1e-12)


def test_groups_are_a_column_of_the_documents(model, sampled, years, tmp_path):
    tagged = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents={"year": years})
    tagged.save(tmp_path / "c")
    expected = prevalence_by(model, sampled.corpus, years)
    for corpus in (tagged, aw.open_corpus(tmp_path / "c")):
        found = prevalence_by(model, corpus, by="year")
        assert found.groups == expected.groups
        np.testing.assert_array_equal(found.prevalence, expected.prevalence)
    with pytest.raises(InputError, match="no column 'yaer': they have 'year'"):
        prevalence_by(model, tagged, by="yaer")


def test_documents_with_several_labels_count_in_each_group(model, sampled):
    rng = np.random.default_rng(3)
    labels = [tuple(rng.choice(["a", "b", "c"], rng.integers(0, 4), replace=False)) for _ in range(600)]
    tagged = aw.Corpus(sampled.corpus.counts, sampled.corpus.vocabulary, documents={"tags": labels})
    weights = model.transform(sampled.corpus)
    for by_tokens in (False, True):
        found = prevalence_by(model, tagged, by="tags", by_tokens=by_tokens, order="natural")
        assert found.groups == ("a", "b", "c")
        assert found.n_without_group == sum(not own for own in labels)
        for g, group in enumerate(found.groups):
            rows = [row for row, own in enumerate(labels) if group in own]
            alone = prevalence_by(model, sampled.corpus.counts[rows], ["x"] * len(rows), by_tokens=by_tokens)
            for name in ("prevalence", "low", "high"):
                np.testing.assert_allclose(getattr(found, name)[g], getattr(alone, name)[0], rtol=ROUNDING)
            assert by_tokens or found.prevalence[g] == pytest.approx(weights[rows].mean(axis=0))


def test_small_groups_are_left_out_and_counted(model, sampled):
    sizes = {"a": 4, "b": 300, "c": 5, "d": 1}
    labels = [name for name, size in sizes.items() for _ in range(size)]
    labels += [("b", "d")] * 2 + [None] * (600 - len(labels) - 2)
    found = prevalence_by(model, sampled.corpus, labels)
    assert found.groups == ("b", "c")
    assert found.n_docs.tolist() == [302, 5]
    # Of the documents of small groups, the two with ("b", "d") are still in a group.
    assert (found.min_docs, found.n_small_groups, found.n_in_small_groups) == (5, 2, 5)
    every = prevalence_by(model, sampled.corpus, labels, min_docs=1)
    assert every.groups == ("b", "c", "a", "d")
    np.testing.assert_array_equal(every.prevalence[:2], found.prevalence)
    with pytest.raises(InputError, match=r"no group has 400 documents .* the largest has 302: keep smaller groups too"):
        prevalence_by(model, sampled.corpus, labels, min_docs=400)


def test_order_of_groups(model, sampled, years):
    names = [f"y{year}" for year in years]
    by_size = prevalence_by(model, sampled.corpus, names)
    assert (np.diff(by_size.n_docs) <= 0).all()
    natural = prevalence_by(model, sampled.corpus, names, order="natural")
    assert natural.groups == tuple(sorted(natural.groups))
    # Numbers have an order of their own, which only order="size" changes.
    assert prevalence_by(model, sampled.corpus, years).groups == tuple(range(1990, 1996))
    assert prevalence_by(model, sampled.corpus, years, order="size").groups == tuple(int(y[1:]) for y in by_size.groups)
    with pytest.raises(InputError, match="order must be one of 'auto', 'size', 'natural'"):
        prevalence_by(model, sampled.corpus, years, order="alphabet")


def test_a_separator_is_the_same_as_a_list(model, sampled):
    rng = np.random.default_rng(4)
    lists = [tuple(rng.choice(["a", "b c", "d"], rng.integers(0, 4), replace=False)) for _ in range(600)]
    texts = ["; ".join(own) if own else None for own in lists]
    expected = prevalence_by(model, sampled.corpus, lists)
    found = prevalence_by(model, sampled.corpus, texts, separator=";")
    assert found.rows() == expected.rows()
    assert found.n_without_group == expected.n_without_group
    with pytest.raises(InputError, match="separator must be a string such as ';'"):
        prevalence_by(model, sampled.corpus, texts, separator="")


def test_topics_are_reported_by_id_and_name(sampled):
    import dataclasses

    model = aw.AnchorTopicModel(5).fit(sampled.corpus).model_
    edited = dataclasses.replace(model, ids=(7, 3, 0, 9, 4), labels=("p", "q", "r", "s", "t"))
    rows = prevalence_by(edited, sampled.corpus, ["x"] * 600).rows()
    assert [(row["topic"], row["label"]) for row in rows] == list(zip(edited.ids, edited.labels, strict=True))


def test_proportions_in_place_of_documents(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    labels = [None if m == 3 else m % 4 for m in range(sampled.corpus.n_docs)]
    found, right = (
        aw.prevalence_by(model, proportions=model.transform(sampled.corpus), by=labels),
        aw.prevalence_by(model, sampled.corpus, labels),
    )
    for name in ("prevalence", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(right, name), atol=1e-12)
    assert (found.groups, found.n_docs.tolist()) == (right.groups, right.n_docs.tolist())
    assert (found.n_without_group, found.by) == (1, None)
    assert np.isnan(found.n_tokens).all()
    assert "4 groups" in str(found)


def test_proportions_of_documents_without_a_known_word_are_left_out(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    counts = sampled.corpus.counts.tolil()
    counts[7] = 0
    proportions = model.transform(counts.tocsr())
    found = aw.prevalence_by(model, proportions=proportions, by=[m % 2 for m in range(len(proportions))])
    assert found.n_without_words == 1
    single = aw.AnchorTopicModel(1).fit(sampled.corpus)
    assert aw.prevalence_by(single, proportions=np.ones((10, 1)), by=["a"] * 10).n_without_words == 0


def test_wrong_proportions_are_refused(sampled):
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    fifth = np.full((10, 5), 0.2)
    by = ["a"] * 10
    negative, long = fifth.copy(), fifth.copy()
    negative[4, :2] = -0.1, 0.5
    long[6, 1] = 0.3
    for arguments, message in (
        (
            {"proportions": negative, "by": by},
            "row 5 of proportions: topic proportions must be 0 or more, but one is -0.1",
        ),
        ({"proportions": long, "by": by}, "row 7 of proportions: topic proportions must sum to 1, but sum to 1.1"),
        ({"proportions": fifth[:, :4], "by": by}, r"each of the 5 topics, but have the shape \(10, 4\)"),
        ({"proportions": [["a"]], "by": by}, "must be an array of numbers"),
        ({"proportions": fifth, "by": by[:9]}, "for each of the 10 documents, but has 9"),
        ({"proportions": fifth, "by": "year"}, "by must hold a label for each document if proportions are given"),
        ({"proportions": fifth, "by": by, "by_tokens": True}, "by_tokens needs documents"),
        ({"proportions": fifth}, "by must say which group each document is in"),
        ({"by": by}, "give either documents"),
        ({"X": sampled.corpus, "proportions": fifth, "by": by}, "give either documents"),
    ):
        with pytest.raises(InputError, match=message):
            aw.prevalence_by(model, **arguments)
