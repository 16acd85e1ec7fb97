"""Read a corpus from files, frames and iterables, into memory or into a folder."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from .._typing import SparseLike
from .._validation import check_n_jobs, check_vocabulary
from ..exceptions import CorpusFormatError, InputError, TextWarning, TooLargeError
from ..linalg.parallel import for_each_block
from ..storage.corpus_folder import FORMAT
from ..storage.corpus_writer import CorpusWriter
from . import readers as found_in
from .corpus import Corpus
from .counting import DocumentCounter
from .files import Watch, short, shown
from .formats import TEXT_FORMATS, format_of
from .like import Reading, reading_of
from .matrices import read_matrix
from .parquet import columns_of_parquet
from .parts import Part, hashes_of, ordered_rows, part_of, require_distinct, row_slices
from .readers import Column, Documents, as_id
from .stored import StoredCorpus, open_corpus
from .text_rule import TextRule
from .uci import UciFile, Unordered, read_words

logger = logging.getLogger("anchorwords.corpus")

# Documents for each entry above which documents are taken for a mistake, beyond the first million.
_EMPTY_DOCS = 100
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
    like: Any = None,
    every_word: bool = False,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
) -> Corpus:
    """Read a corpus into memory; :func:`import_corpus` takes the same arguments and writes it to disk.

    Parameters
    ----------
    path : path, frame or iterable
        A file or a folder, plain or compressed by gzip or zstd:

        - text with one document per line (``.txt``), or a folder of text files with one document each;
        - a table (``.csv``, ``.tsv``, ``.parquet``) or JSON lines (``.jsonl``) with a column of text or, in the last two,
          of lists of tokens;
        - a UCI bag-of-words file (``docword.NAME.txt``) or the folder that holds it, a Matrix Market file (``.mtx``), a
          sparse matrix saved by ``scipy.sparse.save_npz`` (``.npz``), an array saved by ``numpy.save`` (``.npy``):
          documents x words;
        - a corpus folder (see :func:`open_corpus`, which does not load it);

        or an object in memory: a data frame of pandas, polars or arrow, or an iterable of texts or of lists of tokens.
    format : str
        One of "auto", "text", "folder", "csv", "tsv", "jsonl", "parquet", "baskets", "uci", "mtx", "npz", "npy",
        "corpus". "auto" goes by the name of a file and by its first bytes. "baskets" is one list of items per line; items
        are kept exactly as they are.
    vocabulary : path or sequence of str, optional
        For text: the only words to count, in column order. For matrices: the words of the columns. A file has one word per
        line. Default for matrices: ``vocab.NAME.txt`` next to a UCI file, and the numbers of the columns otherwise.
    text_column, id_column : str or int, optional
        Columns of text or tokens, and of document ids, by name or by number from 1. The default column of text is the one
        called "text", or the only one.
    header : bool, optional
        Whether the first line of a CSV or TSV file names the columns. Default: yes if a column is given by name.
    pattern : str, optional
        Files of a folder to read, ``*.txt`` by default.
    separator : str, optional
        Separator of the columns of a table (default: a comma in CSV, a tab in TSV) or of the items of a basket (a tab).
    lowercase : bool
        Convert text to lower case.
    stop_words : str, path or iterable of str, optional
        Words not to count: the name of a language ("english"), a file with one word per line, or the words. N-grams consist
        of the words that are left, so give stop words here if you count n-grams, and to :meth:`Corpus.prune` otherwise.
    ngrams : (int, int)
        Shortest and longest n-grams to count; their words are joined by spaces.
    min_length, max_length : int
        Fewest and most characters of a word.
    numbers : bool
        Also count tokens that contain no letters.
    tokenizer : callable, optional
        Function from a text to its words: needed for scripts without spaces between words.
    like : AnchorTopicModel or TopicModel, optional
        Fitted model whose documents were text: split text as those documents were split, and count only the words of the
        model, in its order. Use it to read new documents for ``transform``. A tokenizer that a saved model knows by name has
        to be given again; other options of splitting are refused. Sources that are not text (matrices, baskets, corpus
        folders) have words of their own and are read as they are.
    every_word : bool
        With ``like``, also count words that the model does not know. They come after its own, in the order of their
        characters. Use it to find out how much of new documents a model covers.
    n_jobs : int or None
        Threads that sort the rows at the end; words are counted in one thread. The result does not depend on it.
    progress : callable, optional
        Called with the number of documents read and the share of the source that was read (None if unknown).

    Returns
    -------
    Corpus
        Words of text are sorted by their characters; documents are in the order of the source, empty ones included.
    """
    options = reading_options(
        format=format, vocabulary=vocabulary, text_column=text_column, id_column=id_column, header=header,
        pattern=pattern, separator=separator, lowercase=lowercase, stop_words=stop_words, ngrams=ngrams,
        min_length=min_length, max_length=max_length, numbers=numbers, tokenizer=tokenizer, like=like,
        every_word=every_word, n_jobs=n_jobs, progress=progress,
    )  # fmt: skip
    kind = format_of(path, options.format, options.pattern)
    with _within_memory(
        path, "import it into a corpus folder (import_corpus, anchorwords import), which is read in blocks"
    ):
        if kind == "corpus":
            _require_plain(options, path)
            return _loaded(open_corpus(path))
        return _poured(path, kind, options, _Gathered(options.n_jobs)).corpus()


def import_corpus(source: Any, folder: str | os.PathLike[str], **reading: Any) -> StoredCorpus:
    """Read a corpus of any size into a folder, in one pass; memory holds the vocabulary and one block of documents.

    Parameters
    ----------
    source : path, frame or iterable
        As ``path`` in :func:`read_corpus`.
    folder : path
        Folder to write, completely or not at all. A corpus there is replaced; anything else is left alone.
    **reading
        As in :func:`read_corpus`.

    Returns
    -------
    StoredCorpus
        The folder, opened.
    """
    options = reading_options(**reading)
    kind = format_of(source, options.format, options.pattern)
    if kind == "corpus":
        _require_plain(options, source)
        open_corpus(source).save(folder)
        return open_corpus(folder)
    advice = "its vocabulary or one of its documents is too large, so split long documents, or give a vocabulary"
    with _within_memory(source, advice), FORMAT.written(folder) as partial, ExitStack() as stack:
        _poured(source, kind, options, _Folder(partial, stack))
    return open_corpus(folder)


@contextmanager
def _within_memory(source: Any, advice: str) -> Iterator[None]:
    """Turn a MemoryError, wherever it comes from, into one sentence."""
    try:
        yield
    except TooLargeError:
        raise
    except MemoryError as error:
        raise TooLargeError(f"{_name(source)} does not fit in memory: {advice}.") from error


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
    like: Any
    every_word: bool
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
    like: Any = None,
    every_word: bool = False,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
    **rule: Any,
) -> _Options:
    """The arguments of :func:`read_corpus`, checked."""
    for name, value in (("text_column", text_column), ("id_column", id_column)):
        if value is not None and not isinstance(value, (str, int)):
            raise InputError(f"{name} must be the name of a column or its number from 1, but is {short(value)}.")
    for name, value in (("pattern", pattern), ("separator", separator)):
        if value is not None and not isinstance(value, str):
            raise InputError(f"{name} must be a text, but is {short(value)}.")
    if separator is not None and not separator:
        raise InputError("separator must be at least one character, but is empty.")
    if every_word and like is None:
        raise InputError("every_word adds to the words of a model, but there is none: give the model as like.")
    return _Options(
        format, vocabulary, text_column, id_column, header, pattern, separator, TextRule.checked(**rule), like, every_word,
        check_n_jobs(n_jobs), progress,
    )  # fmt: skip


class _Splitting(NamedTuple):
    """How text is split, and the words that come first; None counts all. With ``others`` further words follow these."""

    rule: TextRule
    words: Sequence[str] | None
    others: bool


def _splitting(kind: str, options: _Options) -> _Splitting:
    """Return the options of splitting text, or those of the model that documents are to be read like."""
    known = _known_reading(kind, options)
    if known is None:
        return _Splitting(options.rule, _words(options.vocabulary), False)
    if given := _given(options, known):
        raise InputError(
            f"text is split as it was for the model given as like, but {', '.join(given)} "
            f"{'is' if len(given) == 1 else 'are'} given too: leave one of them out."
        )
    rule = known.rule.with_tokenizer(options.rule.tokenizer)  # type: ignore[arg-type]
    return _Splitting(rule.counting_only(None), known.words, options.every_word)


def contradicting_options(source: Any, **reading: Any) -> list[str]:
    """Return the names of arguments of :func:`read_corpus` that contradict its ``like``."""
    options = reading_options(**reading)
    known = _known_reading(format_of(source, options.format, options.pattern), options)
    return [] if known is None else _given(options, known)


def _known_reading(kind: str, options: _Options) -> Reading | None:
    """How the documents of ``like`` were read, if this source is text and they were text."""
    known = None if options.like is None else reading_of(options.like)
    return known if kind in (*TEXT_FORMATS, "frame", "iterable") else None


def _given(options: _Options, known: Reading) -> list[str]:
    """Names of the options that say how to split text, which the model knows; its tokenizer may be given again."""
    others = {
        "tokenizer": options.rule.tokenizer is not None and known.rule.tokenizer is None,
        "vocabulary": options.vocabulary is not None,
    }
    return [*options.rule.changed_options(), *(name for name, is_given in others.items() if is_given)]


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

    def finish(self, words: Sequence[str], numbers: npt.NDArray[np.int32] | None, rule: TextRule | None) -> None:
        blocks: list[SparseLike] = [None] * len(self._parts)

        def work(number: int, _: int) -> None:
            part = self._parts[number]
            blocks[number] = ordered_rows(part, numbers, len(words))
            # Let go of its arrays, so that the corpus is not in memory once more.
            self._parts[number] = Part(
                part.lengths[:0].copy(), part.indices[:0].copy(), part.counts[:0].copy(), part.ids
            )

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

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self._writer = stack.enter_context(CorpusWriter(folder))
        self.add, self.ids = self._writer.add, self._writer.ids

    @property
    def n_docs(self) -> int:
        return self._writer.n_docs

    def finish(self, words: Sequence[str], numbers: npt.NDArray[np.int32] | None, rule: TextRule | None) -> None:
        self._writer.finish(words, numbers, None if rule is None else rule.to_dict())

    def fresh(self) -> _Folder:
        return _Folder(self._folder, self._stack)


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
        sink.finish(_checked_words(file.vocabulary, file.n_words), None, None)
        return sink
    words: Sequence[str]
    if kind in ("mtx", "npz", "npy"):
        counts = read_matrix(Path(source), kind)
        words = _words(options.vocabulary) or [str(i) for i in range(counts.shape[1])]
        for rows in row_slices(counts):
            sink.add(part_of(counts[rows]))
        sink.finish(_checked_words(words, counts.shape[1]), None, None)
        return sink
    splitting = _splitting(kind, options)
    counter = DocumentCounter(splitting.rule)
    hashes = []
    n_entries = 0
    for part in counter.parts(found_in.batches(documents_in(source, kind, options, watch))):
        sink.add(part)
        if part.ids is not None:
            hashes.append(hashes_of(part.ids))
        n_entries += part.indices.size
        # A packed file of line ends alone has a thousand times its size in documents, each of which takes memory.
        if sink.n_docs > _EMPTY_DOCS * n_entries + (1 << 20):
            raise CorpusFormatError(
                f"{_name(source)} holds {n_entries} words in its first {sink.n_docs} documents, so that nearly all are "
                "empty: check the format and the column of text."
            )
        report(sink.n_docs)
    if sink.n_docs == 0:
        raise CorpusFormatError(f"{_name(source)} holds no documents.")
    require_distinct(hashes, sink.ids, _name(source))
    if splitting.words is None:
        words, numbers = counter.vocabulary()
    else:
        words = _checked_words(splitting.words, len(splitting.words))
        if splitting.others:
            known = frozenset(words)
            words = [*words, *(word for word in counter.vocabulary()[0] if word not in known)]
        numbers = counter.numbers_among(words)
    if not words:
        raise CorpusFormatError(
            f"{_name(source)} holds no word in {sink.n_docs} documents: check the format, the column of text, stop words "
            "and the lengths of words."
        )
    if (remark := counter.remark()) is not None:
        warnings.warn(remark, TextWarning, stacklevel=4)
    rule = splitting.rule if splitting.others else splitting.rule.counting_only(splitting.words)
    sink.finish(words, numbers, rule if counter.has_text else None)
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
        return found_in.columns_of_csv(path, text, name, options.header, options.separator or ",", watch)
    if kind == "tsv":
        return found_in.columns_of_tsv(path, text, name, options.header, options.separator or "\t", watch)
    if kind == "jsonl":
        return found_in.objects_of_json_lines(path, text, name, watch)
    if kind == "parquet":
        return columns_of_parquet(path, text, name, watch)
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
    if not isinstance(vocabulary, Iterable):
        raise InputError(f"vocabulary must be a file or a sequence of words, but is {short(vocabulary)}.")
    return [as_id(word, "vocabulary") for word in vocabulary]


def _checked_words(words: Sequence[str], n_words: int) -> Sequence[str]:
    return check_vocabulary(words, n_words) or ()


def _name(source: Any) -> str:
    return shown(source) if isinstance(source, (str, os.PathLike)) else "the source"


def _loaded(corpus: StoredCorpus) -> Corpus:
    return Corpus(corpus.counts, corpus.vocabulary, corpus.doc_ids, text_rule=corpus.text_rule)
