"""Whatever the bytes, a reader gives a sound corpus or one sentence.

ANCHORWORDS_FUZZ=3000 tries so many examples a reader, other ones each time.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import shutil
import warnings
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import scipy.sparse as sp
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus.formats import FORMATS
from anchorwords.exceptions import AnchorwordsError
from tests.storage.test_corpus_folder import reseal, same_corpus

from .damage import TOKENS_THAT_HURT, WAYS, changed, one_sentence, sound

EXAMPLES = int(os.environ.get("ANCHORWORDS_FUZZ", "150"))
fuzzed = settings(
    max_examples=EXAMPLES,
    derandomize="ANCHORWORDS_FUZZ" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

TEXTS = ["red apple and green apple", "straße, café", "", 'he said "no"', "日本 one two three"]
TOKENS = [text.split() for text in TEXTS]
COUNTS = np.array([[1, 0, 2, 0], [0, 0, 0, 0], [300, 7, 0, 1]])


# ---- Files to begin with.


def written(write):
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def parquet(table, **options):
    return written(lambda stream: pq.write_table(table, stream, **options))


def npz(matrix, compressed=True):
    return written(lambda stream: sp.save_npz(stream, matrix, compressed=compressed))


def npy(array):
    return written(lambda stream: np.save(stream, array))


def mtx(matrix, **options):
    return written(lambda stream: scipy.io.mmwrite(stream, matrix, **options))


def rows(lines):
    return "\n".join(lines).encode()


SEEDS = {
    "text": [rows(TEXTS), b"\xef\xbb\xbf" + rows(TEXTS).replace(b"\n", b"\r\n")],
    "csv": [
        b'id,text\n1,red apple\n2,"green, ""pear""\nand more"\n3,\n',
        b'text\n"one two"\nthree\n',
        b"one two\nthree\n",
    ],
    "tsv": [b"id\ttext\na\tred apple\nb\tgreen pear\nc\t\n", b"one two\nthree\n"],
    "jsonl": [
        rows(json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS)),
        rows(json.dumps({"id": i, "text": text}, ensure_ascii=False) for i, text in enumerate(TEXTS)),
        rows(json.dumps({"id": i, "text": tokens}) for i, tokens in enumerate(TOKENS)),
        rows(json.dumps(text) for text in TEXTS),
        rows(json.dumps(tokens) for tokens in TOKENS),
    ],
    "parquet": [
        parquet(pa.table({"id": list("abcde"), "text": TEXTS}), row_group_size=2),
        parquet(pa.table({"id": list("abcde"), "text": TOKENS}), compression="none"),
        parquet(pa.table({"text": TEXTS}), compression="zstd", use_dictionary=False),
    ],
    "baskets": [rows("\t".join(tokens) for tokens in TOKENS)],
    "uci": [b"3\n4\n5\n1 1 1\n1 3 2\n3 1 300\n3 2 7\n3 4 1\n", b"2\n4\n2\n2 1 1\n1 2 3\n"],
    "mtx": [
        mtx(sp.coo_array(COUNTS)),
        mtx(COUNTS),
        mtx(sp.coo_array(COUNTS / 2)),
        mtx(sp.coo_array(COUNTS[:, :3] @ COUNTS[:, :3].T), symmetry="symmetric"),
        b"%%MatrixMarket matrix coordinate pattern general\n% words\n2 2 2\n1 1\n2 2\n",
    ],
    "npz": [
        npz(sp.csr_array(COUNTS)),
        npz(sp.csc_array(COUNTS), compressed=False),
        npz(sp.coo_array(COUNTS), compressed=False),
        npz(sp.bsr_array(COUNTS[:2], blocksize=(2, 2)), compressed=False),
        npz(sp.dia_array(COUNTS), compressed=False),
    ],
    "npy": [npy(COUNTS), npy(COUNTS.astype(np.uint8)), npy(np.asfortranarray(COUNTS / 2)), npy(np.zeros((0, 3)))],
}
OPTIONS = {
    "csv": [{}, {"text_column": "text", "id_column": "id"}, {"text_column": 2, "id_column": 1}],
    "tsv": [{}, {"text_column": "text", "id_column": "id"}, {"text_column": 2, "id_column": 1}],
    "jsonl": [{}, {"id_column": "id"}],
    "parquet": [{}, {"id_column": "id"}],
    "baskets": [{}, {"separator": " "}],
    "uci": [{"vocabulary": list("abcd")}],
    "text": [{}, {"ngrams": (1, 3), "min_length": 1}, {"vocabulary": ["apple", "red"]}],
}


# ---- What is done to them.

changes = st.lists(
    st.tuples(
        st.sampled_from(WAYS),
        st.integers(0, 2**16),
        st.integers(0, 255),
        st.sampled_from(TOKENS_THAT_HURT) | st.binary(max_size=6),
    ),
    min_size=1,
    max_size=4,
)


def reads_or_refuses(path, target, **options):
    """Read, and import: both give the same corpus, or the same sentence and no folder."""
    shutil.rmtree(target, ignore_errors=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # scripts without spaces, old headers of numpy
        corpus, refusal = None, ""
        try:
            corpus = aw.read_corpus(path, **options)
        except AnchorwordsError as error:
            one_sentence(error)
            refusal = str(error)
        if corpus is not None:
            sound(corpus)
            same_corpus(aw.import_corpus(path, target, **options), corpus)
        else:
            with pytest.raises(AnchorwordsError) as caught:
                aw.import_corpus(path, target, **options)
            # Other packages speak of an <object at 0x...>.
            assert re.sub("0x[0-9a-f]+", "", str(caught.value)) == re.sub("0x[0-9a-f]+", "", refusal)
            assert not target.exists()


@pytest.mark.parametrize("kind", list(SEEDS))
@fuzzed
@given(data=st.data())
def test_changed_files(tmp_path, kind, data):
    raw = changed(data.draw(st.sampled_from(SEEDS[kind])), data.draw(changes))
    path = tmp_path / "docs"
    path.write_bytes(raw)
    options = data.draw(st.sampled_from(OPTIONS.get(kind, [{}])))
    reads_or_refuses(path, tmp_path / "corpus", format=kind, **options)


@pytest.mark.parametrize("wrap", ["gzip", "zstd", "zstd without sizes"])
@fuzzed
@given(data=st.data())
def test_changed_files_that_are_compressed(tmp_path, wrap, data):
    kind = data.draw(st.sampled_from(["text", "csv", "tsv", "jsonl", "baskets", "uci", "mtx"]))
    raw = data.draw(st.sampled_from(SEEDS[kind]))
    inside = data.draw(st.booleans())
    raw = changed(raw, data.draw(changes)) if inside else raw * data.draw(st.integers(1, 50))
    if wrap == "gzip":
        raw = gzip.compress(raw)
    else:
        raw = zstandard.ZstdCompressor(write_content_size=wrap == "zstd", write_checksum=True).compress(raw)
    path = tmp_path / "docs"
    path.write_bytes(raw if inside else changed(raw, data.draw(changes)))
    options = data.draw(st.sampled_from(OPTIONS.get(kind, [{}])))
    reads_or_refuses(path, tmp_path / "corpus", format=kind, **options)


@fuzzed
@given(data=st.data())
def test_changed_arrays_in_a_whole_archive(tmp_path, data):
    # A change to the archive itself seldom gets past its checksums.
    with zipfile.ZipFile(io.BytesIO(data.draw(st.sampled_from(SEEDS["npz"])))) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(members)))
    members[name] = changed(members[name], data.draw(changes))
    with zipfile.ZipFile(tmp_path / "counts.npz", "w") as archive:
        for member, raw in members.items():
            archive.writestr(member, raw)
    reads_or_refuses(tmp_path / "counts.npz", tmp_path / "corpus")


@fuzzed
@given(
    arrays=st.fixed_dictionaries(
        {
            "format": st.sampled_from([b"csr", b"csc", b"bsr", b"coo", b"dia", b"dok", "csr"]),
            "shape": st.lists(st.sampled_from([0, 1, 2, 3, 4, -1, 2**31, 2**62, 2**63 - 1]), min_size=1, max_size=3),
            "data": st.lists(st.sampled_from([0, 1, 2.5, -1, 2.0**60, np.inf, np.nan]), max_size=4),
        },
        optional={
            name: st.lists(st.sampled_from([0, 1, 2, 3, 4, -1, 2**31, 2**62, -(2**63), 2**63 - 1]), max_size=5)
            for name in ("indices", "indptr", "row", "col", "offsets")
        }
        | {"_is_array": st.booleans()},
    )
)
def test_archives_of_arrays_that_contradict_each_other(tmp_path, arrays):
    np.savez(tmp_path / "counts.npz", **arrays)
    reads_or_refuses(tmp_path / "counts.npz", tmp_path / "corpus")


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind not in ("folder", "corpus")])
@fuzzed
@given(data=st.data())
def test_any_bytes(tmp_path, kind, data):
    beginnings = [raw[:n] for seeds in SEEDS.values() for raw in seeds for n in (4, 12)]
    start = data.draw(st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\x03\x04", *beginnings]))
    path = tmp_path / data.draw(st.sampled_from(["docs", "docs.txt", "docword.a.txt", "docs.csv", "docs.npz", "x.gz"]))
    path.write_bytes(start + data.draw(st.binary(max_size=200) | st.text(max_size=80).map(str.encode)))
    try:
        reads_or_refuses(path, tmp_path / "corpus", format=kind, **OPTIONS.get(kind, [{}])[0])
    finally:
        path.unlink()


@fuzzed
@given(
    names=st.lists(st.text(st.characters(exclude_characters="/\0"), min_size=1, max_size=8), min_size=1, max_size=3),
    raw=st.binary(max_size=30),
    what=changes,
    pattern=st.none() | st.text(st.sampled_from("*?[]!a./\\"), max_size=4),
)
def test_folders_of_any_files(tmp_path, names, raw, what, pattern):
    folder = tmp_path / "docs"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for number, name in enumerate(names):
        try:
            file = folder / (name + ".txt")
            file.write_bytes(changed(SEEDS["text"][0], what) if number else raw)
        except (OSError, UnicodeEncodeError):  # no name of this file system
            continue
    reads_or_refuses(folder, tmp_path / "corpus", format="folder", pattern=pattern)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good") / "corpus"
    aw.Corpus(COUNTS, ["a", "b", "é", ""], ["x", "y\n", "\ud800"]).save(folder)
    return folder


def opens_or_refuses(folder):
    """Load, and go through what loading does not."""
    try:
        sound(aw.read_corpus(folder, format="corpus"))
    except AnchorwordsError as error:
        one_sentence(error)
    try:
        corpus = aw.open_corpus(folder)
        assert corpus.n_tokens >= 0
        sound(corpus.prune(min_tokens=1, min_types=1, n_words=3, stop_words=["a"]))
    except AnchorwordsError as error:
        one_sentence(error)


def copied(good, tmp_path):
    folder = tmp_path / "corpus"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(good, folder)
    return folder


@fuzzed
@given(number=st.integers(0, 20), what=changes, right=st.booleans(), same_size=st.booleans())
def test_changed_corpus_folders(tmp_path, good, number, what, right, same_size):
    folder = copied(good, tmp_path)
    files = sorted(folder.iterdir())
    file = files[number % len(files)]
    old = file.read_bytes()
    new = changed(old, what)
    file.write_bytes((new + old[len(new) :])[: len(old)] if same_size else new)
    if right and file.name != "corpus.json":
        reseal(folder)
    opens_or_refuses(folder)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["", "<u2", "|O", "f8,f8", "(2)i4", "1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@fuzzed
@given(data=st.data())
def test_changed_descriptions_of_a_corpus(tmp_path, good, data):
    folder = copied(good, tmp_path)
    manifest = json.loads((folder / "corpus.json").read_text())
    key = data.draw(st.sampled_from(sorted(manifest)))
    if data.draw(st.booleans()):
        del manifest[key]
    elif key == "blocks" and data.draw(st.booleans()):
        manifest[key][0][data.draw(st.integers(0, 4))] = data.draw(values)
    else:
        manifest[key] = data.draw(values)
    reseal(folder, manifest)
    opens_or_refuses(folder)
