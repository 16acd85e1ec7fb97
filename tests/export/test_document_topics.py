"""Files of compositions: what ``transform`` gives, from any kind of documents, whole or not there."""

from __future__ import annotations

import csv
import json
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.export import write_compositions
from anchorwords.export.weights import SUFFIXES
from anchorwords.infer import compose

NAMES = ["plain", "with, comma", 'with "quotes"', "café", "line\nend", ""]


@pytest.fixture(scope="module")
def corpus(sampled):
    """Documents with strange names, a word the model does not know, and two documents without any that it does."""
    counts = sampled.corpus.counts[:300].toarray()
    counts[7] = counts[8] = 0
    strange = np.zeros((300, 1))
    strange[:100] = 2
    strange[8] = 0
    names = [*NAMES, *(f"d{m}" for m in range(len(NAMES), 300))]
    return aw.Corpus(np.hstack([strange, counts]), ["strange", *sampled.corpus.vocabulary], names)


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(4, composition="prior-aware").fit(sampled.corpus)


@pytest.fixture(params=["one block", "many blocks"])
def blocks(request, monkeypatch):
    """Documents in one block, or fifty at a time."""
    if request.param == "many blocks":
        monkeypatch.setattr(compose, "_SHARES", 4 * 50)
    return request.param


def read(path):
    """Weights and names of a file, by readers that are not ours."""
    suffix = path.suffix
    if suffix == ".npy":
        return np.load(path, allow_pickle=False), None
    if suffix == ".npz":
        with np.load(path, allow_pickle=False) as archive:
            assert set(archive) == {"weights", "ids", "topics"}
            return archive["weights"], archive["ids"].tolist()
    if suffix == ".parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(path)
        names, *topics = table.column_names
        assert (names, topics) == ("document", [f"topic_{k}" for k in range(len(topics))])
        return np.column_stack([table[name].to_numpy() for name in topics]), table[names].to_pylist()
    if suffix == ".jsonl":
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
        return np.array([record["topics"] for record in records]), [record["document"] for record in records]
    with path.open(newline="", encoding="utf-8") as stream:
        head, *rows = csv.reader(stream, delimiter="," if suffix == ".csv" else "\t")
    assert head == ["document", *(f"topic_{k}" for k in range(len(head) - 1))]
    return np.array([row[1:] for row in rows], dtype=float), [row[0] for row in rows]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("method", [None, "posterior-mean"])
def test_what_is_read_back_is_what_transform_gives(model, corpus, tmp_path, blocks, suffix, method):
    path = tmp_path / f"w{suffix}"
    write_compositions(model, corpus, path, method=method)
    weights, names = read(path)
    expected = model.transform(corpus, method=method)
    if suffix in (".csv", ".tsv", ".jsonl"):  # six digits
        np.testing.assert_allclose(weights, expected, rtol=0, atol=5.1e-7)
    else:
        np.testing.assert_array_equal(weights, expected)
    assert names == (None if suffix == ".npy" else list(corpus.doc_ids))
    assert os.listdir(tmp_path) == [path.name]


def test_what_was_not_known_is_told(model, corpus, tmp_path):
    told = write_compositions(model, corpus, tmp_path / "w.npy")
    strange = int(corpus.counts[:, [0]].sum())
    assert (told.method, told.n_docs, told.n_tokens) == ("prior-aware", 300, corpus.n_tokens)
    assert (told.n_unknown_tokens, told.n_without_words) == (strange, 2)
    assert {type(told.n_tokens), type(told.n_unknown_tokens)} == {int}
    # Counts over the columns of the model hold only words it has a column for, and half a token where they do.
    counts = corpus.counts.toarray()[:, 1:]
    told = write_compositions(model.model_, counts / 2, tmp_path / "w.npy")
    assert (told.method, told.n_tokens) == ("prior-aware", counts.sum() / 2)  # the record knows how it was fitted
    assert (told.n_unknown_tokens, told.n_without_words) == (0, 2)
    # A word that no topic has is unknown too.
    record = model.model_
    B = np.vstack([record.B, np.zeros((1, 4))])
    wider = aw.TopicModel(
        B, record.A, 1.0, record.anchors, np.vstack([record.word_topics, record.prevalence]),
        np.append(record.word_probs, 0.0),
    )  # fmt: skip
    told = write_compositions(wider, np.hstack([counts, np.full((300, 1), 3)]), tmp_path / "w.npy")
    assert (told.n_unknown_tokens, told.n_tokens) == (900, counts.sum() + 900)


