"""The corpus on disk: the same as in memory, whole or not there, and never believed unseen."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus.text_rule import TextRule
from anchorwords.exceptions import CorpusFormatError, InputError, TooLargeError
from anchorwords.storage import corpus_folder as store
from anchorwords.storage import corpus_writer
from anchorwords.storage import folders as _folders

FILES = ["corpus.json", *store.FORMAT.files]
COUNTS = [[1, 0, 2, 0], [0, 0, 0, 0], [300, 7, 0, 1], [0, 5, 1, 1]]
WORDS = ["a", "b", "é", ""]
IDS = ["x", "new\nline", "\ud800", ""]
TABLE = {
    "year": [2019, 2020, 2021, 2022], "score": [1.5, None, 0.0, -1.0], "new\nline": ["a", None, "\ud800", "a"],
    "labels": [["x", "y"], [], ["y"], ["x"]], "when": ["2020-01-01", None, "2021-02-03", "1969-12-31"],
    "seen": ["2020-01-01T10:00:00", "2020-01-01T10:00:00.5+02:00", None, "2021-02-03"], "open": [True, False, True, True],
}  # fmt: skip


def same_corpus(a, b):
    assert a.vocabulary == b.vocabulary
    assert a.doc_ids == b.doc_ids
    assert a.text_rule == b.text_rule
    assert a.vocabulary_rule == b.vocabulary_rule
    assert (a.documents.kinds, a.documents.title) == (b.documents.kinds, b.documents.title)
    for name in a.documents:
        np.testing.assert_array_equal(a.documents[name], b.documents[name])
    assert (a.n_docs, a.n_words, a.n_tokens) == (b.n_docs, b.n_words, b.n_tokens)
    assert a.counts.shape == b.counts.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(a.counts, part), getattr(b.counts, part))


def saved(corpus, folder):
    corpus.save(folder)
    return aw.open_corpus(folder)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of a few documents, so that a small corpus has several, parts included."""
    monkeypatch.setattr(corpus_writer, "BLOCK_ENTRIES", 7)
    monkeypatch.setattr(corpus_writer, "BLOCK_DOCS", 4)
    monkeypatch.setattr("anchorwords.corpus.parts.PART_ENTRIES", 3)
    monkeypatch.setattr("anchorwords.corpus.parts.row_slices.__defaults__", (3,))
    monkeypatch.setattr("anchorwords.corpus.readers.BATCH_DOCUMENTS", 3)


def sampled_corpus(n_docs=60, n_words=25, seed=0, ids=True):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 9, (n_docs, n_words)) * (rng.random((n_docs, n_words)) < rng.random(n_words) * 0.5)
    counts[rng.random(n_docs) < 0.1] = 0
    names = [f"d{m}" for m in range(n_docs)] if ids else None
    return aw.Corpus(counts, [f"w{i}" for i in range(n_words)], names, text_rule=TextRule())


# ---- Round trips.


@pytest.mark.parametrize(
    ("largest", "kind"),
    [
        (1, "|u1"), (255, "|u1"), (256, "<u2"), (2**16 - 1, "<u2"), (2**16, "<u4"), (2**32 - 1, "<u4"), (2**32, "<f8"),
        (2**53 - 1, "<f8"), (2**53, "<f8"), (2.5, "<f8"), (1e-300, "<f8"), (1e300, "<f8"),
    ],
)  # fmt: skip
def test_counts_of_every_size_survive_in_the_smallest_type(tmp_path, largest, kind):
    corpus = aw.Corpus([[largest, 1, 0], [0, 0, 1]], ["a", "b", "c"])
    stored = saved(corpus, tmp_path / "c")
    same_corpus(stored, corpus)
    assert stored.counts[0, 0] == largest
    assert json.loads((tmp_path / "c" / "corpus.json").read_text())["count_type"] == kind


def test_the_type_of_counts_is_that_of_all_parts_together(tmp_path, small_blocks):
    # Each part waits in a type of its own.
    values = [1.0, 200, 70_000, 0.5, 3, 2**40, 255, 256]
    counts = np.zeros((8, 3))
    counts[:, 0], counts[:, 1], counts[:, 2] = values, 1, 2
    for rows in (slice(0, 2), slice(0, 3), slice(3, 5), slice(4, 8), slice(0, 8)):
        corpus = aw.Corpus(counts[rows], ["a", "b", "c"])
        same_corpus(saved(corpus, tmp_path / "c"), corpus)


