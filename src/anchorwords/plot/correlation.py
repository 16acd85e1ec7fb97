"""Which topics go together: the matrix A as a heat map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import check_positive_integer
from ..exceptions import InputError
from ..interpret.association import topic_association
from ..interpret.topic_words import prominent_words
from ..model import TopicModel, as_topic_model
from .style import own_axes, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LARGEST = 4.0  # log2: beyond a factor of 16 the number says little more
_MOST_NAMED = 30  # topics whose words still fit beside the rows


def topic_correlation(
    model: Any, *, order: str = "prevalence", normalised: bool = True, ax: Axes | None = None, n_words: int = 2
) -> Axes:
    """Draw the topic-topic matrix A of C ~ B A B' (Section 2).

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    order : {"prevalence", "similar"}
        Most prevalent topics first, or topics that go with the same others next to each other (average linkage, optimal
        order of leaves).
    normalised : bool
        Show log2 of the association of topics: how much more often two topics share documents than expected from their
        sizes, clipped at a factor of 16 either way (see :mod:`anchorwords.interpret.association`). The diagonal is grey,
        since a topic has no association with itself; so is a topic that shares no document with any other. If False, show A
        itself, coloured by its square root.
    ax : matplotlib Axes, optional
        Where to draw; by default on a figure of its own.
    n_words : int
        Prominent words that stand next to the id of a topic that has no label, for up to 30 topics.

    Returns
    -------
    matplotlib Axes
    """
    check_positive_integer(n_words, "n_words")
    record = as_topic_model(model)
    ratios = topic_association(record).log2(_LARGEST)
    places = topic_order(record.prevalence, ratios, order)
    K = record.n_components
    named = K <= _MOST_NAMED
    names = _names(record, n_words) if named else []
    with style():
        height = float(np.clip(1.4 + 0.16 * K, 2.8, 4.6))
        longest = max(map(len, names), default=6)
        axes = own_axes(ax, height + 0.5 + 0.055 * longest, height)
        shown = (ratios if normalised else record.A)[np.ix_(places, places)]
        _draw(axes, shown, normalised)
        _name_topics(axes, places, record.ids, names)
    return axes


def topic_order(prevalence: FloatArray, ratios: FloatArray, order: str) -> IntArray:
    """Topics in the order in which they are drawn."""
    if order not in {"prevalence", "similar"}:
        raise InputError(f"order must be 'prevalence' or 'similar', but is {order!r}.")
    if order == "prevalence" or len(prevalence) < 3:
        return np.argsort(-prevalence, kind="stable")
    from scipy.cluster.hierarchy import leaves_list, linkage

    rows = np.nan_to_num(ratios, nan=0.0)
    # Topics go with themselves more than with any other: else the rows of two topics that go together would differ most in
    # the columns of these two, and be kept apart.
    np.fill_diagonal(rows, _LARGEST)
    return np.asarray(leaves_list(linkage(rows, "average", optimal_ordering=True)), dtype=np.intp)


def _draw(ax: Axes, shown: FloatArray, normalised: bool) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import Normalize, PowerNorm

    cmap = colormaps["RdBu_r" if normalised else "cividis"].with_extremes(bad="#bbbbbb")
    # A by the square root: its diagonal would leave the rest in the dark.
    norm = Normalize(-_LARGEST, _LARGEST) if normalised else PowerNorm(0.5, vmin=0.0)
    image = ax.imshow(np.ma.masked_invalid(shown), cmap=cmap, norm=norm, interpolation="nearest")
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.9, pad=0.02, aspect=25)
    bar.outline.set_visible(False)
    if normalised:
        bar.set_ticks([-4, -2, 0, 2, 4], labels=["≤ −4", "−2", "0", "2", "≥ 4"])
    unit = "log2 of association (observed over expected)"
    bar.set_label(unit if normalised else "joint probability (square-root scale)")
    bar.ax.tick_params(labelsize=7)


def _names(record: TopicModel, n_words: int) -> list[str]:
    """The label of each topic, or its most prominent words."""
    words, labels = prominent_words(record, n_words), record.labels or ("",) * record.n_components
    return [
        plain(label, 36) if label else " ".join(plain(word, 18) for word in own)
        for label, own in zip(labels, words, strict=True)
    ]


def _name_topics(ax: Axes, places: IntArray, topics: Sequence[int], names: list[str]) -> None:
    """Ids, with names next to the rows if there is room, else every n-th id."""
    K = len(places)
    step = next(n for n in (1, 2, 5, 10, 20, 50, 100, K) if n * _MOST_NAMED >= K)
    ticks = np.arange(0, K, step)
    ids = [str(topics[places[t]]) for t in ticks]
    beside = [f"{topics[places[t]]}  {names[places[t]]}" for t in ticks] if names else ids
    ax.set_xticks(ticks, labels=ids, rotation=90 if K > 12 else 0)
    ax.set_yticks(ticks, labels=beside)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.set_xlabel("topic")
    if not names:
        ax.set_ylabel("topic")
