"""How a fit went, as JSON holds it; what of it is refused is in tests/test_persist.py."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from anchorwords.linalg.fixed_point import Iteration
from anchorwords.rectify.course import Course, course_from_dict, course_to_dict

numbers = st.floats(allow_infinity=False)
histories = st.lists(st.builds(Iteration, numbers, numbers, numbers), max_size=20).map(tuple)
sizes = st.none() | st.integers(0, 2**63 - 1)


@given(history=histories, converged=st.booleans(), n_docs=sizes, n_skipped=sizes)
def test_there_and_back(history, converged, n_docs, n_skipped):
    course = Course(len(history), converged, n_docs, n_skipped, history)
    text = json.dumps(course_to_dict(course), allow_nan=False)
    assert repr(course_from_dict(json.loads(text))) == repr(course)  # NaN and -0.0 too


def test_what_is_not_known_stays_so():
    course = Course(7, False)
    assert course_from_dict(course_to_dict(course)) == course_from_dict({"n_iter": 7, "converged": False}) == course