def test_words_and_ids_of_any_characters_survive(tmp_path):
    odd = ["\ud800", "new\nline", "", "\0", "مرحبا", "🙂", "a\u2028b", "\udfff\ud800", "x" * 10_000, " "]
    corpus = aw.Corpus(np.eye(10), odd, odd[::-1])
    same_corpus(saved(corpus, tmp_path / "c"), corpus)


def test_tokens_and_ids_of_any_characters_are_imported_as_they_are(tmp_path):
    path = tmp_path / "d.jsonl"
    tokens = [["a\ud800", "a\ud801", "a?", ""], ["a?"]]
    path.write_text("\n".join(json.dumps({"id": f"\ud800{i}", "text": t}) for i, t in enumerate(tokens)))
    corpus = aw.read_corpus(path, id_column="id")
    assert corpus.vocabulary == ("", "a?", "a\ud800", "a\ud801")
    assert corpus.doc_ids == ("\ud8000", "\ud8001")
    same_corpus(aw.import_corpus(path, tmp_path / "c", id_column="id"), corpus)


@pytest.mark.parametrize(
    "corpus",
    [
        aw.Corpus(COUNTS, WORDS),
        aw.Corpus(COUNTS, WORDS, IDS),
        aw.Corpus(COUNTS, WORDS, documents=TABLE, title="new\nline"),
        aw.Corpus(COUNTS, WORDS, IDS, documents=TABLE),
        aw.Corpus([[3]], ["one"]),
        aw.Corpus([[3]], ["one"], [""]),
        aw.Corpus([[0, 0]], ["a", "b"]),
        aw.Corpus(np.zeros((5, 2)), ["a", "b"], list("vwxyz")),
        aw.Corpus(COUNTS, WORDS, text_rule=TextRule(lowercase=False, stop_words=frozenset(["é", "\ud800"]))),
        sampled_corpus(),
    ],
    ids=[
        "no ids",
        "ids",
        "columns",
        "columns and ids",
        "one document",
        "an empty id",
        "nothing in it",
        "empty documents",
        "a rule",
        "larger",
    ],
)
def test_what_is_saved_is_what_is_opened(tmp_path, small_blocks, corpus):
    stored = saved(corpus, tmp_path / "c")
    assert isinstance(stored, aw.Corpus)
    assert (stored.n_docs, stored.n_words, stored.n_tokens) == (corpus.n_docs, corpus.n_words, corpus.n_tokens)
    np.testing.assert_array_equal(stored.document_frequencies, corpus.document_frequencies)
    np.testing.assert_array_equal(stored.term_frequencies, corpus.term_frequencies)
    assert stored.n_entries == corpus.counts.nnz
    assert "counts" not in vars(stored)
    same_corpus(stored, corpus)
    same_corpus(aw.read_corpus(tmp_path / "c"), corpus)
    same_corpus(aw.import_corpus(tmp_path / "c", tmp_path / "again"), corpus)
    assert sorted(os.listdir(tmp_path)) == ["again", "c"]
    absent = {"ids"} if corpus.doc_ids is None else set()
    absent |= {"documents"} if not corpus.documents else set()
    names = {name for name in FILES if name.split(".")[0] not in absent}
    assert set(os.listdir(tmp_path / "c")) == names


def test_several_blocks_are_the_documents_in_their_order(tmp_path, small_blocks):
    corpus = sampled_corpus()
    stored = saved(corpus, tmp_path / "c")
    blocks = list(stored.blocks())
    assert len(blocks) > 8
    np.testing.assert_array_equal(sp.vstack(blocks).toarray(), corpus.counts.toarray())
    # Out of order and more than once: each block stands alone.
    again = [block() for block in reversed(list(stored.lazy_blocks()))]
    for a, b in zip(blocks, reversed(again), strict=True):
        np.testing.assert_array_equal(a.toarray(), b.toarray())
    assert "counts" not in vars(stored)


def test_text_is_imported_as_it_is_read(tmp_path, small_blocks):
    texts = [" ".join(random.Random(m).choices(["red", "green", "blue", "apple"], k=m % 7)) for m in range(50)]
    corpus = aw.read_corpus(texts)
    for n_jobs in (1, 3):
        same_corpus(aw.import_corpus(texts, tmp_path / "c", n_jobs=n_jobs), corpus)


