"""The two rules of a corpus: how text is split into words, and which words and documents are kept."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.corpus.cleaning import Cleaning
from anchorwords.corpus.like import kept_as_for_fit
from anchorwords.corpus.stopwords import stop_words as as_stop_words
from anchorwords.corpus.text_rule import TextRule, key_of
from anchorwords.corpus.vocabulary_rule import VocabularyRule, stop_words_in_ngrams
from anchorwords.exceptions import CorpusFormatError, InputError
from anchorwords.statistics.sketch import rule_of_text

LINES = ["The red apple and the green apple", "a green pear", "Red wine, red plums and a pear", "42 plums"]


def through_json(rule):
    return type(rule).from_dict(json.loads(json.dumps(rule.to_dict())))


# ---- The text rule.


def test_a_text_rule_survives_json():
    rule = TextRule.checked(stop_words=["a", "b"], ngrams=(1, 2), numbers=True)
    assert through_json(rule) == rule
    assert hash(through_json(rule)) == hash(rule)
    assert through_json(rule.counting_only(["x", "y"])).fixed_words == key_of(["y", "x"])
    plain = TextRule(cleaning=Cleaning.none())  # version 0.1 cleaned nothing
    assert TextRule.from_dict({}) == plain
    assert TextRule.from_dict({"lowercase": False, "of a later version": 1}) == replace(plain, lowercase=False)


def test_a_tokenizer_is_kept_by_name_and_asked_for_again():
    rule = TextRule.checked(tokenizer=re.split)
    stored = through_json(rule)
    assert stored.tokenizer == "re:split"
    assert stored == rule
    assert rule.with_tokenizer(None) is rule
    with pytest.raises(InputError, match="the tokenizer re:split: give it again"):
        stored.with_tokenizer(None)
    assert stored.with_tokenizer(re.split).tokenizer is re.split
    assert TextRule() != rule
    assert TextRule() != "a rule"


@pytest.mark.parametrize(
    "record",
    [
        {"lowercase": "yes"},
        {"stop_words": "english"},
        {"ngrams": 2},
        {"ngrams": [1]},
        {"ngrams": ["1", "2"]},
        {"min_length": True},
        {"max_length": None},
        {"tokenizer": 3},
        {"vocabulary": ["a"]},
    ],
)
def test_a_record_that_is_no_text_rule_is_refused(tmp_path, record):
    with pytest.raises(ValueError, match="its text rule has the value"):
        TextRule.from_dict(record)
    aw.read_corpus(LINES).save(tmp_path / "c")
    manifest = json.loads((tmp_path / "c" / "corpus.json").read_text())
    (tmp_path / "c" / "corpus.json").write_text(json.dumps(manifest | {"rule": record}))
    with pytest.raises(CorpusFormatError, match="is damaged"):
        aw.open_corpus(tmp_path / "c")


def test_every_holder_of_a_text_rule_has_the_same(tmp_path):
    corpus = aw.read_corpus(LINES, stop_words=["wine"], min_length=3)
    assert corpus.text_rule == TextRule(stop_words=frozenset({"wine"}), min_length=3)
    corpus.save(tmp_path / "c")
    assert aw.open_corpus(tmp_path / "c").text_rule == corpus.text_rule
    assert corpus.prune(min_types=0, min_tokens=0).text_rule == corpus.text_rule
    sketch = aw.CooccurrenceSketch(2, rule=rule_of_text(corpus.text_rule)).update(corpus)
    assert sketch.text_rule == corpus.text_rule
    model = aw.AnchorTopicModel(2).fit(corpus)
    model.save(tmp_path / "m")
    assert aw.load_model(tmp_path / "m").text_rule_ == model.text_rule_ == corpus.text_rule
    with pytest.raises(InputError, match="text_rule must be a TextRule"):
        aw.Corpus([[1]], ["a"], text_rule={"lowercase": True})


def test_the_rule_of_a_sketch_is_written_as_version_0_1_wrote_it():
    """Sketches of both versions must merge, so that the text must be the same to the byte."""
    rule = TextRule.checked(stop_words=["the", "a"], ngrams=(1, 2), cleaning=False)
    old = (
        '{"text_rule": {"lowercase": true, "max_length": 100, "min_length": 2, "ngrams": [1, 2], "numbers": false, '
        '"stop_words": ["a", "the"], "tokenizer": null, "vocabulary": null}}'
    )
    assert rule_of_text(rule) == old
    assert rule_of_text(rule, VocabularyRule(stop_words=frozenset({"of"}))) == old.replace('"a", ', '"a", "of", ')
    assert aw.CooccurrenceSketch(2, rule=old).text_rule == rule
    assert rule_of_text(None) is None
    assert aw.CooccurrenceSketch(2, rule='{"text_rule": {"ngrams": 3}}').text_rule is None


# ---- The vocabulary rule.


def test_a_vocabulary_rule_survives_json():
    for rule in (
        VocabularyRule(),
        VocabularyRule.for_text(10_000),
        VocabularyRule.checked(7, 0.1, 40, ["b", "a"], 1, 2, ["x", "y"]),
    ):
        assert through_json(rule) == rule
    assert VocabularyRule.from_dict({}) == VocabularyRule()
    for record in ({"n_words": "7"}, {"min_df": None}, {"min_tokens": True}, {"keep_words": "x"}, {"stop_words": 3}):
        with pytest.raises(ValueError, match="its vocabulary rule has the value"):
            VocabularyRule.from_dict(record)


def test_stop_words_are_kept_by_the_name_of_a_language(tmp_path):
    assert VocabularyRule.checked(stop_words="german").stop_words == "german"
    assert VocabularyRule.checked(stop_words="german").stop_set == as_stop_words("german")
    (tmp_path / "stop.txt").write_text("lion\ntiger\n")
    assert VocabularyRule.checked(stop_words=tmp_path / "stop.txt").stop_words == {"lion", "tiger"}
    assert VocabularyRule.checked(stop_words=str(tmp_path / "stop.txt")).stop_words == {"lion", "tiger"}
    assert VocabularyRule.checked(stop_words=[]).stop_words is None
    with pytest.raises(InputError, match="klingon"):
        VocabularyRule.checked(stop_words="klingon")


@pytest.mark.parametrize("stored", [False, True])
def test_pruning_by_a_rule_is_pruning_by_its_arguments(tmp_path, stored, sampled):
    corpus = sampled.corpus
    if stored:
        corpus.save(tmp_path / "c")
        corpus = aw.open_corpus(tmp_path / "c")
    arguments = {"n_words": 50, "min_df": 20, "stop_words": ["w003"], "min_tokens": 10, "keep_words": ["w001"]}
    expected, rule = corpus.prune(**arguments), VocabularyRule.checked(**arguments)
    found = corpus.prune(rule=rule)
    assert corpus.vocabulary_rule is None
    assert found.vocabulary_rule == expected.vocabulary_rule == rule
    assert found.vocabulary == expected.vocabulary
    assert found.dropped == expected.dropped
    assert (found.counts != expected.counts).nnz == 0
    with pytest.raises(InputError, match="n_words, stop_words are given next to it"):
        corpus.prune(3, stop_words=["a"], rule=rule)
    with pytest.raises(InputError, match="min_df is given next to it"):
        corpus.prune(min_df=0.5, rule=rule)
    with pytest.raises(InputError, match="rule must be a VocabularyRule"):
        corpus.prune(rule={"n_words": 3})


def test_the_default_rule_depends_on_whether_documents_were_text():
    text = aw.read_corpus(LINES * 100)
    assert VocabularyRule.for_corpus(text) == VocabularyRule.for_text(400)
    assert text.prune(**text.text_preset()).vocabulary_rule == VocabularyRule.for_text(400)
    tokens = aw.read_corpus([line.split() for line in LINES])
    assert VocabularyRule.for_corpus(tokens) == VocabularyRule()
    changed = VocabularyRule.for_corpus(text, stop_words=None, min_df=2)
    assert changed == replace(VocabularyRule.for_text(400), stop_words=None, min_df=2)
    sketch = aw.CooccurrenceSketch(2, rule=rule_of_text(text.text_rule)).update(text)
    assert VocabularyRule.for_corpus(sketch).min_df == 5
    only_stop_words = VocabularyRule(stop_words="english", min_tokens=0, min_types=0)
    assert VocabularyRule.for_sketch(text) == only_stop_words
    assert VocabularyRule.for_sketch(tokens) == replace(only_stop_words, stop_words=None)


def test_rules_in_words():
    assert VocabularyRule.for_text(400).sentence(400) == (
        "english stop words left out, words in 5 to 200 (50%) of 400 documents, at most the 50,000 best by tf-idf"
    )
    assert (
        VocabularyRule().sentence(1000)
        == "no stop words left out, words in at least 1 of 1,000 documents, any number of words"
    )
    rule = VocabularyRule.checked(min_df=0.1, max_df=20, stop_words=["a", "b"], keep_words=["x"])
    assert rule.sentence(30) == (
        "2 given stop words left out, words in 3 to 20 of 30 documents, any number of words, but in any case x"
    )
    corpus = aw.read_corpus([*LINES, "plums"]).prune(stop_words=["the", "and"], min_tokens=2, min_types=2)
    assert corpus.dropped.sentence(corpus.n_docs, corpus.n_words, corpus.vocabulary_rule) == (
        "6 of 8 words kept (left out: 2 stop words); 3 of 5 documents kept (2 with fewer than 2 tokens or 2 distinct words)"
    )


def test_stop_words_of_ngrams_are_removed_before_they_are_formed():
    assert stop_words_in_ngrams((1, 1)) is None
    assert stop_words_in_ngrams((1, 2)) == "english"
    assert stop_words_in_ngrams((2, 2), ["wine"]) == ["wine"]
    words = aw.read_corpus(LINES, ngrams=(1, 2), stop_words=stop_words_in_ngrams((1, 2))).vocabulary
    assert "apple green" in words
    assert "and the" not in words


# ---- Reading as a model did.


@pytest.fixture(scope="module")
def model():
    corpus = aw.read_corpus(LINES * 3, stop_words=["the", "and"], ngrams=(1, 2), min_length=3)
    return aw.AnchorTopicModel(2).fit(corpus.prune(min_df=4, min_tokens=1, min_types=1))


NEW = ["The red apple shines", "and nothing known", ""]


@pytest.mark.parametrize("kind", ["list", "file", "frame", "import"])
def test_new_text_is_read_as_the_models_was(model, tmp_path, kind):
    rule, words = model.text_rule_, model.model_.vocabulary
    options = {"stop_words": rule.stop_words, "ngrams": rule.ngrams, "min_length": rule.min_length}
    expected = aw.read_corpus(NEW, vocabulary=words, **options)
    source = NEW
    if kind in ("file", "import"):
        source = tmp_path / "new.txt"
        source.write_text("\n".join(NEW) + "\n")
    elif kind == "frame":
        source = pytest.importorskip("pandas").DataFrame({"text": NEW})
    found = (
        aw.import_corpus(source, tmp_path / "c", like=model) if kind == "import" else aw.read_corpus(source, like=model)
    )
    assert found.vocabulary == words
    assert found.n_tokens == expected.n_tokens > 0
    assert (found.counts != expected.counts).nnz == 0
    assert found.text_rule == expected.text_rule
    np.testing.assert_array_equal(model.transform(found), model.transform(expected))


def test_words_the_model_does_not_know_may_be_counted_too(model):
    words = model.model_.vocabulary
    found = aw.read_corpus(NEW, like=model, every_word=True)
    others = found.vocabulary[len(words) :]
    assert found.vocabulary[: len(words)] == words
    assert others == tuple(sorted(others))
    assert {"shines", "nothing", "known", "nothing known"} <= set(others)
    known = aw.read_corpus(NEW, like=model)
    assert (found.counts[:, : len(words)] != known.counts).nnz == 0
    np.testing.assert_array_equal(model.transform(found), model.transform(known))
    # Documents without a single word are no mistake here.
    assert aw.read_corpus(["", ""], like=model, every_word=True).vocabulary == words
    with pytest.raises(InputError, match="every_word adds to the words of a model"):
        aw.read_corpus(NEW, every_word=True)


def test_other_sources_keep_their_own_words(model, tmp_path):
    (tmp_path / "b.txt").write_text("The red\tapple\n")
    assert aw.read_corpus(tmp_path / "b.txt", format="baskets", like=model).vocabulary == ("The red", "apple")
    np.save(tmp_path / "m.npy", np.eye(3))
    assert aw.read_corpus(tmp_path / "m.npy", like=model).vocabulary == ("0", "1", "2")
    corpus = aw.read_corpus(LINES)
    corpus.save(tmp_path / "c")
    assert aw.read_corpus(tmp_path / "c", like=model).vocabulary == corpus.vocabulary
    # Of a model of counts it is not known how text is to be split, so that the options decide.
    counts = aw.AnchorTopicModel(2).fit(aw.Corpus(corpus.counts, corpus.vocabulary))
    assert aw.read_corpus(LINES, like=counts, min_length=4).vocabulary == aw.read_corpus(LINES, min_length=4).vocabulary


def test_the_provenance_of_a_record_says_how_text_is_read(model):
    """What :class:`TopicModel` holds besides its topics, in the form that ``like`` looks at."""
    record = SimpleNamespace(
        vocabulary=("apple", "known"), anchors=(0,), provenance=SimpleNamespace(reading=TextRule(), tokenized=False)
    )
    for like in (record, SimpleNamespace(model_=record)):
        assert aw.read_corpus(NEW, like=like).counts.toarray().tolist() == [[1, 0], [0, 1], [0, 0]]
    record.provenance.reading = None
    assert aw.read_corpus(NEW, like=record).vocabulary == aw.read_corpus(NEW).vocabulary
    record.provenance.vocabulary_rule = VocabularyRule(min_tokens=1, min_types=1)
    assert kept_as_for_fit(record, aw.read_corpus(NEW)).vocabulary == ("apple", "known")
    strange = aw.read_corpus(["nothing shared"])
    assert kept_as_for_fit(record, strange) is strange


def test_options_that_contradict_the_model_are_refused(model):
    for options, names in (
        ({"lowercase": False}, "lowercase is"),
        ({"ngrams": (1, 2), "vocabulary": ["a"]}, "ngrams, vocabulary are"),
        ({"stop_words": "english"}, "stop_words is"),
        ({"tokenizer": str.split}, "tokenizer is"),
    ):
        with pytest.raises(InputError, match=f"the model given as like, but {names} given too"):
            aw.read_corpus(NEW, like=model, **options)
    for wrong in ("model", aw.AnchorTopicModel(2), aw.read_corpus(LINES)):
        with pytest.raises(InputError, match="like must be a fitted AnchorTopicModel or a TopicModel"):
            aw.read_corpus(NEW, like=wrong)


def test_a_tokenizer_is_given_again_only_to_a_model_that_was_loaded(tmp_path):
    model = aw.AnchorTopicModel(2).fit(aw.read_corpus(LINES, tokenizer=str.split))
    expected = aw.read_corpus(NEW, like=model)
    assert expected.n_tokens > 0
    model.save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")
    with pytest.raises(InputError, match=r"builtins:str\.split: give it again"):
        aw.read_corpus(NEW, like=loaded)
    found = aw.read_corpus(NEW, like=loaded, tokenizer=str.split)
    assert (found.counts != expected.counts).nnz == 0
