"""From a formula and the documents table to a design matrix; formulas are parsed by formulaic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import BoolArray, FloatArray, SparseLike
from ..corpus.documents import Documents
from ..corpus.files import short
from ..exceptions import InputError

Values = dict[str, npt.NDArray[Any]]
# Any name between backticks, or an identifier that is no function, no module, no attribute and no keyword of a call.
_NAMES = re.compile(r"`([^`]+)`|(?<![\w.])([^\W\d]\w*)(?!\s*\(|\w|\.|\s*=(?!=))")
_STRINGS = re.compile(r"'[^']*'|\"[^\"]*\"")
_CONSTANTS = ("True", "False", "None")
# A direction is numerically lost when its singular value, with columns scaled to unit length, is below this share of the
# largest: the coefficients would keep no more than six of sixteen digits.
_LOST = 1e-10
# Most coefficients, and categories of a column of texts: time grows with the square of their number, and a column with more
# is usually one of names, or of dates or numbers that are mixed with other texts.
_MOST_TERMS = 300
# Days in a year of the Gregorian calendar, on average.
_YEAR = 365.2425


def require_formulaic() -> Any:
    """Return the package formulaic, or raise InputError that says how to get it."""
    try:
        import formulaic
        import pandas  # type: ignore[import-untyped] # noqa: F401
    except ImportError:
        raise InputError("formulas need two more packages: pip install 'anchorwords[effects]'.") from None
    return formulaic


def named_columns(formula: str) -> list[str]:
    """Return the names in a formula that may be columns, in their order."""
    names = [one or other for one, other in _NAMES.findall(_STRINGS.sub("", formula))]
    return [name for name in dict.fromkeys(names) if name not in _CONSTANTS]


def used_columns(formula: Any, documents: Documents) -> list[str]:
    """Return the columns of the documents table that a formula names; InputError if it names none that exists."""
    if not isinstance(formula, str) or not formula.strip():
        raise InputError(f"formula must be a string such as 'year + C(venue)', but is {formula!r}.")
    if "~" in formula.strip().lstrip("~"):
        raise InputError(
            f"formula must have only a right-hand side, such as 'year + C(venue)', but is {short(formula)}: the topic "
            "proportions are always the response."
        )
    names = named_columns(formula)
    found = [name for name in names if name in documents]
    if not found and names:
        documents.column(names[0])  # raises InputError, which lists the columns
    if lists := [name for name in found if documents.column(name).kind == "list"]:
        raise InputError(
            f"the column {short(lists[0])} holds lists, which cannot enter a regression: use another column."
        )
    return found


def table_values(documents: Documents, names: list[str]) -> Values:
    """Return the columns as a formula sees them: dates are decimal years, such as 2020.5."""
    return {name: as_numbers(documents[name]) for name in names}


def as_numbers(values: Any) -> npt.NDArray[Any]:
    """Return values as a column of a formula: dates are decimal years, missing ones are NaN."""
    array = np.asarray(values)
    if array.dtype.kind != "M":
        return array
    days = array.astype("datetime64[us]").astype(np.int64) / 86_400e6
    return np.where(np.isnat(array), np.nan, 1970.0 + days / _YEAR)


def complete_rows(values: Values, n_docs: int) -> BoolArray:
    """Return the documents without a missing or infinite value."""
    complete = np.ones(n_docs, dtype=bool)
    for column in values.values():
        if column.dtype.kind == "f":
            complete &= np.isfinite(column)
        elif column.dtype == object:
            complete &= np.array([value is not None and value == value for value in column], dtype=bool)
    return complete


@dataclass(frozen=True, eq=False)
class Design:
    """The design matrix of some documents, and what is needed to make rows for other values.

    Attributes
    ----------
    matrix : (n, P) CSR array
    terms : tuple of P str
    values : dict
        The columns that the formula uses, for the same n documents.
    spec : formulaic.ModelSpec
    dates : tuple of str
        Columns of dates, which are decimal years here.
    """

    matrix: SparseLike
    terms: tuple[str, ...]
    values: Values
    spec: Any
    dates: tuple[str, ...] = ()

    def typical(self, name: str) -> Any:
        """Return the value that a column has unless one is given: its mean, or its most frequent value."""
        return _typical(self.values[name])

    def rows_at(self, given: Mapping[str, Any]) -> tuple[Values, FloatArray]:
        """Return the values of all columns and the rows of the design for a grid of values of some columns.

        Columns that are not given have their mean or, unless they hold numbers, their most frequent value.
        """
        import pandas as pd

        if not isinstance(given, Mapping):
            raise InputError(
                f"values must be a mapping such as {{'year': [2010, 2020]}}, but are {type(given).__name__}."
            )
        if unknown := [name for name in given if name not in self.values]:
            raise InputError(
                f"the formula has no column {short(unknown[0])}: it has {', '.join(map(short, self.values)) or 'none'}."
            )
        columns = {name: np.atleast_1d(as_numbers(value)) for name, value in given.items()}
        sizes = {column.size for column in columns.values()} - {1}
        if len(sizes) > 1 or any(column.ndim != 1 for column in columns.values()):
            raise InputError(
                "values must be single ones or sequences of the same length, one value per row of the grid."
            )
        n = sizes.pop() if sizes else 1
        if n == 0:
            raise InputError("values must hold at least one value per column, but a sequence is empty.")
        for name, column in columns.items():
            _check_like(name, column, self.values[name])
        full = {}
        for name, observed in self.values.items():
            column = columns[name] if name in columns else np.atleast_1d(self.typical(name))
            kind = np.float64 if observed.dtype.kind in "iu" else observed.dtype
            full[name] = np.broadcast_to(column, (n,)).astype(kind)
        frame = pd.DataFrame(full, index=range(n))
        try:
            made = self.spec.get_model_matrix(frame, context={})
        except Exception as error:
            raise InputError(f"the formula cannot be evaluated at these values: {_sentence(error)}") from None
        rows = np.asarray(sp.csr_array(made).toarray(), dtype=np.float64)
        if rows.shape != (n, len(self.terms)) or not np.isfinite(rows).all():
            raise InputError("the formula has no finite value at these values: stay within the range of the documents.")
        return full, rows


def make_design(formula: str, values: Values, n_docs: int, dates: tuple[str, ...] = ()) -> Design:
    """Return the design of documents with complete values."""
    formulaic = require_formulaic()
    import pandas as pd

    for name, column in values.items():
        if column.dtype.kind in "OU" and (n := len(set(column.tolist()))) > _MOST_TERMS:
            raise InputError(
                f"the column {short(name)} holds {n:,} different texts, such as {short(str(column[0]))}, each of which "
                f"would get a coefficient, but at most {_MOST_TERMS} can: group them first. Dates and numbers become texts "
                "if a single value is neither."
            )
    frame = pd.DataFrame(values, index=range(n_docs))
    try:
        made = formulaic.Formula(formula.strip().lstrip("~")).get_model_matrix(
            frame, output="sparse", context={}, na_action="raise"
        )
        matrix, spec = sp.csr_array(made, dtype=np.float64), made.model_spec
    except Exception as error:
        hint = " For curves there are bs(year, df=4) and poly(year, 2)." if "name 's'" in str(error) else ""
        raise InputError(f"the formula {short(formula)} cannot be used: {_sentence(error)}{hint}") from None
    if matrix.shape[1] > _MOST_TERMS:
        raise InputError(
            f"the formula has {matrix.shape[1]:,} coefficients, but at most {_MOST_TERMS} can be estimated: use fewer "
            "categories."
        )
    if not np.isfinite(matrix.data).all():
        raise InputError(
            f"the formula {short(formula)} has no finite value for some documents, as the logarithm of zero: change it."
        )
    return Design(matrix, tuple(map(str, spec.column_names)), values, spec, dates)


def triangular_factor(design: Design, roots: FloatArray, step: int) -> FloatArray:
    """Return R of the QR decomposition of the rows times the roots of their weights, made block by block.

    Raises
    ------
    InputError
        If columns of the design are linearly dependent; it names some of them.
    """
    n, P = design.matrix.shape
    if n <= P:
        raise InputError(
            f"the formula has {P} coefficients, but only {n} documents have all values and known words: use fewer terms."
        )
    R = np.zeros((0, P))
    for start in range(0, n, step):
        rows = design.matrix[start : start + step].toarray() * roots[start : start + step, None]
        R = np.asarray(np.linalg.qr(np.concatenate([R, rows]), mode="r"))
    R *= np.where(np.diagonal(R) < 0.0, -1.0, 1.0)[:, None]
    lengths = np.linalg.norm(R, axis=0)
    _, singular, right = np.linalg.svd(R / np.where(lengths > 0.0, lengths, 1.0))
    if (lengths == 0.0).any() or singular[-1] < _LOST * singular[0]:
        share = np.where(lengths == 0.0, 2.0, np.abs(right[-1]))
        lost = [design.terms[j] for j in np.argsort(-share, kind="stable")[:3] if share[j] > 0.1]
        raise InputError(
            f"the terms of the formula are linearly dependent ({', '.join(map(short, lost))}): leave one of them out, or "
            "join categories with few documents."
        )
    return np.asarray(R)


def _typical(observed: npt.NDArray[Any]) -> Any:
    """The mean of numbers; the most frequent of other values, the first of these in order."""
    if observed.dtype.kind in "iuf":
        return float(observed.mean())
    found, counts = np.unique(observed.astype(str) if observed.dtype == object else observed, return_counts=True)
    return found[int(np.argmax(counts))]


def _check_like(name: str, column: npt.NDArray[Any], observed: npt.NDArray[Any]) -> None:
    """Raise InputError unless values are of the kind of those observed, and categories among them."""
    if observed.dtype.kind in "iuf":
        if column.dtype.kind not in "iufb" or not np.isfinite(column).all():
            raise InputError(f"the column {short(name)} holds numbers, but {short(str(column[0]))} was given for it.")
        return
    known = set(observed.tolist())
    if unknown := [value for value in column.tolist() if value not in known]:
        some = ", ".join(sorted(map(short, map(str, known)))[:10])
        raise InputError(f"the column {short(name)} has no value {short(str(unknown[0]))}: it has {some}.")


def _sentence(error: Exception) -> str:
    """The message of formulaic in one line, without its marks, with a full stop."""
    text = re.sub(r"\x1b?\[[\d;]*m|[⧛⧚]", "", str(error)).strip().split("\n")[0]
    return (text or type(error).__name__).rstrip(".") + "."
