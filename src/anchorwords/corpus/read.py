"""Read a corpus from files, frames and iterables, into memory or into a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import InputError, TooLargeError
from ..storage.corpus_folder import FORMAT
from .cleaning import Cleaning
from .corpus import Corpus
from .counting import DocumentCounter
from .formats import TEXT_FORMATS, format_of
from .language import warn_of_language
from .pouring import name_of, poured
from .prune import eligible_words
from .reading_options import ReadingOptions, ReadProgress, reading_options
from .selection import ColumnChoice
from .sinks import FolderSink, MemorySink
from .stored import StoredCorpus, open_corpus
from .text_rule import TextRule
from .vocabulary_rule import Described, VocabularyRule


def read_corpus(
    path: Any,
    *,
    format: str = "auto",  # noqa: A002 - the public contract's name
    vocabulary: str | os.PathLike[str] | Sequence[str] | None = None,
    text_column: str | int | Sequence[str | int] | None = None,
    id_column: str | int | None = None,
    columns: str | int | Sequence[str | int] | None = None,
    title_column: str | int | None = None,
    list_columns: Mapping[str, str] | None = None,
    table: Any = None,
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
    cleaning: Cleaning | bool | None = True,
    phrases: bool = False,
    like: Any = None,
    every_word: bool = False,
    n_jobs: int | None = None,
    progress: ReadProgress | None = None,
    verbose: int = 0,
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

        or an object in memory: a data frame of pandas, polars or arrow, or an iterable of texts, of lists of tokens, or of
        dicts with named members.
    format : str
        One of "auto", "text", "folder", "csv", "tsv", "jsonl", "parquet", "baskets", "uci", "mtx", "npz", "npy",
        "corpus". "auto" goes by the name of a file and by its first bytes. "baskets" is one list of items per line; items
        are kept exactly as they are.
    vocabulary : path or sequence of str, optional
        For text: the only words to count, in column order. For matrices: the words of the columns. A file has one word per
        line. Default for matrices: ``vocab.NAME.txt`` next to a UCI file, and the numbers of the columns otherwise.
    text_column : str, int or list of them, optional
        Column of text or tokens, by name or by number from 1. Several columns are joined into one document. The default is
        the column called "text", or the only one.
    id_column : str or int, optional
        Column of document ids, which must be distinct.
    columns : str, int, list of them or "all", optional
        Columns to keep in the documents table (:attr:`Corpus.documents`), such as dates, numbers and labels; "all" keeps
        every column that is neither text nor ids. The type of each column is inferred; see :class:`Documents`.
    title_column : str or int, optional
        Column whose values name documents in tables and pages. It is kept in the documents table.
    list_columns : dict, optional
        Columns whose texts are split into lists, each with its separator: ``{"tags": ";"}``. They are kept in the documents
        table.
    table : path, frame or mapping, optional
        A table with one row for each document of a source that has no columns of its own, such as a UCI file: a file
        (``.csv``, ``.tsv``, ``.jsonl``, ``.parquet``), a data frame, or a mapping of names to values. Rows are in the order
        of the documents; those of the files in a folder are found by ``id_column``. The arguments above then name columns of
        this table, all of which are kept by default.
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
    cleaning : Cleaning or bool
        What to remove from text before it is split: True for the default of :class:`Cleaning` (web and e-mail addresses,
        HTML tags, names that begin with @, hyphenation, and what PDF files leave behind), False for nothing.
    phrases : bool
        Count phrases as one word: pairs of words that occur together far more often than by chance, such as "new york". The
        words of a phrase are joined by a space, and are not counted on their own. Stop words are removed first.
    like : AnchorTopicModel or TopicModel, optional
        Fitted model whose documents were text: split text as those documents were split, and count only the words of the
        model, in its order. Use it to read new documents for ``transform``. A tokenizer that a saved model knows by name has
        to be given again; other options of splitting are refused. Sources that are not text (matrices, baskets, corpus
        folders) have words of their own and are read as they are.
    every_word : bool
        With ``like``, also count words that the model does not know. They come after its own, in the order of their
        characters. Use it to find out how much of new documents a model covers.
    n_jobs : int or None
        Threads; None uses all cores. Two at most read text; all sort the rows at the end. The result does not depend on it.
    progress : callable, optional
        Called with the number of documents read and the share of the source that was read (None if unknown).
    verbose : int
        1 shows a progress bar in a notebook; 0 shows nothing.

    Returns
    -------
    Corpus
        Words of text are sorted by their characters; documents are in the order of the source, empty ones included.
    """
    options = reading_options(
        format=format, vocabulary=vocabulary, text_column=text_column, id_column=id_column, columns=columns,
        title_column=title_column, list_columns=list_columns, table=table,
        header=header, pattern=pattern, separator=separator,
        lowercase=lowercase, stop_words=stop_words, ngrams=ngrams, min_length=min_length, max_length=max_length,
        numbers=numbers, tokenizer=tokenizer, cleaning=cleaning, phrases=phrases, like=like, every_word=every_word,
        n_jobs=n_jobs, progress=progress, verbose=verbose,
    )  # fmt: skip
    kind = format_of(path, options.format, options.pattern)
    with _within_memory(
        path, "import it into a corpus folder (import_corpus, anchorwords import), which is read in blocks"
    ):
        if kind == "corpus":
            _require_plain(options, path)
            return _loaded(open_corpus(path))
        return poured(path, kind, options, MemorySink(options.n_jobs)).corpus()


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
        poured(source, kind, options, FolderSink(partial, stack))
    return open_corpus(folder)