def test_a_corpus_can_be_saved_over_itself(tmp_path, small_blocks):
    corpus = sampled_corpus()
    saved(corpus, tmp_path / "c").save(tmp_path / "c")
    same_corpus(aw.open_corpus(tmp_path / "c"), corpus)
    pruned = aw.open_corpus(tmp_path / "c").prune(n_words=10)
    pruned.save(tmp_path / "c")
    same_corpus(aw.open_corpus(tmp_path / "c"), corpus.prune(n_words=10))
    assert os.listdir(tmp_path) == ["c"]


def test_opening_reads_no_entries(tmp_path, monkeypatch):
    corpus = sampled_corpus()
    corpus.save(tmp_path / "c")
    monkeypatch.setattr(store.CorpusFolder, "block", lambda *_: pytest.fail("a block was read"))
    stored = aw.open_corpus(tmp_path / "c")
    assert (stored.n_docs, stored.n_words, stored.n_tokens) == (corpus.n_docs, corpus.n_words, corpus.n_tokens)
    assert stored.vocabulary == corpus.vocabulary
    assert stored.doc_ids == corpus.doc_ids
    np.testing.assert_array_equal(stored.document_frequencies, corpus.document_frequencies)
    assert "60 documents" in repr(stored)


def test_counts_that_do_not_fit_in_memory_are_refused(tmp_path, monkeypatch):
    stored = saved(sampled_corpus(), tmp_path / "c")
    monkeypatch.setattr("anchorwords.corpus.stored.available_bytes", lambda: 100)
    with pytest.raises(TooLargeError, match=r"blocks\(\)"):
        _ = stored.counts


def test_a_stored_corpus_is_frozen(tmp_path):
    stored = saved(sampled_corpus(), tmp_path / "c")
    with pytest.raises(AttributeError):
        stored.vocabulary = ()


# ---- Pruning.

RULES = [
    {},
    {"n_words": 8},
    {"min_df": 5},
    {"min_df": 0.1, "max_df": 0.3},
    {"max_df": 12},
    {"stop_words": ["w0", "w3", "none"]},
    {"min_tokens": 20},
    {"min_types": 6},
    {"min_tokens": 0, "min_types": 0},
    {"n_words": 5, "min_df": 2, "max_df": 0.9, "stop_words": ["w1"], "min_tokens": 7, "min_types": 2},
]


def same_pruning(stored, corpus, rules):
    for rule in rules:
        refusal = None
        try:
            corpus = corpus.prune(**rule)
        except InputError as error:
            refusal = str(error)
        if refusal is not None:
            with pytest.raises(InputError) as caught:
                stored.prune(**rule)
            assert str(caught.value) == refusal
            return
        stored = stored.prune(**rule)
        assert stored.dropped == corpus.dropped
        np.testing.assert_array_equal(stored.document_frequencies, corpus.document_frequencies)
        np.testing.assert_array_equal(stored.term_frequencies, corpus.term_frequencies)
        assert stored.n_entries == corpus.counts.nnz
        assert sum(block.nnz for block in stored.blocks()) == corpus.counts.nnz
        assert "counts" not in vars(stored)
    same_corpus(stored, corpus)


