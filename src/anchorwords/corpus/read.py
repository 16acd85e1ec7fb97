"""Read a corpus from files, frames and iterables, into memory or into a folder."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import SparseLike
from .._validation import check_n_jobs, check_vocabulary
from ..exceptions import CorpusFormatError, InputError, TextWarning
from ..linalg.parallel import for_each_block
from ..storage.corpus_folder import FILES, FORMAT, CorpusWriter
from ..storage.folders import written_whole
from . import readers as found_in
from .corpus import Corpus
from .counting import DocumentCounter, TextRule, checked_rule
from .files import Watch
from .formats import format_of
from .matrices import read_matrix
from .parts import Part, hashes_of, ordered_rows, part_of, require_distinct, row_slices
from .readers import Column, Documents
from .stored import StoredCorpus, open_corpus
from .uci import UciFile, Unordered, read_words

logger = logging.getLogger("anchorwords.corpus")

_WITH_COLUMNS = ("csv", "tsv", "jsonl", "parquet", "frame")

# Called with the number of documents read and the share of the source, None where that is unknown.
ReadProgress: TypeAlias = Callable[[int, float | None], None]


def read_corpus(
    path: Any,
    *,
    format: str = "auto",  # noqa: A002 - the public contract's name
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
    text_column: str | int | None = None,
    id_column: str | int | None = None,
    header: bool | None = None,
    pattern: str | None = None,
    separator: str | None = None,
    lowercase: bool = True,
    stop_words: str | os.PathLike[str] | Iterable[str] | None = None,
    ngrams: tuple[int, int] = (1, 1),
    min_length: int = 2,
    max_length: int = 100,
    numbers: bool = False,
    tokenizer: Callable[[str], Iterable[str]] | None = None,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
) -> Corpus:
    """Read a corpus into memory; :func:`import_corpus` takes the same and writes it to disk.

    Parameters
    ----------
    path : path, frame or iterable
        A file or a folder, plain or compressed by gzip or zstd:

        - text, one document a line (``.txt``), or a folder of text files, one document each;
        - a table (``.csv``, ``.tsv``, ``.parquet``) or JSON lines (``.jsonl``) with a column of text or, in the last two,
          of lists of tokens;
        - a UCI bag-of-words file (``docword.NAME.txt``) or the folder that holds it, a Matrix Market file (``.mtx``), a
          sparse matrix saved by ``scipy.sparse.save_npz`` (``.npz``), an array saved by ``numpy.save`` (``.npy``):
          documents x words;
        - a corpus folder (see :func:`open_corpus`, which does not load it);

        or what is in memory already: a frame of pandas, polars or arrow, or an iterable of texts or of lists of tokens.
    format : str
        One of "auto", "text", "folder", "csv", "tsv", "jsonl", "parquet", "baskets", "uci", "mtx", "npz", "npy",
        "corpus". "auto" goes by the name of a file and by how it begins. "baskets" is a list of items a line, which are
        kept exactly.
    vocabulary : path or sequence of str, optional
        For text: the words to count, in column order, and no others. For matrices: the words of the columns, or a file
        with one a line; by default ``vocab.NAME.txt`` beside a UCI file, and the numbers of the columns otherwise.
    text_column, id_column : str or int, optional
        Columns of text or tokens, and of the documents' names, by name or by number from 1. Text is by default the column
        called "text", or the only one.
    header : bool, optional
        Whether the first line of a CSV or TSV file names the columns; by default if a column is called by its name.
    pattern : str, optional
        Files of a folder to read, ``*.txt`` by default.
    separator : str, optional
        Between the columns of a table (a comma in CSV, a tab in TSV) or the items of a basket (a tab).
    lowercase : bool
        Whether text is lower-cased.
    stop_words : str, path or iterable of str, optional
        Words to pass over: the name of a language ("english"), a file with one a line, or the words.
    ngrams : (int, int)
        Fewest and most consecutive words that are counted as one, joined by spaces.
    min_length, max_length : int
        Characters of a word.
    numbers : bool
        Whether a word may do without a letter.
    tokenizer : callable, optional
        From a text to its words: needed for scripts without spaces between words.
    n_jobs : int or None
        Threads; the result does not depend on it.
    progress : callable, optional
        Called with the number of documents read and the share of the source (None where that is unknown).

    Returns
    -------
    Corpus
        Words of text in the order of their characters; documents in the order of the source, empty ones included.
    """
    options = reading_options(
        format=format, vocabulary=vocabulary, text_column=text_column, id_column=id_column, header=header,
        pattern=pattern, separator=separator, lowercase=lowercase, stop_words=stop_words, ngrams=ngrams,
        min_length=min_length, max_length=max_length, numbers=numbers, tokenizer=tokenizer, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    kind = format_of(path, options.format, options.pattern)
    if kind == "corpus":
        _require_plain(options, path)
        return _loaded(open_corpus(path))
    return _poured(path, kind, options, _Gathered(options.n_jobs)).corpus()


def import_corpus(source: Any, folder: str | os.PathLike[str], **reading: Any) -> StoredCorpus:
    """Read a corpus of any size into a folder, in one pass and in memory of its vocabulary and of a block of documents.

    Parameters
    ----------
    source : path, frame or iterable
        As ``path`` in :func:`read_corpus`.
    folder : path
        Folder to write, whole or not at all; a corpus that is there is replaced, anything else left alone.
    **reading
        As in :func:`read_corpus`.

    Returns
    -------
    StoredCorpus
        The folder, opened.
    """
    options = reading_options(**reading)
    kind = format_of(source, options.format, options.pattern)
    FORMAT.require_writable(folder, FILES)
    if kind == "corpus":
        _require_plain(options, source)
        open_corpus(source).save(folder)
        return open_corpus(folder)
    with written_whole(folder) as partial:
        _poured(source, kind, options, _Folder(partial))
    return open_corpus(folder)


class _Options(NamedTuple):
    """The arguments of :func:`read_corpus`."""

    format: str
    vocabulary: Any
    text_column: Column
    id_column: Column
    header: bool | None
    pattern: str | None
    separator: str | None
    rule: TextRule
    n_jobs: int | None
    progress: ReadProgress | None


def reading_options(
    *,
    format: str = "auto",  # noqa: A002
    vocabulary: Any = None,
    text_column: Column = None,
    id_column: Column = None,
    header: bool | None = None,
    pattern: str | None = None,
    separator: str | None = None,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
    **rule: Any,
) -> _Options:
    """The arguments of :func:`read_corpus`, checked."""
    if separator is not None and not separator:
        raise InputError("separator must be at least one character, but is empty.")
    if format == "csv" and separator is not None and len(separator) != 1:
        raise InputError(f"separator must be one character in CSV, but is {separator!r}.")
    return _Options(
        format, vocabulary, text_column, id_column, header, pattern, separator, checked_rule(**rule),
        check_n_jobs(n_jobs), progress,
    )  # fmt: skip


def _require_plain(options: _Options, source: Any) -> None:
    """A corpus folder holds counts: how text is read cannot be said any more."""
    own = (options.vocabulary, options.text_column, options.id_column, options.header, options.pattern, options.rule)
    if own != (None, None, None, None, None, TextRule()):
        raise InputError(
            f"{source} is a corpus, whose words are counted already: options of reading belong to its import; prune it, or "
            "import the documents again."
        )


def _only_docword(folder: Path) -> Path:
    found = sorted(folder.glob("docword.*.txt*"))
    if len(found) != 1:
        raise CorpusFormatError(
            f"{folder} must hold one UCI file docword.NAME.txt or docword.NAME.txt.gz, but holds {len(found)}: "
            "name the file itself."
        )
    return found[0]


# ---- From a source to a sink.


class _Gathered:
    """Rows gathered in memory."""

    def __init__(self, n_jobs: int | None) -> None:
        self.n_docs = 0
        self._n_jobs = n_jobs
        self._parts: list[Part] = []

    def fresh(self) -> _Gathered:
        return _Gathered(self._n_jobs)

    def add(self, part: Part) -> None:
        self.n_docs += part.lengths.size
        self._parts.append(part)

    def finish(self, words: Sequence[str], maps: Sequence[Any], rule: dict[str, Any] | None) -> None:
        blocks: list[SparseLike] = [None] * len(self._parts)

        def work(number: int, _: int) -> None:
            part = self._parts[number]
            blocks[number] = ordered_rows(part, maps[part.numbering], len(words))

        for_each_block(work, len(blocks), 1, self._n_jobs)
        counts = sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, len(words)))
        self._whole = (counts, words, list(self.ids()) or None, rule)

    def ids(self) -> Iterator[str]:
        return (name for part in self._parts for name in part.ids or ())

    def corpus(self) -> Corpus:
        counts, words, ids, rule = self._whole
        return Corpus(counts, words, ids, text_rule=rule)


class _Folder:
    """Rows written to a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writer = CorpusWriter(folder)
        self.add, self.finish, self.ids = self._writer.add, self._writer.finish, self._writer.ids

    @property
    def n_docs(self) -> int:
        return self._writer.n_docs

    def fresh(self) -> _Folder:
        return _Folder(self._folder)


