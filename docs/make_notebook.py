"""Execute the example notebook in an empty folder, and write its outputs into it.

python docs/make_notebook.py [NOTEBOOK]      examples/analysis.ipynb by default

The explorer page is left out of the file: it is larger than everything else together, and Jupyter and GitHub hide it until
the notebook is run or trusted. Its cell keeps the sentence that stands for the page where no HTML is displayed.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "analysis.ipynb"
# What a notebook says about its kernel by itself names versions, which would change with every machine.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {
        "name": "python",
        "file_extension": ".py",
        "mimetype": "text/x-python",
        "pygments_lexer": "ipython3",
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", type=Path, nargs="?", default=EXAMPLE)
    path = parser.parse_args().notebook
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        # Times of cells would change with every run.
        options = {"record_timing": False, "resources": {"metadata": {"path": folder}}}
        NotebookClient(notebook, kernel_name="python3", timeout=600, **options).execute()
    for number, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{number:02}", {}
        for output in cell.get("outputs", []):
            if "<iframe " in output.get("data", {}).get("text/html", ""):
                del output.data["text/html"]
    notebook.metadata = nbformat.from_dict(METADATA)
    nbformat.write(notebook, path)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