@pytest.mark.parametrize("ids", [True, False], ids=["ids", "no ids"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_pruning_on_disk_is_pruning_in_memory(tmp_path, small_blocks, rule, ids):
    corpus = sampled_corpus(ids=ids)
    stored = saved(corpus, tmp_path / "c")
    same_pruning(stored, corpus, [rule])
    assert "counts" not in vars(stored)


@pytest.mark.parametrize("second", RULES[1:], ids=str)
@pytest.mark.parametrize("first", [RULES[2], RULES[6], RULES[9]], ids=str)
def test_a_pruned_corpus_can_be_pruned_again(tmp_path, small_blocks, first, second):
    corpus = sampled_corpus(seed=1)
    same_pruning(saved(corpus, tmp_path / "c"), corpus, [first, second, {"min_tokens": 1, "min_types": 1}])


rules = st.fixed_dictionaries(
    {},
    optional={
        "n_words": st.integers(1, 6),
        "min_df": st.integers(0, 4) | st.floats(0, 0.5),
        "max_df": st.integers(1, 8) | st.floats(0.2, 1),
        "stop_words": st.lists(st.sampled_from([f"w{i}" for i in range(6)]), max_size=3),
        "min_tokens": st.integers(0, 6),
        "min_types": st.integers(0, 3),
    },
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(
    counts=st.integers(1, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from([0, 0, 1, 2, 0.5, 300]), min_size=n, max_size=n), min_size=1, max_size=14
        )
    ),
    chain=st.lists(rules, min_size=1, max_size=3),
    ids=st.booleans(),
)
def test_pruning_is_the_same_on_any_counts(tmp_path, small_blocks, counts, chain, ids):
    names = [str(m) for m in range(len(counts))] if ids else None
    corpus = aw.Corpus(counts, [f"w{i}" for i in range(len(counts[0]))], names)
    stored = saved(corpus, tmp_path / "c")
    same_pruning(stored, corpus, chain)
    assert "counts" not in vars(stored)


def test_what_pruning_keeps_can_be_saved(tmp_path, small_blocks):
    corpus = sampled_corpus(seed=2)
    pruned = saved(corpus, tmp_path / "c").prune(n_words=9, min_tokens=12)
    pruned.save(tmp_path / "less")
    assert "counts" not in vars(pruned)
    expected = corpus.prune(n_words=9, min_tokens=12)
    same_corpus(aw.open_corpus(tmp_path / "less"), expected)
    np.testing.assert_array_equal(aw.open_corpus(tmp_path / "less").term_frequencies, expected.term_frequencies)


# ---- Damage.


def crc(raw):
    return f"crc32:{zlib.crc32(raw):08x}"


def reseal(folder, manifest=None):
    """Make the checksums right: a hostile folder, not a damaged one. A manifest that is given is believed."""
    if manifest is None:
        manifest = json.loads((folder / "corpus.json").read_text())
        for name in manifest["checksums"]:
            manifest["checksums"][name] = crc((folder / f"{name}.bin").read_bytes())
        raw = {name: (folder / f"{name}.bin").read_bytes() for name in ("indptr", "indices", "counts")}
        size = np.dtype(manifest["count_type"]).itemsize
        doc = entry = 0
        for block in manifest["blocks"]:
            block[2] = crc(raw["indptr"][8 * doc : 8 * (doc + block[0] + 1)])
            block[3] = crc(raw["indices"][4 * entry : 4 * (entry + block[1])])
            block[4] = crc(raw["counts"][size * entry : size * (entry + block[1])])
            doc, entry = doc + block[0], entry + block[1]
    manifest.pop("checksum", None)
    manifest["checksum"] = _folders._text_checksum(manifest)
    (folder / "corpus.json").write_text(json.dumps(manifest))


def everything(folder):
    """Open, and ask for all there is."""
    corpus = aw.open_corpus(folder)
    list(corpus.blocks())
    return (
        corpus.n_tokens,
        corpus.vocabulary,
        corpus.doc_ids,
        corpus.document_frequencies,
        corpus.term_frequencies,
        corpus.counts,
        dict(corpus.documents),
    )


@pytest.fixture
def folder(tmp_path, small_blocks):
    # The first document is empty, and so is a block.
    corpus = sampled_corpus(20, 6)
    counts = np.vstack([np.zeros((5, 6)), corpus.counts.toarray()])
    table = {name: [*values] * 6 + [values[0]] for name, values in TABLE.items()}
    aw.Corpus(counts, corpus.vocabulary, [f"d{m}" for m in range(25)], documents=table).save(tmp_path / "c")
    everything(tmp_path / "c")
    return tmp_path / "c"


def refuses(folder, match="damaged"):
    with pytest.raises(CorpusFormatError, match=match) as caught:
        everything(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_cut_lengthened_or_gone_is_noticed(folder, name):
    raw = (folder / name).read_bytes()
    for other in (raw[:-1], raw[:-8], raw[1:], raw + b"\0", b""):
        (folder / name).write_bytes(other)
        refuses(folder)
    (folder / name).unlink()
    refuses(folder, "missing|cannot be read|not a corpus folder")


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_noticed_wherever_it_is(folder, name):
    raw = (folder / name).read_bytes()
    places = random.Random(0).sample(range(len(raw)), min(len(raw), 60))
    for place in {0, len(raw) - 1, *places}:
        changed = bytearray(raw)
        changed[place] ^= 1 << place % 8
        (folder / name).write_bytes(changed)
        refuses(folder, "damaged|does not describe|has corpus format")


def test_damage_in_one_block_leaves_the_others(folder):
    raw = bytearray((folder / "counts.bin").read_bytes())
    raw[-1] ^= 1
    (folder / "counts.bin").write_bytes(raw)
    blocks = list(aw.open_corpus(folder).lazy_blocks())
    for block in blocks[:-1]:
        block()
    with pytest.raises(CorpusFormatError, match=f"checksum of block {len(blocks) - 1} is wrong"):
        blocks[-1]()
    with pytest.raises(CorpusFormatError, match="checksum of block"):
        aw.open_corpus(folder).prune()
    with pytest.raises(CorpusFormatError, match="checksum of block"):
        aw.open_corpus(folder).save(folder.parent / "copy")
    assert os.listdir(folder.parent) == ["c"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"format": "other tool"}, "does not describe an anchorwords corpus"),
        ({"format": "anchorwords-model"}, "does not describe an anchorwords corpus"),
        ({"format_version": 99}, "has corpus format 99, but this version reads 2: upgrade anchorwords"),
        ({"format_version": None}, "has corpus format None"),
        ({"n_docs": -1}, "does not describe a corpus"),
        ({"n_docs": 24}, "do not add up"),
        ({"n_words": 7}, "bytes in place of"),
        ({"n_words": 10**30}, "bytes in place of"),
        ({"n_words": "many"}, "does not describe a corpus"),
        ({"n_entries": 10**12}, "do not add up"),
        ({"n_tokens": float("nan")}, "does not describe a corpus"),
        ({"n_tokens": -5}, "does not describe a corpus"),
        ({"count_type": "|O"}, "does not describe a corpus"),
        ({"count_type": "<f8"}, "bytes in place of"),
        ({"count_type": [["a", "<u1"]]}, "does not describe a corpus"),
        ({"blocks": [[25, 10**6, "", "", ""]]}, "do not add up"),
        ({"blocks": [[25]]}, "does not describe a corpus"),
        ({"blocks": 7}, "does not describe a corpus"),
        ({"checksums": {}}, "checksum of words.bin"),
        ({"checksums": []}, "does not describe a corpus"),
        ({"rule": 7}, "does not describe a corpus"),
    ],
    ids=str,
)
def test_descriptions_that_are_not_of_this_corpus_are_refused(folder, change, match):
    manifest = json.loads((folder / "corpus.json").read_text())
    reseal(folder, manifest | change)
    refuses(folder, match)


