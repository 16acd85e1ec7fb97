"""Files of some kilobytes that would take gigabytes, in every format that compresses or announces a size.

Each function makes one at a path and returns it. None takes more than some hundred megabytes to make.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.sparse as sp
import zstandard

import anchorwords as aw
from anchorwords.storage.folders import crc_text
from tests.storage.test_corpus_folder import COUNTS, WORDS, reseal

GIBIBYTE = 1 << 30

# ---- Parquet.


def groups(path, kind, tables, **options):
    with pq.ParquetWriter(path, pa.schema([("text", kind)]), compression="zstd", **options) as writer:
        for array in tables:
            writer.write_table(pa.table({"text": array.cast(kind)}))
    assert path.stat().st_size < 300_000
    return path


def repeated(path):
    """One value of a megabyte, 30,000 times."""
    array = pa.DictionaryArray.from_arrays(pa.array(np.zeros(30_000, np.int32)), ["word " * 200_000])
    return groups(path, array.type, [array], store_schema=False)


def repeated_tokens(path):
    """A list of a token of a megabyte, a million times, and another."""
    items = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000_000, np.int32)), ["w" * (1 << 20)])
    array = pa.ListArray.from_arrays(pa.array([0, 10_000_000, 20_000_000], pa.int32()), items)
    return groups(path, array.type, [array])


def compressed(path):
    """Spaces."""
    return groups(path, pa.string(), [pa.array([" " * (20 << 20)])] * 20, use_dictionary=False)


def shared_beginnings(path):
    """Texts that begin with the same megabyte, which is stored once in each group."""
    array = pa.array(["word " * 200_000 + str(i) for i in range(40)])
    options = {
        "use_dictionary": False,
        "column_encoding": dict.fromkeys(("text", "text.list.element"), "DELTA_BYTE_ARRAY"),
    }
    return groups(path, pa.string(), [array] * 15, **options)


def shared_beginnings_of_tokens(path):
    """The same of tokens."""
    array = pa.array([["word " * 20_000 + str(i) for i in range(3000)]])
    options = {
        "use_dictionary": False,
        "column_encoding": dict.fromkeys(("text", "text.list.element"), "DELTA_BYTE_ARRAY"),
    }
    return groups(path, array.type, [array], **options)


def missing(path):
    """Rows without a value."""
    return groups(path, pa.string(), [pa.nulls(4_000_000, pa.string())] * 12)


def numbers(path):
    """A list of the same number."""
    array = pa.ListArray.from_arrays(pa.array([0, 20_000_000], pa.int32()), pa.array(np.zeros(20_000_000, np.int8)))
    return groups(path, array.type, [array])


def lying(path):
    """Spaces, and a footer that tells of small sizes."""
    raw = compressed(path).read_bytes()
    footer = len(raw) - 8 - int.from_bytes(raw[-8:-4], "little")
    metadata = pq.read_metadata(path)
    for group in range(metadata.num_row_groups):
        about = metadata.row_group(group)
        for value in {about.column(0).total_uncompressed_size, about.total_byte_size}:
            old = varint(2 * value)
            new = bytes([0x90, *[0x80] * (len(old) - 2), 0])  # 8, in as many bytes
            raw = raw[:footer] + raw[footer:].replace(old, new)
    path.write_bytes(raw)
    metadata = pq.read_metadata(path)
    assert {metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups)} == {8}
    return path


def varint(value):
    raw = []
    while value > 127:
        raw.append(value & 127 | 128)
        value >>= 7
    return bytes([*raw, value])


def mixed_tokens(path):
    """A dictionary with a long token that comes often, and then tokens that are in none."""
    items = pa.array(["w" * 10_000] * 40_000 + [f"{i:x}" for i in range(4000)], pa.large_string())
    array = pa.LargeListArray.from_arrays(pa.array([0, *range(40_000, 44_001, 100)], pa.int64()), items)
    return groups(path, array.type, [array], dictionary_pagesize_limit=11_000, write_batch_size=1)


PARQUET_BOMBS = [
    mixed_tokens, repeated, repeated_tokens, compressed, shared_beginnings, shared_beginnings_of_tokens, missing, numbers,
    lying,
]  # fmt: skip


# ---- Compressed text: a piece that is repeated up to 256 MiB, with what comes before and after.

PIECES = {
    "a.txt": (b"", b" ", b""),
    "b.txt": (b"", b"\n", b""),
    "c.txt": (b"", b"ab\n", b""),
    "d.txt": (b"", b"\r", b""),
    "e.csv": (b'text\n"', b"word ", b'"\n'),
    "f.csv": (b"text\n", b"word\n", b""),
    "g.tsv": (b"text\n", b"word\n", b""),
    "h.jsonl": (b"[", b"[],", b"[]]\n"),
    "i.jsonl": (b"", b"null\n", b""),
    "j.jsonl": (b'{"text": "', b"\\u0041", b'"}\n'),
    "k.mtx": (b"%%MatrixMarket matrix coordinate pattern general\n9 9 99999\n", b"1 1\n", b""),
    "docword.l.txt": (b"1\n4\n99999\n", b"1 1 1\n", b""),
}


def repeated_piece(path, name, pack):
    """A compressed file; its name tells the format."""
    begin, piece, end = PIECES[name]
    path = path.with_name(f"{name}.{'gz' if pack == 'gzip' else 'zst'}")
    whole = piece * ((1 << 20) // len(piece))
    if pack == "gzip":  # members of a mebibyte, each compressed once
        middle = gzip.compress(whole) * 256
        path.write_bytes(gzip.compress(begin) + middle + gzip.compress(end))
    else:
        compress = zstandard.ZstdCompressor().compress
        path.write_bytes(compress(begin) + compress(whole) * 256 + compress(end))
    assert path.stat().st_size < 1 << 20
    return path


# ---- Headers.


def matrix_market(path, layout, sizes):
    path = path.with_suffix(".mtx")
    path.write_text(f"%%MatrixMarket matrix {layout} integer general\n{sizes}\n1{' 1 1' * (layout == 'coordinate')}\n")
    return path


def uci(path, sizes):
    path = path.with_name("docword.a.txt")
    path.write_text("\n".join([*map(str, sizes), "1 1 1", ""]))
    path.with_name("vocab.a.txt").write_text("a\nb\n")
    return path


def npy_header(shape, kind="<f8"):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


def npy(path, shape):
    path = path.with_suffix(".npy")
    path.write_bytes(npy_header(shape) + bytes(800))
    return path


def npz(path, shape):
    """An archive whose arrays are zeros."""
    path = path.with_suffix(".npz")
    sp.save_npz(path, sp.csr_array(shape))
    return path


def npz_of_headers(path, shape):
    """An archive whose arrays announce what does not follow."""
    path = path.with_suffix(".npz")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("format.npy", npy_header((), "|S3") + b"csr")
        archive.writestr("shape.npy", npy_header((2,), "<i8") + np.array([3, 3]).tobytes())
        for name in ("data", "indices", "indptr"):
            archive.writestr(f"{name}.npy", npy_header(shape, "<i8") + bytes(80))
    return path


def hollow_file(path, name):
    path = path.with_name(name)
    with path.open("wb") as stream:
        if name.endswith(".npy"):
            stream.write(npy_header((GIBIBYTE >> 3,)))
        stream.truncate(3 * GIBIBYTE)
    return path


# ---- Folders of holes.


def hollow_corpus(folder, n_docs=20_000_000, n_words=20_000_000, n_entries=20_000_000):
    """A folder whose files are holes, with sizes and checksums that are right."""
    aw.Corpus(COUNTS, WORDS).save(folder)
    manifest = json.loads((folder / "corpus.json").read_text())
    manifest |= {"n_docs": n_docs, "n_words": n_words, "n_entries": n_entries, "n_tokens": 0.0, "count_type": "|u1"}
    sizes = {
        "indptr": 8 * (n_docs + 1), "indices": 4 * n_entries, "counts": n_entries, "words.ends": 8 * n_words,
        "df": 8 * n_words, "tf": 8 * n_words, "words": 0,
    }  # fmt: skip
    for name, size in sizes.items():
        with (folder / f"{name}.bin").open("wb") as stream:
            stream.truncate(size)
    for name in manifest["checksums"]:
        manifest["checksums"][name] = crc_of_zeros(sizes[name])
    manifest["blocks"] = [[n_docs, n_entries, *(crc_of_zeros(sizes[name]) for name in ("indptr", "indices", "counts"))]]
    reseal(folder, manifest)
    return folder


def is_hollow(path):
    """Whether the file system keeps no space for holes."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_blocks for file in files) * 512 < 1 << 20


