"""Topic proportions of documents, whatever they come as, by the method that goes with a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._typing import FloatArray
from .._validation import check_n_jobs
from ..infer.compose import METHODS, check_method, compositions, prototype_of
from ..model import TopicModel, as_topic_model
from ..sources.source import Source


def method_for(model: TopicModel, method: str | None = None) -> str:
    """How documents are composed: as asked, else as the model was fitted to do it; checked for the model."""
    fitted = model.provenance.parameters.get("composition", METHODS[0])
    return check_method(fitted if method is None else method, model)


def document_compositions(
    model: Any, source: Source, *, method: str | None = None, n_jobs: int | None = None
) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Proportions and known tokens of consecutive documents: those of ``transform`` where no method is named.

    An estimator brings the device that they are computed on.
    """
    record, like = as_topic_model(model), prototype_of(model, source)
    for part in compositions(record, source, method=method_for(record, method), like=like, n_jobs=check_n_jobs(n_jobs)):
        yield part.weights, part.n_known
