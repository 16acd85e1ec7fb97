"""The plan: sizes of the paper's experiments."""

from __future__ import annotations

import pytest

from anchorwords.plot.curves import K_GROUPS
from anchorwords.reproduce.plan import FULL, GROUPS, METHODS, QUICK, group_of, vocabulary_steps


def test_the_full_plan_is_the_issues():
    assert FULL.every_k == tuple(5 * i for i in range(1, 21))
    assert FULL.slow_k == (5, 10, 20, 50, 100)
    assert FULL.n_words == (2500,)
    assert FULL.n_steps == 8
    assert FULL.n_seeds >= 3  # "several"
    assert FULL.ap_steps == 150
    assert FULL.table_k == 5
    assert METHODS == ("Baseline", "AP+AW", "ENN+LAW", "PALM+LAW", "LR-JSMF")


def test_the_quick_plan_is_a_smaller_one():
    assert set(QUICK.every_k) < set(FULL.every_k)
    assert max(QUICK.n_words) < min(FULL.n_words)
    assert QUICK.n_steps < FULL.n_steps
    assert QUICK.n_seeds > 1
    assert all(set(plan.slow_k) <= set(plan.every_k) for plan in (FULL, QUICK))


def test_groups_at_their_borders():
    expected = {
        4: None, 5: "5-25", 25: "5-25", 26: None, 29: None, 30: "30-50", 50: "30-50", 51: None, 54: None, 55: "55-75",
        75: "55-75", 76: None, 79: None, 80: "80-100", 100: "80-100", 101: None,
    }  # fmt: skip
    assert {K: group_of(K) for K in expected} == expected
    # Each K of the full plan has a group, five to each, and the figures group alike.
    groups = [group_of(K) for K in FULL.every_k]
    assert {name: groups.count(name) for name in GROUPS} == dict.fromkeys(GROUPS, 5)
    assert tuple(GROUPS.values()) == K_GROUPS
    assert all(group_of(K) for K in QUICK.every_k)


def test_steps_are_equal_and_end_with_all_words():
    assert vocabulary_steps(8000, 8, 101) == [1000 * step for step in range(1, 9)]
    steps = vocabulary_steps(12_419, 8, 101)
    assert len(steps) == 8
    assert steps[-1] == 12_419
    gaps = [b - a for a, b in zip([0, *steps], steps, strict=False)]
    assert max(gaps) - min(gaps) <= 1  # equal but for rounding to whole words


@pytest.mark.parametrize("n_words", [3, 60, 101, 400, 808])
def test_no_step_is_smaller_than_the_fewest(n_words):
    steps = vocabulary_steps(n_words, 8, 101)
    assert steps[-1] == n_words
    assert all(size >= 101 for size in steps[:-1])
    assert steps == sorted(set(steps))
