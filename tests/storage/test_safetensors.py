from __future__ import annotations

import hashlib
import json
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from anchorwords.storage import safetensors as _safetensors
from anchorwords.storage.safetensors import read_tensors, write_tensors

CODES = sorted(_safetensors._CODES.values())
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 4), (0,), (0, 3), (4, 0)]


def entry(dtype="F64", shape=(1,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def put(file, header, data=b"", length=None):
    """A file with this header, right or wrong."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    file.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return file


def assert_same(found, expected):
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].dtype == array.dtype.newbyteorder("=")
        assert found[name].shape == array.shape
        # Bits, not values: -0.0 and the payload of a NaN come back too.
        assert found[name].tobytes() == np.ascontiguousarray(array).astype(array.dtype.newbyteorder("=")).tobytes()


def some(code, shape, seed=0):
    raw = np.random.default_rng(seed).integers(0, 2 if code == "|b1" else 256, size=(*shape, np.dtype(code).itemsize))
    return np.ascontiguousarray(raw.astype(np.uint8)).view(code).reshape(shape)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_round_trip_of_every_type(tmp_path, shape):
    tensors = {f"t{number}": some(code, shape, number) for number, code in enumerate(CODES)}
    write_tensors(tmp_path / "f", tensors, {"who": "tests", "why": "naïve 🙂"})
    found, metadata = read_tensors(tmp_path / "f")
    assert_same(found, tensors)
    assert metadata == {"who": "tests", "why": "naïve 🙂"}


def test_any_order_in_memory_comes_back_in_c_order(tmp_path):
    base = np.arange(24.0).reshape(4, 6)
    locked = base.copy()
    locked.setflags(write=False)
    tensors = {
        "fortran": np.asfortranarray(base),
        "strided": base[::2, 1::2],
        "backwards": base[::-1],
        "transposed": base.T,
        "broadcast": np.broadcast_to(base[0], (3, 6)),
        "swapped": base.astype(">f8"),
        "read-only": locked,
    }
    write_tensors(tmp_path / "f", tensors)
    found, metadata = read_tensors(tmp_path / "f")
    assert_same(found, tensors)
    assert all(array.flags.c_contiguous for array in found.values())
    assert metadata == {}


def test_no_arrays_at_all(tmp_path):
    write_tensors(tmp_path / "f", {})
    assert read_tensors(tmp_path / "f") == ({}, {})


@given(
    tensors=st.dictionaries(
        st.text(max_size=8).filter(lambda name: name != "__metadata__"),
        st.sampled_from(CODES).flatmap(
            lambda code: hnp.arrays(np.dtype(code), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
        ),
        max_size=6,
    )
)
def test_layout_is_that_of_the_format(tmp_path_factory, tensors):
    file = tmp_path_factory.mktemp("tensors") / "f"
    digest = write_tensors(file, tensors)
    raw = file.read_bytes()
    assert digest == hashlib.sha256(raw).hexdigest()
    length = int.from_bytes(raw[:8], "little")
    assert length % 8 == 0
    header = json.loads(raw[8 : 8 + length])
    assert header.keys() == tensors.keys()
    for name, place in header.items():
        start, end = place["data_offsets"]
        assert raw[8 + length + start : 8 + length + end] == tensors[name].tobytes()
        assert start % tensors[name].itemsize == 0
    assert sum(array.nbytes for array in tensors.values()) == len(raw) - 8 - length
    found, _ = read_tensors(file, digest)
    assert_same(found, tensors)
    # The same bytes whatever the order of the dictionary.
    assert write_tensors(file, dict(reversed(tensors.items()))) == digest


def test_arrays_are_read_only_and_aligned(tmp_path):
    tensors = {"a": np.arange(5.0), "b": np.arange(3, dtype=np.uint8), "c": np.arange(7, dtype=np.int32)}
    write_tensors(tmp_path / "f", tensors)
    found, _ = read_tensors(tmp_path / "f")
    for array in found.values():
        assert type(array) is np.ndarray
        assert array.flags.aligned
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.setflags(write=True)


def test_the_mapping_outlives_the_name(tmp_path):
    tensors = {"a": np.arange(1e5)}
    write_tensors(tmp_path / "f", tensors)
    found, _ = read_tensors(tmp_path / "f")
    write_tensors(tmp_path / "g", {"a": np.zeros(3)})
    os.replace(tmp_path / "g", tmp_path / "f")
    assert_same(found, tensors)
    (tmp_path / "f").unlink()
    assert_same(found, tensors)


def test_odd_places_of_other_programs(tmp_path):
    # The format allows an array to start anywhere; what cannot be used in place is copied.
    values = np.arange(4.0)
    header = {"flag": entry("U8", (1,), (0, 1)), "x": entry("F64", (4,), (1, 33))}
    found, _ = read_tensors(put(tmp_path / "f", header, b"\x07" + values.tobytes()))
    assert_same(found, {"flag": np.array([7], dtype=np.uint8), "x": values})
    assert found["x"].flags.aligned
    assert not found["x"].flags.writeable


@pytest.mark.parametrize(
    ("tensors", "metadata"),
    [
        ({"x": np.zeros(2, dtype=complex)}, None),
        ({"x": np.array(["text"])}, None),
        ({"x": np.array([None])}, None),
        ({"x": np.zeros(2, dtype=[("a", float)])}, None),
        ({"__metadata__": np.zeros(2)}, None),
        ({"x": np.zeros(2)}, {"long": "x" * (1 << 20)}),
    ],
)
def test_what_has_no_place_in_a_file_is_not_written(tmp_path, tensors, metadata):
    with pytest.raises(ValueError, match=r"no place|header of more"):
        write_tensors(tmp_path / "f", tensors, metadata)
    assert not (tmp_path / "f").exists()


# Name -> header and data. Some are refused here though the format, or only its own library, lets them pass.
EIGHT = bytes(8)
STRICTER = {"long header", "true twice", "entry with more", "entry that is a list", "a space first", "a name twice"}
HOSTILE = {
    "negative offset": ({"x": entry(offsets=(-8, 0))}, EIGHT),
    "negative dimension": ({"x": entry(shape=(-1,))}, EIGHT),
    "two negative dimensions": ({"x": entry(shape=(-1, -1))}, EIGHT),
    "offsets the wrong way": ({"x": entry(offsets=(8, 0))}, EIGHT),
    "offsets beyond the file": ({"x": entry(shape=(2,), offsets=(0, 16))}, EIGHT),
    "offsets of one number": ({"x": entry(offsets=(0,))}, EIGHT),
    "offsets of three": ({"x": entry(offsets=(0, 8, 8))}, EIGHT),
    "a gap": ({"x": entry(), "y": entry(offsets=(16, 24))}, bytes(24)),
    "a gap before all": ({"x": entry(offsets=(8, 16))}, bytes(16)),
    "an overlap": ({"x": entry(), "y": entry(offsets=(0, 8))}, EIGHT),
    "half an overlap": ({"x": entry(), "y": entry(offsets=(4, 12))}, bytes(12)),
    "more bytes than arrays": ({"x": entry()}, bytes(9)),
    "fewer bytes than arrays": ({"x": entry()}, bytes(7)),
    "bytes without arrays": ({}, b"x"),
    "a shape too large": ({"x": entry(shape=(2,))}, EIGHT),
    "a shape too small": ({"x": entry(shape=(0,))}, EIGHT),
    "a product that overflows": ({"x": entry(shape=(2**32, 2**32))}, EIGHT),
    "a huge number": ({"x": entry(shape=(10**400,))}, EIGHT),
    "a number of too many digits": (
        b'{"x":{"dtype":"F64","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,8]}}',
        EIGHT,
    ),
    "a huge empty shape": ({"x": entry(shape=(0, 2**62, 2**62), offsets=(0, 0))}, b""),
    "many dimensions": ({"x": entry(shape=[1] * 100)}, EIGHT),
    "very many dimensions": ({"x": entry(shape=[2**62] * 40_000)}, EIGHT),
    "a dimension that is no whole number": ({"x": entry(shape=(1.0,))}, EIGHT),
    "a dimension that is true": ({"x": entry(shape=(True,))}, EIGHT),
    "a dimension that is text": ({"x": entry(shape=("1",))}, EIGHT),
    "a shape that is no list": ({"x": entry() | {"shape": 1}}, EIGHT),
    "a shape that is an object": ({"x": entry() | {"shape": {"0": 1}}}, EIGHT),
    "an unknown type": ({"x": entry("F128")}, EIGHT),
    "a type of Python": ({"x": entry("O")}, EIGHT),
    "a type that is no name": ({"x": entry() | {"dtype": ["F64"]}}, EIGHT),
    "NaN": (b'{"x":{"dtype":"F64","shape":[NaN],"data_offsets":[0,8]}}', EIGHT),
    "Infinity": (b'{"x":{"dtype":"F64","shape":[1],"data_offsets":[-Infinity,8]}}', EIGHT),
    "entry without a shape": ({"x": {"dtype": "F64", "data_offsets": [0, 8]}}, EIGHT),
    "entry with more": ({"x": entry() | {"code": "import os"}}, EIGHT),
    "entry that is a list": ({"x": ["F64", [1], [0, 8]]}, EIGHT),
    "entry that is nothing": ({"x": None}, EIGHT),
    "a list": ([entry()], EIGHT),
    "a number": (b"12345678", b""),
    "a space first": (b' {"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', EIGHT),
    "something after it": (b'{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}} x', EIGHT),
    "two objects": (b"{}{}    ", b""),
    "not JSON": (b"{not JSON}", b""),
    "not UTF-8": (b'{"\xff":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}', EIGHT),
    "UTF-16": ('{"x":1}'.encode("utf-16"), b""),
    "a name twice": (
        b'{"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},"x":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}',
        EIGHT,
    ),
    "a key twice": (b'{"x":{"dtype":"I64","dtype":"F64","shape":[1],"data_offsets":[0,8]}}', EIGHT),
    "nested lists": (b'{"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}", b""),
    "nested objects": (b'{"x":' * 100_000 + b"1" + b"}" * 100_000, b""),
    "metadata that are no strings": ({"__metadata__": {"a": 1}}, b""),
    "metadata that are a list": ({"__metadata__": ["a"]}, b""),
    "nested metadata": ({"__metadata__": {"a": {"b": "c"}}}, b""),
    "true twice": ({"x": entry("BOOL", (8,))}, b"\x00\x01\x02" + bytes(5)),
    "long header": (b'{"__metadata__":{"a":"' + b"x" * (1 << 20) + b'"}}', b""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(tmp_path, name):
    file = put(tmp_path / "f", *HOSTILE[name])
    with pytest.raises(ValueError, match=r"header|metadata|array") as caught:
        read_tensors(file)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_the_first_thing_wrong_is_named(tmp_path):
    for name, match in (
        ("NaN", "NaN is no number"),
        ("a name twice", "a name is there twice"),
        ("a shape too large", "does not fit its shape"),
    ):
        with pytest.raises(ValueError, match=match):
            read_tensors(put(tmp_path / "f", *HOSTILE[name]))
    with pytest.raises(ValueError, match="f ends within its header"):
        read_tensors(put(tmp_path / "f", {"x": entry()}, EIGHT, 1000))


@pytest.mark.parametrize("length", [0, 1, 7, 57, 2**20 + 1, 2**31, 2**63, 2**64 - 1])
def test_wrong_lengths_of_the_header_are_refused(tmp_path, length):
    header = json.dumps({"x": entry()}).encode()
    assert length != len(header)
    with pytest.raises(ValueError, match=r"header|arrays"):
        read_tensors(put(tmp_path / "f", header, EIGHT, length))


@pytest.mark.parametrize("content", [b"", b"\x08", bytes(8), bytes(100), b"PK\x03\x04 an archive", b"\x80\x04K\x01."])
def test_what_is_no_such_file_is_refused(tmp_path, content):
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ValueError, match="header"):
        read_tensors(tmp_path / "f")


def test_what_is_no_file_is_refused(tmp_path):
    (tmp_path / "folder").mkdir()
    for name in ("folder", "nothing"):
        with pytest.raises(ValueError, match="missing or not a plain file"):
            read_tensors(tmp_path / name)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")  # to open it would wait for a writer
        with pytest.raises(ValueError, match="missing or not a plain file"):
            read_tensors(tmp_path / "pipe")


def test_a_wrong_checksum_is_refused(tmp_path):
    digest = write_tensors(tmp_path / "f", {"x": np.arange(3.0)})
    read_tensors(tmp_path / "f", digest)
    for wrong in ("", digest.upper(), digest[:-1], "0" * 64):
        with pytest.raises(ValueError, match="checksum of f is wrong"):
            read_tensors(tmp_path / "f", wrong)


def good_file(folder):
    tensors = {"x": np.arange(3.0), "flag": np.array([True, False]), "n": np.arange(4, dtype=np.int32).reshape(2, 2)}
    write_tensors(folder / "f", tensors, {"a": "b"})
    return folder / "f"


@given(data=st.data())
def test_damage_is_refused_or_read_never_worse(tmp_path_factory, data):
    # Without a checksum a changed number is a number; everything else about a file has to hold or be refused.
    file = good_file(tmp_path_factory.mktemp("tensors"))
    raw = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(raw) - 1))
        what = data.draw(st.sampled_from(["change", "cut", "insert", "remove"]))
        if what == "change":
            raw[at] = data.draw(st.integers(0, 255))
        elif what == "cut":
            del raw[max(at, 1) :]
        elif what == "insert":
            raw[at:at] = data.draw(st.binary(min_size=1, max_size=9))
        elif len(raw) > 1:
            del raw[at]
    file.write_bytes(raw)
    try:
        tensors, metadata = read_tensors(file)
    except ValueError:
        return
    assert all(isinstance(value, str) for value in metadata.values())
    length = int.from_bytes(raw[:8], "little")
    assert sum(array.nbytes for array in tensors.values()) == len(raw) - 8 - length


# ---- The format's own library, where it is installed.


@pytest.fixture(scope="module")
def official():
    return pytest.importorskip("safetensors.numpy", reason="the library safetensors is not installed")


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_official_library_reads_ours(official, tmp_path, shape):
    tensors = {f"t{number}": some(code, shape, number) for number, code in enumerate(CODES)}
    write_tensors(tmp_path / "f", tensors, {"who": "tests"})
    assert_same(official.load_file(tmp_path / "f"), tensors)
    from safetensors import safe_open

    with safe_open(tmp_path / "f", framework="numpy") as opened:
        assert opened.metadata() == {"who": "tests"}
        assert set(opened.keys()) == tensors.keys()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("metadata", [None, {"a": "é", "b": ""}])
def test_we_read_the_official_library_s(official, tmp_path, shape, metadata):
    tensors = {f"t{number}": some(code, shape, number) for number, code in enumerate(CODES)}
    official.save_file(tensors, tmp_path / "f", metadata=metadata)
    found, read = read_tensors(tmp_path / "f")
    assert_same(found, tensors)
    assert read == (metadata or {})


@pytest.mark.parametrize("name", sorted(HOSTILE.keys() - STRICTER))
def test_the_official_library_refuses_what_we_refuse(official, tmp_path, name):
    # No rule of ours is an invention, but for those in STRICTER.
    from safetensors import SafetensorError

    with pytest.raises((SafetensorError, ValueError)):
        official.load(put(tmp_path / "f", *HOSTILE[name]).read_bytes())
