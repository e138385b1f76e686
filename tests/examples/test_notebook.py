"""The notebook runs from its first cell to its last, and is stored without what it shows."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from benchmarks.pages import ROOT

NOTEBOOK = ROOT / "examples" / "explore.ipynb"


def test_it_is_stored_without_outputs() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    code = [cell for cell in cells if cell.cell_type == "code"]
    assert code
    assert not [cell for cell in code if cell.outputs or cell.execution_count is not None]


@pytest.mark.slow
def test_every_cell_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    context = {"metadata": {"path": str(NOTEBOOK.parent)}}
    NotebookClient(notebook, timeout=None, resources=context).execute()
    shown = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    assert all(shown), "every cell shows something"
    kinds = {kind for outputs in shown for output in outputs for kind in output.get("data", ())}
    assert "image/png" in kinds
