"""Sketch folders that somebody made to harm, with right checksums: each is refused with one sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError, SketchFormatError, TooLargeError
from anchorwords.statistics.sketch import rule_of_text
from anchorwords.storage import folders as _folders

METHODS = ("linear", "incremental")


@pytest.fixture(scope="module")
def corpus():
    texts = [" ".join(f"word{j}" for j in np.random.default_rng(i).integers(12, size=15)) for i in range(40)]
    return aw.read_corpus(texts)


def saved(corpus, folder, method, *, named=True, **options):
    sketch = aw.CooccurrenceSketch(3, method=method, rule=rule_of_text(corpus.text_rule), **options)
    if named:
        sketch.update(corpus)
    else:
        sketch.update(corpus.counts)
    sketch.save(folder)
    return folder


def forged(folder, change=lambda _: None, **arrays):
    """Change the manifest and arrays, and make the checksums right."""
    manifest = json.loads((folder / "sketch.json").read_text())
    for name, array in arrays.items():
        np.save(folder / f"{name.replace('_ends', '.ends')}.npy", array)
    manifest["arrays"] = {name: _folders.checksum(folder / f"{name}.npy") for name in manifest["arrays"]}
    change(manifest)
    manifest.pop("checksum")
    manifest["checksum"] = _folders._text_checksum(manifest)
    (folder / "sketch.json").write_text(json.dumps(manifest))


def refused(folder):
    with pytest.raises(SketchFormatError) as caught:
        aw.load_sketch(folder)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert len(text) < 600
    return text


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(manifest):
        for key in path:
            manifest = manifest[key]
        manifest[last] = value

    return change


MANIFESTS = {
    "a rule that is a number": put("rule", 7),
    "a rule that is an object": put("rule", {"text_rule": {}}),
    "a rule of text that is a list": put("rule", json.dumps({"text_rule": []})),
    "a rule of text with a file": put("rule", json.dumps({"text_rule": {"stop_words": "/etc/passwd"}})),
    "a rule of text with lengths": put("rule", json.dumps({"text_rule": {"min_length": 10**30}})),
    "named by a word": put("named", "yes"),
    "named otherwise": put("named", False),
    "fixed words in one": put("fixed_words", "word1"),
    "fixed words that are lists": put("fixed_words", [["word1"]]),
    "fixed words twice": put("fixed_words", ["word1", "word1"]),
    "fixed words that lack some": put("fixed_words", ["word1"]),
    "a billion columns": put("n_columns", 10**9),
    "columns beyond numbers": put("n_columns", 10**400),
    "columns that are true": put("n_columns", True),
    "topics beyond the columns": put("n_components", 10**9),
    "topics that are a float": put("n_components", 3.0),
    "a seed in words": put("random_state", "0"),
    "an unknown method": put("method", "magic"),
    "a method that is a list": put("method", ["linear"]),
    "features below zero": put("n_features", -1),
    "features beyond numbers": put("n_features", 10**400),
    "features that are a float": put("n_features", 5.0),
    "totals that are a list": put("totals", []),
    "documents without end": put("totals", "n_docs", float("inf")),
    "documents beyond numbers": put("totals", "n_docs", 10**400),
    "documents that are text": put("totals", "n_docs", "40"),
    "fewer documents than those of a word": put("totals", "n_docs", 1),
    "more documents than words": put("totals", "n_docs", 10**6),
    "a mass that is NaN": put("totals", "mass", float("nan")),
    "a mass of nothing": put("totals", "mass", 0.0),
    "a mass of too much": put("totals", "mass", 1e300),
    "tokens below zero": put("totals", "n_tokens", -5.0),
    "fractions that are a list": put("totals", "fractions", []),
    "no totals": lambda manifest: manifest.pop("totals"),
    "no arrays": lambda manifest: manifest.pop("arrays"),
    "arrays that are a list": put("arrays", []),
    "a checksum that is a number": put("arrays", "df", 5),
    "a version that is true": put("format_version", True),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("how", MANIFESTS)
def test_a_hostile_manifest(corpus, tmp_path, method, how):
    folder = saved(corpus, tmp_path / "sketch", method)
    forged(folder, MANIFESTS[how])
    refused(folder)


ARRAYS = {
    "df": [lambda a: a * 0, lambda a: a + 10**6, lambda a: a.astype(float), lambda a: a[:, None], lambda a: a > 0],
    "d": [
        lambda a: a * np.inf,
        lambda a: a.astype(complex),
        lambda a: a.astype("U8"),
        lambda a: a[:-1],
        lambda a: a + 1e9,
    ],
    "squares": [lambda a: a.astype(np.float16), lambda a: a[None], lambda a: a + 1e300],
    "words": [lambda a: a * 0, lambda a: a + 128, lambda a: a[:-1], lambda a: a.astype(float), lambda a: a[:0]],
    "words_ends": [lambda a: a * 0, lambda a: a[::-1], lambda a: a - 1, lambda a: a.astype(float), lambda a: a[:0]],
    "S": [
        lambda a: a + 1e308,
        lambda a: a[:, :-1],
        lambda a: a.astype(np.int64),
        lambda a: a.T,
        lambda a: a.astype(complex),
    ],
    "U": [lambda a: a * 2, lambda a: a * 0, lambda a: a + 1e308, lambda a: a.astype(complex), lambda a: a[:, ::-1] + a],
    "theta": [lambda a: -a, lambda a: a[::-1], lambda a: a * 1e308, lambda a: a[:, None], lambda a: a.astype(complex)],
    "n_blocks": [lambda a: a[0], lambda a: a[:0], lambda a: a - 10, lambda a: a * 0.5, lambda a: a + 2**62],
}
CASES = [(name, number) for name, changes in ARRAYS.items() for number in range(len(changes))]


@pytest.mark.parametrize(("name", "number"), CASES)
def test_a_hostile_array(corpus, tmp_path, name, number):
    method = "linear" if name == "S" else "incremental"
    folder = saved(corpus, tmp_path / "sketch", method)
    with np.errstate(all="ignore"):
        array = ARRAYS[name][number](np.load(folder / f"{name.replace('_ends', '.ends')}.npy"))
    forged(folder, **{name: array})
    refused(folder)


def test_nameless_columns_are_numbers_in_one_way(corpus, tmp_path):
    folder = saved(corpus, tmp_path / "sketch", "linear", named=False)
    words, ends = _folders.packed_strings([f"{i:03d}" for i in range(corpus.n_words)])  # 001 is 1
    forged(folder, words=words, words_ends=ends)
    refused(folder)


def test_columns_that_cost_nothing_in_a_file_cost_nothing_when_it_is_loaded(tmp_path):
    """An empty sketch has arrays of no rows, whatever the number of columns."""
    aw.CooccurrenceSketch(3, n_columns=100_000).save(tmp_path / "sketch")
    assert aw.load_sketch(tmp_path / "sketch").n_columns == 100_000


def test_topics_over_more_columns_than_memory_holds_are_refused(corpus, tmp_path):
    folder = saved(corpus, tmp_path / "sketch", "linear", named=False)
    forged(folder, put("n_features", 2**31 - 1))
    sketch = aw.load_sketch(folder)
    with pytest.raises(TooLargeError, match="over 2,147,483,647 columns"):
        aw.AnchorTopicModel(3).fit(sketch)


def test_rules_of_ones_own_may_be_anything(corpus, tmp_path):
    for rule in (None, "", "plain", "[" * 100_000, "7", json.dumps({"mine": 1})):
        sketch = aw.CooccurrenceSketch(3, rule=rule).update(corpus)
        sketch.save(tmp_path / "sketch")
        loaded = aw.load_sketch(tmp_path / "sketch")
        assert (loaded.rule, loaded.text_rule) == (rule, None)


@pytest.mark.parametrize("method", METHODS)
def test_an_honest_sketch_of_anything_is_loaded(corpus, tmp_path, method):
    """The checks above refuse nothing that can come about."""
    fractions = corpus.counts * 0.7
    empty = aw.CooccurrenceSketch(3, method=method)
    short = aw.CooccurrenceSketch(3, method=method).update(np.eye(5))
    one = aw.CooccurrenceSketch(1, method=method).update(np.array([[1, 1]]))
    half = aw.CooccurrenceSketch(3, method=method).update(fractions, corpus.vocabulary)
    merged = aw.CooccurrenceSketch(3, method=method).update(corpus).merge(half)
    made = [empty, short, one, half, merged]
    if method == "linear":
        whole = aw.CooccurrenceSketch(3, method=method).update(corpus)
        made += [whole - whole, (whole + whole + whole) - whole]
    for sketch in made:
        sketch.save(tmp_path / "sketch")
        loaded = aw.load_sketch(tmp_path / "sketch")
        assert (loaded.n_docs, loaded.vocabulary) == (sketch.n_docs, sketch.vocabulary)


def test_threads_that_are_none_are_the_callers_mistake(corpus, tmp_path):
    folder = saved(corpus, tmp_path / "sketch", "linear")
    with pytest.raises(InputError, match="n_jobs must be") as caught:
        aw.load_sketch(folder, n_jobs=0)
    assert not isinstance(caught.value, SketchFormatError)
