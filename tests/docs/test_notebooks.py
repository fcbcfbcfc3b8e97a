"""The notebooks of docs/ run from the first cell to the last, in the root of the repository, and are stored without results."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RUNNER = Path(__file__).parent / "page_runner.py"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells(notebook):
    return [cell for cell in json.loads(notebook.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.name)
def test_the_cells_run_in_order(notebook):
    lines = [
        json.dumps(["".join(cell["source"]), f"<{notebook.name}, code cell {number}>"])
        for number, cell in enumerate(cells(notebook), start=1)
    ]
    command = [sys.executable, "-W", "error", RUNNER]
    done = subprocess.run(command, input="\n".join(lines), cwd=ROOT, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers == [""] * len(lines), "\n".join(answers)


def test_there_are_two_and_they_are_stored_without_results():
    assert [path.name for path in NOTEBOOKS] == ["measure.ipynb", "search.ipynb"]
    for notebook in NOTEBOOKS:
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells(notebook))
        text = notebook.read_text("utf-8")
        assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1) + "\n"  # as Jupyter writes it
