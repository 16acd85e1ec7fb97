"""Two steps side by side give what they give one after the other."""

from __future__ import annotations

import threading

import pytest

from anchorwords.linalg.parallel import for_each_block, in_two_steps


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("n_items", [0, 1, 2, 7])
def test_results_come_in_order_and_each_step_sees_the_items_in_order(n_items, n_jobs):
    first, second = [], []

    def halve(item):
        first.append(item)
        return 10 * item

    def finish(half):
        second.append(half)
        return half + 1

    assert list(in_two_steps(range(n_items), halve, finish, n_jobs)) == [10 * item + 1 for item in range(n_items)]
    assert first == list(range(n_items))
    assert second == [10 * item for item in range(n_items)]


def test_the_next_item_is_begun_while_one_is_finished():
    begun = [threading.Event() for _ in range(4)]

    def halve(item):
        begun[item].set()
        return item

    def finish(half):
        if half + 1 < len(begun):
            assert begun[half + 1].wait(30)  # never comes if the steps follow each other
        return half

    assert list(in_two_steps(range(4), halve, finish, 2)) == [0, 1, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_of_either_step_reaches_the_caller(failing, n_jobs):
    def step(number):
        def call(item):
            if number == failing and item == 2:
                raise ValueError("two")
            return item

        return call

    results = in_two_steps(range(5), step(0), step(1), n_jobs)
    with pytest.raises(ValueError, match="two"):
        list(results)


def test_it_works_inside_of_a_block():
    results = {}

    def work(start, stop):
        results[start] = list(in_two_steps(range(start, stop), str, int))

    for_each_block(work, 6, 2, 2)
    assert results == {0: [0, 1], 2: [2, 3], 4: [4, 5]}