def test_any_way_to_give_the_documents_is_the_same(model, corpus, tmp_path, monkeypatch):
    counts = sp.csr_array(corpus.counts.toarray()[:, 1:])
    expected = model.transform(counts)
    corpus.save(tmp_path / "corpus")
    pieces = [counts[:100], counts[100:250], counts[250:]]
    for number, X in enumerate(
        (corpus, aw.open_corpus(tmp_path / "corpus"), counts, counts.toarray(), counts.toarray().tolist(), pieces,
         lambda: iter(pieces))
    ):  # fmt: skip
        path = tmp_path / f"{number}.npz"
        told = write_compositions(model, X, str(path), n_jobs=1 + number % 2)
        weights, names = read(path)
        np.testing.assert_array_equal(weights, expected)
        named = number < 2
        assert names == (list(corpus.doc_ids) if named else [str(m) for m in range(1, 301)])
        assert (told.n_docs, told.n_without_words) == (300, 2)


def test_names_of_ones_own(model, corpus, tmp_path):
    for doc_ids in (range(300), np.arange(300), (m for m in range(300)), [str(m) for m in range(300)]):
        write_compositions(model, corpus, tmp_path / "w.npz", doc_ids=doc_ids)
        assert read(tmp_path / "w.npz")[1] == [str(m) for m in range(300)]


def test_progress_is_told(model, corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(compose, "_SHARES", 4 * 100)
    told = []
    write_compositions(model, corpus, tmp_path / "w.csv", progress=lambda *now: told.append(now))
    assert told == [(100, 1 / 3), (200, 2 / 3), (300, 1.0)]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("error", [OSError("the disk is gone"), KeyboardInterrupt()])
def test_a_file_is_whole_or_not_there(model, corpus, tmp_path, monkeypatch, failing_compositions, suffix, error):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    failing_compositions(error)
    path = tmp_path / f"w{suffix}"
    for before in (None, b"precious"):
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(type(error)):
            write_compositions(model, corpus, path)
        assert os.listdir(tmp_path) == ([] if before is None else [path.name])
    assert path.read_bytes() == b"precious"
    monkeypatch.undo()
    write_compositions(model, corpus, path)
    assert len(read(path)[0]) == 300


def test_what_does_not_go_is_said_before_anything_is_written(model, corpus, sampled, tmp_path, monkeypatch):
    plain = aw.AnchorTopicModel(4).fit(sampled.corpus)
    counts = corpus.counts.toarray()[:, 1:]
    for arguments, options, sentence in (
        ((model, corpus, "w.pdf"), {}, r"path must end in \.csv, .* or \.parquet, but is"),
        ((model, corpus, "w"), {}, "path must end in"),
        ((plain, corpus, "w.csv"), {"method": "prior-aware"}, "need a dual matrix"),
        ((plain, corpus, "w.csv"), {"method": "guess"}, "method must be one of"),
        ((plain, corpus, "w.csv"), {"doc_ids": ["a", "b"]}, "each of the 300 documents once, but has 2 names"),
        ((plain, corpus, "w.csv"), {"doc_ids": "abc"}, "doc_ids must be a sequence of one name a document, but is str"),
        ((plain, corpus, "w.csv"), {"doc_ids": 3}, "doc_ids must be a sequence"),
        ((plain, corpus, "w.csv"), {"n_jobs": 0}, "n_jobs must be"),
        ((plain, counts[:, :7], "w.csv"), {}, "knows 120 words, but X has 7 columns"),
        ((plain, iter([counts]), "w.csv"), {}, "can be read only once"),
        ((aw.AnchorTopicModel(4), corpus, "w.csv"), {}, "call fit first"),
    ):
        with pytest.raises(InputError, match=sentence):
            write_compositions(arguments[0], arguments[1], tmp_path / arguments[2], **options)
    with pytest.raises(OSError, match="nowhere"):
        write_compositions(model, corpus, tmp_path / "nowhere" / "w.csv")
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"pip install 'anchorwords\[io\]'"):
        write_compositions(model, corpus, tmp_path / "w.parquet")
    assert os.listdir(tmp_path) == []
