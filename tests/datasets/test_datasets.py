from __future__ import annotations

import json

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts, docstrings, load_docstrings, make_topics
from anchorwords.exceptions import InputError


@pytest.fixture(scope="module")
def docs(tmp_path_factory):
    # One package keeps it quick; the demo test loads the rest.
    return load_docstrings(("sklearn",), cache=False)


def test_docstrings_are_a_real_corpus(docs):
    assert docs.n_docs > 500
    assert docs.n_words > 500
    assert docs.counts.sum(axis=1).min() >= 20
    assert docs.document_frequencies.min() >= 1
    assert all(name.startswith("sklearn") for name in docs.doc_ids)
    row = docs.doc_ids.index("sklearn.cluster._kmeans.KMeans")
    words = {docs.vocabulary[i] for i in docs.counts[[row]].indices}
    assert {"centroids", "cluster"} <= words
    assert not {"the", "parameters", "ndarray"} & set(docs.vocabulary)


def test_topics_of_docstrings_are_recognisable(docs):
    table = aw.topic_table(aw.AnchorTopicModel(12).fit(docs.prune(min_df=10)), 15)
    tops = [set(row["prominent"]) | set(row["characteristic"]) for row in table]
    for pair in ({"kernel", "rbf"}, {"distance", "metric"}, {"train", "test"}):
        assert any(pair & top for top in tops), pair


@pytest.mark.parametrize("packages", [["no.such.package"], [], "numpy", ["threadpoolctl"], ["sys"]])
def test_packages_without_docstrings(packages):
    with pytest.raises(InputError, match="packages"):
        load_docstrings(packages)


def test_texts_are_prose():
    text = "Fit the Kernel.\n\n>>> import kernel\n    ... more\nSee :class:`Ridge`, ``alpha``, n_jobs, https://a.b/c spectra"
    assert docstrings.prose(text) == "Fit the Kernel. See , , , spectra"
    sections = "Kernel.\n\nReferences\n----------\n.. [1] Author\n\nNotes\n-----\nspectral\n\nSee Also\n--------\nridge"
    assert docstrings.prose(sections) == "Kernel. Notes spectral"


def test_cache_is_used_rebuilt_and_optional(tmp_path, monkeypatch):
    monkeypatch.setenv("ANCHORWORDS_CACHE", str(tmp_path))
    built = []
    original = docstrings._build
    monkeypatch.setattr(docstrings, "_build", lambda roots: built.append(1) or original(roots))
    monkeypatch.setattr(docstrings, "_MIN_DF", 2)
    package = tmp_path / "toypackage"
    package.mkdir()
    words = " ".join(f"topic{'abcdefgh'[i % 8]}" for i in range(40))
    (package / "__init__.py").write_text(f'"""{words} first."""\n')
    (package / "more.py").write_text(
        f'class Thing:\n    """{words} second"""\n    def act(self):\n        """{words} third"""\n'
    )
    (package / "broken.py").write_text("def (")
    monkeypatch.syspath_prepend(str(tmp_path))
    first = load_docstrings(("toypackage", "no.such.package"))
    again = load_docstrings(("toypackage", "no.such.package"))
    assert len(built) == 1
    assert first.doc_ids == again.doc_ids == ("toypackage", "toypackage.more.Thing", "toypackage.more.Thing.act")
    assert first.vocabulary == again.vocabulary
    np.testing.assert_array_equal(first.counts.toarray(), again.counts.toarray())
    file = next((tmp_path / "anchorwords").glob("*.npz"))
    file.write_bytes(b"damaged")
    load_docstrings(("toypackage",))
    load_docstrings(("toypackage",))
    assert len(built) == 2
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("ANCHORWORDS_CACHE", str(tmp_path / "file"))
    load_docstrings(("toypackage",))
    assert len(built) == 3


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    """As in a container that runs under a number that no user has."""

    def home():
        raise RuntimeError("Could not determine home directory.")

    for name in ("ANCHORWORDS_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(docstrings.Path, "home", home)
    assert load_docstrings(("threadpoolctl", "joblib")).n_docs > 0


@pytest.mark.parametrize("separable", [True, False])
def test_synthetic_truth_is_consistent(separable):
    data = make_topics(50, 200, 8, separable=separable, n_anchors=2, doc_length=30, random_state=0)
    np.testing.assert_allclose(data.B.sum(axis=0), 1.0)
    assert data.A.sum() == pytest.approx(1.0)
    np.testing.assert_array_equal(data.A, data.A.T)
    assert np.linalg.eigvalsh(data.A).min() > 0
    assert data.C.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(data.compositions.sum(axis=1), 1.0)
    assert (data.corpus.counts.sum(axis=1) == 30).all()
    topics_of_word = (data.B > 0).sum(axis=1)
    if separable:
        assert data.anchors.shape == (8, 2)
        for k in range(8):
            assert (topics_of_word[data.anchors[k]] == 1).all()
            assert (data.B[data.anchors[k], k] > 0).all()
        assert (topics_of_word == 1).sum() == 16
    else:
        assert data.anchors is None
        assert topics_of_word.min() == 8


def test_synthetic_moments_approach_the_closed_form():
    data = make_topics(60_000, 30, 4, doc_length=1, concentration=0.5, correlation=0.4, random_state=1)
    W = data.compositions
    # Entries lie in [0, 1]: the standard error of a mean over 60,000 is below 0.002.
    np.testing.assert_allclose(W.T @ W / len(W), data.A, atol=0.008)
    neighbours, strangers = data.A[0, 1], data.A[0, 2]
    p = data.A.sum(axis=1)
    assert neighbours / (p[0] * p[1]) > strangers / (p[0] * p[2])


def test_synthetic_corpora_repeat_with_the_seed_and_take_lengths():
    lengths = np.arange(1, 41)
    a, b = (make_topics(40, 50, 3, doc_length=lengths, random_state=5) for _ in range(2))
    np.testing.assert_array_equal(a.corpus.counts.toarray(), b.corpus.counts.toarray())
    np.testing.assert_array_equal(a.corpus.counts.sum(axis=1), lengths)
    assert a.corpus.vocabulary[7] == "w07"
    frequencies = np.sort(make_topics(10, 1000, 5, zipf=1.2, random_state=0).B.mean(axis=1))[::-1]
    assert frequencies[:10].sum() > 0.3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_topics": 0}, "n_components"),
        ({"n_words": 5, "n_topics": 5}, "need more than 5 words"),
        ({"correlation": 0.7}, "correlation"),
        ({"n_docs": 0}, "n_docs"),
        ({"doc_length": [1, 2]}, "doc_length"),
        ({"doc_length": -1}, "doc_length"),
        ({"concentration": 0}, "concentration"),
    ],
)
def test_bad_synthetic_options(options, message):
    with pytest.raises(InputError, match=message):
        make_topics(**{"n_docs": 10} | options)


def test_the_word_list_adds_to_english():
    language, *words = DOCSTRING_STOP_WORDS
    assert language == "english"
    assert not set(words) & aw.corpus.stopwords.stop_words("english")
    assert json.dumps(words).isascii()


def test_the_corpus_is_made_of_the_texts(docs):
    texts = docstring_texts(("sklearn",), cache=False)
    assert set(docs.doc_ids) <= set(texts)
    for row in range(0, docs.n_docs, 97):
        counts = aw.read_corpus([texts[docs.doc_ids[row]]], vocabulary=docs.vocabulary).counts
        np.testing.assert_array_equal(counts.toarray(), docs.counts[[row]].toarray())
