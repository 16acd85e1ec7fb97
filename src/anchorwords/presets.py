"""Presets: named sets of parameters, the paper's and those that measurement found best for readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .exceptions import InputError
from .rectify.rectifiers import ENN, rectifier_to_dict
from .refine.options import Refinement


@dataclass(frozen=True)
class Preset:
    """Parameters of :class:`anchorwords.AnchorTopicModel` that go by one name.

    Parameters
    ----------
    name : str
    min_anchor_docs : int, float or "auto"
        Fewest documents of a word that is chosen as an anchor.
    rectifier : str, options record or None
    refinement : Refinement or None
    """

    name: str
    min_anchor_docs: float | str = 1
    rectifier: Any = "enn"
    refinement: Refinement | None = None

    def parameters(self, **changes: Any) -> dict[str, Any]:
        """Return parameters of the estimator, with changes, which take precedence.

        The rectifier of a preset relies on its refinement: if a change removes the refinement, the rectifier is the default
        one of the estimator. What is set on an estimator afterwards changes nothing else.
        """
        own: dict[str, Any] = {
            "min_anchor_docs": self.min_anchor_docs,
            "rectifier": self.rectifier,
            "refinement": self.refinement,
        }
        if changes.get("refinement", self.refinement) is None:
            own["rectifier"] = Preset.rectifier
        return own | changes


PAPER = Preset("paper")
READERS = Preset(
    "readers",
    min_anchor_docs="auto",
    # A start for the sweeps, which move topics far more than what is left of the violation. A few plain steps are also
    # steadier than full convergence: on 20ng they make the difference between seeds hundreds of times smaller.
    rectifier=ENN(tol=1e-2),
    refinement=Refinement(n_sweeps=4, decorrelation=3.0, least_squares=6, background=0.1),
)
PRESETS = {one.name: one for one in (PAPER, READERS)}


def named_preset(name: str) -> Preset:
    """Return the preset of this name, or InputError."""
    if not isinstance(name, str) or name not in PRESETS:
        raise InputError(f"there is no preset {name!r}: the names are {', '.join(map(repr, PRESETS))}.")
    return PRESETS[name]


def preset(name: str, **changes: Any) -> dict[str, Any]:
    """Return the parameters of the preset of this name, with changes: see :meth:`Preset.parameters`."""
    return named_preset(name).parameters(**changes)


def preset_of(parameters: Mapping[str, Any]) -> str | None:
    """Name of the preset that parameters of an estimator, as JSON holds them, are those of; None where it is none."""
    for name, one in PRESETS.items():
        plain = {
            "min_anchor_docs": one.min_anchor_docs,
            "rectifier": rectifier_to_dict(one.rectifier),
            "refinement": None if one.refinement is None else asdict(one.refinement),
        }
        if all(parameters.get(key) == value for key, value in plain.items()):
            return name
    return None
