"""Fitted estimators in notebooks: their topics, and scikit-learn's diagram of the parameters below them."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ..interpret.topic_table import model_table
from ..records.html import folded_html, html_of
from ..records.table import SHOWN_ROWS


class ShowsTopics:
    """For estimators: a fitted one displays its topics, and one that is not fitted scikit-learn's own diagram.

    The method ``_shown_model`` returns the topics, or None if there are none yet. An estimator that has seen batches but has
    not learned topics from them displays the diagram of one that is not fitted: the diagram of a fitted one reads its
    attributes, which would learn the topics.
    """

    def _shown_model(self) -> Any:
        raise NotImplementedError

    def _repr_html_inner(self) -> str:
        if self._is_waiting():
            return clone(self)._repr_html_inner()
        return self._with_topics(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        if self._is_waiting():
            return clone(self)._repr_mimebundle_(**options)
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = self._with_topics(bundle["text/html"])
        return bundle

    def _is_waiting(self) -> bool:
        """Whether topics are still to be learned from batches."""
        return self._shown_model() is None and self.__sklearn_is_fitted__()  # type: ignore[attr-defined]

    def _with_topics(self, diagram: str) -> str:
        model = self._shown_model()
        if model is None:
            return diagram
        table = model_table(model, type(self).__name__, SHOWN_ROWS)
        return html_of([table], more=folded_html("Parameters", diagram))
