"""Corpus folders whose files are holes: they take no space on a disk, and must take no memory."""

from __future__ import annotations

import resource

import pytest

import anchorwords as aw
from anchorwords.exceptions import CorpusFormatError, InputError
from tests.corpus.bombs import hollow_corpus, is_hollow


@pytest.fixture
def hollow(tmp_path):
    """Makes such a folder."""

    def make(*sizes):
        path = hollow_corpus(tmp_path / "c", *sizes)
        if not is_hollow(path):
            pytest.skip("a file system without holes")
        return path

    return make


@pytest.mark.parametrize(
    "sizes", [(60_000_000, 4, 0), (4, 20_000_000, 0), (4, 4, 90_000_000), (2_000_000, 2_000_000, 2_000_000)], ids=str
)
def test_folders_of_holes_are_refused_before_memory_is_asked_for(hollow, sizes):
    path = hollow(*sizes)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for function in (aw.open_corpus, aw.read_corpus):
        with pytest.raises(CorpusFormatError, match="almost nothing of its size is stored"):
            function(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_small_folders_of_holes_take_little_memory(hollow):
    path = hollow(100_000, 1_000_000, 100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for part in ("counts", "vocabulary"):
        with pytest.raises(InputError):
            getattr(aw.open_corpus(path), part)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300 << 10
