"""The number recommended, and the sentences."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.scanning.directions import Directions
from anchorwords.scanning.levels import levels_of
from anchorwords.scanning.recommend import _ordinal, recommend
from anchorwords.scanning.record import Candidate, Scan
from anchorwords.scanning.replication import Reproduced


def candidate(K, *found, npmi=None, converged=True):
    """K topics of which so many are found again, a number a split."""
    parts = tuple(Reproduced(np.where(np.arange(K) < n, 0.8, 0.2), n) for n in found)
    return Candidate(K, {} if npmi is None else {"npmi_coherence": npmi}, parts, 9, converged)


def directions(n, looked_at, gap=9.0):
    energies = np.where(np.arange(looked_at + 1) < n, 10.0, 10.0 / gap)
    return Directions(n, looked_at, energies, np.array([0, looked_at]), np.array([2.0, 2.0]), gap)


NONE = np.ones(99)


def test_where_directions_end_that_number():
    given = [candidate(K, min(K, 7)) for K in range(5, 15)]
    number, reasons = recommend(given, directions(7, 15), NONE)
    assert number == 7
    assert reasons == [
        "7 directions of the co-occurrence are in both halves of the documents; the last is 5.0 times as strong as chance, "
        "and 9.0 times as strong as the next.",
        "With 7 topics, 7 are found again in the other half of the documents (similarity 0.80 in the mean).",
    ]


def test_the_nearest_number_given():
    given = [candidate(K, min(K, 7)) for K in (5, 10, 15)]
    number, reasons = recommend(given, directions(8, 16), NONE)
    assert number == 10
    assert reasons[1] == "Of the numbers given, 10 is nearest to that."
    assert recommend([candidate(6, 6), candidate(8, 7)], directions(7, 9), NONE)[0] == 6  # a tie


def heldout(K, found, likelihood):
    return Candidate(K, {}, candidate(K, found).reproduced, 9, True, (likelihood,))


FLAT = [heldout(10, 8, -7.0), heldout(20, 14, -6.9), heldout(30, 14, -6.8), heldout(40, 14, -6.799)]


def test_levels_are_where_the_curves_flatten():
    # F - 3/4 K: 0.5, -1, -8.5, -16. F - K/2: 3, 4, -1, -6. L - 0.02 log2 K: -7.066, -6.986, -6.898, -6.905.
    levels = levels_of(FLAT, directions(41, 41))
    assert [(level.name, level.n_components) for level in levels] == [("coarse", 10), ("medium", 20), ("fine", 30)]
    assert not any(level.at_grid_end for level in levels)
    assert levels[1].gained == f"held-out perplexity {np.exp(6.9):,.0f} instead of {np.exp(7.0):,.0f}"
    assert levels[1].lost == "70% of topics replicate instead of 80%"
    number, reasons = recommend(FLAT, directions(41, 41), NONE, levels)
    assert number is None
    assert "The data do not support a single number" in reasons[1]
    assert not any("scan ended" in reason for reason in reasons)


def test_larger_numbers_do_not_move_levels_once_curves_are_flat():
    more = [*FLAT, heldout(80, 15, -6.79), heldout(200, 16, -6.78)]
    short, long = (levels_of(some, directions(201, 201)) for some in (FLAT, more))
    assert [level.n_components for level in short] == [level.n_components for level in long]


def test_a_grid_that_ends_too_early_is_told():
    given = [heldout(10, 8, -7.0), heldout(20, 14, -6.9), heldout(40, 15, -6.5)]
    levels = levels_of(given, directions(41, 41))
    assert [level.at_grid_end for level in levels] == [False, False, True]
    number, reasons = recommend(given, directions(41, 41), NONE, levels)
    assert number is None
    assert "The scan ended before the curve did (fine): try numbers from 40 to 80, such as 40:80:8." in reasons


def test_directions_bound_the_levels():
    given = [heldout(10, 10, -7.0), heldout(20, 12, -6.9), heldout(40, 40, -6.5)]
    assert max(level.n_components for level in levels_of(given, directions(20, 41))) <= 20
    assert recommend(given, directions(20, 41), NONE)[0] is None  # 12 of 20 are less than two thirds


def test_nothing_is_found_again():
    number, reasons = recommend([candidate(4, 1), candidate(8, 1)], directions(0, 9), NONE)
    assert number is None
    assert "No direction of the co-occurrence is in both halves" in reasons[0]
    assert "Topics of these documents are uncertain" in " ".join(reasons)


def test_the_mean_over_splits():
    # 12 and 16 of 20: their mean, 14, is more than two thirds.
    assert recommend([candidate(10, 9, 9), candidate(20, 12, 16)], directions(20, 21), NONE)[0] == 20
    assert recommend([candidate(10, 9, 9), candidate(20, 12, 12)], directions(20, 21), NONE)[0] is None


def test_coherence_and_convergence_are_told():
    given = [candidate(5, 5, npmi=0.2), candidate(10, 9, npmi=0.25, converged=False)]
    number, reasons = recommend(given, directions(10, 11), NONE)
    assert number == 10
    assert "Coherence (NPMI) is highest there: 0.250." in reasons
    assert "ENN did not converge with 10 topics: what is said of these is less certain." in reasons
    reasons = recommend([candidate(5, 5, npmi=0.3), given[1]], directions(10, 11), NONE)[1]
    assert "Coherence (NPMI) is 0.250 there; it is highest with 5 topics, 0.300." in reasons


def test_without_halves_the_widest_gap():
    eigenvalues = np.array([8.0, 4.0, 2.0, 0.2, 0.19, 0.18])
    number, reasons = recommend([candidate(2), candidate(3), candidate(5)], None, eigenvalues)
    assert number == 3
    assert "Eigenvalue 3 of the co-occurrence is 10.00 times the next" in reasons[1]
    number, reasons = recommend([candidate(2), candidate(4)], None, np.array([1.0, 0.5, -0.1, -0.2]))
    assert number == 2
    assert "positive and the next is not" in reasons[1]


def test_a_single_number():
    number, reasons = recommend([candidate(6, 4)], directions(3, 7), NONE)
    assert number is None
    assert "Only one number" in reasons[0]
    assert "4 are found again" in reasons[1]
    assert recommend([candidate(6)], None, NONE)[1] == reasons[:1]


def test_ordinals():
    assert [_ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 100, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "100th", "102nd", "111th",
    ]  # fmt: skip


def test_rows_by_hand():
    given = (candidate(2, 2, npmi=0.3), candidate(3, 1, npmi=0.1))
    scan = Scan((2, 3), 2, ["why"], np.array([4.0, 3.0, 1.5, 1.0]), directions(2, 4), given, {}, 10, 20)
    first, second = scan.rows()
    assert first["n_components"] == 2
    assert first["recommended"]
    assert not second["recommended"]
    assert (first["eigenvalue"], first["eigengap"], first["eigengap_ratio"]) == (3.0, 1.5, 2.0)
    assert (first["energy"], first["noise"]) == (10.0, pytest.approx(2.0))
    assert second["stability"] == pytest.approx((0.8 + 0.2 + 0.2) / 3)
    assert second["stability_error"] == pytest.approx(np.std([0.8, 0.2, 0.2], ddof=1) / np.sqrt(3))
    assert second["found_again"] == 1
    assert given[1].found_again_error == pytest.approx(np.sqrt(3 * (1 / 3) * (2 / 3)))
    assert second["npmi_coherence"] == 0.1
    assert list(first) == list(second)
