"""Columns of arrow as Python values, in memory of the distinct ones: a value that comes a million times is one object."""

from __future__ import annotations

from itertools import accumulate, chain, pairwise
from typing import Any


def is_list(kind: Any) -> bool:
    """Whether an arrow type is one of lists, of a fixed size or not."""
    import pyarrow as pa

    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(test(kind) for test in tests)


def values_of(array: Any) -> list[Any]:
    """The values of an array of arrow, None where one is missing; lists as lists."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if is_list(array.type):
        lengths = pc.list_value_length(array).to_pylist()
        items = values_of(array.flatten())  # without those of missing lists
        bounds = chain([0], accumulate(length or 0 for length in lengths))
        lists = (items[begin:end] for begin, end in pairwise(bounds))
        return [None if length is None else items for length, items in zip(lengths, lists, strict=True)]
    if pa.types.is_timestamp(array.type):
        # In UTC and to the microsecond, which is what Python's datetime holds.
        array = array.cast(pa.timestamp("us", array.type.tz), safe=False).cast(pa.timestamp("us"))
    if not pa.types.is_dictionary(array.type):
        return array.to_pylist()
    # Not all of the dictionary, which may be that of a million rows.
    numbers = array.indices.dictionary_encode()
    distinct = array.dictionary.take(numbers.dictionary).to_pylist()
    return [None if number is None else distinct[number] for number in numbers.indices.to_pylist()]
