"""Named sets of parameters: the paper's, and what measurement found best for readers."""

from __future__ import annotations

from typing import Any

from .exceptions import InputError
from .infer.refine import Refinement

# How topics of the preset are to be read: see anchorwords.interpret.words.topic_table.
RANKING = {"paper": "probability", "readers": "relevance"}
_PRESETS: dict[str, dict[str, Any]] = {
    "paper": {},
    "readers": {"min_anchor_docs": 0.01, "refinement": Refinement(n_sweeps=6, split_sweeps=4, decorrelation=3.0)},
}


def preset(name: str) -> dict[str, Any]:
    """Parameters of :class:`anchorwords.AnchorTopicModel` that go by this name."""
    if not isinstance(name, str) or name not in _PRESETS:
        raise InputError(f"there is no preset {name!r}: the names are {', '.join(map(repr, _PRESETS))}.")
    return dict(_PRESETS[name])
