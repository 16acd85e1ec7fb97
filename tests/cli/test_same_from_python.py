"""The command line is a shell: the same source gives the same topics, bit for bit, as three lines of Python."""

from __future__ import annotations

import gzip
import json
from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus.like import kept_as_for_fit
from anchorwords.corpus.vocabulary_rule import VocabularyRule
from anchorwords.datasets import make_topics
from anchorwords.presets import READERS
from anchorwords.scanning.scan import scan as compare

from .test_text import run

FUNCTION_WORDS = ["the", "and", "of", "because", "It"]


def as_text(corpus, seed):
    """Documents as text: words in any order, with function words, digits and punctuation between them."""
    rng = np.random.default_rng(seed)
    lines = []
    for row in range(corpus.n_docs):
        counts = corpus.counts[[row]].tocoo()
        words = [corpus.vocabulary[j] for j, n in zip(counts.col, counts.data, strict=True) for _ in range(int(n))]
        words += [*rng.choice(FUNCTION_WORDS, size=len(words) // 2).tolist(), "42"]
        rng.shuffle(words)
        lines.append(", ".join(words).capitalize() + ".")
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Text and a matrix to learn from, and new text with words that are not in the first."""
    folder = tmp_path_factory.mktemp("same")
    corpus = make_topics(n_docs=500, n_words=150, n_topics=5, doc_length=40, random_state=1).corpus
    (folder / "docs.txt").write_text("\n".join(as_text(corpus, 0)))
    new = make_topics(n_docs=60, n_words=180, n_topics=5, doc_length=30, random_state=2).corpus
    (folder / "new.txt").write_text("\n".join([*as_text(new, 3), "", "nothing known"]))
    sp.save_npz(folder / "counts.npz", sp.csr_array(corpus.counts))
    sp.save_npz(folder / "new.npz", sp.csr_array(new.counts[:, :150]))
    return folder


def same_topics(found, expected):
    for name in ("B", "A", "anchors"):
        np.testing.assert_array_equal(getattr(found.model_, name), getattr(expected.model_, name))
    assert found.model_.vocabulary == expected.model_.vocabulary


def from_shell(source, model, *options, n_topics=5):
    done = run("fit", source, "-k", n_topics, "-o", model, "-q", "--json", *options)
    assert done.returncode == 0, done.stderr
    return aw.load_model(model), json.loads(done.stdout)


def from_python(source, n_topics=5, **reading):
    corpus = aw.read_corpus(source, **reading)
    corpus = corpus.prune(rule=VocabularyRule.for_corpus(corpus))
    return aw.AnchorTopicModel.from_preset("readers", n_topics).fit(corpus)


def transformed(model, source, folder, *options):
    done = run("transform", model, source, "-o", folder / "weights.npy", "-q", *options)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "weights.npy")


@pytest.mark.parametrize(
    ("name", "new", "options", "reading"),
    [
        ("docs.txt", "new.txt", [], {}),
        ("counts.npz", "new.npz", [], {}),
        ("docs.txt", "new.txt", ["--ngrams", 2], {"ngrams": (1, 2), "stop_words": "english"}),
        ("docs.txt", "new.txt", ["--numbers", "--keep-case"], {"numbers": True, "lowercase": False}),
    ],
    ids=["text", "matrix", "n-grams", "other words"],
)
def test_topics_and_proportions(folder, tmp_path, name, new, options, reading):
    found, _ = from_shell(folder / name, tmp_path / "model", *options)
    expected = from_python(folder / name, **reading)
    same_topics(found, expected)
    # Also new documents, whether the model comes from the shell or from memory.
    weights = transformed(tmp_path / "model", folder / new, tmp_path)
    for model in (found, expected):
        documents = aw.read_corpus(folder / new, like=model)
        np.testing.assert_array_equal(weights, model.transform(documents))
    assert len(weights) == documents.n_docs
    if name == "docs.txt":
        assert documents.vocabulary == found.model_.vocabulary


def test_threads_and_the_disk_change_nothing(folder, tmp_path):
    found, _ = from_shell(folder / "docs.txt", tmp_path / "model", "--jobs", 2)
    same_topics(found, from_python(folder / "docs.txt"))
    run("import", folder / "docs.txt", "-o", tmp_path / "corpus")
    from_disk, _ = from_shell(tmp_path / "corpus", tmp_path / "model")
    same_topics(from_disk, found)


def test_a_threshold_that_leaves_too_few_candidates_is_dropped_in_both(tmp_path):
    rng = np.random.default_rng(0)
    things = 200 * rng.integers(0, 4, size=1500)[:, None] + rng.integers(0, 200, size=(1500, 5))
    counts = sp.csr_array((np.ones(things.size), (np.repeat(np.arange(1500), 5), things.ravel())), shape=(1500, 800))
    sp.save_npz(tmp_path / "rare.npz", counts)
    found, summary = from_shell(tmp_path / "rare.npz", tmp_path / "model", n_topics=20)
    expected = from_python(tmp_path / "rare.npz", n_topics=20)
    assert expected.model_.provenance.anchor_threshold.relaxed
    assert summary["min_anchor_docs"] == expected.model_.provenance.anchor_threshold.min_docs == 1
    same_topics(found, expected)


def test_the_words_of_the_summary_are_those_of_the_library(folder):
    corpus = aw.read_corpus(folder / "docs.txt")
    rule = VocabularyRule.for_corpus(corpus, min_df=20)
    pruned = corpus.prune(rule=rule)
    told = run("fit", folder / "docs.txt", "-k", 5, "--min-df", 20).stderr
    assert f"vocabulary: {rule.sentence(corpus.n_docs)}" in told
    assert pruned.dropped.sentence(pruned.n_docs, pruned.n_words, rule) in told


def test_scan_and_evaluate(folder, tmp_path):
    corpus = aw.read_corpus(folder / "docs.txt")
    pruned = corpus.prune(rule=VocabularyRule.for_corpus(corpus))
    done = run("scan", folder / "docs.txt", "-k", "3,5", "--json", "-q")
    expected = compare(pruned, (3, 5), min_anchor_docs=READERS.min_anchor_docs)
    scanned = json.loads(done.stdout)
    assert scanned["recommended"] == expected.recommended
    assert [row["npmi_coherence"] for row in scanned["rows"]] == [row["npmi_coherence"] for row in expected.rows()]
    model, _ = from_shell(folder / "docs.txt", tmp_path / "model")
    measured = json.loads(
        run("evaluate", tmp_path / "model", folder / "new.txt", "-m", "npmi_coherence", "--json").stdout
    )
    kept = kept_as_for_fit(model, aw.read_corpus(folder / "new.txt", like=model))
    assert measured["npmi_coherence"] == aw.evaluate(model, kept, metrics=["npmi_coherence"])["npmi_coherence"]


@pytest.mark.data
def test_kos(data_folder, tmp_path):
    source = data_folder / "kos"
    if not source.is_dir():
        pytest.skip("kos is not there")
    found, _ = from_shell(source, tmp_path / "model")
    same_topics(found, from_python(source))


@pytest.mark.data
@pytest.mark.parametrize("ngrams", [1, 2])
def test_cve(data_folder, tmp_path, ngrams):
    if not (data_folder / "cve").is_dir():
        pytest.skip("cve is not there")
    with gzip.open(data_folder / "cve" / "cve.tsv.gz", "rt", encoding="utf-8") as lines:
        (tmp_path / "cve.tsv").write_text("".join(islice(lines, 3000)), encoding="utf-8")
    reading = {"ngrams": (1, 2), "stop_words": "english"} if ngrams == 2 else {}
    options = ["--text-column", 2]
    found, _ = from_shell(tmp_path / "cve.tsv", tmp_path / "model", *options, "--ngrams", ngrams)
    same_topics(found, from_python(tmp_path / "cve.tsv", text_column=2, **reading))
    weights = transformed(tmp_path / "model", tmp_path / "cve.tsv", tmp_path, *options)
    documents = aw.read_corpus(tmp_path / "cve.tsv", text_column=2, like=found)
    np.testing.assert_array_equal(weights, found.transform(documents))
