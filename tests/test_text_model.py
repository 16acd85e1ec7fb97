"""Raw texts in, topics out: the text estimators, alone, in scikit-learn, saved, and against the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import anchorwords as aw
from anchorwords.exceptions import InputError, UnknownWordWarning
from tests.cli.test_text import run

SUBJECTS = (
    "orbit rocket moon launch satellite astronaut shuttle station planet gravity",
    "goal match league striker keeper referee penalty stadium coach season",
    "bread flour oven yeast butter sugar recipe dough kitchen salt",
)


@pytest.fixture(scope="module")
def texts():
    """Three hundred texts, each of one subject with a word of another, some function words and some web addresses."""
    rng = np.random.default_rng(0)
    made = []
    for number in range(300):
        own, other = SUBJECTS[number % 3].split(), SUBJECTS[(number + 1) % 3].split()
        words = [*rng.choice(own, 18), *rng.choice(other, 2), *rng.choice(["the", "of", "and", "is"], 10)]
        made.append(" ".join(rng.permutation(words)) + ". See https://example.org/page")
    return made


@pytest.fixture(scope="module")
def model(texts):
    return aw.TextTopicModel(3).fit(texts)


@parametrize_with_checks([aw.TextVectorizer(), aw.TextTopicModel(2)])
def test_scikit_learn_accepts_them(estimator, check):
    check(estimator)


# ---- The model.


def test_subjects_become_topics(model, texts):
    words = aw.top_words(model, 5)
    found = [next(s for s, subject in enumerate(SUBJECTS) if set(own) <= set(subject.split())) for own in words]
    assert sorted(found) == [0, 1, 2]
    weights = model.transform(texts)
    assert [found[topic] for topic in weights.argmax(axis=1)] == [number % 3 for number in range(300)]
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert not {"the", "https", "example"} & set(model.model_.vocabulary)


def test_it_is_the_vectorizer_the_rule_and_the_preset(model, texts):
    corpus = aw.read_corpus(texts)
    pruned = corpus.prune(rule=aw.VocabularyRule.for_corpus(corpus))
    plain = aw.AnchorTopicModel.from_preset("readers", 3).fit(pruned)
    np.testing.assert_array_equal(model.components_, plain.components_)
    np.testing.assert_array_equal(model.transform(texts), plain.transform(aw.read_corpus(texts, like=plain)))
    assert model.corpus_.vocabulary == pruned.vocabulary
    assert model.score(texts) == plain.score(pruned)
    assert model.perplexity(texts) == plain.perplexity(pruned)


def test_fit_transform_is_fit_and_transform(model, texts):
    np.testing.assert_array_equal(aw.TextTopicModel(3).fit_transform(texts), model.transform(texts))
    np.testing.assert_array_equal(aw.TextTopicModel(3).fit_transform(iter(texts)), model.transform(texts))


@pytest.mark.parametrize("kind", ["series", "array", "tuple", "frame", "file", "corpus", "folder"])
def test_texts_of_every_kind(model, texts, tmp_path, kind):
    reading = {}
    if kind == "frame":
        source, reading = pd.DataFrame({"body": texts, "n": range(300)}), {"text_column": "body", "columns": "n"}
    elif kind == "file":
        source = tmp_path / "a.txt"
        source.write_text("\n".join(texts))
    elif kind in ("corpus", "folder"):
        source = aw.read_corpus(texts)
        source.save(tmp_path / "c")
        source = source if kind == "corpus" else aw.open_corpus(tmp_path / "c")
    else:
        source = {"series": pd.Series, "array": np.array, "tuple": tuple}[kind](texts)
    found = aw.TextTopicModel(3).fit(source, **reading)
    np.testing.assert_array_equal(found.components_, model.components_)
    if kind == "frame":
        assert found.corpus_.documents["n"].tolist() == list(range(300))


YEARS = [2000 + number % 4 for number in range(300)]
WITH_DOCUMENTS = {
    "top_documents": lambda model, X: aw.top_documents(model, X, 2),
    "prevalence_by": lambda model, X: aw.prevalence_by(model, X, YEARS).rows(),
    "topics_over_time": lambda model, X: aw.topics_over_time(model, X, by=YEARS).rows(),
    "estimate_effects": lambda model, X: aw.estimate_effects(
        model, X, "year", data={"year": YEARS}, replicates=2
    ).rows(),
    "evaluate": lambda model, X: aw.evaluate(model, X, metrics=["npmi_coherence", "umass_coherence"])["npmi_coherence"],
    "split_topic": lambda model, X: aw.split_topic(model, 1, X).components_.tolist(),
    "anchor_table": lambda model, X: aw.anchor_table(model, X),
    "label_topics": lambda model, X: aw.label_topics(
        model, lambda words, documents: f"{words[0]} {documents}", corpus=X
    ),
    "write_compositions": lambda model, X: aw.export.write_compositions(model, X, "topics.csv"),
    "explorer_data": lambda model, X: aw.explorer_data(model, X)["words"],
}


@pytest.mark.parametrize("name", WITH_DOCUMENTS)
@pytest.mark.filterwarnings("ignore::anchorwords.exceptions.TextWarning")
def test_functions_of_a_model_and_documents_take_texts(model, texts, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, series = WITH_DOCUMENTS[name], pytest.importorskip("pandas").Series(texts)
    expected = function(model, model.read(texts))
    assert function(model, texts) == expected
    assert function(model, series) == expected
    with pytest.raises(InputError, match="holds texts"):
        function(model.model_, texts)  # a record cannot read


def test_a_model_in_another_process_reads_texts_the_same_way(texts, tmp_path):
    vectorizer = aw.TextVectorizer(
        ngrams=(1, 2), stop_words=["english", "moon"], min_df=2, cleaning=aw.Cleaning(urls=False)
    )
    model = aw.TextTopicModel(3, vectorizer=vectorizer, forbidden_anchors=["rocket"], options={"refinement": None}).fit(
        texts
    )
    model.save(tmp_path / "m")
    script = (
        "import sys, json, anchorwords as aw; m = aw.load_model(sys.argv[1]);"
        "print(json.dumps([m.transform(json.loads(sys.argv[2])).tolist(), repr(m)]))"
    )
    new = ["Rocket launch to the moon station, see https://example.org", "goal penalty", "nothing known"]
    command = [sys.executable, "-c", script, tmp_path / "m", json.dumps(new)]
    weights, shown = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    np.testing.assert_array_equal(weights, model.transform(new))
    np.testing.assert_allclose(weights[2], model.topic_prevalence_)
    loaded = aw.load_model(tmp_path / "m")
    assert "forbidden_anchors=['rocket']" in shown
    assert loaded.options == {"refinement": None}
    again = clone(loaded).fit(texts)
    np.testing.assert_array_equal(again.components_, model.components_)
    assert not hasattr(loaded, "corpus_")
    with pytest.raises(InputError, match="a model that was loaded has no documents"):
        loaded.measure_stability()


def shout(text):
    return text.upper().split()


def test_a_tokenizer_is_given_again(texts, tmp_path):
    model = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(tokenizer=shout, min_df=2, cleaning=False)).fit(texts)
    assert "ROCKET" in model.model_.vocabulary
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"split by the tokenizer tests\.test_text_model:shout: give it again"):
        aw.load_model(tmp_path / "m").transform(texts)
    loaded = aw.load_model(tmp_path / "m", tokenizer=shout)
    np.testing.assert_array_equal(loaded.transform(texts), model.transform(texts))


def test_labels_of_topics_are_feature_names(model):
    names = model.get_feature_names_out()
    assert len(set(names)) == 3
    assert all(
        any(word in name for word in subject.split()) for name in names for subject in SUBJECTS if name[2:] in subject
    )
    frame = (
        clone(model)
        .set_output(transform="pandas")
        .fit_transform(["goal match league striker"] * 20 + list(SUBJECTS) * 9)
    )
    assert isinstance(frame, pd.DataFrame)
    assert frame.shape == (47, 3)


def test_anchors_guide_it(texts):
    model = aw.TextTopicModel(3, anchors=[["oven", "dough"], "coach"]).fit(texts)
    words = aw.top_words(model, 5)
    assert set(words[0]) <= set(SUBJECTS[2].split())
    assert set(words[1]) <= set(SUBJECTS[1].split())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"preset": "best"}, "there is no preset 'best'"),
        ({"options": {"n_jobs": 2}}, "options may hold .*rectifier.*but holds 'n_jobs'"),
        ({"options": {"rectifyer": None}}, "but holds 'rectifyer'"),
        ({"options": ["rectifier"]}, "options must be a dict of parameters of AnchorTopicModel"),
        ({"vectorizer": aw.TextVectorizer(stop_words="englsh")}, "stop words must be a language, an existing file"),
        ({"vectorizer": aw.TextVectorizer(ngrams=(2, 1))}, "ngrams must be a pair"),
    ],
)
def test_wrong_parameters_are_refused(texts, parameters, message):
    with pytest.raises(InputError, match=message):
        aw.TextTopicModel(3, **parameters).fit(texts)


def test_wrong_documents_are_refused(model, texts):
    with pytest.raises(InputError, match="documents must be a list of texts or a path that exists, but are one text"):
        aw.TextTopicModel(3).fit("One text.\nAnd more of it.")
    with pytest.raises(InputError, match="a Corpus has been read already, but text_column says how to read"):
        aw.TextTopicModel(3).fit(aw.read_corpus(texts), text_column="text")


@pytest.mark.parametrize("make", [list, np.array, pd.Series, tuple])
def test_the_model_of_counts_names_that_of_texts(texts, make):
    with pytest.raises(InputError) as caught:
        aw.AnchorTopicModel(3).fit(make(texts))
    assert "TextTopicModel" in str(caught.value)
    assert texts[0][:20] not in str(caught.value)


# ---- In scikit-learn.


def test_it_works_in_pipelines_and_searches(texts):
    labels = [number % 3 for number in range(300)]
    pipeline = make_pipeline(aw.TextTopicModel(3), LogisticRegression())
    assert pipeline.fit(texts[:200], labels[:200]).score(texts[200:], labels[200:]) == 1.0
    grid = {"texttopicmodel__n_components": [2, 3], "texttopicmodel__vectorizer": [aw.TextVectorizer(min_df=2)]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(texts, labels)
    assert search.best_score_ == 1.0
    search = GridSearchCV(aw.TextTopicModel(3, vectorizer=aw.TextVectorizer()), {"vectorizer__min_df": [2, 5]}, cv=2)
    assert search.fit(texts).best_estimator_.vectorizer_.min_df in (2, 5)


# ---- The vectoriser.


def test_the_vectorizer_counts_every_document(texts):
    vectorizer = aw.TextVectorizer()
    counts = vectorizer.fit_transform([*texts, "", "the of"])
    assert sp.issparse(counts)
    assert counts.shape == (302, len(vectorizer.vocabulary_))
    assert counts[[300, 301]].sum() == 0
    names = vectorizer.get_feature_names_out()
    assert sorted(names) == list(names)
    assert [vectorizer.vocabulary_[name] for name in names] == list(range(names.size))
    np.testing.assert_array_equal(vectorizer.transform(texts).toarray(), counts[:300].toarray())
    np.testing.assert_array_equal(
        aw.TextVectorizer().fit(texts).transform(aw.read_corpus(texts)).toarray(), counts[:300].toarray()
    )


def test_it_agrees_with_scikit_learn_where_the_rules_are_the_same(texts):
    from sklearn.feature_extraction.text import CountVectorizer

    ours = aw.TextVectorizer(
        stop_words=None, min_df=1, max_df=1.0, n_words=None, cleaning=False, min_tokens=0, min_types=0
    )
    theirs = CountVectorizer(token_pattern=r"(?u)\b\w\w+\b")
    np.testing.assert_array_equal(ours.fit_transform(texts).toarray(), theirs.fit_transform(texts).toarray())
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()


def test_lists_of_tokens_are_counted_as_they_are():
    vectorizer = aw.TextVectorizer()
    counts = vectorizer.fit_transform([["The", "cat"], ["cat", "http://x"]] * 5)
    assert vectorizer.get_feature_names_out().tolist() == ["The", "cat", "http://x"]
    np.testing.assert_array_equal(vectorizer.transform([["cat", "dog", "cat"]]).toarray(), [[0, 2, 0]])
    assert counts.shape == (10, 3)


def test_a_given_vocabulary_is_all_there_is(texts):
    vectorizer = aw.TextVectorizer(vocabulary=["moon", "goal", "unheard"])
    assert vectorizer.fit_transform(texts).shape == (300, 3)
    assert list(vectorizer.vocabulary_) == ["moon", "goal", "unheard"]


def test_a_corpus_that_was_pruned_is_not_pruned_again(texts):
    pruned = aw.read_corpus(texts).prune(min_df=2, stop_words=["moon"])
    assert "the" in pruned.vocabulary
    model = aw.TextTopicModel(3).fit(pruned)
    assert model.model_.vocabulary == pruned.vocabulary
    assert model.model_.provenance.vocabulary_rule == pruned.vocabulary_rule
    # What is asked for comes on top.
    model = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(stop_words=["the"])).fit(pruned)
    assert set(pruned.vocabulary) - set(model.model_.vocabulary) == {"the"}


# ---- The command line.


def test_the_command_line_gives_the_same_topics_to_the_bit(texts, tmp_path):
    table = tmp_path / "a.csv"
    pd.DataFrame({"body": texts, "n": range(300)}).to_csv(table, index=False)
    done = run("fit", table, "--text-column", "body", "-k", 3, "-o", tmp_path / "m", "--stop-words", "english",
               "--stop-words", "moon")  # fmt: skip
    assert done.returncode == 0, done.stderr
    ours = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(stop_words=["english", "moon"])).fit(
        table, text_column="body"
    )
    loaded = aw.load_model(tmp_path / "m")
    assert isinstance(loaded, aw.TextTopicModel)
    for name in ("components_", "topic_correlation_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(ours, name))
    np.testing.assert_array_equal(loaded.transform(texts), ours.transform(texts))


@pytest.mark.slow  # half a minute
def test_it_gives_them_on_cve_too(data_folder, tmp_path):
    texts = data_folder / "cve" / "cve.tsv.gz"
    done = run("fit", texts, "--text-column", 2, "-k", 10, "-o", tmp_path / "m", "-q")
    assert done.returncode == 0, done.stderr
    ours = aw.TextTopicModel(10).fit(texts, text_column=2)
    loaded = aw.load_model(tmp_path / "m")
    assert loaded.model_.vocabulary == ours.model_.vocabulary
    np.testing.assert_array_equal(loaded.components_, ours.components_)


def test_columns_of_documents_are_shown_by_name(texts, tmp_path):
    table = pd.DataFrame({
        "body": texts, "day": pd.date_range("2021-01-01", periods=300).astype(str), "score": np.arange(300) / 4,
        "tags": ["a;<b>" if i % 2 else "" for i in range(300)], "heading": [f"Text {i}" for i in range(300)],
    })  # fmt: skip
    table.to_csv(tmp_path / "a.csv", index=False)
    reading = (
        "--text-column",
        "body",
        "--columns",
        "day,score",
        "--list-column",
        "tags=;",
        "--title-column",
        "heading",
    )
    run("fit", tmp_path / "a.csv", *reading, "-k", 3, "-o", tmp_path / "m")
    run("import", tmp_path / "a.csv", *reading, "-o", tmp_path / "c")
    asked = ("topics", tmp_path / "m", "--documents", 2)
    told = run(*asked, "--corpus", tmp_path / "a.csv", *reading, "--json")
    for row in json.loads(told.stdout):
        for found in row["documents"]:
            number = found["row"]
            assert found["title"] == f"Text {number}"
            assert found["values"] == {
                "day": table["day"][number], "score": number / 4, "tags": ["a", "<b>"] if number % 2 else [],
            }  # fmt: skip
    assert run(*asked, "--corpus", tmp_path / "c", "--json").stdout == told.stdout
    listed = run(*asked, "--corpus", tmp_path / "c").stdout
    assert re.search(r"tokens +day +score +tags +document", listed)
    first = json.loads(told.stdout)[0]["documents"][0]
    assert first["values"]["day"] in listed
    done = run("explore", tmp_path / "m", "--corpus", tmp_path / "c", "--json")
    cards = [card for topic in json.loads(done.stdout)["topics"] for card in topic["documents"]]
    assert all(card["name"].startswith("Text ") for card in cards)
    assert {key for card in cards for key, _ in card["values"]} == {"day", "score", "tags"}
    assert {value for card in cards for key, value in card["values"] if key == "tags"} == {"a, <b>"}
    run("explore", tmp_path / "m", "--corpus", tmp_path / "c", "-o", tmp_path / "page.html")
    assert "<b>" not in (tmp_path / "page.html").read_text()


# ---- Documents that are tokens, repeated, or unknown.


def test_a_model_of_token_lists_refuses_texts(texts, tmp_path):
    tokens = [text.split() for text in texts]
    model = aw.TextTopicModel(3).fit(tokens)
    model.save(tmp_path / "m")
    (tmp_path / "new.txt").write_text("\n".join(texts[:3]))
    (tmp_path / "new.jsonl").write_text("\n".join(map(json.dumps, tokens[:3])))
    aw.import_corpus(tokens, tmp_path / "corpus")
    stored = aw.TextTopicModel(3).fit(aw.open_corpus(tmp_path / "corpus"))
    vectorizer = aw.TextVectorizer().fit(tokens)
    for fitted in (model, aw.load_model(tmp_path / "m"), stored, vectorizer):
        with pytest.raises(InputError, match="fitted on lists of tokens and does not know how to split text"):
            fitted.transform(texts[:3])
    np.testing.assert_array_equal(aw.load_model(tmp_path / "m").transform(tokens), model.transform(tokens))
    done = run("transform", tmp_path / "m", tmp_path / "new.txt")
    assert done.returncode == 1
    assert "fitted on lists of tokens" in done.stderr
    assert run("transform", tmp_path / "m", tmp_path / "new.jsonl").returncode == 0


@pytest.fixture(scope="module")
def distinct(texts):
    """The texts, each with ten words of its own, so that none is by chance nearly the same as another."""
    own = [" ".join(f"{letter}word{number}" for letter in "abcdefghij") for number in range(len(texts))]
    return [f"{text} {words}" for text, words in zip(texts, own, strict=True)]


def test_repeated_documents_are_reported_and_left_out(distinct, tmp_path):
    texts = distinct
    repeated = [*texts, *texts[:40], *(text.replace("See", "See mooring") for text in texts[40:50])]
    (tmp_path / "docs.txt").write_text("\n".join(repeated))
    told = run("fit", tmp_path / "docs.txt", "-k", 3, "-o", tmp_path / "m")
    assert "duplicates: 40 documents repeat an earlier one exactly and 10 nearly" in told.stderr
    assert "--drop-duplicates leaves them out of a fit" in told.stderr
    assert json.loads(run("import", tmp_path / "docs.txt", "-o", tmp_path / "c", "--json").stdout)["duplicates"] == 40
    told = run("fit", tmp_path / "docs.txt", "-k", 3, "--drop-duplicates", "-o", tmp_path / "m")
    assert "they are left out" in told.stderr
    ours = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(drop_duplicates=True)).fit(repeated)
    plain = aw.TextTopicModel(3).fit(texts)
    loaded = aw.load_model(tmp_path / "m")
    for one in (ours, loaded):
        np.testing.assert_array_equal(one.components_, plain.components_)
    assert ours.corpus_.kept_rows.tolist() == list(range(300))
    assert loaded.vectorizer.drop_duplicates
    assert ours.transform(repeated).shape == (350, 3)
    assert aw.TextVectorizer(drop_duplicates=True).fit_transform(repeated).shape[0] == 350


def test_kept_rows_count_from_the_documents_given(distinct):
    given = ["too short", *distinct[:20], *distinct[:20], *distinct[20:]]
    model = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(drop_duplicates=True)).fit(given)
    assert model.corpus_.kept_rows.tolist() == [*range(1, 21), *range(41, 321)]


def test_tokens_that_a_model_leaves_out_are_told_apart(model, texts, tmp_path, caplog):
    model.save(tmp_path / "m")
    new = ["the moon and the rocket quokka", "the bread of the quokka is bread"]
    (tmp_path / "new.txt").write_text("\n".join(new))
    done = run("transform", tmp_path / "m", tmp_path / "new.txt", "-o", tmp_path / "w.csv", "--json")
    told = json.loads(done.stdout)
    # the, and, the; the, of, the, is / quokka twice / moon, rocket, bread, bread
    assert (told["tokens"], told["left_out_tokens"], told["unknown_tokens"]) == (13, 7, 2)
    done = run("transform", tmp_path / "m", tmp_path / "new.txt", "-o", tmp_path / "w.csv")
    assert "7 of 13 (53.8%) tokens are of words that the model's vocabulary rule leaves out" in done.stderr
    assert "2 of 13 (15.4%) are of words that the model does not know" in done.stderr
    assert "warning" not in done.stderr
    with caplog.at_level("INFO", logger="anchorwords"):
        model.transform(new)
    assert "7 of 13 (53.8%) tokens are of words that the model's vocabulary rule leaves out" in caplog.text


@pytest.mark.parametrize("way", ["texts", "corpus", "on disk", "sliced", "command line"])
def test_words_that_were_too_rare_are_not_unknown(texts, tmp_path, way):
    given = [*texts, "wombat moon rocket orbit launch planet", "echidna goal league match coach season"]
    if way == "command line":
        (tmp_path / "docs.txt").write_text("\n".join(given))
        run("fit", tmp_path / "docs.txt", "-k", 3, "-o", tmp_path / "m", "-q")
    else:
        corpus = aw.read_corpus(given)
        if way == "on disk":
            corpus = aw.import_corpus(given, tmp_path / "c")
        elif way == "sliced":
            corpus = corpus.prune(rule=aw.VocabularyRule.for_corpus(corpus))[:]
        aw.TextTopicModel(3).fit(given if way == "texts" else corpus).save(tmp_path / "m")
    model = aw.load_model(tmp_path / "m")
    new = model.read(["the wombat saw the quokka on the moon", "moon rocket"])
    told = aw.export.write_compositions(model, new, tmp_path / "w.npy")
    # the, on / saw was never there either, "see" is a stop word
    assert (told.n_tokens, told.n_left_out_tokens, told.n_unknown_tokens) == (10, 5, 2)
    assert told.exact_coverage
    pruned = aw.read_corpus(given).prune(min_df=5, stop_words="english")
    pruned.save(tmp_path / "pruned")
    aw.AnchorTopicModel(3).fit(aw.open_corpus(tmp_path / "pruned")).save(tmp_path / "m")
    told = aw.export.write_compositions(aw.load_model(tmp_path / "m"), new, tmp_path / "w.npy")
    assert (told.n_tokens, told.n_left_out_tokens, told.n_unknown_tokens) == (10, 4, 3)  # wombat is among the unknown
    assert not told.exact_coverage


def test_documents_of_another_kind_are_warned_of(model, tmp_path):
    strange = ["quokka wombat echidna moon", "the platypus and the numbat"]
    with pytest.warns(UnknownWordWarning, match=r"does not know most of the words: 5 of 9 \(55\.6%\)"):
        model.transform(strange)
    model.save(tmp_path / "m")
    (tmp_path / "new.txt").write_text("\n".join(strange))
    with pytest.warns(UnknownWordWarning, match="does not know most of the words"):
        run("transform", tmp_path / "m", tmp_path / "new.txt", "-q")


def test_partial_fit_of_a_loaded_model_refuses_to_forget(texts, tmp_path):
    corpus = aw.read_corpus(texts)
    aw.AnchorTopicModel(3).fit(corpus).save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")
    before = loaded.components_.copy()
    with pytest.raises(InputError, match="loaded from disk, where the statistics of its documents are not kept"):
        loaded.partial_fit(corpus)
    np.testing.assert_array_equal(loaded.components_, before)
    assert clone(loaded).partial_fit(corpus).components_.shape == before.shape
    assert loaded.fit(corpus).partial_fit(corpus).n_docs_ == 300


# ---- Where documents are found, and mistakes.


def test_a_table_is_read_as_it_was_for_the_fit(texts, tmp_path):
    table = pd.DataFrame({"body": texts, "n": range(300)})
    table.to_csv(tmp_path / "a.csv", index=False)
    model = aw.TextTopicModel(3).fit(table, text_column="body", columns=["n"])
    expected = model.transform(texts)
    for source in (table, tmp_path / "a.csv", str(tmp_path / "a.csv")):
        np.testing.assert_array_equal(model.transform(source), expected)
    np.testing.assert_array_equal(model.transform(table.rename(columns={"body": "b"}), text_column="b"), expected)
    assert model.read(table, text_column="body", columns=["n"]).documents["n"].tolist() == list(range(300))
    model.save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")
    np.testing.assert_array_equal(loaded.transform(table, text_column="body"), expected)


def test_a_tokenizer_may_be_set_again(texts, tmp_path):
    model = aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(tokenizer=str.split)).fit(texts)
    model.save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")
    with pytest.raises(InputError, match="load_model takes too"):
        loaded.transform(texts[:3])
    for one in (loaded.set_params(vectorizer__tokenizer=str.split), aw.load_model(tmp_path / "m", tokenizer=str.split)):
        np.testing.assert_array_equal(one.transform(texts[:3]), model.transform(texts[:3]))


@pytest.mark.parametrize("method", ["transform", "score", "perplexity", "read", "get_feature_names_out"])
def test_before_the_fit_there_is_nothing(method, texts):
    with pytest.raises(NotFittedError):
        getattr(aw.TextTopicModel(3), method)(texts)


@pytest.mark.parametrize(
    ("make", "reading", "message"),
    [
        (
            lambda: aw.TextTopicModel(3, vectorizer=CountVectorizer()),
            {},
            "vectorizer must be a TextVectorizer",
        ),
        (lambda: aw.TextTopicModel(3), {"text_colum": "x"}, "read_corpus has no argument 'text_colum'"),
        (
            lambda: aw.TextTopicModel(3),
            {"stop_words": "german"},
            "stop_words: how text is split is said by the vectorizer",
        ),
        (
            lambda: aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(lowercase="yes")),
            {},
            "lowercase must be True or False",
        ),
        (lambda: aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(phrases=0.5)), {}, "phrases must be True or False"),
        (
            lambda: aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(drop_duplicates=1)),
            {},
            "drop_duplicates must be True",
        ),
        (lambda: aw.TextTopicModel(3, vectorizer=aw.TextVectorizer(max_df=0.001)), {}, "must not exceed max_df"),
    ],
)
def test_mistakes_are_one_sentence(texts, make, reading, message):
    with pytest.raises(InputError, match=message):
        make().fit(texts, **reading)


def test_a_number_of_ngrams_is_the_longest(texts):
    pairs, both = (aw.TextVectorizer(ngrams=ngrams).fit(texts) for ngrams in (2, (1, 2)))
    assert list(pairs.vocabulary_) == list(both.vocabulary_)
    assert any(" " in word for word in pairs.vocabulary_)


def test_words_that_are_all_too_frequent_are_said_to_be():
    with pytest.raises(InputError, match="the vocabulary rule leaves none of the 6 words of the source: loosen min_df"):
        aw.TextTopicModel(2).fit([f"alpha beta gamma delta epsilon zeta {i}" for i in range(400)])


def test_other_functions_say_how_to_read_texts(model, texts):
    for call in (aw.top_documents, aw.evaluate):
        with pytest.raises(InputError, match=r"holds texts: .* its method read"):
            call(model.model_, texts)
    assert len(aw.top_documents(model, model.read(texts), 2)) == 3
    with pytest.raises(InputError, match="but are one text: put it in a list"):
        model.transform("the moon and the rocket")
