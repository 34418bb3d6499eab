"""The notebook of python/tutorial, executed from its first cell to its last. DPTRAIN_TUTORIAL is its folder.

python3 test_notebook.py executes it and writes the outputs into the file.
"""

import os
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("pandas")
pytest.importorskip("sklearn")
NOTEBOOK = Path(os.environ.get("DPTRAIN_TUTORIAL") or Path(__file__).parent / ".." / "tutorial").resolve() / "tutorial.ipynb"


def executed(quick=False):
    """The notebook with fresh outputs. It raises CellExecutionError where a cell fails. quick has a smaller simulation."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    if quick:
        for cell in notebook.cells:
            cell.source = cell.source.replace("rows=5000", "rows=1000")
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times of day
    return notebook


def kinds(cell):
    """The kinds of the outputs of a cell. Their numbers differ, because noise is fresh in every run."""
    return [(output.output_type, output.get("name"), sorted(output.get("data", {}))) for output in cell.get("outputs", [])]


def test_the_notebook_runs_and_has_its_outputs():
    saved, fresh = nbformat.read(NOTEBOOK, as_version=4), executed(quick=not os.environ.get("DPTRAIN_TEST_FULL"))
    assert [kinds(cell) for cell in saved.cells] == [kinds(cell) for cell in fresh.cells]
    assert sum(cell.cell_type == "code" and bool(cell.outputs) for cell in saved.cells) >= 10
    head = next(output.data["text/html"] for cell in fresh.cells for output in cell.get("outputs", []) if "ε 1" in output.get("data", {}).get("text/html", ""))
    assert "Guarantee" in head and "R²" in head


if __name__ == "__main__":
    nbformat.write(executed(), NOTEBOOK)
    sys.exit(0)