def read_chosen(source: Any, rule_for: Callable[[Described], VocabularyRule], **reading: Any) -> tuple[Corpus, Corpus]:
    """Read documents and choose their words in one go: as :func:`read_corpus` and :meth:`Corpus.prune`, but faster.

    Most words of text are rare. Here they are neither sorted nor given a column.

    Parameters
    ----------
    source
        As ``path`` in :func:`read_corpus`.
    rule_for : callable
        Returns the rule for documents, given their number and how they were split.
    **reading
        As in :func:`read_corpus`.

    Returns
    -------
    whole : Corpus
        All documents, with the chosen words only; for sources that are not text, with all words.
    pruned : Corpus
        What ``read_corpus(source, **reading).prune(rule=rule)`` returns.
    """
    options = reading_options(**reading)
    kind = format_of(source, options.format, options.pattern)
    plain = options.vocabulary is None and options.like is None and not options.rule.phrases
    if kind not in (*TEXT_FORMATS, "frame", "iterable") or not plain:
        whole = read_corpus(source, **reading)
        return whole, whole.prune(rule=rule_for(whole))
    chosen: list[Any] = []

    def choose(counter: DocumentCounter, sink: MemorySink, split: TextRule) -> tuple[list[str], Any]:
        names = counter.names()
        numbers = np.fromiter(names, np.int64, len(names))
        vocabulary = list(names.values())
        df, tf = sink.frequencies(counter.n_numbers)
        df, tf = df[numbers], tf[numbers]
        text_rule = split if counter.has_text else None
        rule = rule_for(_Counted(sink.n_docs, text_rule))
        warn_of_language(vocabulary, tf, rule, text_rule, stacklevel=6)
        kept, dropped = eligible_words(df, tf, sink.n_docs, vocabulary, rule, by_name=True)
        order = sorted(kept.tolist(), key=vocabulary.__getitem__)
        final = np.full(counter.n_numbers, -1, dtype=np.int32)
        final[numbers[order]] = np.arange(len(order), dtype=np.int32)
        chosen.extend([rule, dropped, vocabulary])
        return [vocabulary[i] for i in order], final

    with _within_memory(source, "import it into a corpus folder (import_corpus, anchorwords import) and fit that"):
        whole = poured(source, kind, options, MemorySink(options.n_jobs), choose).corpus()
    return whole, whole.with_long_documents(*chosen)


class _Counted(NamedTuple):
    """What a default rule depends on."""

    n_docs: int
    text_rule: TextRule | None


@contextmanager
def _within_memory(source: Any, advice: str) -> Iterator[None]:
    """Turn a MemoryError, wherever it comes from, into one sentence."""
    try:
        yield
    except TooLargeError:
        raise
    except MemoryError as error:
        raise TooLargeError(f"{name_of(source)} does not fit in memory: {advice}.") from error


def _require_plain(options: ReadingOptions, source: Any) -> None:
    """A corpus folder holds counts: how text is read cannot be said any more."""
    unset = all(value is None for value in (options.vocabulary, options.table, options.header, options.pattern))
    if not unset or options.choice != ColumnChoice() or options.rule != TextRule():
        raise InputError(
            f"{source} is a corpus, whose words are counted already: options of reading belong to its import; prune it, or "
            "import the documents again."
        )


def _loaded(corpus: StoredCorpus) -> Corpus:
    return corpus.in_memory()
