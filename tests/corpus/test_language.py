"""Stop words that do not fit the language of the documents are noticed."""

from __future__ import annotations

import warnings

import pytest

import anchorwords as aw
from anchorwords.exceptions import TextWarning

# A few sentences of our own in each language.
TEXTS = {
    "english": "The weather in the north was cold, and the people who lived there said that it would not be warm again "
    "before the end of May. They had been waiting for the sun for a long time.",
    "german": "Das Wetter im Norden war kalt, und die Leute, die dort wohnten, sagten, dass es vor dem Ende des Monats "
    "nicht wieder warm werden würde. Sie hatten lange auf die Sonne gewartet.",
    "french": "Le temps dans le nord était froid, et les gens qui y vivaient disaient que la chaleur ne serait pas de "
    "retour avant la fin du mois de mai. Ils avaient attendu le soleil pendant des semaines.",
    "spanish": "El tiempo en el norte era frío, y la gente que vivía allí decía que no haría calor otra vez antes del fin "
    "del mes. Habían esperado el sol durante mucho tiempo, pero no llegaba.",
    "dutch": "Het weer in het noorden was koud, en de mensen die daar woonden zeiden dat het niet weer warm zou worden voor "
    "het einde van de maand. Ze hadden lang op de zon gewacht.",
    "swedish": "Vädret i norr var kallt, och folket som bodde där sade att det inte skulle bli varmt igen före slutet av "
    "månaden. De hade väntat på solen i en lång tid.",
}


def corpus_of(*languages):
    return aw.read_corpus([TEXTS[name] for name in languages])


def pruned(corpus, stop_words):
    return corpus.prune(stop_words=stop_words, min_tokens=1, min_types=1)


@pytest.mark.parametrize("language", TEXTS)
def test_the_own_language_is_not_remarked_on(language):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruned(corpus_of(language), language)


@pytest.mark.parametrize("language", sorted(set(TEXTS) - {"english"}))
def test_another_language_is_named(language):
    with pytest.warns(
        TextWarning, match=rf"tokens are {language} stop words.*use stop_words='{language}', or --stop-words"
    ):
        pruned(corpus_of(language), "english")


def test_a_second_language_comes_on_top():
    corpus = corpus_of("english", "german")
    match = r"use stop_words=\['english', 'german'\], or --stop-words english --stop-words german"
    with pytest.warns(TextWarning, match=match):
        pruned(corpus, "english")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruned(corpus, ["english", "german"])


def test_words_alone_do_not_stand_for_a_language():
    with pytest.warns(
        TextWarning, match=r"english stop words, which are not among the stop words given: add 'english'"
    ):
        pruned(corpus_of("english"), ["weather"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruned(corpus_of("english"), None)
        pruned(corpus_of("english"), ["english", "weather"])


def test_what_is_no_text_has_no_language():
    tokens = aw.read_corpus([text.lower().split() for text in TEXTS.values()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pruned(tokens, "english")
        pruned(corpus_of("german"), None)
