"""Numbers of topics that a scan chooses itself."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.datasets import make_topics
from anchorwords.scanning.grid import extended, first_numbers, refined
from anchorwords.scanning.scan import scan
from tests.scanning.test_recommend import directions


def test_the_first_grid_suits_the_data():
    assert first_numbers(100_000, 5000) == [5, 10, 15, 20, 30, 40, 60, 80]
    assert first_numbers(350, 5000) == [5, 10, 15, 20, 30]
    assert first_numbers(120, 5000) == [2, 3, 4, 5, 6, 8, 10, 12]
    assert first_numbers(100_000, 7) == [2, 3, 4, 5, 6]
    assert first_numbers(12, 40) == [1]


def test_the_grid_is_extended_up_to_a_limit():
    first = first_numbers(100_000, 5000)
    longer = extended(first, 100_000, 5000)
    assert longer == [*first, 120, 160]
    assert extended(longer, 100_000, 5000) == longer  # the limit
    assert extended(first, 1000, 5000) == first  # ten documents per topic
    assert extended(first, 100_000, 100) == first
    assert extended([2, 3, 4], 100_000, 5000) == [2, 3, 4]


def test_the_end_of_the_spectrum_gets_neighbours():
    first = first_numbers(100_000, 5000)
    assert refined(first, directions(12, 81)) == [5, 10, 11, 12, 13, 14, 15, 20]
    assert refined(first, directions(19, 81, n_most=21)) == [5, 10, 15, 17, 18, 19, 20, 21, 22, 23, 30, 40]
    assert refined(first, directions(79, 81)) == [5, 10, 15, 20, 30, 40, 60, 77, 78, 79, 80]
    for fading in (directions(19, 81, n_most=30), directions(81, 81), directions(0, 81), None):
        assert refined(first, fading) == first


@pytest.mark.parametrize("K", [3, 12])
def test_the_true_number_need_not_be_given(K):
    corpus = make_topics(n_docs=3000, n_words=300, n_topics=K, correlation=0.1, random_state=K).corpus
    found = scan(corpus, metrics=())
    assert found.recommended == K
    assert {K - 1, K, K + 1} <= set(found.n_components)


def test_numbers_chosen_give_what_the_same_numbers_give_if_they_are_given():
    # Without an end of the spectrum nothing is removed from the grid, and the halves are the same.
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, (60, 30))
    chosen = scan(X, metrics=())
    given = scan(X, chosen.n_components, metrics=())
    assert [one.n_replicated for one in chosen.candidates] == [one.n_replicated for one in given.candidates]
    assert chosen.reasons == given.reasons


@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.DegenerateWarning")
def test_few_documents_and_words():
    rng = np.random.default_rng(1)
    for shape in ((1, 6), (12, 6), (60, 3), (40, 1)):
        found = scan(rng.poisson(3.0, shape), metrics=())
        assert found.n_components[-1] <= shape[1]
        assert found.reasons
