"""Topics of documents as files, written block by block so that memory does not depend on their number."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._typing import FloatArray, SparseLike
from .._validation import check_n_jobs
from ..exceptions import InputError
from ..infer.compose import compositions, prototype_of
from ..interpret.compositions import method_for
from ..interpret.numbers import number
from ..model import as_topic_model
from ..sources.convert import in_columns, read_by
from ..sources.coverage import Coverage, coverage
from ..sources.kinds import MappedSource
from ..storage.writing import file_written_whole, require_writable_file
from .weights import SUFFIXES, require_columns, require_table, require_writer, write_weights

# Tokens are told to so many digits: less is the rounding of fractional counts.
_DIGITS = 6


@dataclass(frozen=True)
class ComposedDocuments:
    """What there is to say of documents that went by.

    Attributes
    ----------
    method : str
        How their compositions were inferred.
    n_docs : int
    n_tokens : int or float
        All their tokens, of words the model does not know too.
    n_left_out_tokens : int or float
        Those of words that the vocabulary rule of the model leaves out.
    n_unknown_tokens : int or float
        Those of other words it does not know.
    n_without_words : int
        Documents without a word it knows, which have the prevalence of the topics.
    exact_coverage : bool
        Whether the model remembers the words that its rule has removed; if not, only stop words count as left out.
    """

    method: str
    n_docs: int
    n_tokens: int | float
    n_left_out_tokens: int | float
    n_unknown_tokens: int | float
    n_without_words: int
    exact_coverage: bool = True

    @property
    def coverage(self) -> Coverage:
        """How much of the documents the model knows."""
        return Coverage(self.n_tokens, self.n_left_out_tokens, self.n_unknown_tokens, self.exact_coverage)


def write_compositions(
    model: Any,
    X: Any,
    path: str | os.PathLike[str],
    *,
    method: str | None = None,
    doc_ids: Sequence[Any] | None = None,
    columns: Sequence[str] = (),
    spreadsheet: bool = False,
    n_jobs: int | None = None,
    progress: Callable[[int, float | None], None] | None = None,
) -> ComposedDocuments:
    """Write what ``transform`` gives to a file, block by block, whole or not at all.

    Parameters
    ----------
    model : TopicModel or fitted AnchorTopicModel
    X : (M, N) sparse or array-like of counts, blocks of counts, or Corpus
        A Corpus, in memory or on disk, is matched to the model by its words. Memory does not grow with the documents, but
        for their names and columns. A function that gives blocks is asked once more, to count the documents.
    path : path
        Its suffix says what is written, a row a document. ``.csv``, ``.tsv`` and ``.jsonl``: named, with six digits.
        ``.npy``: the (M, K) array alone. ``.npz``: that array as ``weights``, with the ``ids`` of the documents and those of
        the ``topics``. ``.parquet`` (needs pyarrow): the columns document, topic_0, topic_1, ... Columns are named by ids
        of topics. A file that is there is replaced when the new one is complete.
    method : {"posterior-mean", "prior-aware"}, optional
        How topic proportions are inferred, as in ``transform``. The default is the ``composition`` parameter of the
        estimator, or "posterior-mean" for a TopicModel.
    doc_ids : sequence of M names, optional
        By default those of a Corpus, else the numbers of the documents from 1.
    columns : sequence of str
        Columns of the documents table of X to write after the names of the documents, such as a year: in .csv, .tsv,
        .jsonl and .parquet files. Missing values are empty. A list is a list in .jsonl and .parquet files, and one text
        with semicolons between its values in tables.
    spreadsheet : bool
        Write an apostrophe before text in a .csv or .tsv file that begins with =, +, -, @ or white space, unless they are
        numbers: a spreadsheet would compute them as formulas. By default names are written as they are, so that whatever
        reads the file gets them back.
    n_jobs : int or None
        Threads; the file does not depend on it.
    progress : callable, optional
        Called with the number of documents gone through and their share of all.

    Returns
    -------
    ComposedDocuments
        Numbers of documents and tokens, and of those that the model does not know.

    Examples
    --------
    >>> import anchorwords as aw
    >>> from anchorwords.datasets import make_topics
    >>> corpus = make_topics(n_docs=400, n_words=200, n_topics=3, random_state=0).corpus
    >>> model = aw.AnchorTopicModel(n_components=3).fit(corpus)
    >>> aw.export.write_compositions(model, corpus, "topics.csv").n_docs
    400
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"path must end in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, but is {target}.")
    require_writer(suffix)
    require_table(suffix, spreadsheet)
    require_writable_file(target)
    if isinstance(columns, str):
        raise InputError(f"columns must be a list of names, but is {columns!r}: write [{columns!r}].")
    require_columns(columns, suffix)
    passing = PassingDocuments(
        model, X, method=method, doc_ids=doc_ids, columns=columns, n_jobs=n_jobs, progress=progress
    )
    with file_written_whole(target) as partial:
        shape = (passing.n_docs, passing.n_topics)
        write_weights(
            partial, suffix, passing.weights(), passing.names, shape, topics=passing.topics, columns=passing.columns,
            spreadsheet=spreadsheet,
        )  # fmt: skip
    return passing.told()


