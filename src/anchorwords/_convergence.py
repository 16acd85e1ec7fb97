"""The warning of iterations that did not converge: apart from the others, because it imports scikit-learn."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning as _SklearnConvergenceWarning

from ._printable import PrintableException


class ConvergenceWarning(PrintableException, _SklearnConvergenceWarning):
    """An iteration ended on its limit before its stop rule was met."""


# It is named, and pickled, as what users import.
ConvergenceWarning.__module__ = "anchorwords.exceptions"
