"""The number recommended, and the sentences."""

from __future__ import annotations

import numpy as np
import pytest

from anchorwords.scanning.directions import Directions
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


def test_the_largest_number_of_which_most_are_found_again():
    given = [candidate(K, n) for K, n in ((10, 8), (20, 13), (30, 14), (40, 15))]
    number, reasons = recommend(given, directions(41, 41), NONE)
    assert number == 20
    text = " ".join(reasons)
    assert "up to the 40th, which is 5.0 times as strong as chance, is in both halves" in text
    assert "With 20 topics, 13 are found again in the other half of the documents (similarity 0.59 in the mean)" in text
    assert "with 30, only 14 are: 20 is the largest number of topics of which most are" in text
    assert "do not single out" in text


def test_faint_directions_bound_but_do_not_decide():
    given = [candidate(K, n) for K, n in ((10, 8), (20, 13), (30, 14), (40, 39))]
    number, reasons = recommend(given, directions(31, 41, gap=1.1), NONE)
    assert number == 20  # 40 is more than directions allow, 30 finds fewer than half
    assert "31 directions" in reasons[0]
    assert reasons[0].endswith("and hardly stronger than the next.")
    assert not any("nearest" in reason for reason in reasons)


def test_most_are_found_even_at_the_largest():
    number, reasons = recommend([candidate(10, 6), candidate(20, 15)], directions(21, 21), NONE)
    assert number == 20
    assert "a scan of larger ones may find more" in reasons[-1]


def test_nothing_is_found_again():
    number, reasons = recommend([candidate(4, 1), candidate(8, 1)], directions(0, 9), NONE)
    assert number == 4
    assert "may be chance" in reasons[0]
    assert "uncertain" in reasons[-1]


def test_the_mean_over_splits():
    given = [candidate(10, 8), candidate(20, 14, 8), candidate(30, 15, 15)]
    assert given[1].found_again == 11.0
    assert recommend(given, directions(31, 31), NONE)[0] == 20
    assert given[1].stability == pytest.approx((14 * 0.8 + 6 * 0.2 + 8 * 0.8 + 12 * 0.2) / 40)


def test_coherence_and_convergence_are_told():
    given = [
        candidate(5, 5, npmi=0.1),
        candidate(10, 9, npmi=0.25, converged=False),
        candidate(15, 3, npmi=float("nan")),
    ]
    number, reasons = recommend(given, directions(16, 16), NONE)
    assert number == 10
    assert "Coherence (NPMI) is highest there: 0.250." in reasons
    assert "ENN did not converge with 10 topics: what is said of these is less certain." in reasons
    reasons = recommend([candidate(5, 5, npmi=0.3), given[1]], directions(11, 11), NONE)[1]
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
    assert number == 6
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