class PassingDocuments:
    """Compositions of documents block by block, with names, and a count of what goes by.

    Parameters are those of :func:`write_compositions`.
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        method: str | None = None,
        doc_ids: Sequence[Any] | None = None,
        columns: Sequence[str] = (),
        n_jobs: int | None = None,
        progress: Callable[[int, float | None], None] | None = None,
    ) -> None:
        self._model, self._n_jobs, self._progress = as_topic_model(model), n_jobs, progress
        self.method, self.n_topics = method_for(self._model, method), self._model.n_components
        self.topics = self._model.ids
        self._source = in_columns(read_by(model, X), self._model.vocabulary, self._model.n_words)
        self._like = prototype_of(model, self._source)
        self.n_docs = self._source.count_documents()
        self.columns = {name: self._source.documents.column(name) for name in columns}
        self._names = None if doc_ids is None else _as_names(doc_ids, self.n_docs)
        self._n_tokens = self._n_known = self._n_left_out = 0.0
        self._n_without_words, self._exact = 0, True

    def names(self) -> Iterator[str]:
        """Names of all documents, anew at each call; where they have none, their numbers from 1."""
        return self._source.documents.names(self.n_docs) if self._names is None else iter(self._names)

    def weights(self) -> Iterator[FloatArray]:
        """Compositions of consecutive documents, once."""
        # Words of a corpus that the model has no column for are in no block.
        covered = coverage(self._source, self._model.provenance.vocabulary_rule, self._model.left_out)
        self._n_left_out, self._exact = covered.n_left_out, covered.exact
        self._n_tokens = covered.n_left_out + covered.n_unknown
        done = 0
        for part in compositions(
            self._model,
            MappedSource(self._source, self._counted),
            method=self.method,
            like=self._like,
            n_jobs=check_n_jobs(self._n_jobs),
        ):
            yield part.weights
            self._n_known += float(part.n_known.sum())
            self._n_without_words += int((part.n_known == 0.0).sum())
            done += len(part.weights)
            if self._progress is not None:
                self._progress(done, done / max(self.n_docs, 1))

    def told(self) -> ComposedDocuments:
        """What there is to say, when all have gone by."""
        unknown = self._n_tokens - self._n_known - self._n_left_out
        tokens, left_out, unknown = (number(round(n, _DIGITS)) for n in (self._n_tokens, self._n_left_out, unknown))
        return ComposedDocuments(
            self.method, self.n_docs, tokens, left_out, unknown, self._n_without_words, self._exact
        )

    def _counted(self, counts: SparseLike) -> SparseLike:
        self._n_tokens += float(counts.sum())
        return counts


def _as_names(doc_ids: Any, n_docs: int) -> list[str]:
    if isinstance(doc_ids, (str, bytes)) or not isinstance(doc_ids, Iterable):
        raise InputError(f"doc_ids must be a sequence of one name a document, but is {type(doc_ids).__name__}.")
    names = [str(name) for name in doc_ids]
    if len(names) != n_docs:
        raise InputError(f"doc_ids must name each of the {n_docs} documents once, but has {len(names)} names.")
    return names
