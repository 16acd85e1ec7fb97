from __future__ import annotations

import builtins
import unicodedata

import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import anchorwords as aw
from anchorwords.corpus import stopwords
from anchorwords.corpus.like import kept_as_for_fit
from anchorwords.corpus.stopwords import LANGUAGES, stop_words
from anchorwords.corpus.vocabulary_rule import VocabularyRule
from anchorwords.exceptions import CorpusFormatError, InputError

FUNCTION_WORDS = {
    "danish": "og den det ikke på være blev hvorfor",
    "dutch": "de het een niet zijn wordt waarom t",
    "english": "the and of does did just don doesn isn wouldn ve ll re s t",
    "french": "le la les être à où très aujourd l d j qu n s c m t",
    "german": "der die das und nicht für über müssen dass daß",
    "italian": "il la che è perché più l un dell nell sull d",
    "polish": "i w nie się że być który żeby",
    "portuguese": "o a não é são também você às",
    "russian": "и в не что ее её еще ещё который",
    "spanish": "el la de que está más también sí",
    "swedish": "och den det inte är på vara måste",
    "turkish": "ve bir bu için değil çünkü mı mi nin nın",
}
CONTENT_WORDS = {
    "danish": "vand hus computer sprog penge",
    "dutch": "water huis computer taal geld",
    "english": "computer water house language money",
    "french": "maison eau ordinateur langue argent",
    "german": "wasser haus computer sprache geld",
    "italian": "acqua casa computer lingua denaro",
    "polish": "woda dom komputer język pieniądze",
    "portuguese": "água casa computador língua dinheiro",
    "russian": "вода дом компьютер язык деньги",
    "spanish": "agua casa estado poder dinero",
    "swedish": "vatten hus dator språk pengar",
    "turkish": "su ev bilgisayar dil para",
}


def test_the_languages():
    assert tuple(sorted(FUNCTION_WORDS)) == LANGUAGES
    assert isinstance(LANGUAGES, tuple)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_is_clean(language):
    words = stop_words(language)
    assert isinstance(words, frozenset)
    for word in words:
        assert word == word.lower()
        assert word == unicodedata.normalize("NFC", word)
        assert word.isalpha(), f"{word!r} could never be met as a token"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_is_sorted_and_distinct_in_the_source(language):
    words = stopwords._WORDS[language].split()
    assert words == sorted(set(words))


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "english"])
def test_every_list_has_a_sensible_size(language):
    assert 120 <= len(stop_words(language)) <= 220


# Latin look-alikes among Cyrillic letters, or the other way round, would never match.
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_list_keeps_to_its_script(language):
    script = "CYRILLIC" if language == "russian" else "LATIN"
    for word in stop_words(language):
        assert all(unicodedata.name(letter).startswith(script) for letter in word), word


@pytest.mark.parametrize("language", LANGUAGES)
def test_function_words_are_in_and_content_words_are_not(language):
    words = stop_words(language)
    assert set(FUNCTION_WORDS[language].split()) - words == set()
    assert set(CONTENT_WORDS[language].split()) & words == set()


def test_english_is_that_of_scikit_learn_without_content_words():
    words = stop_words("english")
    content = [
        "interest",
        "bill",
        "system",
        "fire",
        "mine",
        "amount",
        "top",
        "serious",
        "name",
        "side",
        "call",
        "detail",
        "move",
        "full",
        "un",
    ]
    assert not words & set(content)
    assert len(ENGLISH_STOP_WORDS - words) < 30
    assert len(words) < 420


def test_stop_words_add_up(tmp_path):
    (tmp_path / "more.txt").write_text("widget\n# not this\ngadget\n")
    words = stop_words(["english", "german", tmp_path / "more.txt", "gizmo"])
    assert words == stop_words("english") | stop_words("german") | {"widget", "gadget", "gizmo"}
    assert "english" not in words


@pytest.mark.parametrize("contraction", ["don't", "they've", "we'll", "isn't", "I'm", "you're", "he'd", "it's"])
def test_nothing_is_left_of_an_english_contraction(contraction):
    assert set(contraction.lower().split("'")) <= stop_words("english")


def test_none_is_no_words():
    assert stop_words(None) == frozenset()


