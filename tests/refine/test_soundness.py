"""Coherence, two subjects and flags: definitions, planted faults, and what edits leave of them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords import metrics
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.refine.flagging import flags_of
from anchorwords.refine.soundness import (
    boilerplate,
    coherence,
    incoherent,
    npmi,
    of_allowed,
    repetition,
    templates,
    top_rows,
    two_subjects,
    words_together,
)
from anchorwords.refine.sweep import Pieces, as_documents
from anchorwords.sources.convert import as_source
from anchorwords.topic_flag import KINDS, TopicFlag


def test_words_together_are_documents_with_both():
    rng = np.random.default_rng(0)
    X, often = rng.poisson(0.4, (80, 20)), rng.integers(0, 3, 80).astype(float)
    X[[3, 70]] = 0
    tops = [np.array([4, 1, 19]), np.array([7])]
    parts = [as_documents(sp.csr_array(X[a:b]), often[a:b]) for a, b in ((0, 30), (30, 80))]
    found = words_together(parts, tops, 20)
    assert found.n_docs == often[X.any(axis=1)].sum()
    for top, counts in zip(tops, found.counts, strict=True):
        present = (X[:, top] > 0).astype(float)
        np.testing.assert_allclose(counts, present.T @ (present * often[:, None]))
    for top, held in zip(tops, found.held, strict=True):
        n_held = (X[:, top] > 0).sum(axis=1)
        np.testing.assert_allclose(held, [often[n_held == j].sum() for j in range(top.size + 1)])


def test_only_the_first_words_count_for_repetition():
    X = np.eye(12)
    (held,) = words_together([as_documents(sp.csr_array(X))], [np.arange(12)], 12).held
    assert held.tolist() == [2.0, 10.0, *[0.0] * 9]


def test_coherence_is_the_metric():
    data = make_topics(n_docs=200, n_words=100, n_topics=3, random_state=0)
    model = aw.AnchorTopicModel(3).fit(data.corpus)
    tops = aw.top_indices(model, 10)
    together = words_together([as_documents(sp.csr_array(data.corpus.counts))], tops, 100)
    found = [coherence(counts, together.n_docs) for counts in together.counts]
    np.testing.assert_allclose(found, metrics.npmi_coherence(model, data.corpus, 10, per_topic=True), atol=1e-12)


def test_npmi_at_its_ends():
    # Words 0 and 1 always together, 2 apart from both, 3 in every document.
    counts = np.array([[10, 10, 0, 10], [10, 10, 0, 10], [0, 0, 20, 20], [10, 10, 20, 40]], dtype=float)
    expected = np.array([[0, 1, -1, 0], [1, 0, -1, 0], [-1, -1, 0, 0], [0, 0, 0, 0]], dtype=float)
    np.testing.assert_allclose(npmi(counts, 40.0), expected, atol=1e-12)
    assert coherence(counts[:1, :1], 40.0) == 1.0


def loose_and_close(*shares, n_docs=4000, seed=0):
    """Topics of ten words each that are in this share of documents, and within them together more or less often."""
    rng = np.random.default_rng(seed)
    columns = []
    for share, within in shares:
        carried = rng.random(n_docs) < share
        alone = rng.random((n_docs, 10)) < 0.5 * share
        columns.append(
            np.where(rng.random((n_docs, 10)) < within, (rng.random((n_docs, 10)) < 0.5) & carried[:, None], alone)
        )
    X = np.hstack([*columns, np.ones((n_docs, 1))]).astype(float)  # no document is empty
    tops = [np.arange(10 * k, 10 * k + 10) for k in range(len(shares))]
    return words_together([as_documents(sp.csr_array(X))], tops, X.shape[1]), n_docs * np.array([s for s, _ in shares])


def test_words_that_do_not_belong_together_are_incoherent_and_those_of_a_large_subject_are_not():
    together, carriers = loose_and_close((0.02, 1.0), (0.03, 1.0), (0.02, 0.1), (0.75, 1.0))
    found, scores = incoherent(together, carriers)
    np.testing.assert_allclose(scores, [coherence(counts, together.n_docs) for counts in together.counts])
    # The words of the last topic are in three documents in eight each: their NPMI is as small as that of the loose topic.
    assert scores[3] < 0.5 * np.median(scores)
    assert found.tolist() == [False, False, True, False]
    # All that its number of documents allows, up to what a sample of pairs of 4,000 documents differs by.
    assert of_allowed(together.counts[3], together.n_docs, carriers[3]) == pytest.approx(1.0, abs=0.05)
    assert of_allowed(together.counts[3], together.n_docs, together.n_docs) == 0.0
    # Words that other documents do not hold are never together.
    absent = together.counts[3].copy()
    absent[4:], absent[:, 4:] = 0.0, 0.0
    assert of_allowed(absent, together.n_docs, carriers[3]) == -np.inf
    # Nothing stands out where most topics have no coherence at all.
    assert not incoherent(*loose_and_close((0.02, 0.0), (0.02, 0.0), (0.02, 0.0), (0.02, 1.0)))[0].any()


def groups_of_words(sizes, n_docs=60):
    """Counts of words that are together within each group, and never across."""
    present = np.zeros((n_docs * len(sizes), sum(sizes)))
    ends = np.cumsum(sizes)
    for g, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        rng = np.random.default_rng(g)
        present[g * n_docs : (g + 1) * n_docs, end - size : end] = rng.random((n_docs, size)) < 0.7
    return present.T @ present, float(present.shape[0])


def test_two_subjects_are_found_where_they_are():
    counts, n_docs = groups_of_words([6, 5])
    one, other, apart = two_subjects(counts, n_docs)
    assert (one.tolist(), other.tolist()) == (list(range(6)), list(range(6, 11)))
    assert apart > 1.0  # NPMI within is positive, and across it is -1
    assert two_subjects(*groups_of_words([11])) is None
    assert two_subjects(*groups_of_words([8, 3])) is None  # three words are no subject
    assert two_subjects(*groups_of_words([3, 4])) is None
    # The order of words does not decide which of them belong together.
    order = np.random.default_rng(0).permutation(11)
    first, second, _ = two_subjects(counts[np.ix_(order, order)], n_docs)
    assert {frozenset(order[first]), frozenset(order[second])} == {frozenset(range(6)), frozenset(range(6, 11))}


def test_repetition_is_nearly_all_of_some():
    held = np.zeros(11)
    held[[0, 3, 4, 6, 7, 10]] = [500.0, 90.0, 6.0, 2.0, 3.0, 21.0]
    assert repetition(held) == (3 + 21) / (6 + 2 + 3 + 21)
    assert repetition(np.array([90.0, *[0.0] * 10])) == 0.0  # nobody holds some
    assert repetition(np.append(np.zeros(7), 5.0)) == 0.0  # seven words are too few
    assert templates(np.array([0.1, 0.9, 0.79, 0.2])).tolist() == [False, True, False, False]
    assert not templates(np.array([0.6, 0.9, 0.85, 0.7])).any()  # as playlists do


@pytest.mark.parametrize("n", [1, 3, 30])
def test_top_rows_are_a_stable_sort(n):
    columns = np.random.default_rng(0).integers(0, 5, (20, 6)) / 4.0
    for column, top in zip(columns.T, top_rows(columns, n), strict=True):
        order = np.argsort(-column, kind="stable")[:n]
        assert top.tolist() == order[column[order] > 0].tolist()


# ---- Flags.


def flagged(X, listed, A=None, n_docs=None):
    K = listed.shape[1]
    A = np.eye(K) * 0.5 / K + 0.5 / K**2 if A is None else A
    carriers = np.full(K, 50.0) if n_docs is None else np.array(n_docs)
    return flags_of(Pieces(as_source(sp.csr_array(X)), K), listed, A, carriers, tuple(range(10, 10 + K)))


@pytest.fixture
def sound():
    """Four subjects of ten words each, in documents of their own, and a topic for each."""
    rng = np.random.default_rng(0)
    X = np.zeros((400, 40), dtype=int)
    for m in range(400):
        k = m % 4
        X[m, 10 * k : 10 * k + 10] = rng.poisson(1.0, 10)
    return X, np.kron(np.eye(4), np.linspace(1.0, 0.6, 10)[:, None])


def test_sound_topics_are_not_flagged(sound):
    assert flagged(*sound) == ()


def test_a_copy_is_flagged(sound):
    X, listed = sound
    copy = np.column_stack([listed, listed[:, 1] + 0.1 * listed[:, 2]])
    (flag,) = flagged(X, copy)
    assert (flag.kind, flag.topics) == ("copies", (11, 14))
    assert set(flag.words[0]) == set(range(10, 20))
    expected = copy[:, 1] @ copy[:, 4] / np.linalg.norm(copy[:, 1]) / np.linalg.norm(copy[:, 4])
    assert flag.value == pytest.approx(expected, rel=1e-12)
    assert flag.sentence().startswith("topics 11 and 14 are nearly the same (column 10, column 11")


def test_two_subjects_are_flagged(sound):
    X, listed = sound
    both = listed.copy()
    both[:, 0] += 0.9 * listed[:, 1]
    listed[:, 1] = listed[:, 2] * 0
    both = np.column_stack([both[:, 0], listed[:, 2], listed[:, 3]])
    (flag,) = (flag for flag in flagged(X, both) if flag.kind == "two subjects")
    assert flag.topics == (10,)
    assert {frozenset(group) for group in flag.words} == {frozenset(range(10)), frozenset(range(10, 20))}
    assert "topic 10 may hold two subjects (w0, w1, w2, w3, w4 | w10, w11" in flag.sentence(
        [f"w{i}" for i in range(40)]
    )


def test_junk_is_flagged(sound):
    X, listed = sound
    rng = np.random.default_rng(1)
    loose = np.hstack([X, rng.binomial(1, 0.3, (400, 10))])
    columns = np.vstack([np.column_stack([listed, np.zeros(40)]), np.column_stack([np.zeros((10, 4)), np.ones(10)])])
    (flag,) = flagged(loose, columns)
    assert (flag.kind, flag.topics, flag.words) == ("incoherent", (14,), (tuple(range(40, 50)),))
    (few,) = flagged(X, listed, n_docs=[50.0, 1.2, 40.0, 60.0])
    assert (few.kind, few.topics, few.value) == ("few documents", (11,), 1.2)
    assert "stands on about one document" in few.sentence()
    assert flagged(X, listed, n_docs=[2.0, 3.0, 2.0, 4.0]) == ()  # a small corpus
    A = np.full((4, 4), 0.03)
    A[3, :3] = A[:3, 3] = 0.001
    A += np.diag([0.02, 0.02, 0.02, 0.2])
    (apart,) = flagged(X, listed, A=A / A.sum())
    assert (apart.kind, apart.topics) == ("apart", (13,))
    assert apart.value == pytest.approx(A[3, 3] / A[3].sum())


def test_a_fit_says_what_it_finds_and_edits_keep_what_still_holds():
    rng = np.random.default_rng(5)
    debris = np.zeros((204, 50), dtype=int)
    for m in range(200):
        debris[m, 10 * (m % 4) : 10 * (m % 4) + 10] = rng.poisson(9.0, 10)
    # Four documents of nothing but ten words of their own.
    debris[200:, 40:] = rng.poisson(9.0, (4, 10)) + 1
    model = aw.AnchorTopicModel.from_preset("readers", 5, min_anchor_docs=1, anchors=[[40, 41]]).fit(debris)
    flags = model.model_.flags
    assert {(flag.kind, flag.topics) for flag in flags} == {("few documents", (0,))}
    assert {flag.kind for flag in aw.flag_topics(model, debris)} == {"few documents"}
    table = aw.topic_table(model)
    assert [row["flags"] for row in table if row["topic"] == 0] == [[flags[0].sentence(table_words(50))]]
    assert all(row["flags"] == [] for row in table if row["topic"] != 0)
    assert table.notes[-1].startswith("Topic 0 (")
    assert aw.rename_topics(model, {1: "a name"}).model_.flags == flags
    assert aw.reorder_topics(model, [4, 3, 2, 1, 0]).model_.flags == flags
    assert aw.merge_topics(model, [[1, 2]]).model_.flags == flags
    assert aw.merge_topics(model, [[0, 2]]).model_.flags == ()
    assert aw.drop_topics(model, [0]).model_.flags == ()
    assert aw.split_topic(model, 1, debris).model_.flags == flags


def table_words(n):
    return [str(i) for i in range(n)]


def test_flags_of_a_model_need_documents_with_its_words(sound):
    X, _ = sound
    model = aw.AnchorTopicModel(4).fit(X)
    assert model.model_.flags == ()
    assert aw.flag_topics(model, X) == []
    with pytest.raises(InputError, match="no document holds a word the model knows"):
        aw.flag_topics(model, np.zeros((3, 40), dtype=int))


def test_a_template_is_flagged(sound):
    """A phrase of ten words that every fifth document of three subjects ends with, whole."""
    X, listed = sound
    phrase = np.zeros((400, 10), dtype=int)
    phrase[np.arange(400) % 20 < 3] = 1
    columns = np.vstack([np.column_stack([listed, np.zeros(40)]), np.column_stack([np.zeros((10, 4)), np.ones(10)])])
    (flag,) = flagged(np.hstack([X, phrase]), columns)
    assert (flag.kind, flag.topics, flag.words, flag.value) == ("template", (14,), (tuple(range(40, 50)),), 1.0)
    assert "a phrase that one source repeats" in flag.sentence()


def test_every_kind_has_a_sentence():
    for kind in KINDS:
        flag = TopicFlag(kind, (1, 2), ((0,), (1,)), 3.4)
        assert "1" in flag.sentence()
        assert "what" in flag.sentence(["what", "ever"])
    assert "about 3 documents" in TopicFlag("few documents", (1,), ((0,),), 3.4).sentence()


def test_boilerplate_is_widespread_goes_with_everything_and_is_vague():
    """Eight subjects that keep to themselves in pairs, and a habit of speech that goes with all of them."""
    K = 9
    joint = np.eye(K) + 0.02
    for k in range(0, 8, 2):
        joint[k, k + 1] = joint[k + 1, k] = 0.5
    joint[8, :8] = joint[:8, 8] = 0.4
    spread, informative = np.array([10.0] * 8 + [40.0]), np.array([4.0] * 8 + [2.0])
    no = np.zeros(K, dtype=bool)
    assert np.flatnonzero(boilerplate(joint, spread, informative, no)).tolist() == [8]
    # In any scale and order; and only where all three hold.
    order = np.random.default_rng(0).permutation(K)
    shuffled = boilerplate(7.0 * joint[np.ix_(order, order)], spread[order], informative[order], no)
    assert order[np.flatnonzero(shuffled)].tolist() == [8]
    assert not boilerplate(joint, np.full(K, 10.0), informative, no).any()
    assert not boilerplate(joint, spread, np.full(K, 4.0), no).any()
    joint[8, 2:8] = joint[2:8, 8] = 0.0  # a large subject with one neighbour
    assert not boilerplate(joint, spread, informative, no).any()
    # A large subject that keeps to itself goes with nothing, and not with everything.
    joint[8, :8] = joint[:8, 8] = 0.0
    assert not boilerplate(joint, spread, informative, no).any()
    assert not boilerplate(np.eye(K), spread, informative, no).any()
    # A template keeps its company, but is in more documents than most topics, and of common words.
    assert boilerplate(joint, spread, informative, ~no).tolist() == [False] * 8 + [True]
    assert not boilerplate(joint, np.full(K, 10.0), informative, ~no).any()
    assert not boilerplate(joint, spread, np.full(K, 4.0), ~no).any()
    assert not boilerplate(np.ones((4, 4)), np.array([1.0, 1, 1, 9]), np.array([1.0, 1, 1, 0]), no[:4]).any()  # too few