def crc_of_zeros(size):
    value, piece = 0, bytes(1 << 20)
    for _ in range(size >> 20):
        value = zlib.crc32(piece, value)
    return crc_text(zlib.crc32(bytes(size & ((1 << 20) - 1)), value))


# ---- All of them: name, what makes it, and its arguments.

BOMBS = [
    *((f"{pack} {name}", repeated_piece, (name, pack)) for name in PIECES for pack in ("gzip", "zstd")),
    *((f"parquet {make.__name__}", make, ()) for make in PARQUET_BOMBS),
    *(("mtx", matrix_market, ("coordinate", sizes)) for sizes in ("1 16777216 1", "90000000 1 1", "3 3 90000000")),
    *(("mtx", matrix_market, ("array", sizes)) for sizes in ("20000 10000", "1 90000000")),
    *(("uci", uci, sizes) for sizes in (((10**8, 2, 1),), ((3, 2, 10**9),), ((10**12, 2, 1),))),
    *(("npy", npy, (shape,)) for shape in ((10**4, 10**4), (10**9, 1), (10**6, 10**6))),
    *(("npz", npz, (shape,)) for shape in ((10**7, 3), (3, 10**8))),
    *(("npz header", npz_of_headers, (shape,)) for shape in ((10**8,), (10**12,))),
    *(("hole", hollow_file, (name,)) for name in ("a.txt", "a.csv", "a.jsonl", "a.npy", "a.npz", "a.parquet", "a.mtx")),
    *(("folder of holes", hollow_corpus, sizes) for sizes in ((), (10**8, 4, 0), (4, 10**7, 0), (4, 4, 10**8))),
]
