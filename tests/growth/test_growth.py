"""No pattern and no function that reads what others send takes time out of proportion to the length of a text."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lexfuse

HERE = Path(__file__).parent / "fixtures"
MOST_FAILURES = 5


def failures(kind: str) -> tuple[list[str], str]:
    """The cases that the worker was ended in, and the names of all; it goes on behind each, with the next function or place."""
    source = Path(lexfuse.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{HERE}"}
    found: list[str] = []
    first, skip, names = 0, "", ""
    while len(found) < MOST_FAILURES:
        command = [sys.executable, str(HERE / "worker.py"), kind, str(first), skip]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        names += done.stdout
        last = done.stdout.rstrip("\n").rpartition("\n")[2]
        if done.returncode == 0:
            assert last or found, "no case was run"
            break
        assert done.returncode == -signal.SIGPROF, done.stderr
        number, _, name = last.partition("\t")
        found.append(name)
        first, skip = int(number) + 1, name.split(" ")[0]
    return found, names


def test_no_pattern_of_the_package_grows_faster_than_its_text():
    """Patterns are found wherever they are: behind a cached function, inside a call, made of a value, in a module."""
    found, names = failures("patterns")
    assert found == []
    for place in (
        "lexfuse.text.citation.parent_law",
        "lexfuse.storage.filters",
        "lexfuse.web.law_text",
        "lexfuse.data.formats.html_text",
    ):
        assert f"\t{place}:" in names


def test_no_reader_grows_faster_than_its_text():
    assert failures("functions")[0] == []


def test_what_grows_faster_is_found():
    assert failures("control")[0] == ["control"]
