"""Named sets of parameters: the paper's, and what measurement found best for readers."""

from __future__ import annotations

from typing import Any

from .exceptions import InputError
from .model import as_topic_model
from .rectify.options import ENN
from .refine.refinement import Refinement

_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "readers": {
        "min_anchor_docs": 0.01,
        # A start for the sweeps, which move topics far more than what is left of the violation. A few plain steps are also
        # steadier than the way to the very end: on 20ng they make the difference between seeds hundreds of times smaller.
        "rectifier": ENN(tol=1e-2),
        "refinement": Refinement(n_sweeps=6, split_sweeps=4, decorrelation=3.0),
    },
}


def preset(name: str, **changes: Any) -> dict[str, Any]:
    """Parameters of :class:`anchorwords.AnchorTopicModel` that go by this name, with changes, which win.

    A preset's rectifier counts on its refinement: where a change takes that out, it is the estimator's own. What is set on
    an estimator afterwards changes nothing else.
    """
    if not isinstance(name, str) or name not in _PRESETS:
        raise InputError(f"there is no preset {name!r}: the names are {', '.join(map(repr, _PRESETS))}.")
    chosen = _PRESETS[name] | changes
    if chosen.get("refinement") is None and "rectifier" not in changes:
        chosen.pop("rectifier", None)
    return chosen


def ranking_for(model: Any) -> str:
    """The ranking that the words of a model are best read by: see :func:`anchorwords.top_words`.

    A refined topic holds the common words of its documents, so that those more probable than elsewhere come first:
    "relevance". The paper's topics are read by "probability". It is the model that decides, not the name of a preset, so
    that whoever reads it later lists the same words.
    """
    return "probability" if as_topic_model(model).log_likelihood is None else "relevance"
