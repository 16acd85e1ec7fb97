"""Least squares on damped counts: definitions written down densely, a fit that only improves, and planted subjects."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.refine.guided import UNGUIDED, Guided
from anchorwords.refine.least_squares import DampedCounts, _Descent, keywords, n_sweeps_of
from anchorwords.refine.sweep import Pieces
from anchorwords.sources.convert import as_source
from anchorwords.sources.kinds import MatrixBlocks


def some_counts(seed, M=60, N=25):
    rng = np.random.default_rng(seed)
    X = rng.poisson(rng.gamma(0.3, 2.0, size=(M, N)))
    X[[4, 9]] = 0
    X[:, 7] = 1  # a word of every other document
    X[[4, 9], 7] = 0
    return X


def damped(X, weights=None):
    """X by its definition."""
    often = np.ones(X.shape[0]) if weights is None else weights
    df = ((X > 0) * often[:, None]).sum(axis=0)
    M = often[X.any(axis=1)].sum()
    with np.errstate(divide="ignore"):
        x = np.where(X > 0, 1 + np.log(np.where(X > 0, X, 1)), 0.0) * np.where(df > 0, np.log(M / df), 0.0)
    lengths = np.linalg.norm(x, axis=1, keepdims=True)
    return x / np.where(lengths > 0, lengths, 1.0)


def pieces_of(X, weights=None, streamed=False):
    rows = sp.csr_array(X)
    source = MatrixBlocks([rows[:20], rows[20:21], rows[21:]]) if streamed else as_source(rows)
    return Pieces(source, 4, weights)


def dense(counts):
    """What the pieces hold, by document and by word."""
    by_row, by_word = [], []
    for documents, rows, columns in counts:
        shape = documents.n_docs, counts.informative.size
        by_row.append(sp.csr_array((rows[2], rows[1], rows[0]), shape=shape).toarray())
        by_word.append(sp.csc_array((columns[2], columns[1], columns[0]), shape=shape).toarray())
    return np.vstack(by_row), np.vstack(by_word)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_damped_counts_are_as_defined(seed, streamed):
    X = some_counts(seed)
    by_row, by_word = dense(DampedCounts(pieces_of(X, streamed=streamed), np.ones(25, dtype=bool)))
    np.testing.assert_allclose(by_row, damped(X), atol=1e-14)
    np.testing.assert_array_equal(by_word, by_row)
    assert not by_row[:, 7].any()  # it tells no document from another


def test_weights_are_repetitions():
    X, often = some_counts(0), np.random.default_rng(1).integers(0, 4, 60)
    weighted = DampedCounts(pieces_of(X, often.astype(float)), np.ones(25, dtype=bool))
    repeated = DampedCounts(pieces_of(np.repeat(X, often, axis=0)), np.ones(25, dtype=bool))
    np.testing.assert_allclose(weighted.informative, repeated.informative, atol=1e-14)
    np.testing.assert_allclose(np.repeat(dense(weighted)[0], often, axis=0), dense(repeated)[0], atol=1e-14)


def test_words_without_a_part():
    X = some_counts(2)
    known, neutral = np.arange(25) != 3, np.arange(25) == 5
    found, _ = dense(DampedCounts(pieces_of(X), known, neutral))
    X[:, 3] = 0
    without = DampedCounts(pieces_of(X), known)
    assert not found[:, [3, 5]].any()
    others = np.setdiff1d(np.arange(25), [3, 5])
    np.testing.assert_allclose(
        DampedCounts(pieces_of(X), known, neutral).informative[others], without.informative[others]
    )


def descent(X, topics, tmp_path, guided=UNGUIDED, streamed=False, n_jobs=1):
    counts = DampedCounts(pieces_of(X, streamed=streamed), np.asarray(topics.any(axis=1)))
    folders = iter(range(1000))

    def store():
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        return folder

    return _Descent(counts, topics * counts.informative[:, None], guided, store, n_jobs, lambda: None)


def misfit(work, X):
    """|X - W F'|^2, W as stored times what its columns are due."""
    W = np.vstack([work.W[number] for number in range(len(work.W))]) * work._scale
    return float(np.sum((X - W @ work.F.T) ** 2))


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_only_improves(seed, tmp_path):
    """Every move is the best for one coordinate, the others held; a rise could only be rounding of 1,500 squares."""
    X, rng = some_counts(seed), np.random.default_rng(seed)
    work = descent(X, rng.random((25, 4)) + 0.01, tmp_path)
    values = [float(np.sum(damped(X) ** 2))]
    for _ in range(12):
        work.sweep(1)
        values.append(misfit(work, damped(X)))
        np.testing.assert_allclose(np.linalg.norm(work.F, axis=0), 1.0, rtol=1e-12)
        assert work.F.min() >= 0.0
    assert np.diff(values).max() <= 1e-12
    assert values[-1] < 0.8 * values[0]


