"""Documents drawn at random and written in every format that is read, with what a plain count in Python makes of them."""

from __future__ import annotations

import csv
import gzip
import io
import json
import struct
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import scipy.sparse as sp
import zstandard

# Words that count, and "words" that do not: one letter, no letter.
WORDS = [
    "apple", "Pear", "PLUM", "straße", "café", "cafe\u0301", "ÉTÉ", "naïve", "b2b", "snake_case", "ВОДА", "νερό", "हिन्दी",
    "o2", "zz", "xx" * 49, "İstanbul", "Ǆungla", "x\u0301x",
]  # fmt: skip
NO_WORDS = ["a", "7", "2024", "_", "é", "x" * 101]
BETWEEN = [
    " ",
    "  ",
    ", ",
    "-",
    "'s ",
    "... ",
    " — ",
    "\u2028",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x85",
    "\xa0",
    "\u200b",
    "🙂",
    "/",
    "\x7f",
]
ITEMS = ["milk", "brown bread", "É", "e\u0301", "1", "a,b;c", '"quoted"', "日本", "{", "0x", "x" * 300, "#", "\u2028"]


@dataclass
class Case:
    """Documents in one format.

    Parameters
    ----------
    source : path, frame or iterable
    expected : list of Counter
        Of each document.
    options : dict
        How to read it.
    ids : list of str, optional
    words : list of str, optional
        All words in their order, where the format gives it.
    files : list of Path
        What was written: what may be damaged.
    """

    source: Any
    expected: list[Counter[str]]
    options: dict[str, Any] = field(default_factory=dict)
    ids: list[str] | None = None
    words: list[str] | None = None
    files: list[Path] = field(default_factory=list)


def some(rng, values):
    return values[int(rng.integers(0, len(values)))]


# ---- Documents.


def text(rng, between=BETWEEN):
    """A text and its words."""
    words = [some(rng, WORDS if rng.random() < 0.8 else NO_WORDS) for _ in range(rng.integers(0, 12))]
    written = "".join(word + some(rng, between) for word in words)
    return written, counted(words)


def counted(words):
    composed = (unicodedata.normalize("NFC", word) for word in words if word not in NO_WORDS)
    return Counter(word.lower() for word in composed)


def texts(rng, between=BETWEEN):
    """Texts and their counts: at least one holds a word."""
    pairs = [text(rng, between) for _ in range(rng.integers(1, 9))]
    pairs[int(rng.integers(0, len(pairs)))] = ("plum apple", Counter(["plum", "apple"]))
    return [one for one, _ in pairs], [count for _, count in pairs]


def tokens(rng):
    lists = [[some(rng, [*ITEMS, *WORDS]) for _ in range(rng.integers(0, 9))] for _ in range(rng.integers(1, 9))]
    lists[0] = [*lists[0], "milk"]
    return lists, [Counter(one) for one in lists]


def matrix(rng, largest=300):
    shape = rng.integers(1, 9, 2)
    counts = rng.integers(1, largest, shape) * (rng.random(shape) < 0.5)
    counts[0, 0] = 1
    names = [f"w{i}" for i in range(shape[1])]
    return counts, [Counter({names[j]: int(n) for j, n in enumerate(row) if n}) for row in counts], names


def ids_for(rng, number):
    return [f"{some(rng, ['d', 'é ', 'id-', '#'])}{i}" for i in range(number)]


# ---- Compression.


def packed(rng, raw):
    """Plain, or compressed, in several members or frames, with frames that are to be skipped."""
    kind = some(rng, ["plain", "gzip", "zstd"])
    cuts = sorted(int(cut) for cut in rng.integers(0, len(raw) + 1, rng.integers(0, 3)))
    pieces = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    if kind == "gzip":
        return b"".join(map(gzip.compress, pieces))
    if kind == "zstd":
        sizes = bool(rng.integers(0, 2))
        compress = zstandard.ZstdCompressor(write_content_size=sizes, write_checksum=bool(rng.integers(0, 2))).compress
        skipped = struct.pack("<II", 0x184D2A50 + int(rng.integers(0, 16)), 3) + b"abc"
        return b"".join((skipped if rng.random() < 0.3 else b"") + compress(piece) for piece in pieces)
    return raw


