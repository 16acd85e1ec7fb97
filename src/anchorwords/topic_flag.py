"""What may be wrong with a topic: what is kept with a model, and how it is said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, get_args

Kind = Literal["copies", "two subjects", "incoherent", "few documents", "apart", "template"]
KINDS: tuple[Kind, ...] = get_args(Kind)
# Topics and groups of words that a flag of each kind is about.
_TOPICS = {"copies": 2}
_GROUPS = {"two subjects": 2}
# Words of each group that a sentence names.
_NAMED = 5


class TopicFlag(NamedTuple):
    """A topic that a reader should look at twice; see :func:`anchorwords.flag_topics`.

    Attributes
    ----------
    kind : str
        ``"copies"``, ``"two subjects"``, ``"incoherent"``, ``"few documents"``, ``"apart"`` or ``"template"``.
    topics : tuple of int
        Id of the topic; of the two topics, for copies.
    words : tuple of tuples of int
        Columns of the words that show it: of the topic, or of each of two subjects.
    value : float
        Cosine of the two topics' weights; NPMI within the subjects less that across; mean NPMI of the words; number of
        documents that carry the topic; share of the topic in its own documents; share of documents with some of the first
        words that hold nearly all of them.
    """

    kind: Kind
    topics: tuple[int, ...]
    words: tuple[tuple[int, ...], ...]
    value: float

    def sentence(self, vocabulary: Sequence[str] | None = None) -> str:
        """Say what may be wrong and what can be done."""

        def listed(columns: tuple[int, ...]) -> str:
            names = [f"column {i}" if vocabulary is None else str(vocabulary[i]) for i in columns[:_NAMED]]
            return ", ".join(names)

        return _SENTENCES[self.kind](self, [listed(group) for group in self.words])


_SENTENCES: dict[str, Callable[[TopicFlag, list[str]], str]] = {
    "copies": lambda flag, words: (
        f"topics {flag.topics[0]} and {flag.topics[1]} are nearly the same ({words[0]}): consider merging them, or asking "
        "for fewer topics"
    ),
    "two subjects": lambda flag, words: (
        f"topic {flag.topics[0]} may hold two subjects ({words[0]} | {words[1]}): consider splitting it, or asking for "
        "more topics"
    ),
    "incoherent": lambda flag, words: (
        f"the first words of topic {flag.topics[0]} ({words[0]}) occur together less than those of other topics: read some "
        "of its documents before you give it a name"
    ),
    "few documents": lambda flag, words: (
        f"topic {flag.topics[0]} ({words[0]}) stands on about {_about(flag.value)}: consider dropping it or leaving them out"
    ),
    "apart": lambda flag, words: (
        f"documents of topic {flag.topics[0]} ({words[0]}) have little of any other topic: they may be in another language, "
        "or copies of a template"
    ),
    "template": lambda flag, words: (
        f"documents hold nearly all of the first words of topic {flag.topics[0]} ({words[0]}) or hardly any: they may be a "
        "heading, a signature or a phrase that one source repeats, rather than a subject"
    ),
}


def kept_flags(flags: Iterable[TopicFlag], topics: Iterable[int]) -> tuple[TopicFlag, ...]:
    """Flags of these topics and no others."""
    known = set(topics)
    return tuple(flag for flag in flags if known.issuperset(flag.topics))


def _about(n_docs: float) -> str:
    n = max(1, round(n_docs))
    return "one document" if n == 1 else f"{n} documents"


def flags_from(value: Any, n_words: int) -> tuple[TopicFlag, ...]:
    """Flags as JSON holds them; ValueError where something is not what it should be, whoever wrote it."""
    if not isinstance(value, list):
        raise ValueError("the flags of topics are not a list")
    return tuple(_flag_from(one, n_words) for one in value)


def _flag_from(one: Any, n_words: int) -> TopicFlag:
    if not isinstance(one, dict) or one.keys() != set(TopicFlag._fields) or one["kind"] not in KINDS:
        raise ValueError("a flag does not say what may be wrong with a topic")
    kind, topics, groups, number = one["kind"], one["topics"], one["words"], one["value"]
    if not _whole_numbers(topics, 2**63) or len(topics) != _TOPICS.get(kind, 1):
        raise ValueError("a flag does not name its topics")
    if not isinstance(groups, list) or len(groups) != _GROUPS.get(kind, 1):
        raise ValueError("a flag does not name its words")
    if not all(_whole_numbers(group, n_words) for group in groups):
        raise ValueError("a flag names words that are none")
    if type(number) not in (int, float) or not -1e300 < number < 1e300:
        raise ValueError("a flag holds what is no number")
    return TopicFlag(kind, tuple(topics), tuple(map(tuple, groups)), float(number))


def _whole_numbers(value: Any, below: int) -> bool:
    return isinstance(value, list) and all(type(one) is int and 0 <= one < below for one in value)