def test_threads_and_streaming_change_nothing(tmp_path):
    X, topics = some_counts(0), np.random.default_rng(0).random((25, 4))
    works = [
        descent(X, topics, tmp_path / name, streamed=streamed, n_jobs=n_jobs)
        for name, streamed, n_jobs in (("one", False, 1), ("three", False, 3), ("streamed", True, 2))
        if not (tmp_path / name).mkdir()
    ]
    for work in works:
        work.sweep(5)
    np.testing.assert_array_equal(works[0].F, works[1].F)
    np.testing.assert_allclose(works[0].F, works[2].F, atol=1e-12)  # sums over pieces, in another order


def missed_most(tmp_path, W, F, n_left, guided=UNGUIDED):
    """What is left of these columns, and W'W as the descent knows it."""
    work = descent(some_counts(0), np.ones((25, 2)), tmp_path, guided)
    work.F, work._moments, work._n_given = F / np.linalg.norm(F, axis=0), W.T @ W, guided.n_given
    return work._missed_most(np.arange(F.shape[1]), n_left).tolist()


def test_the_column_that_is_missed_least_goes(tmp_path):
    """Where the fit is exact, giving the weights of a column to the likest other one costs what the notes say."""
    rng = np.random.default_rng(1)
    F, W = rng.random((25, 5)) ** 2, rng.random((60, 5)) * [1.0, 0.5, 2.0, 0.7, 1.1]
    F /= np.linalg.norm(F, axis=0)
    cosines = F.T @ F - np.eye(5)
    costs = []
    for k in range(5):
        j = int(np.argmax(cosines[k]))
        moved = W.copy()
        moved[:, j] += cosines[k, j] * W[:, k]
        moved[:, k] = 0.0
        costs.append(np.sum((W @ F.T - moved @ F.T) ** 2))
        assert costs[-1] == pytest.approx(np.sum(W[:, k] ** 2) * (1 - cosines[k, j] ** 2), rel=1e-9)
    assert missed_most(tmp_path, W, F, 4) == [k for k in range(5) if k != int(np.argmin(costs))]


