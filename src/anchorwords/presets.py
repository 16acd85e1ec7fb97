"""Named sets of parameters: the paper's, and what measurement found best for readers."""

from __future__ import annotations

from typing import Any

from .exceptions import InputError
from .infer.refine import Refinement
from .model import as_topic_model

_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "readers": {"min_anchor_docs": 0.01, "refinement": Refinement(n_sweeps=6, split_sweeps=4, decorrelation=3.0)},
}


def preset(name: str) -> dict[str, Any]:
    """Parameters of :class:`anchorwords.AnchorTopicModel` that go by this name."""
    if not isinstance(name, str) or name not in _PRESETS:
        raise InputError(f"there is no preset {name!r}: the names are {', '.join(map(repr, _PRESETS))}.")
    return dict(_PRESETS[name])


def ranking_for(model: Any) -> str:
    """The ranking that the words of a model are best read by: see :func:`anchorwords.top_words`.

    A refined topic holds the common words of its documents, so that those more probable than elsewhere come first:
    "relevance". The paper's topics are read by "probability". It is the model that decides, not the name of a preset, so
    that whoever reads it later lists the same words.
    """
    return "probability" if as_topic_model(model).log_likelihood is None else "relevance"
