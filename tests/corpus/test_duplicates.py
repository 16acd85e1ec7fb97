"""Duplicate documents: all exact ones, near ones by their definition, in memory and on disk."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import anchorwords as aw
from anchorwords.corpus.duplicates import NEAR, find_duplicates


def blocks_of(counts, n_blocks=1):
    parts = [sp.csr_array(part) for part in np.array_split(np.asarray(counts, dtype=float), n_blocks)]
    return lambda: iter(parts)


def similarity(one, other):
    one, other = set(np.flatnonzero(one)), set(np.flatnonzero(other))
    return len(one & other) / len(one | other)


@given(
    hnp.arrays(np.int64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=st.integers(0, 2)),
    st.integers(1, 4),
)
def test_exact_repetitions_are_those_of_the_definition(counts, n_blocks):
    found = find_duplicates(blocks_of(counts, min(n_blocks, len(counts))), counts.shape[1])
    for row, own in enumerate(counts):
        same = [other for other in range(row) if own.any() and (counts[other] == own).all()]
        assert found.first[row] == (same[0] if same else row)
        assert found.is_exact[row] == bool(same)
    assert found.n_near == 0  # of documents with so few words


@pytest.fixture(scope="module")
def copies():
    """Documents of 40 words, each with copies of which some words are others, in any order; and the original of each."""
    rng = np.random.default_rng(1)
    rows, origin = [], []
    for number in range(200):
        words = rng.choice(2000, 40, replace=False)
        for changed in (0, 1, 1, 2, 8):
            own = words.copy()
            own[:changed] = rng.choice(2000, changed)
            rows.append(np.bincount(own, minlength=2000))
            origin.append(number)
    order = rng.permutation(len(rows))
    return np.array(rows)[order], np.array(origin)[order]


def test_near_repetitions_are_found(copies):
    counts, origin = copies
    found = find_duplicates(blocks_of(counts, 3), 2000)
    n_expected = n_missed = 0
    for row in range(len(counts)):
        like = [
            other
            for other in np.flatnonzero(origin[:row] == origin[row])
            if similarity(counts[row], counts[other]) >= NEAR
        ]
        n_expected += bool(like)
        n_missed += bool(like) and found.first[row] == row
        if found.first[row] != row:
            # It repeats what something similar to it repeats, and never a document of other words.
            assert origin[found.first[row]] == origin[row]
            assert like
    # Missed are at most 1 in 200 of those just similar enough; with 600 of them, ten would be four standard deviations.
    assert n_expected > 400
    assert n_missed <= 10


def test_repetitions_of_repetitions_lead_to_the_first():
    base = np.zeros(30, dtype=int)
    base[:20] = 1
    near = base.copy()
    near[0], near[25] = 0, 1
    found = find_duplicates(blocks_of([base, near, near, base]), 30)
    assert found.first.tolist() == [0, 0, 0, 0]
    assert found.is_exact.tolist() == [False, False, True, True]
    assert (found.n_exact, found.n_near) == (2, 1)
    assert found.sentence().startswith("2 documents repeat an earlier one exactly and 1 nearly")
    assert find_duplicates(blocks_of([base, near]), 30, near=False).sentence() is None


def test_blocks_do_not_matter(copies):
    counts, _ = copies
    whole = find_duplicates(blocks_of(counts), 2000)
    for n_blocks in (2, 7):
        np.testing.assert_array_equal(find_duplicates(blocks_of(counts, n_blocks), 2000).first, whole.first)


def test_documents_without_words_repeat_none():
    assert not find_duplicates(blocks_of(np.zeros((3, 2))), 2).repeats.any()
    assert find_duplicates(lambda: iter(()), 2).first.size == 0


def test_a_corpus_without_its_duplicates(tmp_path):
    texts = ["one two three", "four five", "one two three", "six", "four five"]
    corpus = aw.read_corpus([{"text": text, "n": number} for number, text in enumerate(texts)], columns="n")
    corpus.save(tmp_path / "c")
    for one in (corpus, aw.open_corpus(tmp_path / "c")):
        kept = one.drop_duplicates()
        assert kept.documents["n"].tolist() == [0, 1, 3]
        assert one.duplicates().first.tolist() == [0, 1, 0, 3, 1]