def test_of_copies_one_stays(tmp_path):
    rng = np.random.default_rng(2)
    F, W = np.eye(25)[:, :4] + 0.01 * rng.random((25, 4)), rng.random((60, 4)) + 0.2
    twice, half = np.repeat(F, 2, axis=1), np.repeat(W / 2, 2, axis=1)
    assert sorted(k // 2 for k in missed_most(tmp_path, half, twice, 4)) == [0, 1, 2, 3]
    # A guided topic stays, and its copies go.
    (tmp_path / "guided").mkdir()
    assert 0 in missed_most(tmp_path / "guided", half * 1e-3, twice, 1, Guided(((3,),)))


# ---- Planted subjects.

SUBJECTS, OWN = 6, 8


def planted(seed=0, M=400, common=4):
    """Documents of one subject of eight words each, and words of most documents, which say nothing."""
    rng = np.random.default_rng(seed)
    N = SUBJECTS * OWN + common
    X = np.zeros((M, N), dtype=int)
    for m in range(M):
        k = m % SUBJECTS
        X[m, k * OWN : (k + 1) * OWN] = rng.poisson(1.5, OWN)
        X[m, SUBJECTS * OWN :] = rng.binomial(3, 0.8, common)
    return X


def subject(*numbers):
    """A topic of the words of these subjects."""
    column = np.full(SUBJECTS * OWN + 4, 1e-3)
    for k in numbers:
        column[k * OWN : (k + 1) * OWN] = 1.0
    return column / column.sum()


def subjects_of(found):
    """The subject of the first five words of each topic; None where they are of several."""
    tops = np.argsort(-found.F, axis=0, kind="stable")[:5] // OWN
    return [int(top[0]) if (top == top[0]).all() else None for top in tops.T]


def found_from(topics, tmp_path, X=None, guided=UNGUIDED, n_sweeps=6):
    X = planted() if X is None else X
    folders, reports = iter(range(1000)), []

    def store():
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        return folder

    B = np.column_stack(topics)
    places = B / B.sum(axis=1, keepdims=True)
    found = keywords(pieces_of(X), B, places, n_sweeps, guided, store, 1, lambda: reports.append(0))
    return found, len(reports)


def test_subjects_are_found_and_common_words_are_left_out(tmp_path):
    start = [subject(k) + 0.3 * subject((k + 1) % SUBJECTS) for k in range(SUBJECTS)]
    found, n_reports = found_from([column / column.sum() for column in start], tmp_path)
    assert n_reports == n_sweeps_of(6)
    assert sorted(subjects_of(found)) == list(range(SUBJECTS))
    assert found.F.min() >= 0.0
    np.testing.assert_allclose(found.F.sum(axis=0), 1.0, rtol=1e-12)
    # Words that three documents in four hold say next to nothing about a subject.
    assert found.F[SUBJECTS * OWN :].sum(axis=0).max() < 0.05
    W = found.W[0]
    assert W.shape == (400, SUBJECTS + 1)
    of = np.array(subjects_of(found))[W[:, :SUBJECTS].argmax(axis=1)]
    assert np.mean(of == np.arange(400) % SUBJECTS) > 0.95


def test_two_subjects_come_apart_and_copies_make_room(tmp_path):
    """One topic of two subjects and two topics of one: the preset mends both at once."""
    start = [subject(0, 1), subject(2), subject(2), subject(3), subject(4), subject(5)]
    # The two subjects of the first topic are told apart by where their words lie in the hull.
    start[0][:OWN] += 0.004
    start[0] /= start[0].sum()
    found, _ = found_from(start, tmp_path)
    assert sorted(subjects_of(found)) == list(range(SUBJECTS))


def test_boilerplate_becomes_the_background(tmp_path):
    """Words that a third of the documents hold, each for itself: a topic to begin with, and in the end in no topic."""
    rng = np.random.default_rng(3)
    X = np.hstack([planted(common=0), rng.binomial(1, 0.35, (400, 12)) * rng.poisson(4.0, (400, 12))])
    columns = [np.append(subject(k)[: SUBJECTS * OWN], np.full(12, 1e-3)) for k in range(SUBJECTS)]
    columns.append(np.append(np.full(SUBJECTS * OWN, 1e-3), np.ones(12)))
    start = [column / column.sum() for column in columns]
    found, _ = found_from(start, tmp_path, X)
    assert found.background is not None
    np.testing.assert_allclose(found.background.sum(), 1.0, rtol=1e-12)
    assert set(np.argsort(-found.background, kind="stable")[:5]) <= set(range(SUBJECTS * OWN, SUBJECTS * OWN + 12))
    assert sorted({k for k in subjects_of(found) if k is not None and k < SUBJECTS}) == list(range(SUBJECTS))


def test_guided_topics_keep_their_seeds_and_their_places(tmp_path):
    """A seed of another subject stays among the first words, by the share that the strength asks for."""
    seeds, strength = ((1, 17), (30,)), 0.2
    start = [subject(0), subject(3), *(subject(k) for k in (1, 2, 4, 5))]
    found, _ = found_from(start, tmp_path, guided=Guided(seeds, strength))
    for k, words in enumerate(seeds):
        assert found.F[list(words), k].sum() >= strength / (1 + strength) - 1e-12
        order = np.argsort(-found.F[:, k], kind="stable")
        assert set(words) <= set(order[:10])
    assert subjects_of(found)[2:].count(None) == 0


def test_nothing_informative(tmp_path):
    X = np.ones((30, SUBJECTS * OWN + 4), dtype=int)
    assert found_from([subject(k) for k in range(SUBJECTS)], tmp_path, X)[0] is None
