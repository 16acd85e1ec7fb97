"""What the pages of a Parquet file announce, read from the headers of the pages themselves.

A Parquet file of 600 bytes may unpack to 30 GB: by compression, by runs of the same value, and by values that share their
beginning. The sizes in the footer of the file need not be true, but those in the headers of the pages are what the reader of
pyarrow asks memory for. They are in Thrift's compact protocol, of which little is needed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from .thrift import Thrift

# Longest header of a page; pyarrow has the same limit.
_LONGEST_HEADER = 1 << 24
# Types of pages; for each the field of the header that tells of its values, and the fields of that with number and encoding.
_DATA, _INDEX, _DICTIONARY, _DATA_V2 = 0, 1, 2, 3
_ABOUT = {_DATA: (5, 1, 2), _DICTIONARY: (7, 1, 2), _DATA_V2: (8, 1, 4)}
_DELTA_LENGTH_BYTE_ARRAY, _DELTA_BYTE_ARRAY = 6, 7
_REFERRING = frozenset({2, 8})  # to a dictionary


class Page(NamedTuple):
    """What the header of a page says."""

    kind: int
    unpacked: int
    packed: int
    values: int
    encoding: int
    begin: int  # of what follows the header

    @property
    def has_data(self) -> bool:
        """Whether its values are those of rows."""
        return self.kind in (_DATA, _DATA_V2)


class Announced(NamedTuple):
    """What the pages of a column hold, all groups of rows together.

    Attributes
    ----------
    unpacked : int
        Bytes.
    values : int
        Values, missing ones included; of lists, their items.
    per_value : float
        Bytes that a value takes on average, in the page where that is most.
    most_values : int
        Values of the page that has most.
    dictionary : int
        Bytes of the largest dictionary: a value of a page that refers to it may take as many.
    shared : int
        Bytes of the largest page whose values share what they begin with: each of them may take as many.
    is_delta : bool
        Whether a page is in an encoding that pyarrow cannot read as dictionaries.
    is_mixed : bool
        Whether a group has pages that refer to a dictionary and others: pyarrow cannot read lists of those as dictionaries.
    """

    unpacked: int = 0
    values: int = 0
    per_value: float = 0.0
    most_values: int = 0
    dictionary: int = 0
    shared: int = 0
    is_delta: bool = False
    is_mixed: bool = False

    def with_group(self, pages: list[Page]) -> Announced:
        """Return this with the pages of one more group of rows."""
        data = [page for page in pages if page.has_data]
        encodings = {page.encoding for page in data}
        shared = (page.unpacked for page in data if page.encoding == _DELTA_BYTE_ARRAY)
        dictionaries = (page.unpacked for page in pages if page.kind == _DICTIONARY)
        return Announced(
            self.unpacked + sum(page.unpacked for page in pages),
            self.values + sum(page.values for page in data),
            max([self.per_value, *(page.unpacked / max(page.values, 1) for page in data)]),
            max([self.most_values, *(page.values for page in data)]),
            max([self.dictionary, *dictionaries]),
            max([self.shared, *shared]),
            self.is_delta or bool(encodings & {_DELTA_LENGTH_BYTE_ARRAY, _DELTA_BYTE_ARRAY}),
            self.is_mixed or not (encodings <= _REFERRING or encodings.isdisjoint(_REFERRING)),
        )


def announced_by_pages(stream: IO[bytes], metadata: Any, column: int) -> Announced:
    """Go through the headers of all pages of a column; ValueError where they are none.

    Parameters
    ----------
    stream : binary file
    metadata : pyarrow.parquet.FileMetaData
    column : int
        Number of a leaf of the schema.
    """
    found = Announced()
    for group in range(metadata.num_row_groups):
        found = found.with_group(list(_pages(stream, metadata.row_group(group).column(column))))
    return found


def most_repeated(stream: IO[bytes], metadata: Any, column: int) -> int:
    """Bytes that the values of a dictionary can take in one group of rows, were they all the longest of it."""
    most = 0
    for group in range(metadata.num_row_groups):
        chunk = metadata.row_group(group).column(column)
        longest = referring = 0
        for page in _pages(stream, chunk):
            if page.kind == _DICTIONARY:
                longest = max(longest, _longest_value(stream, page, chunk.compression))
            elif page.has_data and page.encoding in _REFERRING:
                referring += page.values
        most = max(most, longest * referring)
    return most


def _longest_value(stream: IO[bytes], page: Page, compression: str) -> int:
    """Bytes of the longest text of a dictionary; those of all of it where its compression is not known."""
    import pyarrow as pa

    stream.seek(page.begin)
    raw = stream.read(page.packed)
    if compression != "UNCOMPRESSED":
        try:
            raw = pa.Codec(compression.lower()).decompress(raw, page.unpacked).to_pybytes()
        except (ValueError, OSError, NotImplementedError):
            return page.unpacked
    longest = at = 0
    while at + 4 <= len(raw):
        size = int.from_bytes(raw[at : at + 4], "little")
        longest = max(longest, size)
        at += 4 + size
    return min(longest, page.unpacked)


def _pages(stream: IO[bytes], chunk: Any) -> Iterator[Page]:
    """The pages of a column in a group of rows."""
    begin = chunk.data_page_offset
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < begin:
        begin = chunk.dictionary_page_offset
    end, seen = begin + chunk.total_compressed_size, 0
    # The reader stops at the number of values of the footer, or where the column ends.
    while seen < chunk.num_values and begin < end:
        page = _page(stream, begin)
        yield page
        seen += page.values if page.has_data else 0
        begin = page.begin + page.packed


def _page(stream: IO[bytes], offset: int) -> Page:
    """The page whose header is at an offset."""
    size = 1 << 8
    while True:
        stream.seek(offset)
        header = Thrift(stream.read(size))
        try:
            fields = header.struct()
            break
        except IndexError:
            if len(header.raw) < size or size >= _LONGEST_HEADER:
                raise ValueError(f"the header of the page at byte {offset} has no end") from None
            size <<= 4
    kind, unpacked, packed = (fields.get((number, "integer"), -1) for number in (1, 2, 3))
    values = encoding = 0
    if kind in _ABOUT:
        where, at_values, at_encoding = _ABOUT[kind]
        about = fields.get((where, "struct"), {})
        values, encoding = (about.get((number, "integer"), -1) for number in (at_values, at_encoding))
    if min(kind, unpacked, packed, values, encoding) < 0:
        raise ValueError(f"the page at byte {offset} has no size, or a negative one")
    return Page(kind, unpacked, packed, values, encoding, offset + header.at)
