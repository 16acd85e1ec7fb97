"""Scans: topics are those of fits, the number recommended is the true one, and nothing crashes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.metrics.matching import match_topics
from anchorwords.scanning.scan import scan

NUMBERS = (2, 4, 5, 7)


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=1500, n_words=150, n_topics=5, correlation=0.1, random_state=4)


@pytest.fixture(scope="module")
def scanned(data):
    return scan(data.corpus, NUMBERS, keep_models=True, metrics=[metric.name for metric in aw.metrics.METRICS])


def without_nan(row):
    return {name: value for name, value in row.items() if value == value and not isinstance(value, str)}


def test_topics_are_those_of_a_fit(data, scanned):
    assert tuple(scanned.models) == NUMBERS
    for K, model in scanned.models.items():
        fit = aw.AnchorTopicModel(K).fit(data.corpus).model_
        # Eigenpairs agree to 1e-6, and what ENN makes of that stays small where pivots are far from ties.
        np.testing.assert_array_equal(model.anchors, fit.anchors)
        np.testing.assert_allclose(model.B, fit.B, atol=1e-5)
        np.testing.assert_allclose(model.A, fit.A, atol=1e-5)
        np.testing.assert_allclose(model.anchor_rows.toarray(), fit.anchor_rows.toarray(), atol=1e-12)
        assert model.vocabulary == data.corpus.vocabulary


def test_metrics_are_those_of_evaluate(data, scanned):
    for row, model in zip(scanned.rows(), scanned.models.values(), strict=True):
        expected = aw.evaluate(model, data.corpus)
        for metric in aw.metrics.METRICS:
            assert row[metric.name] == pytest.approx(expected[metric.name], rel=1e-9, nan_ok=True), metric.name


def test_eigenvalues_and_gaps(data, scanned):
    exact = np.linalg.eigvalsh(aw.cooccurrence(data.corpus.counts))[::-1]
    np.testing.assert_allclose(scanned.eigenvalues, exact[:9], rtol=1e-9)
    for row in scanned.rows():
        K = row["n_components"]
        assert row["eigengap"] == pytest.approx(exact[K - 1] - exact[K], rel=1e-6)
        assert row["eigengap_ratio"] == pytest.approx(exact[K - 1] / exact[K], rel=1e-6)


def test_the_record(data, scanned):
    assert scanned.n_components == NUMBERS
    assert scanned.recommended == 5
    assert [row["recommended"] for row in scanned.rows()] == [False, False, True, False]
    assert (scanned.n_docs, scanned.n_words) == (1500, 150)
    assert all(isinstance(reason, str) and reason.endswith(".") for reason in scanned.reasons)
    with pytest.raises(AttributeError):
        scanned.recommended = 3
    assert repr(scanned) == "Scan(4 numbers of topics from 2 to 7, recommended 5)"


@pytest.mark.parametrize(
    ("K", "n_docs", "numbers"),
    [(5, 5000, range(2, 10)), (10, 5000, range(6, 15)), (20, 10000, (10, 15, 18, 19, 20, 21, 22, 30))],
)
def test_the_true_number_is_recommended(K, n_docs, numbers):
    # benchmarks/choosing.py does so with more draws.
    for draw in (0, 1):
        corpus = make_topics(n_docs=n_docs, n_words=500, n_topics=K, correlation=0.1, random_state=draw).corpus
        found = scan(corpus, numbers, metrics=())
        assert found.recommended == K
        assert found.plausible == (K,)
        assert found.directions.n == K
        row = next(row for row in found.rows() if row["recommended"])
        assert row["n_replicated"] >= 0.75 * K


def test_faint_topics_are_not_a_reason_for_a_wrong_number():
    # The last direction of 20 strongly overlapping topics is about as strong as noise: a few numbers, 20 among them.
    for draw in (0, 1):
        corpus = make_topics(n_docs=5000, n_words=500, n_topics=20, correlation=0.3, random_state=draw).corpus
        found = scan(corpus, range(14, 27), metrics=())
        assert found.recommended is None
        assert 20 in found.plausible
        assert len(found.plausible) <= 4
        assert [level.n_components for level in found.levels] == list(found.plausible)
        assert {level.name for level in found.levels} == {"plausible"}
        assert [row["plausible"] for row in found.rows()] == [K in found.plausible for K in found.n_components]
        assert any("do not tell these numbers apart" in reason for reason in found.reasons)


def test_levels_where_more_topics_are_there_than_scanned():
    corpus = make_topics(n_docs=2000, n_words=200, n_topics=12, correlation=0.1, random_state=0).corpus
    found = scan(corpus, (2, 4, 6))
    assert found.recommended is None
    assert found.levels[-1].n_components == 6
    assert found.levels[-1].at_grid_end
    assert any("such as 6:12:1" in reason for reason in found.reasons)
    perplexity = [row["heldout_perplexity"] for row in found.rows()]
    assert perplexity == sorted(perplexity, reverse=True)
    assert f"{found.levels[-1].name}: 6 topics" in str(found)


def test_held_out_likelihood_of_one_topic_is_that_of_word_frequencies(data):
    # One topic is the distribution of words, and its log-likelihood per token minus their entropy. It is learned from half
    # of the documents and scored on others: 3 % covers the sampling of both.
    found = scan(data.corpus, 1, metrics=())
    p = np.asarray(data.corpus.counts.sum(axis=0)).ravel() / data.corpus.counts.sum()
    assert -found.candidates[0].heldout_log_likelihood == pytest.approx(-(p @ np.log(p)), rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("correlation", [0.1, 0.3])
@pytest.mark.parametrize("K", [5, 10])
def test_the_answer_contains_the_true_number(K, correlation):
    # benchmarks/choosing.py: contained in all of 80 draws. If it were contained in 95 %, the probability of fewer than 6 of
    # 8 would be 0.6 %.
    right = 0
    for draw in range(8):
        corpus = make_topics(n_docs=5000, n_words=500, n_topics=K, correlation=correlation, random_state=draw).corpus
        right += K in [level.n_components for level in scan(corpus, range(K - 3, K + 5), metrics=()).levels]
    assert right >= 6


def test_documents_in_any_form(data):
    counts = data.corpus.counts
    expected = scan(data.corpus, (3, 5), random_state=3).rows()
    blocks = [sp.csr_array(counts[:200]), sp.csr_array(counts[200:900]), sp.csr_array(counts[900:])]
    for form in (counts, counts.toarray(), blocks, lambda: iter(blocks)):
        for row, same in zip(expected, scan(form, (3, 5), random_state=3).rows(), strict=True):
            assert without_nan(same) == pytest.approx(without_nan(row), rel=1e-4, abs=1e-12)


def test_a_data_frame_names_its_columns(data):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(data.corpus.counts.toarray(), columns=list(data.corpus.vocabulary))
    found = scan(frame, 4, keep_models=True)
    assert found.models[4].vocabulary == data.corpus.vocabulary
    assert pandas.DataFrame(found.rows()).shape[0] == 1


def test_a_corpus_on_disk(tmp_path, data, monkeypatch):
    data.corpus.save(tmp_path / "corpus")
    monkeypatch.setattr("anchorwords.sources.convert._HELD", 0)
    stored = scan(aw.open_corpus(tmp_path / "corpus"), (3, 5))
    for row, same in zip(scan(data.corpus, (3, 5)).rows(), stored.rows(), strict=True):
        assert without_nan(same) == pytest.approx(without_nan(row), rel=1e-4, abs=1e-12)


def test_threads_do_not_matter(data):
    one, two = (scan(data.corpus, (3, 6), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert [without_nan(row) for row in one.rows()] == [without_nan(row) for row in two.rows()]
    assert one.reasons == two.reasons


def test_numbers_in_any_order(data):
    found = scan(data.corpus, [7, np.int64(3), 7, 5], metrics=["entropy"])
    assert found.n_components == (3, 5, 7)
    assert found.models == {}
    assert "npmi_coherence" not in found.rows()[0]
    assert np.isfinite(found.rows()[0]["entropy"])


def test_words_that_never_occur(data):
    counts = data.corpus.counts.toarray()
    wide = np.zeros((counts.shape[0], 160))
    wide[:, np.r_[0:40, 50:160]] = counts
    found = scan(wide, (3, 5), keep_models=True)
    assert found.n_words == 150
    assert (found.models[5].B[40:50] == 0.0).all()
    for row, same in zip(scan(counts, (3, 5)).rows(), found.rows(), strict=True):
        assert without_nan(same) == pytest.approx(without_nan(row), rel=1e-6)


def test_more_topics_than_words_are_left_out():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (60, 8))
    with pytest.warns(DegenerateWarning, match="left out of the scan: 9, 20 topics, as there are only 8 usable words"):
        assert scan(X, (2, 20, 9, 3)).n_components == (2, 3)
    with pytest.raises(InputError, match="at most 8, the number of usable words, but the smallest given is 9"):
        scan(X, (9, 10))


def test_anchors_among_frequent_words(data):
    df = np.asarray((data.corpus.counts > 0).sum(axis=0)).ravel()
    fewest = int(np.sort(df)[-30])
    found = scan(data.corpus, (3, 5), min_anchor_docs=fewest, keep_models=True)
    for K, model in found.models.items():
        assert (df[model.anchors] >= fewest).all()
        np.testing.assert_array_equal(
            model.anchors, aw.AnchorTopicModel(K, min_anchor_docs=fewest).fit(data.corpus).anchors_
        )
    rarest = int(np.sort(df)[-4])
    with pytest.warns(DegenerateWarning, match="left out of the scan: 6 topics, as there are only 4 words that may be"):
        assert scan(data.corpus, (3, 6), min_anchor_docs=rarest).n_components == (3,)


def test_without_halves(data):
    found = scan(data.corpus, (3, 5, 7), n_replicates=0)
    assert found.directions is None
    assert found.recommended == 5  # the widest gap of eigenvalues, too
    assert np.isnan(found.rows()[0]["stability"])
    assert np.isnan(found.rows()[0]["energy"])
    assert "not split" in found.reasons[0]


def test_more_splits(data):
    one, three = (scan(data.corpus, (4, 5, 6), n_replicates=n, metrics=()) for n in (1, 3))
    assert len(three.candidates[0].reproduced) == 3
    first = three.candidates[0].reproduced[0]
    np.testing.assert_array_equal(first.similarity, one.candidates[0].reproduced[0].similarity)
    assert three.recommended == 5


@pytest.mark.parametrize(
    "X",
    [
        np.random.default_rng(0).poisson(3.0, (1, 6)),  # one document
        np.random.default_rng(0).poisson(3.0, (3, 6)),  # too few for halves
        np.random.default_rng(0).poisson(1.0, (12, 6)),
        np.tile([3, 2, 1, 4], (50, 1)),  # copies of one
        np.full((30, 1), 3),  # one word
        np.eye(40, 3, dtype=int) * 2 + np.eye(40, 3, k=-1, dtype=int) * 2,  # words that never meet
        np.random.default_rng(0).random((40, 8)) * 3.0,  # fractions
        sp.random_array(
            (15, 300), density=0.02, random_state=np.random.default_rng(0), data_sampler=lambda size: np.ones(size)
        ),
    ],
    ids=["one", "three", "tiny", "copies", "one word", "apart", "fractions", "sparse"],
)
def test_small_and_odd_data(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scan(X, (1, 2, 3), metrics=["npmi_coherence", "topic_diversity", "specificity", "umass_coherence"])
    assert found.recommended is None or found.recommended in found.n_components
    assert {level.n_components for level in found.levels} <= set(found.n_components)
    assert str(found)
    assert found.reasons
    assert len(found.rows()) == len(found.n_components)


def test_progress(data):
    seen = {}

    def report(stage, share):
        assert 0.0 <= share <= 1.0
        assert share >= seen.get(stage, 0.0)
        seen[stage] = share

    scan(data.corpus, (3, 5), n_replicates=2, progress=report)
    assert list(seen) == ["statistics", "halves", "eigenpairs", "fits"]
    assert all(share == pytest.approx(1.0) for share in seen.values())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_components": ()}, "positive whole numbers, such as .* but is empty"),
        ({"n_components": (3, 0)}, "but contains 0"),
        ({"n_components": (2.5,)}, "but contains 2.5"),
        ({"n_components": True}, "n_components must be numbers of topics"),
        ({"n_components": "10"}, "n_components must be numbers of topics"),
        ({"metrics": "entropy"}, "the single string 'entropy'"),
        ({"metrics": ["beauty"]}, "there is no metric 'beauty'"),
        ({"n_replicates": -1}, "n_replicates must be a non-negative whole number"),
        ({"random_state": None}, "random_state must be a whole number"),
        ({"min_anchor_docs": 10**6}, "min_anchor_docs"),
    ],
)
def test_bad_input(data, options, message):
    with pytest.raises(InputError, match=message):
        scan(data.corpus, **({"n_components": (2, 3)} | options))


def test_what_holds_no_documents(data):
    with pytest.raises(InputError, match="contains no documents"):
        scan(aw.CooccurrenceSketch(5).update(data.corpus), (2, 3))
    with pytest.raises(InputError, match="can be read only once"):
        scan(iter([data.corpus.counts]), (2, 3))


@pytest.mark.data
def test_real_papers(real_corpus):
    corpus = real_corpus("nips12", 1000)
    found = scan(corpus, (5, 10, 20), keep_models=True)
    for K, model in found.models.items():
        fit = aw.AnchorTopicModel(K).fit(corpus).model_
        # Near-ties between anchors may fall either way; topics do not.
        assert match_topics(model.B, fit.B).total_variation.max() < 0.01
    rows = found.rows()
    assert found.directions.beyond
    assert (np.diff([row["stability"] for row in rows]) < 0).all()
    halves = [aw.AnchorTopicModel(10).fit(corpus.counts[i::2]).model_ for i in (0, 1)]
    refitted = 1.0 - match_topics(halves[0].B, halves[1].B).total_variation.mean()
    # The rough topics of halves are compared at their frequent words, where they are somewhat more alike.
    assert rows[1]["stability"] == pytest.approx(refitted, abs=0.15)
