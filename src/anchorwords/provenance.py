"""Where a model came from: how its text was read, which words were kept, how it was fitted and how that went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, NamedTuple

from ._version import __version__
from .corpus.text_rule import TextRule
from .corpus.vocabulary_rule import VocabularyRule
from .linalg.fixed_point import Iteration

# min_anchor_docs="auto": the share of the documents in which an anchor must occur (benchmarks/threshold.py).
AUTO_SHARE = 0.01


class AnchorThreshold(NamedTuple):
    """In how many documents a word must occur to be chosen as an anchor, and how that was decided.

    Attributes
    ----------
    min_docs : int
        The number of documents that was required.
    value : int or float
        The same as ``min_anchor_docs`` takes it: a number of documents, or a share of them.
    relaxed : bool
        Whether ``min_anchor_docs="auto"`` dropped the threshold, because it left too few words to choose from.
    n_frequent, fewest : int
        Then the number of words that met the threshold, and the number of documents it asked for.
    """

    min_docs: int = 1
    value: float = 1
    relaxed: bool = False
    n_frequent: int = 0
    fewest: int = 1

    def sentence(self) -> str | None:
        """Say why the threshold was dropped; None if it was not."""
        if not self.relaxed:
            return None
        return (
            f"only {self.n_frequent:,} words are in at least {self.fewest:,} documents ({AUTO_SHARE:.0%} of them, as the "
            "preset asks), so that any word may be an anchor"
        )


ANY_WORD = AnchorThreshold()


class ForbiddenTopic(NamedTuple):
    """A topic that a forbidden word stands for, and the words that were excluded with it.

    Attributes
    ----------
    word : int
        Column of the forbidden word.
    share : float
        p(topic | word) in a fit without the ban, more than one half.
    prevalence : float
        p(topic) in that fit.
    columns : tuple of int
        Columns of the words that belong mostly to that topic, most probable first.
    """

    word: int
    share: float
    prevalence: float
    columns: tuple[int, ...]

    def sentence(self, vocabulary: Sequence[str] | None = None, n: int = 10) -> str:
        """Say which words were excluded, with up to ``n`` of them by name."""

        def name(column: int) -> str:
            return f"column {column}" if vocabulary is None else repr(str(vocabulary[column]))

        others = [name(column) for column in self.columns if column != self.word]
        more = f" and {len(others) - n:,} more" if len(others) > n else ""
        return (
            f"{name(self.word)} belongs to one topic ({self.share:.0%} of the word; the topic has {self.prevalence:.1%} of "
            f"the tokens), which is excluded with {len(others):,} other words: {', '.join(others[:n])}{more}"
        )


@dataclass(frozen=True)
class Provenance:
    """What a model remembers of its making; every part may be unknown.

    Attributes
    ----------
    reading : TextRule or None
        How the text of its documents was split into words.
    tokenized : bool
        Whether its documents were lists of tokens, so that nothing tells how to split text.
    vocabulary_rule : VocabularyRule or None
        Which words and documents were kept.
    preset : str or None
        Name of the preset its parameters came from.
    parameters : dict
        Parameters of the estimator, as JSON holds them; empty for a model that no estimator made.
    n_docs, n_skipped : int or None
        Documents that were used, and those with fewer than two tokens.
    anchor_threshold : AnchorThreshold or None
        In how many documents a word had to occur to be chosen as an anchor.
    forbidden_topics : tuple of ForbiddenTopic
        Topics that forbidden words stand for, with the words that were excluded with them.
    n_iter : int
        Steps of the rectification, 0 without one.
    converged : bool
        Whether it met its tolerance.
    history : tuple of Iteration, or None
        Change, violation and objective of each of these steps.
    named_columns : bool
        Whether the words are the column names of a data frame.
    text : dict or None
        Parameters of the :class:`anchorwords.TextTopicModel` that saved the model, as JSON holds them; None for others.
    version : str
        Version of anchorwords that fitted the model; empty where it is not known.
    """

    reading: TextRule | None = None
    vocabulary_rule: VocabularyRule | None = None
    preset: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    n_docs: int | None = None
    n_skipped: int | None = None
    anchor_threshold: AnchorThreshold | None = None
    n_iter: int = 0
    converged: bool = True
    history: tuple[Iteration, ...] | None = None
    named_columns: bool = False
    text: Mapping[str, Any] | None = None
    tokenized: bool = False
    forbidden_topics: tuple[ForbiddenTopic, ...] = ()
    version: str = __version__

    def with_changes(self, **changes: Any) -> Provenance:
        """The same with some parts replaced."""
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """As JSON holds it; numbers of the history that are not finite, which JSON has no word for, are null."""
        history = None
        if self.history is not None:
            columns = {name: [getattr(step, name) for step in self.history] for name in Iteration._fields}
            history = {name: [float(x) if isfinite(x) else None for x in column] for name, column in columns.items()}
        return {
            "reading": None if self.reading is None else self.reading.to_dict(),
            "vocabulary_rule": None if self.vocabulary_rule is None else self.vocabulary_rule.to_dict(),
            "preset": self.preset, "parameters": dict(self.parameters), "n_docs": self.n_docs,
            "n_skipped": self.n_skipped, "n_iter": self.n_iter,
            "anchor_threshold": None if self.anchor_threshold is None else self.anchor_threshold._asdict(),
            "forbidden_topics": [topic._asdict() | {"columns": list(topic.columns)} for topic in self.forbidden_topics],
            "converged": self.converged, "history": history, "named_columns": self.named_columns,
            "text": None if self.text is None else dict(self.text), "tokenized": self.tokenized, "version": self.version,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, value: Any) -> Provenance:
        """Inverse of :meth:`to_dict`, except that all numbers that were not finite are NaN.

        ValueError where something is not what it should be, whoever wrote it. Only ``n_iter`` and ``converged`` must be
        there.
        """
        if not isinstance(value, dict):
            raise ValueError("the provenance is not an object")
        n_iter, converged = _whole(value, "n_iter"), value.get("converged")
        if n_iter is None or not isinstance(converged, bool):
            raise ValueError("n_iter or converged is missing")
        history = None if value.get("history") is None else _history(value["history"])
        if history is not None and len(history) != n_iter:
            raise ValueError("the history is not one of n_iter steps")
        preset, parameters, version = value.get("preset"), value.get("parameters", {}), value.get("version", "")
        if not isinstance(preset, str | None) or not isinstance(parameters, dict) or not isinstance(version, str):
            raise ValueError("the preset or the version is no text, or the parameters are no object")
        return cls(
            reading=_rule(value.get("reading"), TextRule),
            vocabulary_rule=_rule(value.get("vocabulary_rule"), VocabularyRule),
            preset=preset,
            parameters=parameters,
            n_docs=_whole(value, "n_docs"),
            n_skipped=_whole(value, "n_skipped"),
            anchor_threshold=_threshold(value.get("anchor_threshold")),
            n_iter=n_iter,
            converged=converged,
            history=history,
            named_columns=_truth(value, "named_columns"),
            text=_object_or_none(value.get("text")),
            tokenized=_truth(value, "tokenized"),
            forbidden_topics=_forbidden(value.get("forbidden_topics", [])),
            version=version,
        )

    @classmethod
    def from_first_release(cls, metadata: Mapping[str, Any]) -> Provenance:
        """What a folder of version 0.1 says of the making of its model."""
        rule, parameters = metadata.get("text_rule"), metadata.get("params", {})
        if isinstance(parameters, dict) and parameters.get("composition") == "map":
            parameters = parameters | {"composition": "posterior-mean"}  # its present name
        return cls.from_dict(
            {name: value for name, value in metadata.items() if name in ("n_docs", "n_skipped", "history", "n_iter")}
            | {
                "converged": metadata.get("converged"),
                "parameters": parameters,
                "named_columns": metadata.get("feature_names_in", False),
                "reading": rule if isinstance(rule, dict) else None,
                "version": "",
            }
        )


def _rule(value: Any, kind: Any) -> Any:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("a rule is not an object")
    return kind.from_dict(value)


def _threshold(value: Any) -> AnchorThreshold | None:
    if value is None:
        return None
    if not isinstance(value, dict) or value.keys() != set(AnchorThreshold._fields):
        raise ValueError("the anchor threshold does not say what was required")
    share, relaxed = value["value"], value["relaxed"]
    whole = all(_whole(value, name) is not None for name in ("min_docs", "n_frequent", "fewest"))
    if not whole or type(share) not in (int, float) or not 0 <= share < 2**63 or not isinstance(relaxed, bool):
        raise ValueError("the anchor threshold holds what is no number")
    return AnchorThreshold(**value)


def _forbidden(value: Any) -> tuple[ForbiddenTopic, ...]:
    if not isinstance(value, list):
        raise ValueError("the forbidden topics are not a list")
    found = []
    for one in value:
        if (
            not isinstance(one, dict)
            or one.keys() != set(ForbiddenTopic._fields)
            or not isinstance(one["columns"], list)
        ):
            raise ValueError("a forbidden topic does not say which words it holds")
        columns = tuple(one["columns"])
        if not all(type(column) is int and 0 <= column < 2**63 for column in (one["word"], *columns)):
            raise ValueError("a forbidden topic holds what is no column")
        if not all(type(one[name]) in (int, float) and 0 <= one[name] <= 1 for name in ("share", "prevalence")):
            raise ValueError("a forbidden topic holds what is no share")
        found.append(ForbiddenTopic(one["word"], float(one["share"]), float(one["prevalence"]), columns))
    return tuple(found)


def _object_or_none(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, dict | None):
        raise ValueError("the parameters of a text model are no object")
    return value


def _truth(value: Mapping[str, Any], name: str) -> bool:
    found = value.get(name, False)
    if not isinstance(found, bool):
        raise ValueError(f"{name} is neither true nor false")
    return found


def _whole(value: Mapping[str, Any], name: str) -> int | None:
    number = value.get(name)
    if number is not None and (type(number) is not int or not 0 <= number < 2**63):
        raise ValueError(f"{name} is not a whole number from 0 on")
    return number


def _history(columns: Any) -> tuple[Iteration, ...]:
    if not isinstance(columns, dict) or columns.keys() != set(Iteration._fields):
        raise ValueError(f"the history does not hold {', '.join(Iteration._fields)}")
    for name, column in columns.items():
        if not isinstance(column, list) or not all(x is None or (type(x) is float and isfinite(x)) for x in column):
            raise ValueError(f"the history of {name} is not a list of numbers")
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError("the history has columns of different lengths")
    steps = zip(*(columns[name] for name in Iteration._fields), strict=True)
    return tuple(Iteration(*(float("nan") if x is None else x for x in step)) for step in steps)
