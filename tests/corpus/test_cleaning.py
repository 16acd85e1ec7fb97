"""Cleaning: each kind alone, the text around it untouched, and in time linear in the text."""

from __future__ import annotations

import dataclasses
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus.cleaning import Cleaning
from anchorwords.exceptions import InputError

CASES = {
    "urls": [
        ("see https://example.org/a?b=c&d#e, now", "see   now"),
        ("see <http://example.org> now", "see < > now"),
        ("www.example.org and WWW.EXAMPLE.ORG", "  and  "),
        ("ftp://host/file", " "),
        ("see [one](http://a.org/x)[two](http://b.org/y) three", "see [one]( )[two]( ) three"),
        ("http://a.org/wiki/Foo_(bar)_x and http://[::1]:80/x, https:// alone", "  and   https:// alone"),
        ('say "http://a.org/b" (or www.b.org/c)', 'say " " (or  )'),
        ("a://b and awww.shucks", "a://b and awww.shucks"),
    ],
    "emails": [
        ("write to jane.doe+x@mail.example.org!", "write to  !"),
        ("5 @ 3 and a@b", "5 @ 3 and a@b"),
        ("next@12.0.9, x@y.org.", "next@12.0.9,  "),
    ],
    "html": [
        ("<p>one</p><p>two</p>", " one  two "),
        ("b<b>o</b>ld and<br/>more <a href='x'>link</a>", "bold and more link"),
        ("x<!-- hidden --> y <script>var a = 1 < 2;</script> z<STYLE>p {}</STYLE>", "x  y   z "),
        ("fish &amp; chips &lt;3 &#65;&#x42; &nosuch; &", "fish & chips <3 AB &nosuch; &"),
        ("a <b and c> d, List<String>, <stdio.h>", "a <b and c> d, List<String>, <stdio.h>"),
        ("<!-- never closed <p>x", "<!-- never closed  x"),
    ],
    "mentions": [
        ("thanks @jane_doe and @@x, a@b", "thanks   and @@x, a@b"),
        ("import @babel/core", "import @babel/core"),
    ],
    "hashtags": [("so #happy #2024 &#65; c#", "so     &#65; c#")],
    "hyphenation": [
        ("infor-\nmation retrie-\r\n  val", "information retrieval"),
        ("co\u00adoperate", "cooperate"),
        ("Jean-\nPaul, 1990-\n1995, - \nlist", "Jean-\nPaul, 1990-\n1995, - \nlist"),
    ],
    "pdf": [
        ("de(cid:12)ne (cid:3) x", "dene  x"),
        ("e\ufb03cient \ufb01nd", "efficient find"),
        ("(cid:) cid", "(cid:) cid"),
    ],
}
OFF = Cleaning.none()


@pytest.mark.parametrize("kind", CASES)
def test_each_kind_is_cleaned_and_nothing_else(kind):
    clean = dataclasses.replace(OFF, **{kind: True})
    for text, expected in CASES[kind]:
        assert clean(text) == expected
        assert clean.may_change(text) or text == expected
        assert OFF(text) == text
        assert not OFF.may_change(text)


def test_the_kinds_are_all_tested():
    assert list(CASES) == [one.name for one in dataclasses.fields(Cleaning)]


@given(st.text(alphabet=string.ascii_letters + string.digits + " \n.,;:!?'\"()", max_size=200))
def test_plain_text_is_left_as_it_is(text):
    everything = Cleaning(hashtags=True)
    if "www." not in text.lower() and "://" not in text:
        assert everything(text) == text
        assert not everything.may_change(text) or "(cid:" in text


@given(st.text(alphabet="<>&;-/@#.:wasp\n\u00ad\ufb01é(cid1) ", max_size=80))
def test_what_may_not_change_does_not(text):
    clean = Cleaning(hashtags=True)
    if not clean.may_change(text):
        assert clean(text) == text


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                ["http://", "www.", "a", "B", "@", "a@b.c", "<p", "<b>", " x=", ">", "<!--", "-->", "<script>", "&amp;", "#",
                 "-", "\n", " ", "\0", "\ufb01", "\u00ad", "(cid:", "1)"]
            )
        ).map("".join)
    )
)  # fmt: skip
def test_texts_are_cleaned_together_as_each_alone(texts):
    clean = Cleaning(hashtags=True)
    assert clean.all(texts) == [clean(text) for text in texts]


@given(
    st.lists(st.text(alphabet="<&-/@#.:wWc(id\n\u00ad\ufb01é\ud800 ", max_size=30), max_size=8),
    st.sampled_from([*CASES]),
)
def test_texts_that_may_change_are_found_together_as_each_alone(texts, kind):
    clean, seen = dataclasses.replace(OFF, **{kind: True}), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Cleaning, "_cleaned", lambda _, text, holds: seen.append((text, [*map(holds, clean._marks)])) or text
        )
        clean.all(texts)
    expected = [(text, [mark in text for mark in clean._marks]) for text in texts if clean.may_change(text)]
    assert seen == expected


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "a.",
        "a@",
        "@",
        "<",
        "<a ",
        "<p",
        "<!--",
        "<script>",
        "&",
        "&a",
        "#",
        "-\n",
        "- ",
        "http://",
        "www.",
        "(cid:",
        "a-",
    ],
)
def test_hostile_text_takes_linear_time(piece):
    # Quadratic time would take minutes.
    Cleaning(hashtags=True)(piece * (400_000 // len(piece)))


def test_documents_are_cleaned_unless_asked_not_to():
    text = "<b>Topic</b> models, see https://example.org/page or mail jane@example.org; infor-\nmation @jane #news"
    assert aw.read_corpus([text]).vocabulary == ("information", "mail", "models", "news", "or", "see", "topic")
    raw = aw.read_corpus([text], cleaning=False).vocabulary
    assert {"https", "example", "org", "jane", "infor", "mation"} <= set(raw)
    some = aw.read_corpus([text], cleaning=Cleaning(urls=False, hashtags=True)).vocabulary
    assert "https" in some
    assert "news" not in some
    assert aw.read_corpus([text, "é"], tokenizer=str.split).vocabulary[:3] == ("#news", ";", "information")


def test_token_lists_are_not_cleaned():
    assert aw.read_corpus([["https://example.org", "@jane"]]).vocabulary == ("@jane", "https://example.org")


def test_models_know_how_their_text_was_cleaned(tmp_path):
    texts = ["apple bread www.x.org", "bread cheese apple", "cheese apple bread", "bread apple"] * 5
    corpus = aw.read_corpus(texts, cleaning=Cleaning(urls=False))
    model = aw.AnchorTopicModel(2).fit(corpus)
    model.save(tmp_path / "m")
    loaded = aw.load_model(tmp_path / "m")
    assert loaded.text_rule_.cleaning == Cleaning(urls=False)
    assert aw.read_corpus(["www.x.org"], like=loaded).n_tokens == 2
    with pytest.raises(InputError, match="split as it was for the model given as like, but cleaning is given too"):
        aw.read_corpus(["www.x.org"], like=loaded, cleaning=False)


@pytest.mark.parametrize("given_", [1, "urls", {"urls": True}])
def test_wrong_arguments_are_refused(given_):
    with pytest.raises(InputError, match="cleaning must be a Cleaning, True, False or None"):
        aw.read_corpus(["a"], cleaning=given_)
    with pytest.raises(InputError, match="urls must be True or False"):
        Cleaning(urls=given_)
