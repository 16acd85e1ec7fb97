"""Documents given a fitted model: their topic proportions, and how well these explain them."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any, Self

from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import FloatArray
from .._validation import check_n_jobs
from ..exceptions import InputError
from ..infer.aware import learn_dual
from ..infer.complete import complete_documents
from ..infer.compose import compositions, joined, prototype_of
from ..linalg.parallel import limited_threads, one_library_thread
from ..model import TopicModel, with_dual
from ..sources.convert import in_columns
from ..sources.coverage import coverage
from ..sources.source import Source

logger = logging.getLogger("anchorwords.estimator")


class DocumentsMixin(TransformerMixin):  # type: ignore[misc]
    """``transform``, ``score`` and ``perplexity``.

    A TransformerMixin, because scikit-learn applies ``set_output`` to the methods that such a class itself defines.
    """

    model_: TopicModel
    composition: str
    n_jobs: int | None
    _source: Any

    def transform(self, X: Any, method: str | None = None) -> FloatArray:
        """Topic proportions of each document, which depend on no other document.

        Words the model has never seen are ignored, counted and logged; a document with no known word gets
        the topic prevalence.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
            A Corpus is matched to the model by its words.
        method : {"posterior-mean", "prior-aware"}, optional
            Penalised likelihood, document by document, or least squares under the dual matrix with which documents have the
            second moment A; by default ``composition``.

        Returns
        -------
        (M, K) array, rows sum to one
        """
        return joined(self._proportions(X, method, whole_blocks=True)).weights

    def transform_blocks(self, X: Any, method: str | None = None) -> Iterator[FloatArray]:
        """As :meth:`transform`, block after block: for what is larger than memory, or to show progress."""
        return (part.weights for part in self._proportions(X, method))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Log-likelihood per token, natural logarithm, over the known words of the documents; higher is better.

        Documents are folded in on the very tokens they are scored on, so the score grows with the number of topics: it
        compares models of the same ``n_components``, and does not choose it.
        """
        result = joined(self._proportions(X, "posterior-mean", whole_blocks=True))
        tokens = float(result.n_known.sum())
        if tokens == 0.0:
            raise InputError("no document holds a word the model knows: check that the vocabularies match.")
        return float(result.log_likelihood.sum()) / tokens

    def perplexity(self, X: Any, method: str = "posterior-mean") -> float:
        """Perplexity of documents by completion: each is inferred from every second token and scored on the others.

        Unlike :meth:`score` it does not improve with ``n_components`` by itself, and compares numbers of topics on
        documents that were held out.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
        method : {"posterior-mean", "prior-aware"}
            How proportions are inferred, as in :meth:`transform`. Those of "posterior-mean" give every known word a
            probability, whatever ``composition`` is. Prior-aware ones leave topics out altogether: a word of these topics
            alone is then impossible, and the perplexity infinite.
        """
        check_is_fitted(self)
        source = self._in_columns(X)
        found = complete_documents(
            self.model_, source, method=method, like=prototype_of(self, source), n_jobs=check_n_jobs(self.n_jobs)
        )
        return found.perplexity

    def learn_composition_prior(self, X: Any) -> Self:
        """Learn what prior-aware proportions need, on the documents of the fit; ``fit`` does where it was asked to.

        Parameters
        ----------
        X : (M, N) sparse or array-like of counts, data frame, Corpus, or blocks
            Read once; of more than fifty thousand documents every s-th is used.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        n_jobs = check_n_jobs(self.n_jobs)
        with limited_threads(n_jobs), one_library_thread():
            self.composition_prior_ = learn_dual(self.model_.inference, self._in_columns(X), n_jobs=n_jobs)
        self.model_ = with_dual(self.model_, self.composition_prior_.matrix)
        return self

    def _prototype(self) -> Any:
        """An array whose namespace and device inference uses; None is NumPy."""
        return None

    def _in_columns(self, X: Any) -> Source:
        """Documents in the columns of the model."""
        return in_columns(self._source(X, reset=False), self.model_.vocabulary, self.model_.n_words)

    def _proportions(self, X: Any, method: str | None, *, whole_blocks: bool = False) -> Any:
        check_is_fitted(self)
        source = self._in_columns(X)
        covered = coverage(source, self.model_.provenance.vocabulary_rule, self.model_.left_out)
        if covered.n_tokens:
            logger.info("transform: %s", covered.sentence())
        covered.warn(stacklevel=4)
        chosen = self.composition if method is None else method
        return compositions(
            self.model_, source, method=chosen, whole_blocks=whole_blocks, like=prototype_of(self, source),
            n_jobs=check_n_jobs(self.n_jobs),
        )  # fmt: skip