def test_a_description_without_a_line_is_refused(folder):
    manifest = json.loads((folder / "corpus.json").read_text())
    for key in manifest:
        if key != "written_by":
            reseal(folder, {name: value for name, value in manifest.items() if name != key})
            if key != "checksum":  # which is made anew
                refuses(folder, "does not describe|has corpus format None")


@pytest.mark.parametrize("text", ["{", "[]", "7", "null", '"x"', "[" * 100_000, "\xff", "{}"])
def test_descriptions_that_are_none_are_refused(folder, text):
    (folder / "corpus.json").write_bytes(text.encode("latin-1"))
    refuses(folder, "not JSON|does not describe")


def first_of_last_document(indptr):
    return int(indptr[np.flatnonzero(np.diff(indptr) > 1)[-1]])


def with_a_word_too_many(indptr, indices, counts):
    indices[-1] = 6


def with_a_negative_word(indptr, indices, counts):
    indices[first_of_last_document(indptr)] = -1


def with_words_out_of_order(indptr, indices, counts):
    at = first_of_last_document(indptr)
    indices[at], indices[at + 1] = indices[at + 1], indices[at]


def with_a_word_twice(indptr, indices, counts):
    at = first_of_last_document(indptr)
    indices[at + 1] = indices[at]


def with_a_count_of_zero(indptr, indices, counts):
    counts[3] = 0


def with_documents_that_go_back(indptr, indices, counts):
    indptr[-3], indptr[-2] = indptr[-2], indptr[-3] - 1


def with_documents_beyond_the_end(indptr, indices, counts):
    indptr[-2] = indptr[-1] + 1000


def with_documents_before_the_beginning(indptr, indices, counts):
    indptr[1] = -1


