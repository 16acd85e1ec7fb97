"""Rectifiers as objects: their options, and one call that rectifies the co-occurrence.

Each is a frozen record of options with the same call, so that a fit need not know which one it has: ``rectifier(C, K)``
gives a :class:`~anchorwords.rectify.result.Rectified`. A new rectifier is a class like these and one line in
:data:`RECTIFIERS`; tests/rectify/test_contract.py says what it must satisfy.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, is_dataclass
from time import perf_counter
from typing import Any, ClassVar, Protocol

import numpy as np

from ..exceptions import InputError
from .alternating import rectify_ap
from .enn import rectify_enn, rows_checked
from .palm import rectify_palm
from .progress import Report, rectification_progress, silent
from .result import Callback, Rectified, logged
from .start import leading_eigenpairs


@dataclass(frozen=True)
class RectifyContext:
    """What a rectifier receives besides C and K.

    Attributes
    ----------
    random_state : int
        Seed of the probe for starting eigenpairs.
    start : (N, any) array or None
        Columns near the leading eigenvectors; only ENN can use it.
    like : array or None
        An array whose namespace and device to compute in; None is NumPy.
    n_jobs : int or None
        Threads; the result does not depend on it.
    report : callable
        Called with the name of a stage and the share of it that is done.
    """

    random_state: Any = 0
    start: Any = None
    like: Any = None
    n_jobs: int | None = None
    report: Report = silent

    def progress(self, tol: float, max_iter: int) -> Callback:
        """What a rectification calls after each step."""
        return rectification_progress(self.report, tol, max_iter)

    def refuse_start(self) -> None:
        """Raise InputError where a start was given to a rectifier that cannot use one."""
        if self.start is not None:
            raise InputError(
                "a start serves the eigenpairs that ENN begins with: use rectifier='enn', or leave it out."
            )


_PLAIN = RectifyContext()


class Rectifier(Protocol):
    """What all rectifiers have."""

    name: ClassVar[str]

    def __call__(self, C: Any, n_components: int, context: RectifyContext = _PLAIN) -> Rectified:
        """Rectify C, a :class:`~anchorwords.statistics.cooccurrence.Cooccurrence`, a matrix, or what has its products."""
        ...


@dataclass(frozen=True)
class ENN:
    """Epsilon Non-Negative rectification (Algorithm 3); see :func:`anchorwords.rectify_enn` for the options."""

    max_iter: int = 1000
    tol: float = 1e-8
    n_rows: int | None = None
    relaxation: float | str = "newton"

    name: ClassVar[str] = "enn"

    def __call__(self, C: Any, n_components: int, context: RectifyContext = _PLAIN) -> Rectified:
        """Rectify C from its leading eigenpairs; see :class:`Rectifier`."""
        pairs = leading_eigenpairs(
            C, n_components, context.random_state, start=context.start, like=context.like, report=context.report
        )
        begin = perf_counter()
        rectified = rectify_enn(
            pairs, n_components, n_rows=self.n_rows, relaxation=self.relaxation, max_iter=self.max_iter, tol=self.tol,
            n_jobs=context.n_jobs, callback=context.progress(self.tol, self.max_iter),
        )  # fmt: skip
        return logged(rectified, begin)

    def rows_of(self, n_words: int, n_components: int) -> int:
        """|I|, the rows checked for negative entries."""
        return rows_checked(n_words, n_components, self.n_rows)


@dataclass(frozen=True)
class PALM:
    """Proximal Alternating Linearised Minimisation (Algorithm 4); see :func:`anchorwords.rectify_palm` for the options."""

    s: float = 1e-4
    gamma: float = 1.005
    max_iter: int = 100
    inertial: bool = False
    tol: float = 1e-4

    name: ClassVar[str] = "palm"

    def __call__(self, C: Any, n_components: int, context: RectifyContext = _PLAIN) -> Rectified:
        """Rectify C by a non-negative factor; see :class:`Rectifier`."""
        context.refuse_start()
        begin = perf_counter()
        rectified = rectify_palm(
            C, n_components, s=self.s, gamma=self.gamma, max_iter=self.max_iter, inertial=self.inertial, tol=self.tol,
            random_state=context.random_state, callback=context.progress(self.tol, self.max_iter),
        )  # fmt: skip
        return logged(rectified, begin)


@dataclass(frozen=True)
class AP:
    """Alternating Projection (Algorithm 2), dense; see :func:`anchorwords.rectify_ap` for the options."""

    max_iter: int = 150
    tol: float = 1e-4

    name: ClassVar[str] = "ap"

    def __call__(self, C: Any, n_components: int, context: RectifyContext = _PLAIN) -> Rectified:
        """Rectify the explicit C; see :class:`Rectifier`."""
        context.refuse_start()
        begin, callback = perf_counter(), context.progress(self.tol, self.max_iter)
        rectified = rectify_ap(_matrix(C), n_components, max_iter=self.max_iter, tol=self.tol, callback=callback)
        return logged(rectified, begin)


@dataclass(frozen=True)
class Unrectified:
    """No rectification: the plain Anchor Word algorithm (Algorithm 1) on the explicit C."""

    name: ClassVar[str] = "none"

    def __call__(self, C: Any, n_components: int, context: RectifyContext = _PLAIN) -> Rectified:  # noqa: ARG002
        """C as it is; see :class:`Rectifier`."""
        context.refuse_start()
        return Rectified(self.name, None, np.array(_matrix(C), dtype=np.float64, copy=None), True, ())


RECTIFIERS: dict[str, Any] = {kind.name: kind for kind in (ENN, PALM, AP)}


def resolve_rectifier(rectifier: Any) -> Rectifier:
    """The rectifier that a name, an object or None stands for, or InputError."""
    if rectifier is None:
        return Unrectified()
    if isinstance(rectifier, str) and rectifier.lower() in RECTIFIERS:
        found: Rectifier = RECTIFIERS[rectifier.lower()]()
        return found
    if callable(rectifier) and not isinstance(rectifier, type) and hasattr(rectifier, "name"):
        if not is_dataclass(type(rectifier)):
            raise InputError(
                f"a rectifier must be a dataclass, so that a model can say how it was made, but {rectifier!r} is none."
            )
        return rectifier
    raise InputError(
        f"rectifier must be 'enn', 'palm', 'ap', None or an options record ENN(...), PALM(...), AP(...), "
        f"but is {rectifier!r}."
    )


def rectifier_to_dict(rectifier: Any) -> Any:
    """A JSON-ready form of the estimator's parameter: the name, None, or a dict with its name and options."""
    if rectifier is None or isinstance(rectifier, str):
        return rectifier
    # NumPy's scalars, as a grid search makes them, are not JSON's.
    options = {
        key: value.item() if isinstance(value, np.generic) else value for key, value in asdict(rectifier).items()
    }
    return {"name": rectifier.name, **options}


def rectifier_from_dict(value: Any) -> Any:
    """Inverse of :func:`rectifier_to_dict`."""
    if not isinstance(value, dict):
        return value
    kind = RECTIFIERS.get(value.get("name", ""))
    if kind is None:
        raise InputError(f"unknown rectifier {value.get('name')!r}.")
    known = {field.name for field in fields(kind)}
    return kind(**{key: option for key, option in value.items() if key in known})


def _matrix(C: Any) -> Any:
    """The dense C of a co-occurrence; a matrix stays as it is."""
    return C.to_matrix() if hasattr(C, "to_matrix") else C
