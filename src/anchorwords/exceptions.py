"""Errors and warnings. Every message says what was expected, what came and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._printable import PrintableException


class AnchorwordsError(PrintableException):
    """Base of every error this package raises on purpose."""


class InputError(AnchorwordsError, ValueError):
    """The data or a parameter cannot be used as given."""


class CorpusFormatError(InputError):
    """A corpus file is unreadable, truncated or contradicts itself."""


class ModelFormatError(InputError):
    """A model folder is missing, damaged or not ours."""


class SketchFormatError(InputError):
    """A sketch folder is missing, damaged or not ours."""


class OutputError(AnchorwordsError, OSError):
    """A result cannot be written where it was asked for; what was there is unchanged."""


class UndefinedMetricError(InputError):
    """A metric has no value for this model and these documents."""


class TooLargeError(AnchorwordsError, MemoryError):
    """A matrix or a corpus of this size does not fit in memory."""


class DeviceError(AnchorwordsError, RuntimeError):
    """A GPU, or what compiles kernels for it, has failed."""


class DegenerateWarning(PrintableException, UserWarning):
    """The statistics cannot carry what was asked of them; the result is valid but says less than it seems."""


class FractionalCountsWarning(PrintableException, UserWarning):
    """Counts are not whole numbers, so Eq. 1 is only approximately unbiased."""


class UnknownWordWarning(PrintableException, UserWarning):
    """A word that was named is not among the words of the documents; the work goes on without it."""


class GuidanceWarning(PrintableException, UserWarning):
    """Guidance could not be followed as it was given: a seed word is not among the top words of its topic, for example."""


class TextWarning(PrintableException, UserWarning):
    """Text was read, but not into what a reader would call words."""


if TYPE_CHECKING:
    from ._convergence import ConvergenceWarning as ConvergenceWarning


def __getattr__(name: str) -> Any:
    """ConvergenceWarning is a kind of scikit-learn's, which takes a second to import: only those who name it wait for it."""
    if name == "ConvergenceWarning":
        from ._convergence import ConvergenceWarning

        globals()[name] = ConvergenceWarning
        return ConvergenceWarning
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "ConvergenceWarning"})
