from __future__ import annotations

import logging
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import anchorwords as aw
from anchorwords._validation import check_counts
from anchorwords.exceptions import ConvergenceWarning, InputError, UnknownWordWarning
from anchorwords.metrics.matching import match_topics
from tests.contracts import check_valid_model

TEXTS = [
    "cats purr and dogs bark while cats sleep",
    "dogs chase cats and cats climb trees",
    "stocks rise while bonds fall and banks lend",
    "banks lend money and stocks fall",
    "dogs and cats sleep and purr",
    "bonds and stocks and money and banks",
] * 4


@pytest.mark.parametrize(
    "rectifier", ["enn", "palm", "ap", None, aw.ENN(n_rows=50), aw.PALM(inertial=True), aw.AP(max_iter=20)]
)
def test_every_rectifier_gives_a_valid_model(sampled, rectifier):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = aw.AnchorTopicModel(5, rectifier=rectifier).fit(sampled.corpus)
    check_valid_model(model.model_)
    assert model.components_.shape == (5, 120)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.topic_prevalence_, model.topic_correlation_.sum(axis=1))
    assert model.model_.vocabulary == sampled.corpus.vocabulary
    # The anchors' rows are of the original co-occurrence, whatever the rectifier.
    C = aw.cooccurrence(sampled.corpus.counts)
    rows = C[model.anchors_] / C[model.anchors_].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.model_.anchor_rows.toarray(), rows, atol=1e-12)
    assert (model.n_iter_ == 0) == (rectifier is None)
    assert model.n_iter_ == len(model.history_)
    assert (model.n_docs_, model.n_skipped_) == (600, 0)


def test_a_fit_remembers_its_documents_and_its_steps(sampled):
    # Short documents take no part: those of no token and of one.
    X = sp.vstack([sampled.corpus.counts, sp.csr_array((3, 120)), sp.csr_array(np.eye(2, 120))]).tocsr()
    heard = []
    model = aw.AnchorTopicModel(4).fit(X, progress=lambda stage, _: heard.append(stage))
    assert (model.n_docs_, model.n_skipped_) == (600, 5)
    assert heard.count("rectification") == model.n_iter_ == len(model.history_)
    by_hand = aw.rectify_enn(aw.CooccurrenceOperator(sampled.corpus.counts), 4)
    np.testing.assert_allclose(
        [step.violation for step in model.history_[:3]], [step.violation for step in by_hand.history[:3]], rtol=1e-6
    )
    assert model.history_[-1].violation <= aw.ENN().tol
    # Also read from blocks, and from a sketch of them, in which steps are others.
    blocks = aw.AnchorTopicModel(4).fit([X[:200], X[200:]])
    assert (blocks.n_docs_, blocks.n_skipped_) == (600, 5)
    sketch = aw.CooccurrenceSketch(4)
    sketch.update(X)
    sketched = aw.AnchorTopicModel(4).fit(sketch)
    assert (sketched.n_docs_, sketched.n_skipped_) == (600, 5)
    assert sketched.n_iter_ == len(sketched.history_) > 0


@pytest.mark.parametrize("name", ["n_docs_", "n_skipped_", "history_"])
def test_batches_are_remembered_together(sampled, name):
    X = sp.vstack([sampled.corpus.counts, sp.csr_array((3, 120))]).tocsr()
    model = aw.AnchorTopicModel(4).fit(X[:100])
    model.partial_fit(X[:300])
    first = getattr(model, name)  # which learns the topics
    model.partial_fit(X[300:])
    assert name not in vars(model)
    last = getattr(model, name)
    assert "model_" in vars(model)
    if name == "history_":
        assert len(last) == model.n_iter_
        assert last != first
    else:
        assert (first, last) == {"n_docs_": (300, 600), "n_skipped_": (0, 3)}[name]


def test_default_is_algorithm_6(sampled):
    """The estimator is the public pieces put together: operator, eigenpairs, ENN, LAW."""
    operator = aw.CooccurrenceOperator(sampled.corpus.counts)
    by_hand = aw.low_rank_anchor_words(aw.rectify_enn(operator, 5).Y)
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    np.testing.assert_array_equal(model.anchors_, by_hand.anchors)
    np.testing.assert_allclose(model.components_, by_hand.B.T, atol=1e-7)


def test_in_a_pipeline_after_count_vectorizer():
    pipeline = make_pipeline(CountVectorizer(), aw.AnchorTopicModel(2))
    weights = pipeline.fit_transform(TEXTS)
    assert weights.shape == (24, 2)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    words = pipeline[0].get_feature_names_out()
    table = aw.topic_table(pipeline[-1], 4, vocabulary=words)
    tops = [set(row["prominent"]) for row in table]
    assert any({"cats", "dogs"} <= top for top in tops)
    assert any({"stocks", "banks"} <= top for top in tops)
    assert np.argmax(weights[0]) != np.argmax(weights[2])


