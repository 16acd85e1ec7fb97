"""A sketch as the statistics of a fit: it knows leading eigenpairs of C, and nothing else of it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._memory import available_bytes
from .._typing import FloatArray
from ..exceptions import InputError, TooLargeError
from ..sources.in_use import WordsInUse
from .sketch import CooccurrenceSketch


class SketchedCooccurrence:
    """What a fit asks of C, answered by a sketch.

    Parameters
    ----------
    sketch : CooccurrenceSketch
    min_df : int
        Leave out words in fewer documents.
    n_features : int
        Columns of the data, where words have no names.

    Attributes
    ----------
    words : WordsInUse
        Of a sketch with names all its words are in use; of nameless columns, those that have occurred.
    vocabulary : tuple of str or None
    n_docs, n_skipped : int
    document_frequencies : (N,) int array
    """

    def __init__(self, sketch: CooccurrenceSketch, min_df: int = 1, n_features: int = 0) -> None:
        names = sketch.words(min_df)
        if not names:
            raise InputError(f"the sketch of {sketch.n_docs} documents holds no word in at least {min_df} of them.")
        self._sketch, self._min_df = sketch, min_df
        self.vocabulary = names if sketch.named else None
        if sketch.named:
            self.words = WordsInUse.every(len(names))
        else:  # words are columns, of which some may never have occurred
            n_columns = max(n_features, sketch.n_features)
            _require_room(n_columns, sketch.n_components)
            used = np.zeros(n_columns, dtype=bool)
            used[[int(name) for name in names]] = True
            self.words = WordsInUse(used)
        self.shape = (len(names), len(names))
        self.n_docs, self.n_skipped = sketch.n_docs, sketch.n_skipped
        df = sketch.document_frequencies
        self.document_frequencies = df[df >= min_df]

    def eigenpairs(self, K: int) -> tuple[FloatArray, FloatArray]:
        """Leading eigenvectors and eigenvalues."""
        values, vectors = self._sketch.eigh(K, min_df=self._min_df)
        return vectors, values

    def to_matrix(self) -> NoReturn:
        """A sketch does not hold C."""
        raise InputError(
            "a sketch holds leading eigenpairs, which only ENN rectifies: use rectifier='enn', or give the documents."
        )

    def __matmul__(self, other: Any) -> NoReturn:
        self.to_matrix()


def _require_room(n_columns: int, n_components: int) -> None:
    """Raise TooLargeError unless topics over all columns of the data fit: the number of columns costs nothing in a file."""
    needed, available = 8 * n_columns * (3 * n_components + 1), available_bytes()
    if available is not None and needed > available:
        raise TooLargeError(
            f"{n_components} topics over {n_columns:,} columns take {needed >> 20:,} MiB, but {available >> 20:,} MiB are "
            "available: sketch documents with words, or with fewer columns."
        )
