"""Options of the rectifiers as records, for the estimator's ``rectifier`` parameter."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, TypeAlias

from ..exceptions import InputError


@dataclass(frozen=True)
class ENN:
    """Options of :func:`anchorwords.rectify_enn`."""

    max_iter: int = 1000
    tol: float = 1e-8
    n_rows: int | None = None
    relaxation: float | str = "newton"


@dataclass(frozen=True)
class PALM:
    """Options of :func:`anchorwords.rectify_palm`."""

    s: float = 1e-4
    gamma: float = 1.005
    max_iter: int = 100
    inertial: bool = False
    tol: float = 1e-4


@dataclass(frozen=True)
class AP:
    """Options of :func:`anchorwords.rectify_ap`."""

    max_iter: int = 150
    tol: float = 1e-4


RectifierOptions: TypeAlias = ENN | PALM | AP
_BY_NAME: dict[str, type[RectifierOptions]] = {"enn": ENN, "palm": PALM, "ap": AP}


def resolve_rectifier(rectifier: Any) -> RectifierOptions | None:
    """Options for a name or a record; None stays None (no rectification)."""
    if rectifier is None or isinstance(rectifier, (ENN, PALM, AP)):
        return rectifier
    if isinstance(rectifier, str) and rectifier.lower() in _BY_NAME:
        return _BY_NAME[rectifier.lower()]()
    raise InputError(
        f"rectifier must be 'enn', 'palm', 'ap', None or an options record ENN(...), PALM(...), AP(...), "
        f"but is {rectifier!r}."
    )


def rectifier_to_dict(rectifier: Any) -> Any:
    """A JSON-ready form of the estimator's parameter: the name, None, or a dict with its name and options."""
    if isinstance(rectifier, (ENN, PALM, AP)):
        # NumPy's scalars, as a grid search makes them, are not JSON's.
        options = {key: value.item() if hasattr(value, "item") else value for key, value in asdict(rectifier).items()}
        return {"name": type(rectifier).__name__.lower(), **options}
    return rectifier


def rectifier_from_dict(value: Any) -> Any:
    """Inverse of :func:`rectifier_to_dict`."""
    if not isinstance(value, dict):
        return value
    kind = _BY_NAME.get(value.get("name", ""))
    if kind is None:
        raise InputError(f"unknown rectifier {value.get('name')!r}.")
    known = {field.name for field in fields(kind)}
    return kind(**{key: option for key, option in value.items() if key in known})
