"""From a source of any kind to a sink: documents are read, counted and put in order."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from .._progress import shown_reading
from .._validation import check_vocabulary
from ..exceptions import CorpusFormatError, InputError, TextWarning
from . import readers as found_in
from .attached import Attached, attached_table
from .counting import DocumentCounter
from .document_rows import rows_in, watchers
from .files import shown
from .formats import COUNT_FORMATS, TABLE_FORMATS
from .matrices import read_matrix
from .parts import Part, hashes_of, part_of, require_distinct, row_slices
from .phrases import PhraseCounts, columns_with_phrases
from .readers import Batch
from .reading_options import ReadingOptions, splitting_of, words_of
from .selection import ColumnChoice, TableShape
from .sinks import Finish
from .table_builder import TableBuilder
from .text_rule import TextRule
from .uci import UciFile, Unordered

logger = logging.getLogger("anchorwords.corpus")

# Documents for each entry above which documents are taken for a mistake, beyond the first million.
_EMPTY_DOCS = 100
# Options that only some formats can honour, and these formats.
_BELONGS_TO = {"separator": ("csv", "tsv", "baskets"), "header": ("csv", "tsv"), "pattern": ("folder",)}

# Returns the words to keep and the column of each number that the counter has used, -1 to leave it out.
Choose: TypeAlias = Callable[[DocumentCounter, Any, TextRule], tuple[Sequence[str], Any]]


def poured(source: Any, kind: str, options: ReadingOptions, sink: Any, choose: Choose | None = None) -> Any:
    """Read everything into a sink, and finish it.

    Parameters
    ----------
    source : path, frame or iterable
    kind : str
        The format of the source.
    options : ReadingOptions
    sink : MemorySink or FolderSink
    choose : callable, optional
        Chooses the words of text once all documents are counted; by default all of them.

    Returns
    -------
    sink
        The same, or an empty one of its kind that has taken its place.
    """
    _require_fitting(source, kind, options)
    attached = attached_table(options, kind)
    if options.table is not None:  # columns are those of the table, and not of the documents
        options = options._replace(choice=ColumnChoice())
    with shown_reading(options.verbose, options.progress) as progress:
        options = options._replace(progress=progress)
        if kind in COUNT_FORMATS:
            return _pour_counts(source, kind, options, sink, attached)
        return _pour_documents(source, kind, options, sink, attached, choose)


def _require_fitting(source: Any, kind: str, options: ReadingOptions) -> None:
    """Raise InputError for an option that would have no effect."""
    own = kind in TABLE_FORMATS or (kind == "iterable" and options.table is None)
    if own and options.table is not None:
        raise InputError(
            f"{name_of(source)} is read as {kind}, which has columns of its own: name those to keep (columns, --columns) "
            "instead of giving a table."
        )
    if not own and options.table is None and options.choice.names_a_column:
        raise InputError(
            f"{name_of(source)} is read as {kind}, which has no columns, but a column was named: force the format (format, "
            "--format), give the table that has it (table, --table), or leave the column out."
        )
    if kind in COUNT_FORMATS and (given := options.rule.changed_options()):
        raise InputError(
            f"{name_of(source)} holds counts of words, which are not split any more: leave {', '.join(given)} out, and "
            "remove words when the corpus is pruned or fitted."
        )
    for name, kinds in _BELONGS_TO.items():
        attached = name == "header" and options.table is not None
        if getattr(options, name) is not None and kind not in kinds and not attached:
            raise InputError(
                f"{name_of(source)} is read as {kind}, but {name} belongs to {' and '.join(kinds)}: force the format "
                f"(format, --format), or leave {name} out."
            )


def _pour_counts(source: Any, kind: str, options: ReadingOptions, sink: Any, attached: Attached) -> Any:
    """Read a file of counts."""
    watch, report = watchers(options.progress)
    words: Sequence[str]
    if kind == "uci":
        path = Path(source)
        file = UciFile(_only_docword(path) if path.is_dir() else path, words_of(options.vocabulary), watch)
        try:
            for part in file.parts():
                sink.add(attached.to(part, sink.n_docs))
                report(sink.n_docs)
        except Unordered:
            sink = sink.fresh()
            for part in file.sorted_parts():
                sink.add(attached.to(part, sink.n_docs))
        words = _checked_words(file.vocabulary, file.n_words)
    else:
        counts = read_matrix(Path(source), kind)
        for rows in row_slices(counts):
            sink.add(attached.to(part_of(counts[rows]), sink.n_docs))
        given = words_of(options.vocabulary) or [str(i) for i in range(counts.shape[1])]
        words = _checked_words(given, counts.shape[1])
    sink.finish(Finish(words, columns=attached.columns_for(sink.n_docs, None), title=attached.title))
    return sink


def _pour_documents(
    source: Any, kind: str, options: ReadingOptions, sink: Any, attached: Attached, choose: Choose | None
) -> Any:
    """Read texts, lists of tokens or baskets, and count their words."""
    watch, report = watchers(options.progress)
    splitting = splitting_of(kind, options)
    counter = DocumentCounter(splitting.rule, options.n_jobs)
    shape = TableShape()
    table = TableBuilder(shape, options.choice.separators)
    hashes = []
    n_entries = 0
    if kind == "iterable" and found_in.are_texts(source) and not options.choice.names_a_column:
        batches = found_in.batches_of_texts(source)
    else:
        batches = found_in.batches(rows_in(source, kind, options, shape, watch))
    for counted in counter.parts(_reported(batches, report)):
        if counter.has_text and splitting.refuses_text:
            raise InputError(
                f"{name_of(source)} holds texts, but the model was fitted on lists of tokens and does not know how to split "
                "text: give lists of tokens made in the same way, or fit a model on texts."
            )
        table.add(counted)
        part: Part = attached.to(counted._replace(values=()), sink.n_docs)
        sink.add(part)
        if part.ids is not None:
            hashes.append(hashes_of(part.ids))
        n_entries += part.indices.size
        # A packed file of line ends alone has a thousand times its size in documents, each of which takes memory.
        if sink.n_docs > _EMPTY_DOCS * n_entries + (1 << 20):
            raise CorpusFormatError(
                f"{name_of(source)} holds {n_entries} words in its first {sink.n_docs} documents, so that nearly all are "
                "empty: check the format and the column of text."
            )
    if sink.n_docs == 0:
        raise CorpusFormatError(f"{name_of(source)} holds no documents.")
    require_distinct(hashes, sink.ids, name_of(source))
    if choose is not None and splitting.words is None:
        words, numbers = choose(counter, sink, splitting.rule)
    elif splitting.words is None:
        words, numbers = counter.vocabulary()
        if splitting.rule.phrases:
            words, numbers = _with_phrases(words, numbers, *sink.frequencies(numbers.size))
    else:
        words = _checked_words(splitting.words, len(splitting.words))
        if splitting.others:
            known = frozenset(words)
            words = [*words, *(word for word in counter.vocabulary()[0] if word not in known)]
        numbers = counter.numbers_among(words)
    if not words and choose is not None and counter.n_numbers:
        raise InputError(
            f"the vocabulary rule leaves none of the {counter.n_numbers:,} words of {name_of(source)}: loosen min_df, "
            "max_df or stop_words."
        )
    if not words:
        raise CorpusFormatError(
            f"{name_of(source)} holds no word in {sink.n_docs} documents: check the format, the column of text, stop words "
            "and the lengths of words."
        )
    if (remark := counter.remark()) is not None:
        warnings.warn(remark, TextWarning, stacklevel=4)
    rule = splitting.rule if splitting.others else splitting.rule.counting_only(splitting.words)
    change = PhraseCounts(words) if splitting.rule.phrases else None
    ids = list(sink.ids()) if attached.by_id else None
    columns = table.finish() or attached.columns_for(sink.n_docs, ids)
    sink.finish(
        Finish(
            words, numbers, rule if counter.has_text else None, columns, shape.title or attached.title, change,
            tokenized=not counter.has_text,
        )
    )  # fmt: skip
    logger.info("%s: %d documents, %d words", name_of(source), sink.n_docs, len(words))
    return sink


def _reported(batches: Iterable[Batch], report: Callable[[int], None]) -> Iterator[Batch]:
    """Pass batches on; each is reported when it has been read, as it is counted while the next one is."""
    n_docs = 0
    for batch in batches:
        n_docs += len(batch.documents)
        report(n_docs)
        yield batch


def _with_phrases(words: list[str], numbers: Any, df: Any, tf: Any) -> tuple[list[str], Any]:
    """Keep single words, and pairs that are phrases."""
    known = np.flatnonzero(numbers >= 0)
    n_docs, n_tokens = np.zeros(len(words), dtype=np.int64), np.zeros(len(words))
    n_docs[numbers[known]], n_tokens[numbers[known]] = df[known], tf[known]
    kept = columns_with_phrases(words, n_docs, n_tokens)
    place = np.full(len(words) + 1, -1, dtype=np.int32)  # the last is that of the number -1
    place[kept] = np.arange(kept.size, dtype=np.int32)
    return [words[i] for i in kept.tolist()], place[numbers]


def name_of(source: Any) -> str:
    """Return what to call a source in a message."""
    return shown(source) if isinstance(source, (str, os.PathLike)) else "the source"


def _checked_words(words: Sequence[str], n_words: int) -> Sequence[str]:
    return check_vocabulary(words, n_words) or ()


def _only_docword(folder: Path) -> Path:
    found = sorted(folder.glob("docword.*.txt*"))
    if len(found) != 1:
        raise CorpusFormatError(
            f"{folder} must hold one UCI file docword.NAME.txt or docword.NAME.txt.gz, but holds {len(found)}: "
            "name the file itself."
        )
    return found[0]
