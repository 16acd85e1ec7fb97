"""Footers of Parquet files: no damage to them ends the process."""

from __future__ import annotations

import io
import subprocess
import sys
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from anchorwords.corpus.parquet_footer import require_sound_footer
from anchorwords.corpus.thrift import Thrift

# Reads copies of a file with single bits of the footer flipped; pyarrow alone does not survive this.
FLIPS = """
import sys
from pathlib import Path
import anchorwords as aw

whole = Path(sys.argv[1]).read_bytes()
begin = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
outcomes = {"read": 0, "refused": 0}
for place in range(begin, len(whole)):
    for bit in (place % 8, (place + 3) % 8):
        changed = bytearray(whole)
        changed[place] ^= 1 << bit
        Path(sys.argv[2]).write_bytes(changed)
        try:
            aw.read_corpus(sys.argv[2], text_column="text")
            outcomes["read"] += 1
        except aw.exceptions.InputError:
            outcomes["refused"] += 1
print(outcomes)
"""


@pytest.mark.parametrize(
    "values", [["one two", None, "three"] * 5, [["one", "two"], None, ["three"]] * 5], ids=["texts", "lists"]
)
def test_no_flipped_bit_of_a_footer_ends_the_process(tmp_path, values):
    pq.write_table(pa.table({"number": [*range(15)], "text": values}), tmp_path / "a.parquet", row_group_size=8)
    command = [sys.executable, "-W", "ignore", "-c", FLIPS, tmp_path / "a.parquet", tmp_path / "b.parquet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "'refused': 0" not in done.stdout


def field(delta, kind, *payload):
    return bytes([delta << 4 | kind, *payload])


def of_column(content):
    """A file with one group of rows of one column."""
    footer = field(4, 9, 0x1C) + field(1, 9, 0x1C) + content + bytes(3)
    return io.BytesIO(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")


def sizes(content):
    """A column with statistics of sizes: field 16 of field 3."""
    return field(3, 12) + field(15, 6, 0) + field(1, 12) + content + bytes(2)


def described(physical_type="BYTE_ARRAY", repetitions=0, definitions=1):
    leaf = SimpleNamespace(
        physical_type=physical_type, max_repetition_level=repetitions, max_definition_level=definitions
    )
    return SimpleNamespace(num_columns=1, schema=SimpleNamespace(column=[leaf].__getitem__))


SOUND = field(1, 6, 8) + field(1, 9, 0x16, 0) + field(1, 9, 0x26, 0, 0)


def test_sizes_that_fit_are_sound():
    require_sound_footer(of_column(sizes(SOUND)), described())
    require_sound_footer(of_column(sizes(field(2, 9, 0x06))), described())  # an empty histogram


@pytest.mark.parametrize(
    ("file", "leaf", "message"),
    [
        (of_column(sizes(SOUND)), described("INT64"), "statistics of sizes"),
        (of_column(sizes(SOUND)), described(repetitions=1), "statistics of sizes"),
        (of_column(sizes(SOUND)), described(definitions=2), "statistics of sizes"),
        (of_column(field(8, 12) + bytes(1)), described(), "encrypted"),
        (io.BytesIO(b"PAR1" + bytes(4) + b"PARE"), described(), "encrypted"),
        (io.BytesIO(b"PAR1" + b"\xff" * 4 + b"PAR1"), described(), "no footer"),
        (io.BytesIO(b""), described(), "no footer"),
        (io.BytesIO(field(4, 9, 0x1C) + b"\2\0\0\0PAR1"), described(), "ends too soon"),
    ],
)
def test_what_would_end_the_process_is_refused(file, leaf, message):
    with pytest.raises(ValueError, match=message):
        require_sound_footer(file, leaf)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (field(1, 12) * 20, "nested too deeply"),
        (field(1, 9, 0x19) + b"\x19" * 20, "nested too deeply"),
        (field(1, 13), "type 13"),
        (field(1, 6) + b"\xff" * 11, "too long"),
    ],
)
def test_what_is_no_thrift_is_refused(raw, message):
    with pytest.raises(ValueError, match=message):
        Thrift(raw).struct()


def test_values_of_every_type_are_skipped():
    values = [
        field(1, 1), field(1, 2), field(1, 3, 7), field(1, 4, 0x80, 1), field(1, 7, *range(8)), field(1, 8, 2, 65, 66),
        field(1, 10, 0x28, 1, 65, 0), field(1, 11, 0), field(1, 11, 1, 0x58, 3, 1, 65), field(1, 12, 0x15, 2, 0),
        field(1, 9, 0xF3, 16, *range(16)),
    ]  # fmt: skip
    thrift = Thrift(b"".join(values) + field(1, 5, 84) + bytes(1))
    assert thrift.struct()[12, "integer"] == 42
    assert thrift.at == len(thrift.raw)
