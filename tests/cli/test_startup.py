"""Commands that compute little do not import libraries that they do not need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import anchorwords as aw

# Each takes from half a second to two seconds to import.
HEAVY = ("sklearn", "numba", "llvmlite", "scipy.stats", "pandas", "pyarrow", "matplotlib", "joblib", "torch", "triton")

_PROGRAM = """
import json, sys
from anchorwords.cli import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def modules_after(*arguments):
    """Names of the modules that a command has loaded when it ends well."""
    found = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    return set(json.loads(found.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    subjects = ("lion tiger zebra gorilla giraffe", "flour butter oven sugar recipe", "orbit rocket planet comet lunar")
    texts = [" ".join(subjects[i % 3].split()[j % 5 :] * 2) for i in range(60) for j in range(3)]
    path = tmp_path_factory.mktemp("startup") / "model"
    aw.TextTopicModel(3, random_state=0).fit(texts).save(path)
    return str(path)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["fit", "--help"],
        ["topics", "MODEL"],
        ["topics", "MODEL", "--json", "--history", "--common-words", "3"],
        ["edit", "MODEL", "--output", "EDITED", "--merge", "0,1", "--rename", "2=baking", "--quiet"],
        ["explore", "MODEL", "--output", "PAGE"],
        ["explore", "MODEL", "--json"],
        ["groups", "MODEL", "TABLE", "--by", "year"],
        ["groups", "MODEL", "TABLE", "--by", "year", "--json", "--output", "GROUPS"],
    ],
    ids=" ".join,
)
def test_no_heavy_library_is_imported(arguments, model, tmp_path):
    table = tmp_path / "topics.csv"
    rows = [f"{m},{2001 + m % 2},0.2,0.{m % 10},0.{8 - m % 10}" for m in range(120) if m % 10 <= 8]
    table.write_text("\n".join(["document,year,topic_0,topic_1,topic_2", *rows]) + "\n")
    places = {
        "MODEL": model, "EDITED": str(tmp_path / "edited"), "PAGE": str(tmp_path / "page.html"), "TABLE": str(table),
        "GROUPS": str(tmp_path / "groups.csv"),
    }  # fmt: skip
    loaded = modules_after(*(places.get(argument, argument) for argument in arguments))
    assert [name for name in HEAVY if name in loaded] == []


def test_help_and_the_package_need_no_numpy():
    assert "numpy" not in modules_after("--help")
    program = "import sys, anchorwords; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"numpy", *HEAVY}.isdisjoint(found.stdout.split())


def test_the_warning_of_convergence_is_one_class_wherever_it_is_named():
    import pickle

    from sklearn.exceptions import ConvergenceWarning as Base

    from anchorwords import _convergence, exceptions

    assert exceptions.ConvergenceWarning is _convergence.ConvergenceWarning
    assert issubclass(exceptions.ConvergenceWarning, Base)
    assert pickle.loads(pickle.dumps(exceptions.ConvergenceWarning)) is exceptions.ConvergenceWarning
    assert "ConvergenceWarning" in dir(exceptions)
