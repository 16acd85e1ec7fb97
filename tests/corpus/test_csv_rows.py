"""Rows of CSV agree with the csv module's, whatever the limit of its fields is, and leave that limit alone."""

from __future__ import annotations

import csv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus import csv_rows as module
from anchorwords.corpus.csv_rows import csv_rows
from anchorwords.corpus.files import lines
from anchorwords.corpus.selection import ColumnChoice, TableShape
from anchorwords.corpus.tables import rows_of_csv
from anchorwords.exceptions import CorpusFormatError, InputError

from .test_hostile import peak_bytes

LONG = "word " * 40_000  # beyond the module's own limit


@pytest.fixture
def limit():
    """Sets the limit of the csv module, and puts it back."""
    before = csv.field_size_limit()
    yield csv.field_size_limit
    csv.field_size_limit(before)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f'id,text\n1,short one\n2,"{LONG}, ""quoted""\nand more"\n3,{LONG}\n4,short\n')
    return path


def test_files_are_read_in_threads(table, limit):
    before = limit()

    def tokens(_):
        return aw.read_corpus(table, text_column="text").n_tokens

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(tokens, range(40))) == {80_006}
    assert limit() == before


def test_generators_that_are_read_in_turns_do_not_meet(table, limit):
    before = limit()
    one, other = (rows_of_csv(table, ColumnChoice(("text",)), TableShape(), None, ",") for _ in range(2))
    next(one), next(other)
    assert [len(text) for _, text, _ in one] == [len(LONG) + 19, len(LONG), 5]
    assert [len(text) for _, text, _ in other] == [len(LONG) + 19, len(LONG), 5]
    assert limit() == before


@pytest.mark.parametrize("value", [10, 131_072, 1 << 40])
def test_the_limit_of_the_application_stays(table, limit, value):
    limit(value)
    assert aw.read_corpus(table, text_column="text").n_tokens == 80_006
    documents = rows_of_csv(table, ColumnChoice(("text",)), TableShape(), None, ",")
    next(documents)
    assert limit() == value
    documents.close()
    assert limit() == value


def own(text, separator=","):
    lines = enumerate(text.split("\n"), start=1)
    return [row for _, row in csv_rows(Path("a"), lines, separator)]


def of_module(text, separator=","):
    """What the module gives, or None where it is no table, or a quote is open at its end."""
    lines = [line + "\n" for line in text.split("\n")] + ["\0"]
    try:
        rows = list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return None
    return rows[:-1] if rows[-1] == ["\0"] else None


@settings(max_examples=400, deadline=None)
@given(text=st.text(st.sampled_from('ab,;"\n\r é'), max_size=40), value=st.sampled_from([0, 1, 2, 5]))
@example('a,"b\n', 1)
@example('"ab"c"d,"e""f"\n\n,', 1)
@example("ab\r\r", 1)
@example("ab\rab", 1)
def test_rows_do_not_depend_on_the_limit(text, value):
    before = csv.field_size_limit()
    for separator in (",", ";"):
        expected = of_module(text, separator)
        try:
            csv.field_size_limit(value)
            found = own(text, separator)
        except CorpusFormatError:
            found = None
        finally:
            csv.field_size_limit(before)
        assert found == expected


def test_a_quote_that_swallows_a_file_is_refused(tmp_path, limit, monkeypatch):
    monkeypatch.setattr(module, "_LONGEST_FIELD", 1 << 20)
    path = tmp_path / "a.csv"
    path.write_text('text\n"open\n' + "line\n" * 300_000)
    with pytest.raises(CorpusFormatError, match="line 2: a field of more than 1 MiB, or a quote that is never closed"):
        aw.read_corpus(path)


@pytest.mark.parametrize("separator", ['"', "\n", "\r", "::"])
def test_separators_that_cannot_separate_are_refused(table, separator):
    with pytest.raises(InputError, match="separator must be one character in CSV"):
        aw.read_corpus(table, separator=separator, text_column="text")


# Two pieces of a file of 4 MiB, split into lines of two characters, are 160 MB, and a field of 18 million characters is
# copied twice. Its six million lines as strings of their own, which were held twice, are 700 MB.
_FEW_BYTES = 400 << 20


@pytest.mark.slow
def test_fields_of_many_short_lines_take_the_memory_of_their_characters(tmp_path):
    # A packed table of 130 KB took a gigabyte: found by the campaign.
    path = tmp_path / "a.csv"
    path.write_text('text\n"' + "ab\n" * 6_000_000 + '"\n"' + 'x ""y""\n' * 500_000 + '"\nend\n')
    before = peak_bytes()
    rows = [(number, len(row), len(row[0])) for number, row in csv_rows(path, lines(path), ",")]
    assert peak_bytes() - before < _FEW_BYTES
    assert rows == [(1, 1, 4), (2, 1, 18_000_000), (6_000_003, 1, 500_000 * 6), (6_500_004, 1, 3)]


@pytest.mark.slow
def test_a_quote_that_is_never_closed_takes_little_memory(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('text\n"' + "ab\n" * 6_000_000)
    before = peak_bytes()
    with pytest.raises(CorpusFormatError, match="a quote is opened here, but never closed"):
        list(csv_rows(path, lines(path), ","))
    assert peak_bytes() - before < _FEW_BYTES
