"""Rename, merge, drop, reorder and reduce topics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.hierarchy import topic_hierarchy
from ..model import Edit, TopicModel, as_topic_model, checked_topics, require_short_label
from .apply import label_of_merged, like, noted
from .regroup import regrouped


def rename_topics(model: Any, labels: Mapping[int, str]) -> Any:
    """Give topics names of your own.

    Names are saved with the model and shown by every table, figure, page and command.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    labels : dict of int to str
        The new label of each topic to rename, by topic id, of at most 200 characters. An empty label brings the automatic
        name back.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> model = aw.AnchorTopicModel(3).fit(make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus)
    >>> named = aw.rename_topics(model, {1: "space flight"})
    >>> named.model_.labels
    ('', 'space flight', '')
    """
    record = as_topic_model(model)
    if not isinstance(labels, Mapping) or not all(isinstance(label, str) for label in labels.values()):
        raise InputError(
            f"labels must be a dict of topic ids and names, such as {{3: 'space flight'}}, not {labels!r}."
        )
    names = list(record.labels or [""] * record.n_components)
    for topic, label in labels.items():
        names[record.position(topic)] = name = " ".join(label.split())
        require_short_label(name, topic)
    if not labels:
        return like(model, record)
    topics = tuple(record.ids[record.position(topic)] for topic in labels)
    given = tuple(names[record.position(topic)] for topic in labels)
    edited = replace(record, labels=tuple(names) if any(names) else None)
    return like(model, noted(edited, Edit("rename", topics, topics, given)))


def merge_topics(model: Any, groups: Sequence[Sequence[int]]) -> Any:
    """Merge groups of topics into one topic each.

    The words of a merged topic are those of its topics, weighted by prevalence. In every document its proportion is the sum
    of theirs: merging and then transforming gives the same as transforming and then adding columns.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    groups : list of lists of int
        Ids of the topics to merge, such as ``[[3, 7], [1, 4, 9]]``. A merged topic has the id of the first one listed, the
        position of the one that comes first in the model, and the labels that you gave to any of them.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given. It has no stability, which cannot be derived from that of single topics.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> model = aw.AnchorTopicModel(3).fit(make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus)
    >>> aw.merge_topics(model, [[2, 0]]).model_.ids
    (2, 1)
    """
    record = as_topic_model(model)
    if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable):
        raise InputError(f"groups must be a list of lists of topic ids, such as [[3, 7]], but is {groups!r}.")
    listed = [checked_topics(record, group, "topics to merge") for group in groups]
    checked_topics(record, [topic for group in listed for topic in group], "topics to merge")
    for group in listed:
        if len(group) < 2:
            raise InputError(f"topics to merge: a group needs at least two topics, but one is {group}.")
    return like(model, merged(record, listed))


def merged(record: TopicModel, groups: Sequence[Sequence[int]]) -> TopicModel:
    """The model with groups of topics merged; groups are of ids, and were checked."""
    if not groups:
        return record
    first_of = {min(record.position(topic) for topic in group): list(group) for group in groups}
    inside = {topic for group in groups for topic in group}
    order = [
        first_of.get(position, [topic])
        for position, topic in enumerate(record.ids)
        if position in first_of or topic not in inside
    ]
    labels = None
    if record.labels is not None:
        labels = [label_of_merged(record.labels[record.position(topic)] for topic in group) for group in order]
    positions = [[record.position(topic) for topic in group] for group in order]
    edited = regrouped(record, positions, [group[0] for group in order], labels)
    for group in groups:
        edited = noted(edited, Edit("merge", tuple(group), (group[0],)))
    return edited


def drop_topics(model: Any, topics: Sequence[int]) -> Any:
    """Leave topics out, such as those of boilerplate or of another language.

    The words of documents that belong to a dropped topic are still explained by it and then set aside: the proportions of
    the other topics are those of the model before, scaled to sum to one.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    topics : list of int
        Ids of the topics to drop; at least one topic must remain.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given.
    """
    record = as_topic_model(model)
    dropped = checked_topics(record, topics, "topics to drop")
    if not dropped:
        return like(model, record)
    if len(dropped) == record.n_components:
        raise InputError("at least one topic must remain, but all topics are to be dropped.")
    kept = [position for position, topic in enumerate(record.ids) if topic not in dropped]
    edited = _arranged(record, kept)
    return like(model, noted(edited, Edit("drop", tuple(dropped), ())))


def reorder_topics(model: Any, order: Sequence[int]) -> Any:
    """Put topics in another order.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    order : list of int
        Topic ids in the new order. Topics that are not listed follow in the order that they have.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given: the columns of ``transform`` and the rows of ``components_`` are in the new order.
    """
    record = as_topic_model(model)
    first = checked_topics(record, order, "order of topics")
    listed = [*first, *(topic for topic in record.ids if topic not in first)]
    edited = _arranged(record, [record.position(topic) for topic in listed])
    return like(model, noted(edited, Edit("reorder", record.ids, tuple(listed))))


def reduce_topics(model: Any, n_topics: int) -> Any:
    """Merge similar topics until there are as few as asked for.

    The topics are those of :func:`topic_hierarchy`, cut at this number. A merged topic has the id of its most prevalent
    one.

    Parameters
    ----------
    model : TopicModel or fitted estimator
    n_topics : int
        From 1 to the number of topics of the model.

    Returns
    -------
    TopicModel or estimator
        A new model of the kind given.
    """
    record = as_topic_model(model)
    n = check_positive_integer(n_topics, "n_topics")
    if n > record.n_components:
        raise InputError(
            f"{record.n_components} topics cannot be reduced to {n}: ask for at most {record.n_components}, or split topics."
        )
    prevalence = dict(zip(record.ids, record.prevalence.tolist(), strict=True))
    groups = [sorted(group, key=lambda topic: -prevalence[topic]) for group in topic_hierarchy(record).cut(n)]
    return like(model, merged(record, [group for group in groups if len(group) > 1]))


def _arranged(record: TopicModel, positions: Sequence[int]) -> TopicModel:
    """Some of the topics, in this order."""
    labels = None if record.labels is None else [record.labels[k] for k in positions]
    return regrouped(record, [[k] for k in positions], [record.ids[k] for k in positions], labels)
