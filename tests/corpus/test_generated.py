"""Documents drawn at random are read exactly, in every format."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anchorwords as aw

from .generated import FORMATS, check_exact


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_written_is_read(tmp_path, name):
    for number in range(25):
        folder = tmp_path / str(number)
        folder.mkdir()
        case = FORMATS[name](np.random.default_rng([number, len(name)]), folder)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # scripts without spaces
            check_exact(aw.read_corpus(case.source, **case.options), case)
            check_exact(aw.import_corpus(case.source, folder / "corpus", **case.options), case)