def file(path, raw):
    path.write_bytes(raw)
    return path


def lines(rng, rows, ends=("\n", "\r\n", "\r")):
    """Lines as bytes; the last ends like the others, or the file does, if something is in it."""
    end = some(rng, ends)
    last = end if not rows[-1] or rng.random() < 0.7 else ""
    if end == "\r" and len(rows) == 1:
        last = end
    mark = b"\xef\xbb\xbf" if rng.random() < 0.2 else b""
    return mark + (end.join(rows) + last).encode()


# ---- Formats.


def as_text(rng, folder):
    written, counts = texts(rng)
    path = file(folder / "docs.txt", packed(rng, lines(rng, written)))
    return Case(path, counts, files=[path])


def as_baskets(rng, folder):
    separator = some(rng, ["\t", "|", "::"])
    lists, counts = tokens(rng)
    rows = [separator.join(f" {item} " if rng.random() < 0.2 else item for item in one) for one in lists]
    path = file(folder / "docs", packed(rng, lines(rng, rows)))
    strip = [Counter(item.strip() for item in count.elements() if item.strip()) for count in counts]
    return Case(path, strip, {"format": "baskets", "separator": separator}, files=[path])


def as_csv(rng, folder):
    inside = "\r" if rng.random() < 0.2 else "\n"
    # A separator in a field is quoted by the writer; in a file whose lines end in CR no field holds a line feed.
    written, counts = texts(rng, [*BETWEEN, '"', '""', ",", ", ", ";", inside])
    names = ids_for(rng, len(written))
    separator = some(rng, [",", ";", "|", "\t"])
    end = "\r" if inside == "\r" else some(rng, ["\n", "\r\n"])
    stream = io.StringIO(newline="")
    quoting = some(rng, [csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
    writer = csv.writer(stream, delimiter=separator, lineterminator=end, quoting=quoting)
    header = bool(rng.integers(0, 2))
    rows = [["id", "text"], *zip(names, written, strict=True)] if header else list(zip(names, written, strict=True))
    writer.writerows(rows)
    columns = (
        {"text_column": "text", "id_column": "id"} if header else {"text_column": 2, "id_column": 1, "header": False}
    )
    path = file(folder / "docs.csv", packed(rng, stream.getvalue().encode()))
    return Case(path, counts, {"separator": separator, **columns}, names, files=[path])


def as_long_csv(rng, folder):
    """Fields beyond the limit of the csv module."""
    size = int(rng.integers(30_000, 60_000))
    words = "plum,\n" * size if rng.random() < 0.5 else 'plum ""x"" ' * size
    path = file(folder / "docs.csv", packed(rng, f'text\n"{words}"\nplum\n'.encode()))
    return Case(path, [Counter(plum=size), Counter(plum=1)], files=[path])


def as_tsv(rng, folder):
    written, counts = texts(rng, [*BETWEEN, '"', ","])
    names = ids_for(rng, len(written))
    rows = ["id\ttext", *(f"{name}\t{one}" for name, one in zip(names, written, strict=True))]
    path = file(folder / "docs.tsv", packed(rng, lines(rng, rows)))
    return Case(path, counts, {"id_column": "id"}, names, files=[path])


def as_json_lines(rng, folder):
    listed = bool(rng.integers(0, 2))
    values, counts = tokens(rng) if listed else texts(rng, [*BETWEEN, '"', "\\", "\n", "\r", "\t", "\x01"])
    names = ids_for(rng, len(values)) if rng.random() < 0.7 else None
    escaped = bool(rng.integers(0, 2))
    rows = []
    for number, value in enumerate(values):
        whole = value if names is None and listed else {"more": [1, {"text": None}], "text": value}
        if names is not None:
            whole = {"id": names[number], **whole}
        rows.append(json.dumps(whole, ensure_ascii=escaped))
        rows += [""] * int(rng.random() < 0.1)
    path = file(folder / "docs.jsonl", packed(rng, lines(rng, rows)))
    return Case(path, counts, {} if names is None else {"id_column": "id"}, names, files=[path])


def as_parquet(rng, folder):
    listed = bool(rng.integers(0, 2))
    values, counts = tokens(rng) if listed else texts(rng)
    names = ids_for(rng, len(values))
    leaf = "text.list.element" if listed else "text"
    encoding = some(rng, [{}, {"use_dictionary": False}, {"DELTA_BYTE_ARRAY"}, {"DELTA_LENGTH_BYTE_ARRAY"}])
    if isinstance(encoding, set):
        encoding = {"use_dictionary": False, "column_encoding": dict.fromkeys((leaf, "id"), *encoding)}
    path = folder / "docs.parquet"
    missing = [None if not value and rng.random() < 0.5 else value for value in values]
    pq.write_table(
        pa.table({"id": names, "text": missing}),
        path,
        row_group_size=int(rng.integers(1, 9)),
        compression=some(rng, ["none", "snappy", "zstd", "gzip", "brotli", "lz4"]),
        data_page_version=some(rng, ["1.0", "2.0"]),
        **encoding,
    )
    return Case(path, counts, {"id_column": "id"}, names, files=[path])


def as_uci(rng, folder):
    counts, expected, names = matrix(rng)
    entries = [(m + 1, n + 1, counts[m, n]) for m, n in zip(*counts.nonzero(), strict=True)]
    if rng.random() < 0.3:
        entries = [entries[i] for i in rng.permutation(len(entries))]
    rows = [*map(str, (*counts.shape, len(entries))), *(" ".join(map(str, entry)) for entry in entries)]
    path = file(folder / "docword.some.txt", packed(rng, lines(rng, rows, ("\n", "\r\n"))))
    vocabulary = file(folder / "vocab.some.txt", packed(rng, lines(rng, names)))
    return Case(path, expected, words=names, files=[path, vocabulary])


def as_matrix_market(rng, folder):
    counts, expected, names = matrix(rng)
    stream = io.BytesIO()
    real = bool(rng.integers(0, 2))
    whole = counts.astype(float) if real else counts
    scipy.io.mmwrite(stream, sp.coo_array(whole) if rng.random() < 0.7 else whole, comment="5.5 of them")
    end = some(rng, [b"\n", b"\r\n", b"\r"])
    mark = b"\xef\xbb\xbf" if rng.random() < 0.2 else b""
    path = file(folder / "counts.mtx", packed(rng, mark + stream.getvalue().replace(b"\n", end)))
    return Case(path, expected, {"vocabulary": names}, words=names, files=[path])


def as_npz(rng, folder):
    counts, expected, names = matrix(rng)
    kind = some(rng, [sp.csr_array, sp.csc_array, sp.coo_array, sp.bsr_array, sp.dia_array, sp.csr_matrix])
    path = folder / "counts.npz"
    sp.save_npz(path, kind(counts), compressed=bool(rng.integers(0, 2)))
    return Case(path, expected, {"vocabulary": names}, words=names, files=[path])


def as_npy(rng, folder):
    kind = some(rng, ["u1", "<i8", ">i4", "<f8", ">f4", "f2", "u8"])
    counts, expected, names = matrix(rng, 200)
    order = np.asfortranarray if rng.random() < 0.5 else np.ascontiguousarray
    path = folder / "counts.npy"
    np.save(path, order(counts.astype(kind)))
    return Case(path, expected, {"vocabulary": names}, words=names, files=[path])


def as_folder(rng, folder):
    written, counts = texts(rng, [*BETWEEN, "\n", "\r\n"])
    home = folder / "docs"
    names, files = [], []
    for number, one in enumerate(written):
        place = home / some(rng, [".", "sub", "sub/deep", "été"])
        place.mkdir(parents=True, exist_ok=True)
        raw = packed(rng, one.encode())
        files.append(file(place / f"{number}{some(rng, ['', ' x', '日'])}.txt", raw))
        names.append(files[-1].relative_to(home).as_posix())
    if rng.random() < 0.3:
        (home / "again").symlink_to(home)
    order = sorted(range(len(names)), key=lambda i: files[i])
    return Case(home, [counts[i] for i in order], {}, [names[i] for i in order], files=files)


def as_vocabulary(rng, folder):
    """Text, of which the words of a file are counted alone."""
    case = as_text(rng, folder)
    words = ["plum", "apple", "not there", *(unicodedata.normalize("NFC", word).lower() for word in WORDS[3:8:2])]
    path = file(folder / "words.txt", packed(rng, lines(rng, words)))
    expected = [Counter({word: n for word, n in count.items() if word in words}) for count in case.expected]
    return Case(case.source, expected, {"vocabulary": path}, words=words, files=[path])


def as_stop_words(rng, folder):
    """Text, without the words of a file."""
    case = as_text(rng, folder)
    words = ["apple", "plum", "café", "# pear", "", "  zz  "]
    path = file(folder / "stop.txt", packed(rng, lines(rng, words)))
    stopped = {"apple", "café", "zz"} | {"plum"}
    expected = [Counter({word: n for word, n in count.items() if word not in stopped}) for count in case.expected]
    expected[0]["kept"] += 1
    raw = some(rng, [b"kept ", b"KEPT, "])
    whole = aw_lines(case)
    source = file(folder / "docs.txt", b"\n".join([raw + whole[0], *whole[1:]]) + b"\n")
    return Case(source, expected, {"stop_words": path}, files=[path])


def aw_lines(case):
    """The lines of a text file, however it is packed."""
    raw = case.source.read_bytes()
    if raw.startswith(b"\x1f\x8b"):
        raw = gzip.decompress(raw)
    elif raw[:4] == b"\x28\xb5\x2f\xfd" or raw[1:4] == b"\x2a\x4d\x18":
        reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(raw), read_across_frames=True)
        raw = reader.read()
    raw = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    raw = raw if b"\n" in raw else raw.replace(b"\r", b"\n")
    return raw.removesuffix(b"\n").split(b"\n")


def as_frame(rng, folder):
    del folder
    listed = bool(rng.integers(0, 2))
    values, counts = tokens(rng) if listed else texts(rng)
    names = ids_for(rng, len(values))
    data = {"other": range(len(values)), "id": names, "text": values}
    source = some(rng, [pd.DataFrame, pl.DataFrame, pa.table])(data)
    return Case(source, counts, {"id_column": "id"}, names)


def as_iterable(rng, folder):
    del folder
    listed = bool(rng.integers(0, 2))
    values, counts = tokens(rng) if listed else texts(rng)
    kind = some(
        rng, [list, tuple, lambda v: np.array(v, dtype=object) if not listed else list(map(tuple, v)), pd.Series]
    )
    return Case(kind(values), counts)


FORMATS: dict[str, Callable[[Any, Path], Case]] = {
    "text": as_text, "baskets": as_baskets, "csv": as_csv, "csv, long fields": as_long_csv, "tsv": as_tsv,
    "json lines": as_json_lines, "parquet": as_parquet, "uci": as_uci, "matrix market": as_matrix_market, "npz": as_npz,
    "npy": as_npy, "folder": as_folder, "vocabulary": as_vocabulary, "stop words": as_stop_words, "frame": as_frame,
    "iterable": as_iterable,
}  # fmt: skip


def check_exact(corpus, case):
    """The counts, words and ids of a corpus are those of the case."""
    counts, words = corpus.counts.tocsr(), corpus.vocabulary
    found = []
    for m in range(corpus.n_docs):
        row = slice(counts.indptr[m], counts.indptr[m + 1])
        pairs = zip(counts.indices[row], counts.data[row], strict=True)
        found.append({words[column]: int(count) for column, count in pairs})
    assert found == [dict(count) for count in case.expected], f"{found} in place of {case.expected}"
    if case.words is None:
        assert list(words) == sorted(set().union(*case.expected))
    else:
        assert list(words) == case.words
    assert (None if corpus.doc_ids is None else list(corpus.doc_ids)) == case.ids