def with_a_late_beginning(indptr, indices, counts):
    indptr[0] = 1


def with_documents_once_around_the_numbers(indptr, indices, counts):
    # Differences of 64-bit numbers that overflow are all positive: only the numbers themselves tell.
    indptr[-4:-1] = [2**62, 2**63 - 1, -(2**62)]


@pytest.mark.parametrize(
    "change",
    [
        with_a_word_too_many, with_a_negative_word, with_words_out_of_order, with_a_word_twice, with_a_count_of_zero,
        with_documents_that_go_back, with_documents_beyond_the_end, with_documents_before_the_beginning,
        with_a_late_beginning, with_documents_once_around_the_numbers,
    ],
)  # fmt: skip
@pytest.mark.parametrize("one_block", [True, False], ids=["one block", "several"])
def test_hostile_entries_are_refused_whatever_their_checksums_say(folder, monkeypatch, change, one_block):
    if one_block:
        monkeypatch.setattr(corpus_writer, "BLOCK_ENTRIES", 1 << 20)
        monkeypatch.setattr(corpus_writer, "BLOCK_DOCS", 1 << 20)
        aw.read_corpus(folder).save(folder)
    parts = {"indptr": "<i8", "indices": "<i4", "counts": "|u1"}
    arrays = {name: np.fromfile(folder / f"{name}.bin", kind) for name, kind in parts.items()}
    change(**arrays)
    for name, array in arrays.items():
        array.tofile(folder / f"{name}.bin")
    reseal(folder)
    refuses(folder, r"block \d+ contradicts itself")
    with pytest.raises(CorpusFormatError, match="contradicts itself"):
        aw.open_corpus(folder).prune(min_tokens=0, min_types=0)


@pytest.mark.parametrize("value", [-1.0, 0.0, np.nan, np.inf, -np.inf])
def test_hostile_counts_are_refused(tmp_path, value):
    aw.Corpus([[0.5, 1], [1, 0]], ["a", "b"]).save(tmp_path / "c")
    np.array([0.5, value, 1.0]).tofile(tmp_path / "c" / "counts.bin")
    reseal(tmp_path / "c")
    refuses(tmp_path / "c", "block 0 contradicts itself")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("words.ends", lambda a: a[::-1]),
        ("words.ends", lambda a: a + 1),
        ("words.ends", lambda a: a - 3),
        ("words.ends", lambda a: np.array([2**62, 2**63 - 1, -(2**63), -1, 2, a[-1]])),
        ("ids.ends", lambda a: np.where(a == a.max(), a + 2**40, a)),
        ("words", lambda a: a | 0x80),
        ("ids", lambda a: a[:-1]),
        ("df", lambda a: a - 100),
        ("df", lambda a: a + 100),
        ("df", lambda a: a[::-1] + 1),
        ("tf", lambda a: a * np.nan),
        ("tf", lambda a: a + np.inf),
        ("tf", lambda a: -a),
        ("tf", lambda a: a + 1),
    ],
)
def test_hostile_names_and_frequencies_are_refused(folder, name, change):
    file = folder / f"{name}.bin"
    change(np.fromfile(file, store.TYPES[name])).astype(store.TYPES[name]).tofile(file)
    reseal(folder)
    refuses(folder)


def test_a_word_that_is_there_twice_is_refused(folder):
    (folder / "words.bin").write_bytes(b"w0" * 6)
    reseal(folder)
    with pytest.raises(InputError, match="'w0' occurs more than once"):
        everything(folder)


# ---- What else may stand in the place of a corpus.


