"""Every format of documents x topics: odd names, and memory that does not grow."""

from __future__ import annotations

import tracemalloc
from itertools import count

import numpy as np
import pytest

from anchorwords.corpus.column_builder import column_of
from anchorwords.exceptions import InputError
from anchorwords.export.weights import SUFFIXES, write_weights


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_half_a_character_harms_no_file(suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"w{suffix}"
    write_weights(path, suffix, iter([np.eye(2)]), lambda: iter(["\ud800", "b"]), (2, 2))
    if suffix in (".csv", ".tsv", ".jsonl"):
        assert len(path.read_text(encoding="utf-8").splitlines()) == (2 if suffix == ".jsonl" else 3)
    elif suffix == ".parquet":
        import pyarrow.parquet as pq

        assert pq.read_table(path)["document"].to_pylist() == ["?", "b"]


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".npy", ".parquet"])
def test_memory_does_not_grow_with_documents(suffix, tmp_path):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    shape = (20_000, 40)  # 6.4 MB

    def peak(n_docs):
        blocks = (np.full((500, shape[1]), 1.0 / shape[1]) for _ in range(n_docs // 500))
        names = map(str, count())
        tracemalloc.start()
        write_weights(
            tmp_path / f"w{suffix}", suffix, blocks, lambda: (next(names) for _ in range(n_docs)), (n_docs, shape[1])
        )
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    peak(500)  # what is imported on the way
    assert peak(shape[0]) < peak(1000) + 2_000_000


def test_half_a_character_in_a_column_harms_no_file(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {"note": column_of("note", ["\ud800", None]), "tags": column_of("tags", [["a\udfff"], []])}
    for suffix in (".csv", ".jsonl", ".parquet"):
        write_weights(
            tmp_path / f"w{suffix}", suffix, iter([np.eye(2)]), lambda: iter(["a", "b"]), (2, 2), columns=columns
        )
    assert pq.read_table(tmp_path / "w.parquet").select(["note", "tags"]).to_pylist() == [
        {"note": "?", "tags": ["a?"]}, {"note": None, "tags": []},
    ]  # fmt: skip
    assert (tmp_path / "w.csv").read_text().splitlines()[1:] == ["a,?,a?,1.000000,0.000000", "b,,,0.000000,1.000000"]
    with pytest.raises(InputError, match="holds topic proportions only, not columns"):
        write_weights(tmp_path / "w.npy", ".npy", iter([np.eye(2)]), lambda: iter(["a", "b"]), (2, 2), columns=columns)
