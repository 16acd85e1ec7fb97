"""Compositions of documents, whatever they come as, by the method that goes with a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._typing import FloatArray
from .._validation import check_n_jobs
from ..infer.compose import check_method, compositions
from ..model import as_topic_model
from ._columns import blocks_in_columns


def method_for(model: Any, method: str | None = None) -> str:
    """How documents are composed: as asked, else as the fitted estimator says, else by "map"; checked for the model."""
    record = as_topic_model(model)
    return check_method(getattr(model, "composition", "map") if method is None else method, record)


def document_compositions(
    model: Any, X: Any, *, method: str | None = None, n_jobs: int | None = None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Compositions and known tokens of consecutive documents: those of ``transform`` where no method is named."""
    record, chosen = as_topic_model(model), method_for(model, method)
    blocks = blocks_in_columns(record, X)
    for part in compositions(record, blocks, method=chosen, n_jobs=check_n_jobs(n_jobs)):
        yield part.weights, part.n_known
