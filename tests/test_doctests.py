"""The examples in docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from importlib.util import find_spec

import pytest

import anchorwords

# The kernels for GPUs import torch and Triton.
WITH_GPU = all(map(find_spec, ("torch", "triton")))
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(anchorwords.__path__, "anchorwords.")
    if not module.name.endswith("__main__") and (WITH_GPU or not module.name.startswith("anchorwords.kernels.gpu."))
)


def examples_of(name):
    finder = doctest.DocTestFinder(exclude_empty=True)
    return [test for test in finder.find(importlib.import_module(name)) if test.examples]


# Collecting imports every module, so one test goes over all of them.
def test_there_are_examples():
    found = {test.name for name in MODULES for test in examples_of(name)}
    assert {"anchorwords.estimator.AnchorTopicModel", "anchorwords.scanning.scan.scan"} <= found


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    report = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for test in examples_of(name):
        runner.run(test, out=report.append)
    assert not runner.summarize(verbose=False).failed, "".join(report)
