"""A sketch as the statistics of a fit: it knows leading eigenpairs of C, and nothing else of it."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._typing import FloatArray
from ..exceptions import InputError
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
            used = np.zeros(max(n_features, sketch.n_features), dtype=bool)
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
