"""Parquet files: read exactly in every encoding, and refused where a few bytes unpack to gigabytes."""

from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anchorwords as aw
from anchorwords.corpus import parquet
from anchorwords.corpus.parquet import rows_of_parquet
from anchorwords.corpus.parquet_pages import announced_by_pages
from anchorwords.corpus.selection import ColumnChoice, TableShape
from anchorwords.exceptions import CorpusFormatError

from .bombs import PARQUET_BOMBS
from .test_hostile import peak_bytes, read, refused

__all__ = ["read"]  # a fixture

TEXTS = ["red apple", None, "", "straße 日本", "red apple", "x" * 5000, *(f"number {i} " * (i % 7) for i in range(400))]
TOKENS = [None if text is None else text.split() for text in TEXTS] + [[], ["a", None, "b"]]
LEAVES = ("id", "text", "text.list.element", "tokens.list.element")
ENCODINGS = {
    "dictionary": {},
    "plain": {"use_dictionary": False},
    "delta lengths": {"use_dictionary": False, "column_encoding": dict.fromkeys(LEAVES, "DELTA_LENGTH_BYTE_ARRAY")},
    "delta": {"use_dictionary": False, "column_encoding": dict.fromkeys(LEAVES, "DELTA_BYTE_ARRAY")},
    "falls back": {"dictionary_pagesize_limit": 100, "data_page_size": 200},
}
KINDS = {
    pa.string(): TEXTS,
    pa.large_string(): TEXTS,
    pa.dictionary(pa.int32(), pa.string()): TEXTS,
    pa.list_(pa.string()): TOKENS,
    pa.large_list(pa.large_string()): TOKENS,
    pa.list_(pa.int64()): [None, [], [1, 2], [2**60, None]] * 9,
    pa.list_(pa.string(), 2): [["a", "b"], ["c", "a"]] * 9,
}


def expected(values):
    return ["" if value is None else value for value in values]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd", "gzip"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_every_encoding_is_read_exactly(tmp_path, encoding, version, compression, kind):
    values, options = KINDS[kind], ENCODINGS[encoding]
    if kind in (pa.list_(pa.int64()), pa.dictionary(pa.int32(), pa.string())) and "column_encoding" in options:
        pytest.skip("pyarrow does not read it either")
    table = pa.table({"id": [f"d{i}" for i in range(len(values))], "text": pa.array(values, kind)})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path, compression=compression, data_page_version=version, row_group_size=50, **options)
    found = list(rows_of_parquet(path, ColumnChoice(("text",), "id"), TableShape()))
    assert [name for name, _, _ in found] == table["id"].to_pylist()
    assert [document for _, document, _ in found] == expected(values)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_an_honest_file_announce_what_its_footer_does(encoding, version):
    stream = io.BytesIO()
    table = pa.table({"text": pa.array(TEXTS), "tokens": pa.array(TOKENS[:-2])})
    pq.write_table(table, stream, data_page_version=version, row_group_size=70, **ENCODINGS[encoding])
    metadata = pq.ParquetFile(stream).metadata
    for column in range(2):
        chunks = [metadata.row_group(i).column(column) for i in range(metadata.num_row_groups)]
        found = announced_by_pages(stream, metadata, column)
        assert found.values == sum(chunk.num_values for chunk in chunks)
        total = sum(chunk.total_uncompressed_size for chunk in chunks)  # with the headers
        assert 0.5 * total < found.unpacked <= total


# ---- Bombs.


@pytest.mark.parametrize("bomb", PARQUET_BOMBS)
def test_bombs_are_refused_and_take_no_memory(tmp_path, read, bomb):
    path = bomb(tmp_path / "a.parquet")
    before = peak_bytes()
    refused(read, path, "zip bomb|DELTA_BYTE_ARRAY")
    assert peak_bytes() - before < 500 << 20


def test_ids_are_counted_too(tmp_path, read, monkeypatch):
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(30_000, np.int32)), ["i" * (1 << 20)])
    pq.write_table(pa.table({"id": ids, "text": ["one two"] * 30_000}), tmp_path / "a.parquet", compression="zstd")
    before = peak_bytes()
    refused(read, tmp_path / "a.parquet", "zip bomb", id_column="id")
    assert peak_bytes() - before < 500 << 20


def test_long_rows_come_in_small_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_BATCH_BYTES", 1 << 16)
    sizes = []
    whole = parquet.arrow_rows

    def watched(columns, *arguments):
        sizes.append(len(columns[0]))
        return whole(columns, *arguments)

    monkeypatch.setattr(parquet, "arrow_rows", watched)
    texts = ["".join(np.random.default_rng(i).choice(list("abc "), 9000)) for i in range(100)]
    for options in ({}, {"use_dictionary": False}):
        sizes.clear()
        pq.write_table(pa.table({"text": texts}), tmp_path / "a.parquet", data_page_size=50_000, **options)
        assert [
            text for _, text, _ in rows_of_parquet(tmp_path / "a.parquet", ColumnChoice(("text",)), TableShape())
        ] == texts
        assert sum(sizes) == 100
        assert max(sizes) <= (100 if not options else 8)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (pa.struct([("a", pa.string())]), {"a": "x"}),
        (pa.map_(pa.string(), pa.string()), [("a", "b")]),
        (pa.list_(pa.list_(pa.string())), [["a"]]),
        (pa.list_(pa.binary()), [b"a"]),
    ],
    ids=str,
)
def test_columns_of_other_things_are_refused(tmp_path, read, kind, value):
    pq.write_table(pa.table({"text": pa.array([value], kind), "other": ["one"]}), tmp_path / "a.parquet")
    refused(read, tmp_path / "a.parquet", "the column 'text' must hold texts or lists of tokens, but is")
    refused(
        read, tmp_path / "a.parquet", "the column 'text' must hold ids, but is", text_column="other", id_column="text"
    )


def test_an_arrow_table_is_read_as_the_file_is(tmp_path):
    table = pa.table({"id": range(len(TOKENS)), "text": TOKENS})
    pq.write_table(table, tmp_path / "a.parquet")
    found = aw.read_corpus(table, id_column="id")
    from_file = aw.read_corpus(tmp_path / "a.parquet", id_column="id")
    assert (found.doc_ids, found.vocabulary) == (from_file.doc_ids, from_file.vocabulary)
    assert (found.counts != from_file.counts).nnz == 0


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["one two"] * 100_000}), path)
    documents = rows_of_parquet(path, ColumnChoice(), TableShape())
    next(documents)
    pq.write_table(pa.table({"text": ["other"] * 100}), path)
    with pytest.raises(CorpusFormatError, match=r"was changed while it was read|is not a whole Parquet file"):
        list(documents)