def test_raw_text_gets_advice():
    pandas = pytest.importorskip("pandas")
    for X in (np.array([TEXTS]).T, pandas.DataFrame({"id": ["a", "b"], "word": [1, 2]})):
        with pytest.raises(InputError, match=r"holds texts: TextTopicModel learns topics from texts"):
            aw.AnchorTopicModel(2).fit(X)


def test_in_a_grid_search(sampled):
    search = GridSearchCV(aw.AnchorTopicModel(), {"n_components": [1, 3, 5]}, cv=3)
    search.fit(sampled.corpus.counts)
    assert search.best_params_["n_components"] == 5
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_set_output_and_data_frames(sampled):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sampled.corpus.counts.toarray().astype(int), columns=sampled.corpus.vocabulary)
    model = aw.AnchorTopicModel(4).set_output(transform="pandas")
    out = model.fit_transform(frame)
    assert list(out.columns) == [f"anchortopicmodel{k}" for k in range(4)]
    assert model.feature_names_in_.tolist() == list(sampled.corpus.vocabulary)
    assert aw.topic_table(model)[0]["anchor"].startswith("w")
    model.fit(sampled.corpus)  # a refit on a Corpus forgets the frame
    assert not hasattr(model, "feature_names_in_")


def test_score_is_the_log_likelihood_of_a_token(sampled):
    counts = sampled.corpus.counts
    model = aw.AnchorTopicModel(5).fit(counts)
    probabilities = model.transform(counts) @ model.components_
    dense = counts.toarray()
    expected = np.sum(dense[dense > 0] * np.log(probabilities[dense > 0])) / dense.sum()
    # Compositions and likelihood are those of topics rounded to single precision: 2^-24 in each logarithm.
    assert model.score(counts) == pytest.approx(expected, abs=2.0**-24)
    # The truth itself, folded in by maximum likelihood, cannot be beaten by much: 5 topics, 60 tokens a document.
    assert model.score(counts) > aw.AnchorTopicModel(1).fit(counts).score(counts)


def test_a_refit_that_fails_leaves_the_fit_as_it_was(sampled):
    counts = sp.csr_array(sampled.corpus.counts)
    model = aw.AnchorTopicModel(4, composition="prior-aware")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(counts)
    before = {name: value for name, value in vars(model).items() if name.endswith("_")}
    passes = []

    def failing():
        passes.append(1)
        if len(passes) == fails:
            raise OSError("the disk is gone")
        return [counts[:, :80]]

    # After the topics are learned, when the documents are read once more for the prior.
    fails = 10**9
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        aw.AnchorTopicModel(4, composition="prior-aware").fit(failing)
    fails = len(passes)
    passes.clear()
    with pytest.raises(OSError, match="the disk is gone"):
        model.fit(failing)
    after = {name: value for name, value in vars(model).items() if name.endswith("_")}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)


def test_a_function_that_returns_one_iterator_is_refused(sampled):
    once = iter([sampled.corpus.counts])
    with pytest.raises(InputError, match="the same iterator"):
        aw.AnchorTopicModel(4).fit(lambda: once)


