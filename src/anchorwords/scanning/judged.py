"""Metrics of many models on the same documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._typing import FloatArray, IntArray, SparseLike
from ..exceptions import UndefinedMetricError
from ..interpret.topic_words import top_indices
from ..metrics.coherence import measure_npmi, measure_umass
from ..metrics.evaluate import evaluate
from ..metrics.measure import Measure
from ..metrics.reference import Reference, add_counts
from ..model import TopicModel

# Metrics that count the documents with two top words of a topic, and the number of top words. They are computed for all
# models in one pass.
_COUNTED: dict[str, tuple[Callable[..., Measure], int]] = {
    "npmi_coherence": (measure_npmi, 10),
    "umass_coherence": (measure_umass, 20),
}

# Entries of a dense block of documents: 32 MiB.
_PIECE = 1 << 23


class ManyGroups(Reference):
    """A reference that counts pairs of words fast if there are many groups: in dense blocks of a few documents."""

    def documents_together(self, groups: Sequence[IntArray]) -> tuple[list[FloatArray], int]:
        """As :meth:`Reference.documents_together`."""
        words = np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *groups]))
        places = [np.searchsorted(words, group) for group in groups]
        step = max(1, _PIECE // max(1, words.size))

        def kernel(total: Any, block: SparseLike, _: int) -> Any:
            totals, n_docs = total or ([np.zeros((group.size, group.size)) for group in groups], 0)
            by_word = sp.csr_array(block[:, words].T)
            for start in range(0, block.shape[0], step):
                # Single precision is exact up to 2^24, which is more than a block has documents.
                present = (by_word[:, start : start + step].toarray() > 0.0).astype(np.float32)
                for place, sums in zip(places, totals, strict=True):
                    rows = present[place]
                    sums += rows @ rows.T
            return totals, n_docs + block.shape[0]

        return self._documents().map_reduce(kernel, add_counts)


class Judge:
    """Measure one model after the other with one reference; metrics that count documents are computed at the end.

    Parameters
    ----------
    reference : Reference
    metrics : list of str
    seed : int
    n_jobs : int or None
    """

    def __init__(self, reference: Reference, metrics: list[str], seed: int, n_jobs: int | None) -> None:
        self._reference, self._metrics, self._seed, self._n_jobs = reference, metrics, seed, n_jobs
        self._values: list[dict[str, float]] = []
        self._tops: dict[str, list[list[IntArray]]] = {name: [] for name in metrics if name in _COUNTED}

    def add(self, model: TopicModel) -> None:
        """Measure a model."""
        own = [name for name in self._metrics if name not in _COUNTED]
        found: dict[str, Any] = {}
        if own:
            found = evaluate(model, self._reference, metrics=own, random_state=self._seed, n_jobs=self._n_jobs)
        self._values.append({name: float(found[name]) for name in own})
        for name, tops in self._tops.items():
            tops.append(top_indices(model, _COUNTED[name][1]))

    def results(self) -> list[dict[str, float]]:
        """Metrics by name for each model, in the order in which they were added."""
        for name, tops in self._tops.items():
            for values, value in zip(self._values, self._counted(name, tops), strict=True):
                values[name] = value
        return [{name: values[name] for name in self._metrics} for values in self._values]

    def _counted(self, name: str, tops: list[list[IntArray]]) -> list[float]:
        """One metric for all models, in one pass over the documents."""
        measure, n = _COUNTED[name]
        cuts = np.cumsum([0, *map(len, tops)])
        try:
            parts = measure(None, self._reference, n, [words for top in tops for words in top]).per_topic
        except UndefinedMetricError:
            return [float("nan")] * len(tops)
        assert parts is not None
        by_model = (parts[start:stop] for start, stop in pairwise(cuts))
        return [float(np.nanmean(part)) if np.isfinite(part).any() else float("nan") for part in by_model]
