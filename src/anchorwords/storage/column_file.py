"""The documents table of a corpus folder: all of its columns in one file of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ..corpus.columns import Column, column_from_tensors
from .safetensors import tensors_in, write_tensors

DOCUMENTS = "documents.safetensors"


class ColumnFile(NamedTuple):
    """What the manifest of a corpus says of its documents table.

    Attributes
    ----------
    kinds : dict
        The kind of each column, by its name, in order.
    title : str or None
        The column that names documents.
    sha256 : str
        Of the file.
    """

    kinds: dict[str, str]
    title: str | None
    sha256: str

    @classmethod
    def from_dict(cls, record: Any) -> ColumnFile | None:
        """Return what :func:`write_columns` wrote to the manifest; ValueError if it did not."""
        if record is None:
            return None
        kinds = dict(record["columns"])
        title = record["title"]
        texts = (*kinds, *kinds.values(), record["sha256"], *([] if title is None else [title]))
        if len(kinds) < len(record["columns"]) or not all(isinstance(text, str) for text in texts):
            raise ValueError("its documents table has no proper columns")
        if title is not None and title not in kinds:
            raise ValueError("its documents have titles in a column that is not there")
        return cls(kinds, title, record["sha256"])

    def columns(self, whole: Any, n_docs: int) -> dict[str, Column]:
        """Return the columns, given all bytes of the file; ValueError if it is not the file that was described."""
        tensors, _ = tensors_in(whole, DOCUMENTS, self.sha256)
        columns = {}
        for number, (name, kind) in enumerate(self.kinds.items()):
            prefix = f"{number}."
            own = {key.removeprefix(prefix): array for key, array in tensors.items() if key.startswith(prefix)}
            try:
                columns[name] = column_from_tensors(kind, n_docs, own)
            except ValueError as error:
                raise ValueError(f"the column {name!r:.50} of {DOCUMENTS} is wrong ({error})") from None
        return columns


def write_columns(file: Path, columns: Mapping[str, Column], title: str | None) -> dict[str, Any] | None:
    """Write the columns to a file and return its record for the manifest; without columns there is no file."""
    if not columns:
        return None
    tensors = {
        f"{number}.{key}": array
        for number, column in enumerate(columns.values())
        for key, array in column.tensors().items()
    }
    sha256 = write_tensors(file, tensors)
    return {"columns": [[name, column.kind] for name, column in columns.items()], "title": title, "sha256": sha256}