def test_transform_neither_copies_nor_changes_what_it_is_given(sampled):
    counts = sp.csr_array(sampled.corpus.counts)
    model = aw.AnchorTopicModel(4).fit(counts)
    assert np.shares_memory(check_counts(counts, copy=False).data, counts.data)
    assert not np.shares_memory(check_counts(counts).data, counts.data)
    # Out of order, with a word twice and a zero: put right in a copy.
    untidy = sp.csr_array(
        (np.array([1.0, 2.0, 1.0, 0.0]), np.array([5, 3, 5, 1]), np.array([0, 4])), shape=(1, counts.shape[1])
    )
    before = [array.copy() for array in (untidy.data, untidy.indices, untidy.indptr)]
    tidy = np.zeros((1, counts.shape[1]))
    tidy[0, [3, 5]] = 2.0
    np.testing.assert_array_equal(model.transform(untidy), model.transform(tidy))
    for array, copy in zip((untidy.data, untidy.indices, untidy.indptr), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_documents_without_known_words_get_the_prevalence(sampled, caplog):
    counts = sampled.corpus.counts.toarray()
    counts[:, 7] = 0
    model = aw.AnchorTopicModel(4).fit(counts)
    assert not model.components_[:, 7].any()
    np.testing.assert_allclose(model.word_topics_[7], model.topic_prevalence_)
    new = np.zeros((3, 120))
    new[1, 7], new[2, 3] = 5, 4
    with caplog.at_level(logging.INFO, logger="anchorwords"):
        weights = model.transform(new)
    np.testing.assert_allclose(weights[:2], np.tile(model.topic_prevalence_, (2, 1)))
    assert "5 tokens are of words the model has never seen" in caplog.text
    with pytest.raises(InputError, match="no document holds a word the model knows"):
        model.score(new[:2])


def test_a_corpus_is_matched_by_its_words(sampled, caplog):
    corpus = sampled.corpus
    model = aw.AnchorTopicModel(4).fit(corpus)
    order = np.random.default_rng(0).permutation(120)
    shuffled = aw.Corpus(
        sp.hstack([corpus.counts[:, order], sp.csr_array(np.ones((600, 1)))]),
        [corpus.vocabulary[i] for i in order] + ["unheard"],
    )
    with caplog.at_level(logging.INFO, logger="anchorwords"):
        np.testing.assert_array_equal(model.transform(shuffled), model.transform(corpus))
    assert "600 of 36,600 (1.6%) are of words that the model does not know" in caplog.text
    nameless = aw.AnchorTopicModel(4).fit(corpus.counts)
    np.testing.assert_array_equal(nameless.transform(corpus), nameless.transform(corpus.counts))
    with pytest.raises(InputError, match="knows 120 words, but X has 121 columns"):
        nameless.transform(shuffled)


def test_a_missing_anchor_warns_and_the_fit_goes_on(sampled):
    with pytest.warns(UnknownWordWarning, match=r"'w017x' \(did you mean 'w017'"):
        model = aw.AnchorTopicModel(4, anchors=["w017x", 30]).fit(sampled.corpus)
    assert model.anchors_[0] == 30


def test_anchors_by_word_and_column(sampled):
    model = aw.AnchorTopicModel(4, anchors=["w017", 30]).fit(sampled.corpus)
    assert model.anchors_[:2].tolist() == [17, 30]
    for anchors, message in [
        ("w017", "single string"),
        ([None], "word or a column index"),
        ([500], "from 0 to 119"),
    ]:
        with pytest.raises(InputError, match=message):
            aw.AnchorTopicModel(4, anchors=anchors).fit(sampled.corpus)
    with pytest.raises(InputError, match="without a vocabulary"):
        aw.AnchorTopicModel(4, anchors=["w017"]).fit(sampled.corpus.counts)
    counts = sampled.corpus.counts.toarray()
    counts[:, 17] = 0
    with pytest.raises(InputError, match="column 17 never does"):
        aw.AnchorTopicModel(4, anchors=[17]).fit(counts)


def test_unused_words_do_not_change_the_rest(sampled):
    counts = sampled.corpus.counts.toarray()
    padded = np.insert(counts, [0, 50, 120], 0, axis=1)
    a, b = aw.AnchorTopicModel(4).fit(counts), aw.AnchorTopicModel(4).fit(padded)
    kept = np.flatnonzero(padded.any(axis=0))
    np.testing.assert_array_equal(b.components_[:, kept], a.components_)
    np.testing.assert_array_equal(kept[a.anchors_], b.anchors_)


def test_duplicated_documents_change_nothing_but_rounding(sampled):
    counts = sampled.corpus.counts
    once = aw.AnchorTopicModel(5).fit(counts)
    twice = aw.AnchorTopicModel(5).fit(sp.vstack([counts, counts]))
    assert match_topics(once.model_.B, twice.model_.B).total_variation.max() < 1e-6


def test_parameters_are_kept_and_cloned():
    model = aw.AnchorTopicModel(7, rectifier=aw.ENN(tol=1e-3), random_state=5, n_jobs=2, verbose=1)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(InputError, match="rectifier must be"):
        aw.AnchorTopicModel(rectifier="magic").fit(np.eye(20))


def test_random_state_none_is_reproducible_and_generators_work(sampled):
    first = aw.AnchorTopicModel(5).fit(sampled.corpus)
    again = aw.AnchorTopicModel(5).fit(sampled.corpus)
    np.testing.assert_array_equal(first.components_, again.components_)
    aw.AnchorTopicModel(5, random_state=np.random.RandomState(3)).fit(sampled.corpus)


def test_stages_are_logged_and_verbose_shows_them(sampled, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="anchorwords"):
        aw.AnchorTopicModel(5).fit(sampled.corpus)
    stages = [record.message.split(":")[0] for record in caplog.records if record.name == "anchorwords.fit"]
    assert stages == ["statistics", "eigenpairs", "rectification", "topics"]
    assert capsys.readouterr().err == ""
    aw.AnchorTopicModel(5, rectifier="ap", verbose=1).fit(sampled.corpus)
    shown = capsys.readouterr().err
    assert "rectification: ap" in shown
    assert not logging.getLogger("anchorwords").handlers


def test_progress_is_reported_in_order(sampled):
    seen = []
    for rectifier in ("enn", "palm", "ap", None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            aw.AnchorTopicModel(4, rectifier=rectifier).fit(sampled.corpus, progress=lambda s, f: seen.append((s, f)))
        assert all(0.0 <= share <= 1.0 for _, share in seen)
        assert seen[-1] == ("topics", 1.0)


def test_not_converging_warns_through_the_estimator(sampled):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = aw.AnchorTopicModel(5, rectifier=aw.ENN(max_iter=2)).fit(sampled.corpus)
    assert not model.converged_
    assert model.n_iter_ == 2
