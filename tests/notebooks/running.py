"""Notebooks that run in a fresh kernel, as Jupyter would run them, and what their cells display."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

import anchorwords as aw

# Seconds for one cell. The longest one of the example takes about ten; the first fit on a machine compiles kernels.
TIMEOUT = 600
# Settings of a user that would change how a kernel starts, what it imports first, or what it draws with.
OF_A_USER = ("MPLBACKEND", "PYTHONSTARTUP", "JUPYTER_PATH", "JUPYTER_CONFIG_PATH")
FRESH = ("JUPYTER_DATA_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")


class _Client(NotebookClient):
    """A client that keeps every message about a cell: a notebook keeps only the last state of a display."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.updates: dict[int, list[dict[str, str]]] = {}

    def process_message(self, msg: Any, cell: Any, cell_index: int) -> Any:
        if msg["msg_type"] == "update_display_data":
            self.updates.setdefault(cell_index, []).append(dict(msg["content"]["data"]))
        return super().process_message(msg, cell, cell_index)


@dataclass
class Shown:
    """What a cell displayed.

    Attributes
    ----------
    outputs : list of nbformat outputs
    updates : list of dict
        Earlier states of displays that are updated in place, by MIME type.
    """

    outputs: list[Any]
    updates: list[dict[str, str]] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        """Kinds of outputs: "stdout", "stderr", "error", "display_data" or "execute_result"."""
        names = [one.name if one.output_type == "stream" else one.output_type for one in self.outputs]
        # A kernel sends a text in several parts if its buffer is flushed in between.
        return [
            name for place, name in enumerate(names) if not (name.startswith("std") and names[:place][-1:] == [name])
        ]

    @property
    def printed(self) -> str:
        """What the cell printed."""
        return "".join(one.text for one in self.outputs if one.output_type == "stream" and one.name == "stdout")

    @property
    def html(self) -> str:
        """The only HTML of the cell."""
        (found,) = self.all("text/html")
        return found

    def all(self, kind: str) -> list[Any]:
        """Everything of a MIME type."""
        return [one.data[kind] for one in self.outputs if kind in one.get("data", {})]


def executed(notebook: Any, folder: Path, settings: Path) -> list[Shown]:
    """Run a notebook in place, with a folder as its working folder; what its cells show, in order.

    Parameters
    ----------
    notebook : nbformat notebook
    folder : path
        Working folder of the kernel.
    settings : path
        An empty folder that takes the place of the user's settings of Jupyter and IPython.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_A_USER:
            patch.delenv(name, raising=False)
        for name in FRESH:
            (settings / name.lower()).mkdir(parents=True)
            patch.setenv(name, str(settings / name.lower()))
        # The kernel imports what the tests import.
        paths = [str(Path(aw.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
        client = _Client(
            notebook, kernel_name="python3", timeout=TIMEOUT, resources={"metadata": {"path": str(folder)}}
        )
        client.execute()
    return [Shown(cell.get("outputs", []), client.updates.get(place, [])) for place, cell in enumerate(notebook.cells)]


def notebook_of(cells: list[str]) -> Any:
    """A notebook of code cells. A cell that begins with a comment ``# raises`` may fail."""
    tagged = {True: {"tags": ["raises-exception"]}, False: {}}
    return new_notebook(cells=[new_code_cell(cell, metadata=tagged[cell.startswith("# raises")]) for cell in cells])


def read_notebook(path: Path) -> Any:
    """The notebook of a file."""
    return nbformat.read(path, as_version=4)