def _poured(source: Any, kind: str, options: _Options, sink: Any) -> Any:
    """Read everything into the sink, and finish it."""
    if kind not in _WITH_COLUMNS and (options.text_column is not None or options.id_column is not None):
        raise InputError(
            f"{_name(source)} is read as {kind}, which has no columns, but a column was named: force the format (format, "
            "--format), or leave the column out."
        )
    watch, report = watchers(options.progress)
    if kind == "uci":
        path = Path(source)
        file = UciFile(_only_docword(path) if path.is_dir() else path, _words(options.vocabulary), watch)
        try:
            for part in file.parts():
                sink.add(part)
                report(sink.n_docs)
        except Unordered:
            sink = sink.fresh()
            for part in file.sorted_parts():
                sink.add(part)
        sink.finish(_checked_words(file.vocabulary, file.n_words), [None], None)
        return sink
    words: Sequence[str]
    if kind in ("mtx", "npz", "npy"):
        counts = read_matrix(Path(source), kind)
        words = _words(options.vocabulary) or [str(i) for i in range(counts.shape[1])]
        for rows in row_slices(counts):
            sink.add(part_of(counts[rows]))
        sink.finish(_checked_words(words, counts.shape[1]), [None], None)
        return sink
    fixed = _words(options.vocabulary)
    counter = DocumentCounter(options.rule, options.n_jobs)
    hashes = []
    for part in counter.parts(found_in.batches(documents_in(source, kind, options, watch))):
        sink.add(part)
        if part.ids is not None:
            hashes.append(hashes_of(part.ids))
        report(sink.n_docs)
    if sink.n_docs == 0:
        raise CorpusFormatError(f"{_name(source)} holds no documents.")
    require_distinct(hashes, sink.ids, _name(source))
    maps: list[npt.NDArray[np.int32]]
    if fixed is None:
        words, maps = counter.vocabulary()
    else:
        words = _checked_words(fixed, len(fixed))
        maps = counter.numbers_among(words)
    if not words:
        raise CorpusFormatError(
            f"{_name(source)} holds no word in {sink.n_docs} documents: check the format, the column of text, stop words "
            "and the lengths of words."
        )
    if (remark := counter.remark()) is not None:
        warnings.warn(remark, TextWarning, stacklevel=4)
    sink.finish(words, maps, options.rule.to_dict(fixed) if counter.has_text else None)
    logger.info("%s: %d documents, %d words", _name(source), sink.n_docs, len(words))
    return sink


