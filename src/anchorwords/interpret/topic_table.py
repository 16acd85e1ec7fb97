"""A table of topics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .._markdown import separator_of
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
from .naming import topic_names
from .topic_words import (
    SMALLEST_BACKGROUND,
    anchors_of,
    background_words,
    by_prevalence,
    characteristic_words,
    prominent_words,
    ranking_for,
    stability_by_topic,
    top_words,
    words_of,
)

_RANKINGS = {
    "keywords": "keywords",
    "probability": "most probable words",
    "relevance": "most relevant words",
    "frex": "words by FREX",
    "characteristic": "characteristic words",
}
# Words of a topic in the display of a model.
_WORDS = 10

# Of a larger share of the documents a background may be a subject, which goes with all others.
_LARGE_BACKGROUND = 0.3


class TopicTable(TableList):
    """Topics, one dict per topic; see :func:`topic_table`.

    Attributes
    ----------
    ranking : str
        What words are listed by.
    stability : Stability or None
        Where the intervals come from.
    background : dict or None
        The common words that are no topic, as :func:`background_words` gives them.
    flags : list of str
        Sentences about topics to look at twice.
    """

    def __init__(
        self,
        rows: Iterable[dict[str, Any]] = (),
        ranking: str = "probability",
        stability: Stability | None = None,
        background: dict[str, Any] | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        super().__init__(rows)
        self.ranking, self.stability, self.background, self.flags = ranking, stability, background, list(flags)

    @property
    def notes(self) -> list[str]:
        """What belongs under the table: the background, and topics to look at twice."""
        background = background_sentence(self.background)
        return [*([background] if background else []), *map(as_sentence, self.flags)]

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
        notes = [about, *self.notes, *notes]
        return table_of(list(self), fields, caption, max_rows=max_rows, noun="topics", notes=notes)


def topic_table(
    model: Any,
    n: int = 10,
    *,
    ranking: str | None = None,
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
        What words are listed by, as in :func:`top_words`: by default what the model is best read by.
    vocabulary : sequence of str, optional

    Returns
    -------
    TopicTable
        A list of dicts that displays as a table and has ``to_frame()``. Keys are ``topic`` (id), ``label``, ``prevalence``,
        ``anchor``, ``prominent`` and ``characteristic`` (lists of words; the latter is empty if the model does not hold the
        original statistics), and ``specific``: the characteristic words that are not among the prominent ones, which are in
        bold in the paper's Table 1.

        With a ranking other than by probability there is also ``words``, the words by that ranking. If some topic has
        several anchors, ``anchor`` names them all with " + " between them, and ``anchors`` is the list. If some topic was
        flagged (:func:`flag_topics`), ``flags`` says what of each, in a list of sentences. If stability was
        measured, there are also ``stability`` (of the whole topic), ``stable_words``, ``anchor_stability`` and the interval
        of the prevalence, ``prevalence_low`` and ``prevalence_high``.
    """
    record = as_topic_model(model)
    words = words_of(record, vocabulary)
    ranking = ranking_for(record) if ranking is None else ranking
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
        if record.flags:
            row["flags"] = [flag.sentence(words) for flag in record.flags if record.ids[k] in flag.topics]
        rows.append(row | {name: float(values[k]) for name, values in sure.items()})
    return TopicTable(
        rows, ranking, record.stability, background_words(record, n, vocabulary=vocabulary),
        [flag.sentence(words) for flag in record.flags],
    )  # fmt: skip


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
    notes = [_edited(record), "" if made.converged is not False else "The rectification did not converge."]
    return topic_table(record, _WORDS).table(f"{caption}: {', '.join(facts)}", max_rows, notes)


def background_sentence(background: dict[str, Any] | None) -> str:
    """A sentence about the background, for under a table of topics; empty if there is next to none."""
    if background is None or background["share"] < SMALLEST_BACKGROUND:
        return ""
    words = separator_of(background["words"]).join(background["words"])
    sentence = f"Background, {100 * background['share']:.0f}% of a document on average, in no topic: {words}."
    if background["share"] > _LARGE_BACKGROUND:
        sentence += " If these words are a subject of their own, give one of them as an anchor."
    return sentence


def as_sentence(text: str) -> str:
    """Begin with a capital letter and end with a full stop."""
    return text[:1].upper() + text[1:] + "."


def _edited(record: TopicModel) -> str:
    """A sentence about the edits of a model."""
    n = len(record.edits)
    if not n:
        return ""
    return f"Edited {n} {'time' if n == 1 else 'times'}: {', '.join(edit.action for edit in record.edits)}."