def test_what_is_no_corpus_is_not_opened(tmp_path, sampled):
    aw.AnchorTopicModel(3).fit(sampled.corpus).save(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    for name in ("model", "empty", "file", "nothing"):
        with pytest.raises(CorpusFormatError, match="is not a corpus folder") as caught:
            aw.open_corpus(tmp_path / name)
        assert "\n" not in str(caught.value)
    shutil.copy(tmp_path / "model" / "model.json", tmp_path / "empty" / "corpus.json")
    with pytest.raises(CorpusFormatError, match="does not describe an anchorwords corpus"):
        aw.open_corpus(tmp_path / "empty")


def test_what_is_not_ours_is_left_alone(tmp_path, sampled):
    aw.AnchorTopicModel(3).fit(sampled.corpus).save(tmp_path / "model")
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter.txt").write_text("precious")
    more = tmp_path / "more"
    sampled_corpus().save(more)
    (more / "notes.txt").write_text("precious")
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "corpus.json").write_text('{"format": "other tool"}')
    (tmp_path / "file").write_text("precious")

    def contents():
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = contents()
    for name in ("model", "thesis", "more", "foreign", "file"):
        for write in (sampled_corpus().save, lambda target: aw.import_corpus(["one two"], target)):
            with pytest.raises(CorpusFormatError, match=r"not a corpus folder.*nothing was written") as caught:
                write(tmp_path / name)
            assert "\n" not in str(caught.value)
    assert contents() == before
    assert sorted(os.listdir(tmp_path)) == ["file", "foreign", "model", "more", "thesis"]


def test_nothing_and_an_empty_folder_and_a_corpus_make_room(tmp_path):
    (tmp_path / "empty").mkdir()
    for target in (tmp_path / "deep" / "new", tmp_path / "empty", tmp_path / "empty"):
        assert aw.import_corpus(["one two", "two"], target).n_tokens == 3
    assert sorted(os.listdir(tmp_path)) == ["deep", "empty"]


# ---- Failures on the way.


class Failing(BaseException):
    pass


def documents_that_fail(after, error):
    for number in range(after):
        yield f"word{number} again"
    raise error


@pytest.mark.parametrize("after", [0, 1, 2, 7, 40])
@pytest.mark.parametrize("error", [ValueError("no more"), KeyboardInterrupt(), MemoryError(), Failing()], ids=repr)
@pytest.mark.parametrize("old", [True, False], ids=["over a corpus", "over nothing"])
def test_a_failure_on_the_way_leaves_the_old_corpus_or_nothing(tmp_path, small_blocks, after, error, old):
    corpus = sampled_corpus()
    if old:
        corpus.save(tmp_path / "c")
    with pytest.raises(type(error)):
        aw.import_corpus(documents_that_fail(after, error), tmp_path / "c")
    assert os.listdir(tmp_path) == (["c"] if old else [])
    if old:
        same_corpus(aw.open_corpus(tmp_path / "c"), corpus)
    assert aw.import_corpus(["one two"], tmp_path / "c").n_docs == 1
    assert os.listdir(tmp_path) == ["c"]


@pytest.mark.parametrize("where", ["_Entries.add", "_Entries.close", "_Strings.close", "FORMAT"])
def test_a_failure_at_the_end_leaves_the_old_corpus(tmp_path, monkeypatch, where):
    corpus = sampled_corpus()
    corpus.save(tmp_path / "c")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    if where == "FORMAT":
        monkeypatch.setattr(_folders.FolderFormat, "write_manifest", fail)
    else:
        monkeypatch.setattr(f"anchorwords.storage.corpus_writer.{where}", fail)
    for write in (lambda: aw.import_corpus(["one two"], tmp_path / "c"), lambda: corpus.save(tmp_path / "c")):
        with pytest.raises(OSError, match="No space left"):
            write()
    assert os.listdir(tmp_path) == ["c"]
    same_corpus(aw.open_corpus(tmp_path / "c"), corpus)


def test_an_import_that_is_refused_leaves_the_old_corpus(tmp_path):
    corpus = sampled_corpus()
    corpus.save(tmp_path / "c")
    path = tmp_path / "d.jsonl"
    for lines in (
        ['{"id": 1, "text": "a b"}', '{"id": 1, "text": "c d"}'],  # an id twice
        ['{"id": 1, "text": "a b"}', '"c d"'],  # a document without an id
        ['{"id": 1, "text": "a b"}', "{"],
        ['{"id": 1, "text": "."}'],
    ):
        path.write_text("\n".join(lines))
        with pytest.raises(InputError):
            aw.import_corpus(path, tmp_path / "c", id_column="id")
        same_corpus(aw.open_corpus(tmp_path / "c"), corpus)
    assert sorted(os.listdir(tmp_path)) == ["c", "d.jsonl"]


