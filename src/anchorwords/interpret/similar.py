"""Words that are used like a given word: near items by their topic profiles.

Notation
--------
t_i : (K,)                      p(topic | word i), the topic profile of a word
s_ij = sum_k sqrt(t_ik t_jk)    Bhattacharyya coefficient of two profiles

The coefficient is 1 if and only if two words have the same profile and 0 if they share no topic; 1 - s is the squared
Hellinger distance. Unlike the cosine of the profiles it compares them as distributions: a topic counts by how much both
words belong to it, and s is a sum over topics, so that each topic has a share in the similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_positive_integer
from ..corpus.missing import close_matches
from ..exceptions import InputError
from ..model import TopicModel, as_topic_model
from ..records import TableRecord
from ..records.table import Table, number_field, small_field, table_of, text_field, words_field
from .naming import topic_names

# Similarities that agree to so many digits are ties, which the more frequent word wins: words of one topic alone all have
# the similarity 1 up to rounding.
_DIGITS = 6
# A topic is reported if it has at least this share in the similarity.
_SHARE = 0.1


@dataclass(frozen=True, repr=False)
class SimilarWords(TableRecord):
    """Words similar to each word that was asked about.

    Attributes
    ----------
    found : list of dict
        What :meth:`rows` returns.
    """

    found: list[dict[str, Any]]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per word and similar word: query, word, similarity, probability, topics, labels."""
        return [dict(row) for row in self.found]

    def _tables(self, max_rows: int | None) -> list[Table]:
        fields = [
            text_field("query", "word"), text_field("word", "similar word", strong=True), number_field("similarity"),
            small_field("probability", "of all tokens"), words_field("labels", "topics in common"),
        ]  # fmt: skip
        return [table_of(self.found, fields, "Words with similar topics", max_rows=max_rows)]


def similar_words(model: Any, words: str | int | Sequence[str | int], n: int = 10) -> SimilarWords:
    """Find the words whose topic profiles p(topic | word) are most similar to that of a word.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    words : str, int, or list of them
        Words of the vocabulary, or their columns. Similar words are found for each of them separately.
    n : int, default=10
        Number of similar words per word.

    Returns
    -------
    SimilarWords
        Most similar first; ties go to the more frequent word. ``similarity`` is the Bhattacharyya coefficient of the two
        profiles, from 0 (no topic in common) to 1 (the same profile). ``topics`` are the ids of the topics that account for
        at least a tenth of it, largest first, and ``labels`` their names.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> model = aw.AnchorTopicModel(3).fit(corpus)
    >>> len(aw.similar_words(model, "w005", n=4).rows())
    4
    """
    record = as_topic_model(model)
    check_positive_integer(n, "n")
    asked = [words] if isinstance(words, (str, int, np.integer)) else list(words)
    columns = [_column(record, word) for word in asked]
    names, roots = topic_names(record), np.sqrt(record.word_topics)
    found = []
    for column in columns:
        similarity = np.round(np.minimum(roots @ roots[column], 1.0), _DIGITS)
        order = np.lexsort((np.arange(record.n_words), -record.word_probs, -similarity))
        order = order[(order != column) & (record.word_probs[order] > 0.0) & (similarity[order] > 0.0)][:n]
        for other in order.tolist():
            parts = roots[other] * roots[column]
            shared = [k for k in np.argsort(-parts, kind="stable").tolist() if parts[k] >= _SHARE * parts.sum()]
            found.append({
                "query": _name(record, column), "word": _name(record, other), "similarity": float(similarity[other]),
                "probability": float(record.word_probs[other]), "topics": [record.ids[k] for k in shared],
                "labels": [names[k] for k in shared],
            })  # fmt: skip
    return SimilarWords(found)


def _name(record: TopicModel, column: int) -> Any:
    return column if record.vocabulary is None else record.vocabulary[column]


def _column(record: TopicModel, word: Any) -> int:
    if isinstance(word, str) and record.vocabulary is not None:
        if word in record.vocabulary:
            column = record.vocabulary.index(word)
        else:
            near = close_matches(word, record.vocabulary)
            hint = (
                f"did you mean {' or '.join(map(repr, near))}?"
                if near
                else "model.vocabulary lists the words of the model."
            )
            raise InputError(f"{word!r} is not a word of the model: {hint}")
    elif isinstance(word, (int, np.integer)) and not isinstance(word, bool) and 0 <= word < record.n_words:
        column = int(word)
    else:
        kinds = "a column" if record.vocabulary is None else "a word of the model or a column"
        raise InputError(f"expected {kinds} from 0 to {record.n_words - 1}, but got {word!r}.")
    if record.word_probs[column] <= 0.0:
        raise InputError(f"{word!r} never occurred in the documents of the fit, so that nothing is similar to it.")
    return column
