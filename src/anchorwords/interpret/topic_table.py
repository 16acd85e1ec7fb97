"""A table of topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..model import Stability, TopicModel, as_topic_model
from ..records import TableList
from ..records.table import (
    Field,
    Table,
    counted,
    fixed_field,
    largest_of,
    share_field,
    table_of,
    text_field,
    topic_field,
    words_field,
)
from .naming import ranking_for, topic_names
from .topic_words import (
    anchors_of,
    by_prevalence,
    characteristic_words,
    prominent_words,
    stability_by_topic,
    top_words,
    words_of,
)

_RANKINGS = {
    "probability": "most probable words",
    "relevance": "most relevant words",
    "frex": "words by FREX",
    "characteristic": "characteristic words",
}
# Words of a topic in the display of a model.
_WORDS = 10


class TopicTable(TableList):
    """Topics, one dict per topic; see :func:`topic_table`.

    Attributes
    ----------
    ranking : str
        What words are listed by.
    stability : Stability or None
        Where the intervals come from.
    """

    def __init__(
        self, rows: Iterable[dict[str, Any]] = (), ranking: str = "probability", stability: Stability | None = None
    ) -> None:
        super().__init__(rows)
        self.ranking, self.stability = ranking, stability

    def _tables(self, max_rows: int | None) -> list[Table]:
        return [self.table(f"{counted(len(self), 'topic')}, most prevalent first", max_rows)]

    def table(self, caption: str, max_rows: int | None = None, notes: Sequence[str] = ()) -> Table:
        """Return what is displayed, under a caption."""
        sure = bool(self) and "stability" in self[0]
        fields: list[Field] = [
            topic_field(),
            text_field("label", strong=True),
            share_field(
                "prevalence",
                "share",
                low="prevalence_low",
                high="prevalence_high",
                largest=largest_of(self, "prevalence"),
            ),
            *([fixed_field("stability")] if sure else []),
            text_field("anchor"),
            words_field("words" if self and "words" in self[0] else "prominent", _RANKINGS.get(self.ranking, "words")),
        ]
        found = self.stability
        about = "" if found is None or not sure else (
            f"Intervals and stability: level {100 * found.level:g}%, {found.n_replicates} replicates of the documents."
        )  # fmt: skip
        return table_of(list(self), fields, caption, max_rows=max_rows, noun="topics", notes=[about, *notes])


def topic_table(
    model: Any,
    n: int = 10,
    *,
    ranking: str = "probability",
    weight: float | None = None,
    vocabulary: Sequence[str] | None = None,
) -> TopicTable:
    """Return a table of topics, one row per topic, most prevalent first.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    n : int
        Words per topic.
    ranking, weight : optional
        Another ranking to list words by, as in :func:`top_words`.
    vocabulary : sequence of str, optional

    Returns
    -------
    TopicTable
        A list of dicts that displays as a table and has ``to_frame()``. Keys are ``topic`` (id), ``label``, ``prevalence``,
        ``anchor``, ``prominent`` and ``characteristic`` (lists of words; the latter is empty if the model does not hold the
        original statistics), and ``specific``: the characteristic words that are not among the prominent ones, which are in
        bold in the paper's Table 1.

        With a ranking other than by probability there is also ``words``, the words by that ranking. If some topic has
        several anchors, ``anchor`` names them all with " + " between them, and ``anchors`` is the list. If stability was
        measured, there are also ``stability`` (of the whole topic), ``stable_words``, ``anchor_stability`` and the interval
        of the prevalence, ``prevalence_low`` and ``prevalence_high``.
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    ranked = top_words(record, n, ranking=ranking, weight=weight, vocabulary=vocabulary)
    other = ranking != "probability"
    prominent = prominent_words(record, n, vocabulary=vocabulary) if other else ranked
    if record.anchor_rows is None:
        characteristic: list[list[str]] = [[] for _ in range(record.n_components)]
    else:
        characteristic = characteristic_words(record, n, vocabulary=vocabulary)
    prevalence, sure = record.prevalence, stability_by_topic(record)
    labels = topic_names(record if vocabulary is None else record.with_vocabulary(vocabulary))
    rows = []
    for k in by_prevalence(record):
        row = {
            "topic": record.ids[k], "label": labels[k], "prevalence": float(prevalence[k]), **anchors_of(record, k, words)
        }  # fmt: skip
        if other:
            row["words"] = ranked[k]
        row["prominent"] = prominent[k]
        row["characteristic"] = characteristic[k]
        row["specific"] = [word for word in characteristic[k] if word not in prominent[k]]
        rows.append(row | {name: float(values[k]) for name, values in sure.items()})
    return TopicTable(rows, ranking, record.stability)


def model_table(model: Any, caption: str = "Topic model", max_rows: int | None = None) -> Table:
    """Return the topics of a model as a notebook shows them, by the ranking that the model is read by.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    caption : str
        Beginning of the caption.
    max_rows : int or None
        Topics to show; None shows all.
    """
    record = as_topic_model(model)
    made = record.provenance
    facts = [f"{record.n_components:,} topics", f"{record.n_words:,} words"]
    if made.n_docs:
        facts.append(f"{made.n_docs:,} documents")
    ranking = ranking_for(record)
    notes = [_edited(record), "" if made.converged is not False else "The rectification did not converge."]
    return topic_table(record, _WORDS, ranking=ranking).table(f"{caption}: {', '.join(facts)}", max_rows, notes)


def _edited(record: TopicModel) -> str:
    """A sentence about the edits of a model."""
    n = len(record.edits)
    if not n:
        return ""
    return f"Edited {n} {'time' if n == 1 else 'times'}: {', '.join(edit.action for edit in record.edits)}."
