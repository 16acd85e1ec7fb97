"""The numbers that are recommended, the levels, and the sentences."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.scanning.directions import Directions
from anchorwords.scanning.levels import levels_of, supported_levels
from anchorwords.scanning.recommend import recommend
from anchorwords.scanning.record import Candidate, Scan
from anchorwords.scanning.replication import Reproduced
from anchorwords.scanning.wording import ordinal, spoken


def candidate(K, *replicated, npmi=None, converged=True):
    """K topics, and how many of them replicate in each split."""
    parts = tuple(Reproduced(np.where(np.arange(K) < n, 0.8, 0.2), n) for n in replicated)
    return Candidate(K, {} if npmi is None else {"npmi_coherence": npmi}, parts, 9, converged)


def directions(n, looked_at, gap=9.0, n_most=None):
    energies = np.where(np.arange(looked_at + 1) < n, 10.0, 10.0 / gap)
    n_most = n if n_most is None else n_most
    return Directions(n, n_most, looked_at, energies, np.array([0, looked_at]), np.array([2.0, 2.0]), gap)


NONE = np.ones(99)


def test_a_clear_end_is_a_recommendation():
    given = [candidate(K, min(K, 7)) for K in range(5, 15)]
    numbers, reasons = recommend(given, directions(7, 15), NONE)
    assert numbers == (7,)
    assert reasons == [
        "7 directions (eigenvectors) of the co-occurrence clearly exceed noise in both halves of the documents. The last is "
        "5.0 times as strong as noise, the next 0.6 times.",
        "With 7 topics, 7 replicate in the other half of the documents (mean similarity 0.80).",
    ]


def test_numbers_that_the_data_do_not_tell_apart():
    given = [candidate(K, min(K, 18)) for K in range(15, 25)]
    numbers, reasons = recommend(given, directions(19, 25, n_most=21), NONE)
    assert numbers == (19, 20, 21)
    assert reasons[0].endswith("in both halves of the documents. The next 2 may be topics or noise.")
    assert "19 to 21 topics: the data do not tell these numbers apart." in reasons
    assert "Fainter topics may be hidden in the noise. More documents would show them." in reasons
    levels = supported_levels([one for one in given if one.n_components in numbers])
    assert [(level.name, level.n_components) for level in levels] == [("plausible", K) for K in numbers]
    assert levels[1].why == "the data do not distinguish it from 19 or 21"
    assert (levels[0].gained, levels[0].lost) == ("95% of topics replicate instead of 90% with 20 topics", "-")
    assert (levels[2].gained, levels[2].lost) == ("-", "86% of topics replicate instead of 90% with 20 topics")


def test_numbers_of_the_range_that_were_not_scanned():
    given = [candidate(K, K - 1) for K in (10, 20, 30)]
    numbers, reasons = recommend(given, directions(19, 31, n_most=21), NONE)
    assert numbers == (20,)
    assert "The data do not tell 19 to 21 topics apart; of these, you scanned only 20." in reasons


def test_no_number_is_recommended_if_the_right_one_was_not_scanned():
    given = [candidate(K, min(K, 7)) for K in (5, 10, 15)]
    numbers, reasons = recommend(given, directions(8, 16), NONE)
    assert numbers == ()
    assert "8 topics would match this, but you did not scan that: add it to the numbers." in reasons


def test_a_spectrum_that_fades_out_supports_no_number():
    given = [candidate(K, K) for K in range(15, 31)]
    numbers, reasons = recommend(given, directions(18, 31, n_most=25), NONE)
    assert numbers == ()
    assert "fade into noise gradually" in reasons[0]


def heldout(K, replicated, likelihood):
    return Candidate(K, {}, candidate(K, replicated).reproduced, 9, True, (likelihood,))


FLAT = [heldout(10, 8, -7.0), heldout(20, 14, -6.9), heldout(30, 14, -6.8), heldout(40, 14, -6.799)]


def test_levels_are_where_the_curves_flatten():
    # F - 3/4 K: 0.5, -1, -8.5, -16. F - K/2: 3, 4, -1, -6. L - 0.02 log2 K: -7.066, -6.986, -6.898, -6.905.
    levels = levels_of(FLAT, directions(41, 41))
    assert [(level.name, level.n_components) for level in levels] == [("coarse", 10), ("medium", 20), ("fine", 30)]
    assert not any(level.at_grid_end for level in levels)
    assert levels[1].gained == f"held-out perplexity {np.exp(6.9):,.0f} instead of {np.exp(7.0):,.0f} with 10 topics"
    assert levels[1].lost == "70% of topics replicate instead of 80% with 10 topics"
    assert levels[0].lost == f"held-out perplexity {np.exp(7.0):,.0f} instead of {np.exp(6.9):,.0f} with 20 topics"
    numbers, reasons = recommend(FLAT, directions(41, 41), NONE, levels)
    assert numbers == ()
    assert reasons[0].endswith("times as strong as noise. The spectrum does not end within the numbers scanned.")
    assert reasons[1].endswith("a single number of topics. The levels trade detail against reliability.")
    assert recommend(FLAT, directions(41, 41), NONE, levels[:1])[1][1].endswith("a single number of topics.")
    assert not any("largest number scanned" in reason for reason in reasons)


def test_larger_numbers_do_not_move_levels_once_curves_are_flat():
    more = [*FLAT, heldout(80, 15, -6.79), heldout(200, 16, -6.78)]
    short, long = (levels_of(some, directions(201, 201)) for some in (FLAT, more))
    assert [level.n_components for level in short] == [level.n_components for level in long]


def test_a_grid_that_ends_too_early_is_reported():
    given = [heldout(10, 8, -7.0), heldout(20, 14, -6.9), heldout(40, 15, -6.5)]
    levels = levels_of(given, directions(41, 41))
    assert [level.at_grid_end for level in levels] == [False, False, True]
    numbers, reasons = recommend(given, directions(41, 41), NONE, levels)
    assert numbers == ()
    assert (
        "The largest number scanned, 40, is too small to locate the fine level: for more detail, scan numbers such as "
        "40:80:8." in reasons
    )


def test_perplexity_decides_if_everything_replicates():
    # All topics replicate. L per doubling: 0.2, 0.12, 0.07, 0.03: beyond 40 less than 0.10, beyond 80 less than 0.05.
    given = [heldout(10, 10, -7.0), heldout(20, 20, -6.8), heldout(40, 40, -6.68), heldout(80, 80, -6.61)]
    given.append(heldout(160, 160, -6.58))
    levels = levels_of(given, directions(161, 161))
    assert [(level.name, level.n_components) for level in levels] == [("coarse", 40), ("medium", 80), ("fine", 160)]
    assert "by less than 10%" in levels[0].why
    assert "by less than 5%" in levels[1].why
    assert [level.at_grid_end for level in levels] == [False, False, True]
    # With a steep curve to the end, there is only the end of the grid, which is called fine.
    (level,) = levels_of(given[:3], directions(41, 41))
    assert (level.name, level.n_components, level.at_grid_end) == ("fine", 40, True)


def test_directions_bound_the_levels():
    given = [heldout(10, 10, -7.0), heldout(20, 12, -6.9), heldout(40, 40, -6.5)]
    assert max(level.n_components for level in levels_of(given, directions(20, 41))) <= 20
    assert recommend(given, directions(20, 41), NONE)[0] == ()  # 12 of 20 are less than two thirds
    # Nothing was compared with the smallest number if larger ones are out of the question.
    (level,) = levels_of(given, directions(3, 41))
    assert level.n_components == 10
    assert level.why == (
        "the smallest number scanned; beyond it, directions of the co-occurrence no longer clearly exceed noise"
    )


def test_nothing_replicates():
    numbers, reasons = recommend([candidate(4, 1), candidate(8, 1)], directions(0, 9), NONE)
    assert numbers == ()
    assert "No direction (eigenvector) of the co-occurrence clearly exceeds noise" in reasons[0]
    assert "at most half of the topics replicate" in " ".join(reasons)


def test_the_mean_over_splits():
    # 12 and 16 of 20: their mean, 14, is more than two thirds.
    assert recommend([candidate(10, 9, 9), candidate(20, 12, 16)], directions(20, 21), NONE)[0] == (20,)
    assert recommend([candidate(10, 9, 9), candidate(20, 12, 12)], directions(20, 21), NONE)[0] == ()


def test_coherence_and_convergence_are_reported():
    given = [candidate(5, 5, npmi=0.2), candidate(10, 9, npmi=0.25, converged=False)]
    numbers, reasons = recommend(given, directions(10, 11), NONE)
    assert numbers == (10,)
    assert "Coherence (NPMI) is highest at this number: 0.250." in reasons
    assert "ENN did not converge with 10 topics, so their values are less reliable." in reasons
    reasons = recommend([candidate(5, 5, npmi=0.3), given[1]], directions(10, 11), NONE)[1]
    assert "Coherence (NPMI) is 0.250 at this number; it is highest with 5 topics, 0.300." in reasons


def test_without_halves_the_largest_gap():
    eigenvalues = np.array([8.0, 4.0, 2.0, 0.2, 0.19, 0.18])
    numbers, reasons = recommend([candidate(2), candidate(3), candidate(5)], None, eigenvalues)
    assert numbers == (3,)
    assert "Eigenvalue 3 of the co-occurrence is 10.00 times the next" in reasons[1]
    numbers, reasons = recommend([candidate(2), candidate(4)], None, np.array([1.0, 0.5, -0.1, -0.2]))
    assert numbers == (2,)
    assert "positive and the next is not" in reasons[1]


def test_a_single_number():
    numbers, reasons = recommend([candidate(6, 4)], directions(3, 7), NONE)
    assert numbers == ()
    assert "Only one number" in reasons[0]
    assert "4 replicate" in reasons[1]
    assert levels_of([heldout(20, 14, -6.9)], directions(21, 21)) == []
    assert recommend([candidate(6)], None, NONE)[1] == reasons[:1]


def test_wording():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 100, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "100th", "102nd", "111th",
    ]  # fmt: skip
    assert spoken([5]) == "5"
    assert spoken([5, 6]) == "5 or 6"
    assert spoken(range(5, 9)) == "5 to 8"
    assert spoken([18, 20, 22]) == "18, 20 or 22"


def test_rows_by_hand():
    given = (candidate(2, 2, npmi=0.3), candidate(3, 1, npmi=0.1))
    scan = Scan((2, 3), 2, ["why"], np.array([4.0, 3.0, 1.5, 1.0]), directions(2, 4), given, {}, 10, 20, plausible=(2,))
    first, second = scan.rows()
    assert first["n_components"] == 2
    assert first["recommended"]
    assert first["plausible"]
    assert not second["recommended"]
    assert not second["plausible"]
    assert (first["eigenvalue"], first["eigengap"], first["eigengap_ratio"]) == (3.0, 1.5, 2.0)
    assert (first["energy"], first["noise"]) == (10.0, pytest.approx(2.0))
    assert second["stability"] == pytest.approx((0.8 + 0.2 + 0.2) / 3)
    assert second["stability_error"] == pytest.approx(np.std([0.8, 0.2, 0.2], ddof=1) / np.sqrt(3))
    assert second["n_replicated"] == 1
    assert given[1].n_replicated_error == pytest.approx(np.sqrt(3 * (1 / 3) * (2 / 3)))
    assert second["npmi_coherence"] == 0.1
    assert list(first) == list(second)
    several = Scan((2, 3), None, ["why"], scan.eigenvalues, scan.directions, given, {}, 10, 20, plausible=(2, 3))
    assert repr(several) == "Scan(2 numbers of topics from 2 to 3, plausible 2 or 3)"
