"""Guidance from counts to topics: given and forbidden anchors, how frequent they must be, and words to keep."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords._validation import check_counts
from anchorwords.anchors.tandem import tandem_row
from anchorwords.corpus.missing import UnknownWordWarning
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.metrics.matching import match_topics
from anchorwords.sources.kinds import MatrixBlocks
from anchorwords.statistics.streamed import StreamedOperator
from tests.anchors.test_tandem import check_valid_guided
from tests.fits import fit_sketch, fit_topics


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=600, n_words=120, n_topics=5, doc_length=60, n_anchors=2, random_state=7)


@pytest.fixture(scope="module")
def counts(data):
    return check_counts(data.corpus.counts)


def frequencies(counts):
    return np.bincount(counts.indices, minlength=counts.shape[1])


def test_document_frequencies_of_operators(counts):
    X = counts.toarray()
    X[:3] = 0
    X[0, 4] = 1  # a single token: no pair
    X[:, 9] = 0
    blocks = MatrixBlocks([X[:200], X[200:]])
    kept = X[X.sum(axis=1) >= 2] > 0
    np.testing.assert_array_equal(aw.CooccurrenceOperator(X).document_frequencies, kept.sum(axis=0))
    streamed = StreamedOperator(blocks)
    np.testing.assert_array_equal(streamed.document_frequencies, kept.sum(axis=0)[streamed.words.mask])


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("rectifier", ["enn", "palm", "ap", None])
def test_every_rectifier_keeps_to_the_guidance(data, counts, rectifier):
    words = data.corpus.vocabulary
    groups = [[words[i] for i in data.anchors[2]], words[data.anchors[0, 0]]]
    free = fit_topics(counts, 5, rectifier=rectifier, anchors=groups, vocabulary=words).model
    forbidden = [words[free.anchors[2]], int(free.anchors[3])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateWarning)
        model = fit_topics(
            counts, 5, rectifier=rectifier, vocabulary=words, anchors=groups, forbidden=forbidden, min_anchor_docs=60
        ).model  # fmt: skip
    check_valid_guided(model)
    assert model.anchor_groups[0] == tuple(data.anchors[2].tolist())
    assert model.anchors[1] == data.anchors[0, 0]
    chosen = model.anchors[2:]
    assert (frequencies(counts)[chosen] >= 60).all()
    assert not set(free.anchors[2:4].tolist()) & set(chosen.tolist())


def test_original_rows_of_groups_are_harmonic_means(data, counts):
    model = fit_topics(counts, 5, anchors=[data.anchors[1].tolist(), 40]).model
    C = aw.cooccurrence(counts)
    rows = np.vstack([tandem_row(C[list(group)]) for group in model.anchor_groups])
    np.testing.assert_allclose(model.anchor_rows.toarray(), rows, atol=1e-14)


def test_streamed_is_in_memory(data, counts):
    options = {
        "anchors": [data.anchors[3].tolist(), "w005"], "forbidden": ["w050", 3], "min_anchor_docs": 0.2,
        "vocabulary": data.corpus.vocabulary,
    }  # fmt: skip
    memory = fit_topics(counts, 5, **options).model
    streamed = fit_topics(MatrixBlocks([counts[:250], counts[250:]]), 5, **options).model
    assert memory.anchor_groups == streamed.anchor_groups
    # Sums in another order: rounding, times what the rectification's tolerance of 1e-5 or so leaves of a start.
    np.testing.assert_allclose(streamed.B, memory.B, atol=1e-6)
    np.testing.assert_allclose(streamed.A, memory.A, atol=1e-6)
    np.testing.assert_allclose(streamed.anchor_rows.toarray(), memory.anchor_rows.toarray(), atol=1e-12)


def test_sketches_are_guided_too(data, counts):
    words = data.corpus.vocabulary
    sketch = aw.CooccurrenceSketch(5, n_columns=60).update(counts, words)
    free = fit_sketch(sketch, 5).model
    group = [words[i] for i in data.anchors[3]]
    forbidden = [words[i] for i in free.anchors if words[i] not in group]
    model = fit_sketch(sketch, 5, anchors=[group], forbidden=forbidden, min_anchor_docs=0.1).model
    check_valid_guided(model)
    assert model.anchor_groups[0] == tuple(data.anchors[3].tolist())
    assert not {words[i] for i in model.anchors} & set(forbidden)
    df = frequencies(counts)
    assert (df[model.anchors[1:]] >= 60).all()
    rows = np.maximum(model.Y @ model.Y.T, 0.0)
    expected = [tandem_row(rows[list(group)]) for group in model.anchor_groups]
    np.testing.assert_allclose(model.anchor_rows.toarray(), expected, atol=1e-13)
    # Words outside a sketch's min_df are none of its words.
    rare = words[int(np.argmin(df))]
    with pytest.warns(UnknownWordWarning, match=repr(rare)):
        fit_sketch(sketch, 5, anchors=[rare], min_df=int(df.min()) + 1)


def test_columns_of_a_nameless_sketch(data, counts):
    X = counts.toarray()
    X[:, [0, 50]] = 0
    sketch = aw.CooccurrenceSketch(5).update(X)
    model = fit_sketch(sketch, 5, anchors=[[17, 30], 60], forbidden=[0, 8], min_anchor_docs=20).model
    assert model.anchor_groups[:2] == ((17, 30), (60,))
    assert 8 not in model.anchors
    assert not model.B[~X.any(axis=0)].any()
    with pytest.raises(InputError, match="column 50 never does"):
        fit_sketch(sketch, 5, anchors=[50])


def test_a_missing_word_leaves_its_topic_to_the_pivots(data, counts):
    words = data.corpus.vocabulary
    with pytest.warns(UnknownWordWarning, match="did you mean 'w017'"):
        model = fit_topics(counts, 5, vocabulary=words, anchors=["W017x", "w030"]).model
    np.testing.assert_array_equal(model.B, fit_topics(counts, 5, anchors=[30]).model.B)


def test_too_few_candidates_say_what_to_lower(counts):
    with pytest.raises(InputError, match=r"needs 5 words .* at least 600 documents \(min_anchor_docs=600\).*lower"):
        fit_topics(counts, 5, min_anchor_docs=600)
    with pytest.raises(InputError, match="lower"):
        fit_sketch(aw.CooccurrenceSketch(5).update(counts), 5, min_anchor_docs=0.99)


def test_no_guidance_is_no_difference(counts):
    plain = fit_topics(counts, 5).model
    for options in ({"anchors": []}, {"forbidden": []}, {"min_anchor_docs": 1e-9}):
        np.testing.assert_array_equal(fit_topics(counts, 5, **options).model.B, plain.B)


def test_two_words_of_a_topic_find_it_in_samples(data, counts):
    """The words most specific to a topic, given together, lead to that topic, whatever else is chosen."""
    for k in range(5):
        model = fit_topics(counts, 5, anchors=[data.anchors[k].tolist()]).model
        distance = np.abs(model.B[:, 0, None] - data.B).sum(axis=0)
        assert int(np.argmin(distance)) == k


def test_a_threshold_keeps_the_truth_where_anchors_are_frequent():
    """With anchors in many documents a threshold below them changes nothing for the worse."""
    data = make_topics(n_docs=3000, n_words=200, n_topics=6, n_anchors=3, random_state=1)
    counts = check_counts(data.corpus.counts)
    df = frequencies(counts)
    threshold = int(df[data.anchors].max(axis=1).min())
    model = fit_topics(counts, 6, min_anchor_docs=threshold).model
    assert (df[model.anchors] >= threshold).all()
    free = fit_topics(counts, 6).model
    errors = [match_topics(data.B, found.B).total_variation.mean() for found in (model, free)]
    assert errors[0] < errors[1] + 0.02


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_any_guidance_gives_a_valid_model(seed):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.4, size=(40, 15))
    X[0, :2] = 2
    K = int(rng.integers(1, 5))
    words = rng.permutation(15)
    sizes = rng.integers(1, 3, size=int(rng.integers(0, K + 1)))
    groups = [part.tolist() for part in np.split(words[: sizes.sum()], np.cumsum(sizes))[:-1]]
    forbidden = words[sizes.sum() :][: int(rng.integers(0, 4))].tolist()
    refused = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = fit_topics(
                check_counts(X), K, anchors=groups, forbidden=forbidden, min_anchor_docs=int(rng.integers(1, 12)),
                rectifier=[None, "enn"][seed % 2],
            ).model  # fmt: skip
        except InputError as error:
            refused = str(error)
    if refused:
        assert any(part in refused for part in ("lower", "never does", "usable words", "independent", "co-occurs"))
        return
    check_valid_guided(model)
    assert not set(forbidden) & set(model.anchors.tolist())
    assert model.anchors[: len(groups)].tolist() == [group[0] for group in groups]


@pytest.mark.data
def test_words_of_a_field_lead_to_its_topic(real_corpus):
    """Each word of a group is most at home, of all twenty topics, in the topic it was given for."""
    corpus = real_corpus("nips12", 2500)
    groups = [["spike", "firing"], ["speech", "word"], ["policy", "reinforcement"]]
    counts = check_counts(corpus.counts)
    model = fit_topics(counts, 20, anchors=groups, vocabulary=corpus.vocabulary, min_anchor_docs=0.005).model
    check_valid_guided(model)
    for k, group in enumerate(groups):
        for word in group:
            assert int(np.argmax(model.B[corpus.vocabulary.index(word)])) == k


# ---- Words to keep.


@pytest.fixture(scope="module")
def corpus():
    rng = np.random.default_rng(4)
    X = rng.poisson(3.0 * np.arange(1, 31) ** -0.8, size=(200, 30))
    X[:, 29] = 0
    X[5, 29] = 1
    return aw.Corpus(X, [f"word{i:02d}" for i in range(30)])


RULES = [
    {"min_df": 60},
    {"max_df": 0.5},
    {"n_words": 6},
    {"stop_words": ["word03", "word12", "word01"]},
    {"min_df": 20, "max_df": 0.6, "n_words": 5, "stop_words": ["word12"]},
]


@pytest.mark.parametrize("rule", RULES)
def test_words_to_keep_are_kept(corpus, tmp_path, rule):
    keep = ["word12", "word00", "word29"]
    corpus.save(tmp_path / "corpus")
    stored = aw.open_corpus(tmp_path / "corpus")
    options = {**rule, "min_tokens": 0, "min_types": 0}
    plain, kept, on_disk = corpus.prune(**options), corpus.prune(**options, keep_words=keep), stored.prune(
        **options, keep_words=iter(keep)
    )  # fmt: skip
    assert kept.vocabulary == on_disk.vocabulary
    assert (kept.counts != on_disk.counts).nnz == 0
    assert kept.dropped == on_disk.dropped
    assert set(keep) <= set(kept.vocabulary)
    if "n_words" in rule:
        # They take their places among the n_words; the best others fill the rest.
        assert kept.n_words == rule["n_words"]
        others = [word for word in plain.vocabulary if word not in keep]
        assert set(kept.vocabulary) - set(keep) <= set(others)
    else:
        assert set(kept.vocabulary) == set(plain.vocabulary) | set(keep)
    dropped = kept.dropped
    left_out = dropped.stop_words + dropped.rare_words + dropped.frequent_words + dropped.words_beyond_cap
    assert left_out + dropped.orphaned_words == corpus.n_words - kept.n_words


def test_more_words_to_keep_than_the_cap(corpus):
    kept = corpus.prune(n_words=2, keep_words=["word03", "word04", "word07"], min_tokens=0, min_types=0)
    assert kept.vocabulary == ("word03", "word04", "word07")


def test_words_to_keep_that_are_not_there(corpus, tmp_path):
    corpus.save(tmp_path / "corpus")
    for source in (corpus, aw.open_corpus(tmp_path / "corpus")):
        with pytest.warns(UnknownWordWarning, match=r"keep_words: a word .*'Word3' \(did you mean 'word"):
            pruned = source.prune(min_df=20, keep_words=["Word3", "word29"])
        assert "word29" in pruned.vocabulary
        longer = int(corpus.counts[[5]].sum()) + 1  # its only document is too short to stay
        with pytest.warns(UnknownWordWarning, match="keep_words: 'word29' is in no document"):
            pruned = source.prune(min_tokens=longer, keep_words=["word29"])
        assert "word29" not in pruned.vocabulary
    for bad in ("word03", 3, ["word03", 4]):
        with pytest.raises(InputError, match="keep_words must be words"):
            corpus.prune(keep_words=bad)
