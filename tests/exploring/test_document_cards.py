from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.exploring.document_cards import check_texts, topic_documents
from anchorwords.exploring.plain import LONGEST_NAME, LONGEST_TEXT, number
from anchorwords.sources.convert import as_source, in_columns

from .made import bare, fitted, sampled

WORDS = [f"w{i}" for i in range(90)]


def documents(X=None):
    """Documents in the columns of the fitted models, by default the sampled ones."""
    return in_columns(sampled() if X is None else X, sampled().vocabulary, 90)


def test_they_are_the_top_documents():
    model, corpus = fitted(), sampled()
    found = topic_documents(model, documents(), WORDS)
    expected = aw.top_documents(model, corpus, 8, min_tokens=20)
    assert len(found) == 5
    for listed, top in zip(found, expected, strict=True):
        assert [(entry["name"], entry["share"], entry["tokens"]) for entry in listed] == [
            (entry["document"], number(entry["share"], 4), entry["tokens"]) for entry in top
        ]
        assert all("text" not in entry for entry in listed)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_words_that_say_so(n_jobs):
    model, corpus = fitted().model_, sampled()
    rows = {name: row for row, name in enumerate(corpus.doc_ids)}
    for k, listed in enumerate(topic_documents(model, documents(), WORDS, n_jobs=n_jobs)):
        for entry in listed:
            counts = corpus.counts[[rows[entry["name"]]]].toarray()[0]
            score = counts * model.word_topics[:, k]
            order = np.argsort(-score, kind="stable")[:8]
            assert entry["words"] == [WORDS[i] for i in order if score[i] > 0.0]


def test_words_of_other_topics_say_nothing():
    # Two topics of two words each: a document that is mostly one topic lists no word of the other.
    B = np.kron(np.eye(2), np.full((2, 1), 0.5))
    p = np.full(4, 0.25)
    model = aw.TopicModel(B, np.array([[0.4, 0.1], [0.1, 0.4]]), 1.0, np.array([0, 2]), 2 * B, p)
    X = np.array([[20, 10, 9, 0], [0, 8, 30, 20]])
    found = topic_documents(model, as_source(X), ["a", "b", "c", "d"])
    assert [entry["words"] for entry in found[0]] == [["a", "b"], ["b"]]
    assert [entry["words"] for entry in found[1]] == [["c", "d"], ["c"]]
    assert [entry["name"] for entry in found[1]] == ["document 2", "document 1"]


@pytest.mark.parametrize("form", ["counts", "dense", "csc", "blocks", "function", "stored"])
def test_documents_in_any_form(form, tmp_path):
    model, corpus = fitted(), sampled()
    X = {
        "counts": lambda: corpus.counts,
        "dense": lambda: corpus.counts.toarray(),
        "csc": lambda: sp.csc_array(corpus.counts),
        "blocks": lambda: [corpus.counts[:70], corpus.counts[70:]],
        "function": lambda: lambda: [corpus.counts[:70], corpus.counts[70:]],
        "stored": lambda: corpus.save(tmp_path / "corpus") or aw.open_corpus(tmp_path / "corpus"),
    }[form]()
    found, expected = topic_documents(model, documents(X), WORDS), topic_documents(model, documents(), WORDS)
    for listed, others in zip(found, expected, strict=True):
        for entry, other in zip(listed, others, strict=True):
            name = other["name"] if form == "stored" else f"document {int(other['name'].split()[1]) + 1}"
            assert entry == other | {"name": name}


def test_a_corpus_of_other_words_in_another_order():
    model, corpus = fitted(), sampled()
    order = np.random.default_rng(0).permutation(90)
    counts = sp.csr_array(sp.hstack([sp.csr_array(corpus.counts)[:, order], sp.csr_array(np.full((301, 2), 3))]))
    words = [corpus.vocabulary[i] for i in order] + ["new", "newer"]
    other = aw.Corpus(counts, words, corpus.doc_ids)
    assert topic_documents(model, documents(other), WORDS) == topic_documents(model, documents(), WORDS)


def test_short_documents_where_there_are_no_others():
    model, corpus = fitted(), sampled()
    short = aw.Corpus(corpus.counts[:5], corpus.vocabulary, corpus.doc_ids[:5])
    heard = []
    found = topic_documents(model, documents(short), WORDS, progress=lambda *done: heard.append(done))
    assert any(found)
    assert all(entry["tokens"] == 2 for listed in found for entry in listed)
    assert heard[-1] == (5, 1.0)
    # Where there are others they are left out, though a document of two words is all of one topic.
    assert all(entry["tokens"] == 60 for listed in topic_documents(model, documents(), WORDS) for entry in listed)


def test_the_provenance_says_how_topic_proportions_are_inferred():
    model = aw.AnchorTopicModel(5, composition="prior-aware").fit(sampled().counts)
    shares = {}
    for method in ("prior-aware", "posterior-mean"):
        top = aw.top_documents(model, sampled(), 8, min_tokens=20, method=method)
        shares[method] = [[number(entry["share"], 4) for entry in listed] for listed in top]
    assert shares["prior-aware"] != shares["posterior-mean"]
    models = (model, "prior-aware"), (model.model_, "prior-aware"), (bare(model.model_), "posterior-mean")
    for made, method in models:
        found = topic_documents(made, documents(), WORDS)
        assert [[entry["share"] for entry in listed] for listed in found] == shares[method]