@pytest.mark.parametrize("given", [["Foo", "bar", "bar"], ("Foo", "bar"), {"Foo", "bar"}, iter(["bar", "Foo"])])
def test_an_iterable_is_kept_as_it_is(given):
    words = stop_words(given)
    assert isinstance(words, frozenset)
    assert words == {"Foo", "bar"}


def test_an_empty_iterable():
    assert stop_words([]) == frozenset()


@pytest.mark.parametrize("kind", [str, lambda path: path])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file(tmp_path, kind, end):
    path = tmp_path / "words.txt"
    lines = ["# a comment", "  alpha\t", "", "BETA", "   ", "  # another", "schön", "c#", "alpha", "last"]
    path.write_bytes(end.join(lines).encode())
    assert stop_words(kind(path)) == {"alpha", "BETA", "schön", "c#", "last"}


def test_a_file_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes("alpha\nbeta\n".encode("utf-8-sig"))
    assert stop_words(path) == {"alpha", "beta"}


def test_a_language_goes_before_a_file_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "german").write_text("alpha\n", encoding="utf-8")
    assert "und" in stop_words("german")
    assert stop_words("./german") == {"alpha"}
    assert stop_words(tmp_path / "german") == {"alpha"}


def test_a_file_that_is_not_utf8_or_not_there(tmp_path):
    path = tmp_path / "words.txt"
    path.write_bytes(b"sch\xf6n\n")
    with pytest.raises(CorpusFormatError, match=r"words\.txt"):
        stop_words(path)
    with pytest.raises(CorpusFormatError, match=r"absent\.txt"):
        stop_words(tmp_path / "absent.txt")


@pytest.mark.parametrize("name", ["klingon", "English", "", "en", "no/such/file.txt", "nul\0byte", "."])
def test_an_unknown_name_is_one_clear_sentence(name):
    with pytest.raises(InputError) as caught:
        stop_words(name)
    message = str(caught.value)
    assert repr(name) in message
    assert all(language in message for language in LANGUAGES)
    assert "file" in message
    assert "\n" not in message
    assert message.endswith(".")


def test_a_text_too_long_to_be_a_path_is_shortened():
    with pytest.raises(InputError) as caught:
        stop_words("the and of " * 10_000)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("given", [3, 2.5, b"english", bytearray(b"words")])
def test_what_holds_no_words(given):
    with pytest.raises(InputError, match="stop words must be a language, an existing file or a collection of words"):
        stop_words(given)


@pytest.mark.parametrize("given", [["the", 3], [None], [b"the"]])
def test_an_iterable_of_something_else(given):
    with pytest.raises(InputError, match="stop words must be str"):
        stop_words(given)


def test_scikit_learn_is_imported_for_english_only(monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        assert not name.startswith("sklearn"), name
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    assert "und" in stop_words("german")


def test_words_that_are_names_of_languages(tmp_path):
    (tmp_path / "words.txt").write_text("german\nphone\n")
    for given in (
        {"german", "phone"},
        frozenset(["german", "phone"]),
        tmp_path / "words.txt",
        [tmp_path / "words.txt"],
    ):
        assert stop_words(given) == {"german", "phone"}
        rule = VocabularyRule.checked(stop_words=given)
        assert VocabularyRule.from_dict(rule.to_dict()).stop_set == rule.stop_set == {"german", "phone"}
        assert rule.languages == ()
    both = VocabularyRule.checked(stop_words=["english", "german", tmp_path / "words.txt"])
    assert both.languages == ("english", "german")
    assert {"german", "phone", "the", "und"} <= both.stop_set
    assert VocabularyRule.from_dict(both.to_dict()) == both


def test_a_model_measures_on_words_that_are_names_of_languages():
    # Words that the model does not know are left out as words, also if one is the name of a language.
    texts = [f"die war man goal match {'german polish italian' if i == 0 else 'league coach'}" for i in range(30)]
    corpus = aw.read_corpus(texts)
    model = aw.AnchorTopicModel(2).fit(corpus.prune(min_df=2))
    assert set(kept_as_for_fit(model, corpus).vocabulary) == {"die", "war", "man", "goal", "match", "league", "coach"}
