from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from anchorwords.linalg.sparse import rows_between


@pytest.mark.parametrize(("start", "stop"), [(0, 7), (0, 9), (2, 5), (5, 20), (3, 3), (7, 9)])
def test_rows_between_are_those_rows_and_share_their_entries(start, stop):
    matrix = sp.random_array((7, 6), density=0.5, format="csr", random_state=np.random.default_rng(0))
    rows = rows_between(matrix, start, stop)
    np.testing.assert_array_equal(rows.toarray(), matrix.toarray()[start:stop])
    assert rows.nnz == 0 or np.shares_memory(rows.data, matrix.data)