# A process that imports in children of its own, which need no time to start: "now" and a number, then "ended".
IMPORTER = """
import os, sys
import anchorwords as aw
aw.import_corpus(["warm up"], sys.argv[3], n_jobs=1)
for _ in sys.stdin:
    child = os.fork()
    if child == 0:
        print("now", os.getpid(), flush=True)
        aw.import_corpus(sys.argv[1], sys.argv[2], n_jobs=1)
        os._exit(0)
    os.waitpid(child, 0)  # a process that nobody has waited for still counts as alive
    print("ended", flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_killed_import_leaves_the_old_or_the_new_corpus(tmp_path):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(20_000)])
    source, target = tmp_path / "docs.txt", tmp_path / "home" / "c"
    source.write_text("\n".join(" ".join(words[rng.zipf(1.3, 60) % words.size]) for _ in range(8_000)))
    old, new = sampled_corpus(), aw.read_corpus(source)
    chance = random.Random(1)
    command = [sys.executable, "-c", IMPORTER, str(source), str(target), str(tmp_path / "warm")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as importer:

        def import_and_kill_after(seconds):
            old.save(target)
            importer.stdin.write("go\n")
            importer.stdin.flush()
            child = int(importer.stdout.readline().removeprefix("now"))
            begun = time.perf_counter()
            if seconds is not None:
                time.sleep(seconds)
                with contextlib.suppress(ProcessLookupError):  # it was faster than usual
                    os.kill(child, signal.SIGKILL)
            assert importer.stdout.readline() == "ended\n"
            return time.perf_counter() - begun

        usual = import_and_kill_after(None)
        same_corpus(aw.open_corpus(target), new)
        seen = set()
        for attempt in range(12):
            import_and_kill_after(usual * (attempt + chance.random()) / 12)
            found = aw.open_corpus(target)
            same_corpus(found, old if found.n_docs == old.n_docs else new)
            seen.add(found.n_docs)
        assert old.n_docs in seen
        importer.stdin.close()
    same_corpus(aw.import_corpus(source, target), new)
    assert os.listdir(target.parent) == ["c"]


# The moments too short to meet by chance: children that end before the n-th step of putting a folder in its place.
STOPPER = """
import os, sys
from pathlib import Path
import anchorwords as aw
from anchorwords.storage import replacing, temporary

def stops_before(step):
    left = [step]
    def stopping(function):
        def stopped(*arguments, **options):
            if left[0] == 0:
                os._exit(9)
            left[0] -= 1
            return function(*arguments, **options)
        return stopped
    return stopping

aw.read_corpus(["warm up"], n_jobs=1)  # so that no child has to load the compiled code
for target in sys.argv[1:]:
    name, step = Path(target).parent.name.split("-")
    child = os.fork()
    if child == 0:
        stopping = stops_before(int(step))
        exchange = replacing.exchanged if name == "exchange" else lambda *_: False
        replacing.exchanged = stopping(exchange)
        os.rename = stopping(os.rename)
        remove = temporary.shutil.rmtree
        aw.storage.folders.require_place = lambda _: None  # which makes and removes a folder of its own
        temporary.shutil.rmtree = stopping(remove)
        aw.import_corpus(["one two", "two three"], target, n_jobs=1)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_process_that_ends_while_folders_change_places_loses_nothing(tmp_path):
    old, new = sampled_corpus(), aw.read_corpus(["one two", "two three"])
    targets = [tmp_path / f"{how}-{step}" / "c" for how in ("exchange", "moves") for step in range(5)]
    for target in targets:
        old.save(target)
    (
        tmp_path / "tmp"
    ).mkdir()  # in the system's own, others may have left what would be cleared away, which counts as steps
    environment = {**os.environ, "TMPDIR": str(tmp_path / "tmp")}
    subprocess.run([sys.executable, "-c", STOPPER, *map(str, targets)], check=True, env=environment)
    outcomes = []
    for target in targets:
        missing = not target.exists()
        if missing:  # ended between the two moves: the next that writes there puts the old one back first
            with pytest.raises(CorpusFormatError, match="no documents"):
                aw.import_corpus([], target)
        found = aw.open_corpus(target)
        same_corpus(found, old if found.n_docs == old.n_docs else new)
        outcomes.append("missing" if missing else "old" if found.n_docs == old.n_docs else "new")
        assert aw.import_corpus(["last"], target).n_docs == 1
        assert os.listdir(target.parent) == ["c"]
    assert outcomes[0] == outcomes[5] == "old"
    assert outcomes[4] == outcomes[9] == "new"
    assert "missing" in outcomes[5:]
