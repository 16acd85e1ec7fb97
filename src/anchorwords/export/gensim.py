"""Topics as gensim prints them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._printable import printable
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.topic_words import by_prevalence, prominent_indices, words_of
from ..model import as_topic_model


def show_topics(
    model: Any,
    num_topics: int = 10,
    num_words: int = 10,
    formatted: bool = True,
    *,
    vocabulary: Sequence[str] | None = None,
) -> list[tuple[int, Any]]:
    """Topics in the shape of gensim's ``LdaModel.show_topics``.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    num_topics : int
        The most prevalent topics, most prevalent first; -1 for all.
    num_words : int
        Most probable words of each.
    formatted : bool
        Topics as text, ``0.021*"word" + ...``, each in one line: line feeds and other control characters of a word are
        U+FFFD there. Otherwise lists of (word, probability), with words as they are.
    vocabulary : sequence of str, optional
        Words of the columns; by default the model's own, else their indices.

    Returns
    -------
    list of (topic id, text or list of (word, probability))
    """
    record = as_topic_model(model)
    check_positive_integer(num_words, "num_words")
    if not isinstance(num_topics, (int, np.integer)) or num_topics == 0:
        raise InputError(f"num_topics must be a positive whole number, or -1 for all topics, but is {num_topics!r}.")
    words, tops = words_of(record, vocabulary), prominent_indices(record, num_words)
    shown: list[tuple[int, Any]] = []
    for k in by_prevalence(record)[: num_topics if num_topics > 0 else None].tolist():
        pairs = [(words[i], float(record.B[i, k])) for i in tops[k]]
        shown.append(
            (
                record.ids[k],
                " + ".join(f'{share:.3f}*"{printable(word)}"' for word, share in pairs) if formatted else pairs,
            )
        )
    return shown