def documents_in(source: Any, kind: str, options: _Options, watch: Watch) -> Documents:
    """The documents of a source of any kind, each with its id."""
    text, name = options.text_column, options.id_column
    if kind == "frame":
        return found_in.rows_of_frame(source, text, name)
    if kind == "iterable":
        return found_in.items_of(source)
    path = Path(source)
    if kind == "folder":
        return found_in.files_of(path, options.pattern, watch)
    if kind == "baskets":
        return found_in.baskets_of(path, options.separator or "\t", watch)
    if kind == "csv":
        return found_in.columns_of_csv(path, text, name, options.header, (options.separator or ",")[0], watch)
    if kind == "tsv":
        return found_in.columns_of_tsv(path, text, name, options.header, options.separator or "\t", watch)
    if kind == "jsonl":
        return found_in.objects_of_json_lines(path, text, name, watch)
    if kind == "parquet":
        return found_in.columns_of_parquet(path, text, name, watch)
    return found_in.lines_of(path, watch)


def watchers(progress: ReadProgress | None) -> tuple[Watch, Callable[[int], None]]:
    """What the reader of bytes and the counter of documents call: together they make the progress."""
    share: list[float | None] = [None]

    def watch(value: float) -> None:
        share[0] = value

    def report(n_docs: int) -> None:
        if progress is not None:
            progress(n_docs, share[0])

    return watch, report


def _words(vocabulary: Any) -> list[str] | None:
    if vocabulary is None:
        return None
    if isinstance(vocabulary, (str, os.PathLike)):
        return read_words(Path(vocabulary))
    return list(vocabulary)


def _checked_words(words: Sequence[str], n_words: int) -> Sequence[str]:
    return check_vocabulary(words, n_words) or ()


def _name(source: Any) -> str:
    return str(source) if isinstance(source, (str, os.PathLike)) else "the source"


def _loaded(corpus: StoredCorpus) -> Corpus:
    return Corpus(corpus.counts, corpus.vocabulary, corpus.doc_ids, text_rule=corpus.text_rule)
