from __future__ import annotations

import pytest

from .running import executed, notebook_of


@pytest.fixture(scope="module")
def run_cells(tmp_path_factory):
    """Function (cells, by name) -> what each cell of a fresh notebook shows, by name; its folder stays empty unless said."""

    def run(cells):
        folder = tmp_path_factory.mktemp("notebook")
        shown = executed(notebook_of(list(cells.values())), folder, tmp_path_factory.mktemp("settings"))
        assert list(folder.iterdir()) == []
        return dict(zip(cells, shown, strict=True))

    return run
