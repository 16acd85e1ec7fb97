"""The names that topics are shown by in tables, figures, pages and commands.

An automatic label is made of a topic's own words. Words are taken in the order of relevance (Sievert and Shirley, 2014),
or of keyword weights if the model has them, so that those that set the topic apart come before those that all topics
share, and a word is left out if it repeats one
that was already taken: another form of the same word, or a part of an n-gram.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._markdown import separator_of
from .._typing import IntArray
from ..model import TopicModel, as_topic_model
from .ranking import word_probabilities
from .topic_words import top_indices, words_of

# Words in an automatic label, and candidates for each of them.
_WORDS = 3
_CANDIDATES = 8
# Letters of the words of a label together: of long names, such as those of songs, one or two fit.
_LONGEST = 44
# Two words with so many letters in common at the start are forms of one word if both endings are short.
_STEM, _ENDING = 5, 3
# Words with at least this many letters are also forms of one word if they share two thirds of the shorter one at the start.
_LONG = 6


def topic_names(model: Any) -> list[str]:
    """Return the name of each topic, in the order of the model: its label or, without labels, an automatic name.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    list of K str
    """
    record = as_topic_model(model)
    if record.labels is not None and all(record.labels):
        return list(record.labels)
    automatic = automatic_labels(record)
    return [given or own for given, own in zip(record.labels or automatic, automatic, strict=True)]


def automatic_labels(model: Any) -> list[str]:
    """Return a label for each topic made of its own words, all labels distinct.

    Parameters
    ----------
    model : TopicModel or fitted estimator

    Returns
    -------
    list of K str
        Up to three words per topic, the most relevant first. Words that are no more probable in the topic than in the
        corpus are used only if there are no others, and so are numbers and words with as many digits as letters, such as
        "v1".

    Notes
    -----
    Two topics that would get the same label take further words until they differ; if they have the same words, their ids are
    appended. Synonyms that do not resemble each other can both be in a label: given the topic, the model treats words as
    independent, so that it cannot tell synonyms from words that merely share a topic.
    """
    record = as_topic_model(model)
    words = words_of(record)
    candidates = [[words[i] for i in top] for top in _distinctive(record)]
    taken = [distinct_words(own) for own in candidates]
    lengths = [_fitting(own) for own in taken]
    labels = [_joined(own[:n]) for own, n in zip(taken, lengths, strict=True)]
    for _ in range(_WORDS * _CANDIDATES):
        repeated = [k for k, label in enumerate(labels) if labels.count(label) > 1 and lengths[k] < len(taken[k])]
        if not repeated:
            break
        for k in repeated:
            lengths[k] += 1
            labels[k] = _joined(taken[k][: lengths[k]])
    same = [k for k, label in enumerate(labels) if labels.count(label) > 1]
    for k in same:
        labels[k] = f"{labels[k]} ({record.ids[k]})"
    return labels


def distinct_words(words: Sequence[str]) -> list[str]:
    """Return the words, in order, without those that repeat an earlier one.

    A word repeats another if all of its parts are forms of parts of the other: "networks" repeats "network" and "neural
    network". An n-gram that contains earlier words takes the place of the first of them.
    """
    chosen: list[str] = []
    for word in words:
        if any(_within(word, other) for other in chosen):
            continue
        parts = [place for place, other in enumerate(chosen) if _within(other, word)]
        if parts:
            chosen[parts[0]] = word
            chosen = [other for place, other in enumerate(chosen) if place not in parts[1:]]
        else:
            chosen.append(word)
    return chosen


def _distinctive(record: TopicModel) -> list[IntArray]:
    """Candidates for the label of each topic, best first.

    Numbers come after words, and words that the topic has less of than the corpus come last.
    """
    p, words = word_probabilities(record.B, record.prevalence), words_of(record)
    ranking = "relevance" if record.keyword_weights is None else "keywords"
    found = []
    for k, top in enumerate(top_indices(record, _WORDS * _CANDIDATES, ranking=ranking)):
        common = record.B[top, k] <= p[top]
        numeric = np.array([_is_numeric(words[i]) for i in top], dtype=bool)
        found.append(top[np.argsort(2 * common + numeric, kind="stable")])
    return found


def _is_numeric(word: str) -> bool:
    """Whether a word has at least as many digits as letters: "1996", "v1"."""
    digits = sum(char.isdigit() for char in word)
    return digits > 0 and digits >= sum(char.isalpha() for char in word)


def _fitting(words: Sequence[str]) -> int:
    """How many of the first words fit in a label: at least one if there are any."""
    lengths = np.cumsum([len(word) for word in words[:_WORDS]])
    return min(len(words), max(1, int(np.count_nonzero(lengths <= _LONGEST))))


def _joined(words: Sequence[str]) -> str:
    return separator_of(words).join(words)


def _within(one: str, other: str) -> bool:
    """Whether each part of one is a form of a part of the other."""
    parts, others = one.casefold().split() or [one], other.casefold().split() or [other]
    return len(parts) <= len(others) and all(any(_akin(part, own) for own in others) for part in parts)


def _akin(one: str, other: str) -> bool:
    """Whether two words are likely forms of one word: a rule about letters that needs no dictionary of a language.

    They are if one differs from the other by a letter or two at its end ("method", "methods"; "propose", "proposed"), if a
    long word begins the other ("admin", "administrator"), if they share a long beginning and have short endings
    ("learning", "learned"), if they share two thirds of a long word ("classes", "classifier"; "cortex", "cortical"), or if
    one has a letter before the other ("mail", "email"). Such a rule also takes "server" and "service" for forms of one
    word. That costs a label no more than one of its words, which the next best word replaces.
    """
    short, long = sorted((one, other), key=len)
    if len(short) >= 4 and long[1:] == short:
        return True
    common = next((i for i, char in enumerate(short) if char != long[i]), len(short))
    ending, longer = len(short) - common, len(long) - common
    if common >= 3 and ending <= 1 and longer <= _ENDING:
        return True
    if len(short) >= _LONG and 3 * common >= 2 * len(short):
        return True
    return common >= _STEM and (ending == 0 or (ending <= _ENDING and longer <= _ENDING))
