"""Errors and warnings. Every message says what was expected, what came and what to try."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

from ._printable import printable_lines


class _Printable(Exception):
    """Shows its message without control characters: words, ids and file names in it may come from a stranger."""

    def __str__(self) -> str:
        return printable_lines(super().__str__())


class AnchorwordsError(_Printable):
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


class ConvergenceWarning(_Printable, _SklearnConvergenceWarning):
    """An iteration ended on its limit before its stop rule was met."""


class DegenerateWarning(_Printable, UserWarning):
    """The statistics cannot carry what was asked of them; the result is valid but says less than it seems."""


class FractionalCountsWarning(_Printable, UserWarning):
    """Counts are not whole numbers, so Eq. 1 is only approximately unbiased."""


class UnknownWordWarning(_Printable, UserWarning):
    """A word that was named is not among the words of the documents; the work goes on without it."""


class GuidanceWarning(_Printable, UserWarning):
    """Guidance could not be followed as it was given: a seed word is not among the top words of its topic, for example."""


class TextWarning(_Printable, UserWarning):
    """Text was read, but not into what a reader would call words."""