def test_hostile_names_and_words_are_bounded():
    corpus = sampled()
    hostile = aw.Corpus(corpus.counts, corpus.vocabulary, [f"</script>{m}\u202e\x00" + "x" * 9999 for m in range(301)])
    for listed in topic_documents(fitted(), documents(hostile), ["\ud800" + "y" * 500] * 90):
        for entry in listed:
            for text in (entry["name"], *entry["words"]):
                assert len(text) <= LONGEST_NAME
                assert text.isprintable()


# ---- Texts


def test_texts_are_those_of_the_documents():
    model, corpus = fitted(), sampled()
    texts = [f"Text of\n\n{name}, " + "and so on " * 100 for name in corpus.doc_ids]
    for listed in topic_documents(model, documents(), WORDS, texts):
        for entry in listed:
            assert entry["text"].startswith(f"Text of {entry['name']}, and so on")
            assert len(entry["text"]) <= LONGEST_TEXT


@pytest.mark.parametrize("kind", ["array", "column", "tuple"])
def test_texts_of_any_sequence(kind):
    pandas = pytest.importorskip("pandas")
    texts = [f"text {m}" for m in range(301)]
    given = {
        "array": np.array(texts, dtype=object),
        "column": pandas.Series(texts, index=np.arange(301)[::-1]),  # by place, not by label
        "tuple": tuple(texts),
    }[kind]
    check_texts(given, documents())
    for listed in topic_documents(fitted(), documents(), WORDS, given):
        assert [entry["text"] for entry in listed] == [entry["name"].replace("report", "text") for entry in listed]


def test_texts_by_a_function_are_asked_for_once():
    asked = []

    def texts(rows):
        asked.append(rows)
        return {row: f"text {row}" for row in rows if row % 2}

    found = topic_documents(fitted(), documents(), WORDS, texts)
    (rows,) = asked
    assert rows == sorted(set(rows))
    assert all(type(row) is int for row in rows)
    entries = [entry for listed in found for entry in listed]
    assert {int(entry["name"].split()[1]) for entry in entries} == set(rows)
    for entry in entries:
        row = int(entry["name"].split()[1])
        assert entry.get("text") == (f"text {row}" if row % 2 else None)


def test_documents_without_a_text():
    texts = [None if m % 2 else f"text {m}" for m in range(301)]
    for listed in topic_documents(fitted(), documents(), WORDS, texts):
        assert all(("text" in entry) == (int(entry["name"].split()[1]) % 2 == 0) for entry in listed)


@pytest.mark.parametrize(
    ("texts", "what"),
    [
        ("one long text", "str"),
        (b"bytes", "bytes"),
        ({0: "a"}, "dict"),
        ((text for text in ["a"]), "generator"),
        (3, "int"),
        (["a"] * 300, "holds 300, and there are 301 documents"),
        (["a"] * 302, "holds 302, and there are 301 documents"),
        ([], "holds 0"),
    ],
)
def test_what_cannot_be_their_texts(texts, what):
    with pytest.raises(InputError, match=what) as caught:
        check_texts(texts, documents())
    assert str(caught.value).startswith("texts must be a list")
    assert str(caught.value).count(". ") == 0


def test_texts_belong_to_documents():
    for texts in (["a"], lambda rows: {}):  # noqa: ARG005
        with pytest.raises(InputError, match="give the corpus too"):
            check_texts(texts, None)
    check_texts(None, None)
    check_texts(lambda rows: {}, documents())  # noqa: ARG005


def test_too_few_texts_for_blocks_that_no_one_counted():
    blocks = [sampled().counts[:200], sampled().counts[200:]]
    uncounted = documents(lambda: blocks)
    check_texts(["a"], uncounted)
    with pytest.raises(InputError, match="holds 1, and there are more"):
        topic_documents(fitted(), uncounted, WORDS, ["a"])
    # Those of a list are counted.
    with pytest.raises(InputError, match="holds 1, and there are 301 documents"):
        check_texts(["a"], documents(blocks))


def test_a_topic_that_no_document_holds():
    model = fitted().model_
    B, A = np.array(model.B), np.array(model.A)
    B[:, 4] = 0.0
    B[89] = [0.0, 0.0, 0.0, 0.0, 1.0]
    B[:, :4] /= B[:, :4].sum(axis=0)
    shares = np.array(model.word_topics)
    shares[89] = [0.0, 0.0, 0.0, 0.0, 1.0]
    lonely = dataclasses.replace(model, B=B, A=A, word_topics=shares)
    counts = sampled().counts.toarray()
    counts[:, 89] = 0
    found = topic_documents(lonely, documents(counts), WORDS)
    assert found[4] == []
    assert all(found[:4])


@pytest.mark.parametrize(("column", "declared"), [("title", "title"), ("title", None), (" Title", None)])
def test_documents_are_called_by_a_column_of_titles(column, declared):
    corpus = sampled()
    titles = [None if row == 7 else f"On report {row}" for row in range(corpus.n_docs)]
    table = {column: titles, "year": [2000 + row % 9 for row in range(corpus.n_docs)]}
    named = aw.Corpus(corpus.counts, corpus.vocabulary, corpus.doc_ids, documents=table, title=declared)
    by_id = topic_documents(fitted(), as_source(corpus), corpus.vocabulary)
    by_title = topic_documents(fitted(), as_source(named), corpus.vocabulary)
    for plain, titled in zip(by_id, by_title, strict=True):
        for one, other in zip(plain, titled, strict=True):
            assert other["name"] == ("report 7" if one["name"] == "report 7" else f"On {one['name']}")
            assert [key for key, _ in other["values"]] == ["year"]
