"""Print a constraints file with the lowest version of each dependency that ``pyproject.toml`` declares.

    python .ci/lowest.py > lowest.txt && pip install --constraint lowest.txt '.[test]'

A bound must be a release that exists: pip then says so if it is not. Extras that only developers use (lint, browser) are
left out, and so are torch, for which ``.ci/run`` has a step of its own, and the dependencies of our dependencies, whose
lowest versions are not ours to declare.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
UNTESTED = ("lint", "browser", "gpu", "dev")


def declared(project: dict) -> list[Requirement]:
    """The dependencies of the package and of its tested extras, without the extras that name each other."""
    extras = [own for extra, own in project["optional-dependencies"].items() if extra not in UNTESTED]
    lines = [*project["dependencies"], *(line for own in extras for line in own)]
    return [one for one in map(Requirement, lines) if one.name != project["name"]]


def lowest(requirement: Requirement) -> str:
    """The line that allows only the lowest version."""
    bounds = [bound.version for bound in requirement.specifier if bound.operator == ">="]
    if len(bounds) != 1:
        raise ValueError(f"{requirement} has no single lowest version: declare it as {requirement.name}>=VERSION.")
    return f"{requirement.name}=={bounds[0]}"


def main() -> int:
    """Print the constraints."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    print("\n".join(sorted(map(lowest, declared(project)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
