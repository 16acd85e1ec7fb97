"""What a word is: the compiled scan against a rule written down a second time, with regular expressions."""

from __future__ import annotations

import unicodedata
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus import scanner as words
from anchorwords.exceptions import InputError, TextWarning

TEXTS = [
    "The cat sat on the mat; the CAT did not.",
    "Füße, naïve café — élan vital",
    "Ελληνικά και Русский текст",
    "snake_case x1 42 3.14 e-mail don't",
    "",
    "   \t ",
    "हिन्दी में शब्द",
    "e\u0301tat",  # composed by NFC: one letter
]


def reference(text, *, lowercase=True, stop_words=(), ngrams=(1, 1), min_length=2, max_length=100, numbers=False):
    """The rule of TextRule in plain Python."""
    text = unicodedata.normalize("NFC", text)
    text = (text.lower() if lowercase else text).encode("utf-8", "replace").decode()

    def part(char):
        return unicodedata.category(char)[0] in "LMN" or char in "_\u200c\u200d"

    tokens = [token for token in "".join(char if part(char) else " " for char in text).split(" ") if token]
    tokens = [
        token
        for token in tokens
        if min_length <= len(token) <= max_length and (numbers or any(unicodedata.category(c)[0] == "L" for c in token))
    ]
    tokens = [token for token in tokens if token not in stop_words]
    bag = Counter()
    for n in range(ngrams[0], ngrams[1] + 1):
        bag.update(" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
    return bag


def bags(corpus):
    return [
        {corpus.vocabulary[j]: int(v) for j, v in zip(row.indices, row.data, strict=True)}
        for row in (corpus.counts[[m]] for m in range(corpus.n_docs))
    ]


RULES = [
    {},
    {"lowercase": False},
    {"numbers": True, "min_length": 1},
    {"stop_words": ["the", "on"]},
    {"ngrams": (1, 2)},
    {"ngrams": (2, 3), "stop_words": ["the"]},
    {"min_length": 4, "max_length": 5},
]


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_words_follow_the_rule(rule):
    corpus = aw.read_corpus(TEXTS, **rule, cleaning=False)
    assert bags(corpus) == [dict(reference(text, **rule)) for text in TEXTS]
    assert list(corpus.vocabulary) == sorted(corpus.vocabulary)


@given(st.lists(st.text(), min_size=1, max_size=8), st.sampled_from(RULES))
def test_any_text(texts, rule):
    expected = [dict(reference(text, **rule)) for text in texts]
    if not any(expected):
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TextWarning)
        assert bags(aw.read_corpus(texts, **rule, cleaning=False)) == expected


def test_many_words_make_every_table_grow():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{i:x}" for i in rng.integers(0, 200_000, 3000)) for _ in range(60)]
    corpus = aw.read_corpus(texts, ngrams=(1, 2))
    expected = [dict(reference(text, ngrams=(1, 2))) for text in texts[:3]]
    assert bags(aw.Corpus(corpus.counts[:3], corpus.vocabulary)) == expected
    assert corpus.n_tokens == 60 * (3000 + 2999)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_and_batches_do_not_matter(monkeypatch, n_jobs):
    texts = [f"word{i % 17} other{i % 5} and {'long ' * (i % 3)}" for i in range(500)]
    whole = aw.read_corpus(texts)
    monkeypatch.setattr("anchorwords.corpus.readers.BATCH_DOCUMENTS", 7)
    parted = aw.read_corpus(texts, n_jobs=n_jobs)
    assert parted.vocabulary == whole.vocabulary
    assert (parted.counts != whole.counts).nnz == 0


def test_the_same_counts_as_scikit_learn_under_its_rule():
    from sklearn.feature_extraction.text import CountVectorizer

    rng = np.random.default_rng(0)
    letters = list("abcdefg ÄÖü-'_1,.Ж")
    texts = ["".join(rng.choice(letters, 200)) for _ in range(50)]
    vectorizer = CountVectorizer(ngram_range=(1, 2))
    expected = vectorizer.fit_transform(texts)
    corpus = aw.read_corpus(texts, numbers=True, max_length=10_000, ngrams=(1, 2))
    assert list(vectorizer.get_feature_names_out()) == list(corpus.vocabulary)
    assert (expected != corpus.counts).nnz == 0


def test_scripts_without_spaces_ask_for_a_tokenizer():
    texts = ["私は学生です。東京に住んでいます。", "今日は天気がいい"]
    with pytest.warns(TextWarning, match=r"no spaces.*tokenizer="):
        aw.read_corpus(texts)
    corpus = aw.read_corpus(texts, tokenizer=list)
    assert "私" in corpus.vocabulary


def test_a_tokenizer_of_ones_own():
    corpus = aw.read_corpus(
        ["A-b c", "c A-B"], tokenizer=lambda text: text.split(), stop_words=["c"], ngrams=(1, 1), min_length=9
    )
    assert bags(corpus) == [{"a-b": 1}, {"a-b": 1}]
    assert aw.read_corpus(["A b"], tokenizer=str.split, lowercase=False).vocabulary == ("A", "b")


def test_tokens_are_kept_exactly():
    baskets = [["Milk 2%", "EGGS", "EGGS"], ("milk 2%",), [], [42, None, "EGGS"]]
    assert bags(aw.read_corpus(baskets)) == [{"Milk 2%": 1, "EGGS": 2}, {"milk 2%": 1}, {}, {"42": 1, "EGGS": 1}]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"ngrams": 9}, "ngrams must be a pair"),
        ({"ngrams": "2"}, "ngrams must be a pair"),
        ({"ngrams": (2, 1)}, "ngrams must be a pair"),
        ({"ngrams": (1, 99)}, "from 1 to 8"),
        ({"min_length": 0}, "at least one"),
        ({"min_length": 5, "max_length": 4}, "min_length=5 and max_length=4"),
        ({"tokenizer": "split"}, "tokenizer must be a function"),
        ({"stop_words": "klingon"}, "klingon"),
    ],
)
def test_bad_rules(rule, message):
    with pytest.raises(InputError, match=message):
        aw.read_corpus(["a text"], **rule)


def test_words_that_share_a_slot_are_told_apart():
    # With one seed and a table of 8,192 slots, thousands of words share slots: numbers must still be one a word.
    counter = words.WordCounter()
    numbers = [counter.number(f"word {i}") for i in range(4000)]
    assert numbers == list(range(4000))
    assert [counter.number(f"word {i}") for i in range(4000)] == numbers


def test_every_character_has_its_kind():
    """No plane of Unicode that this Python knows letters, marks or numbers in has been left out."""
    kinds = words.character_kinds()
    for point in range(0x110000):
        category = unicodedata.category(chr(point))[0]
        assert (kinds[point] > 0) == (category in "LMN" or chr(point) in "_\u200c\u200d")
        assert (kinds[point] >= 2) == (category == "L")
