"""No pattern and no function that reads what others send takes time out of proportion to the length of a text."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import lexfuse

HERE = Path(__file__).parent / "fixtures"
MOST_FAILURES = 5


def failures(kind: str) -> list[str]:
    """The cases that the worker was ended in; it begins anew behind each, with the next function or place."""
    source = Path(lexfuse.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{HERE}"}
    found: list[str] = []
    first, skip = 0, ""
    while len(found) < MOST_FAILURES:
        command = [sys.executable, str(HERE / "worker.py"), kind, str(first), skip]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        last = done.stdout.rstrip("\n").rpartition("\n")[2]
        if done.returncode == 0:
            assert last or found, "no case was run"
            break
        assert done.returncode == -signal.SIGPROF, done.stderr
        number, _, name = last.partition("\t")
        found.append(name)
        first, skip = int(number) + 1, name.split(" ")[0]
    return found


def test_no_pattern_of_the_package_grows_faster_than_its_text():
    assert failures("patterns") == []


def test_no_reader_grows_faster_than_its_text():
    assert failures("functions") == []


def test_what_grows_faster_is_found():
    assert failures("control") == ["control"]


def test_patterns_are_found_wherever_they_are():
    """Behind a cached function, inside a call, made of a value, in a module."""
    command = [sys.executable, "-c", "from patterns import uses; print(*(use.place for use in uses()))"]
    environment = os.environ | {"PYTHONPATH": f"{Path(lexfuse.__file__).parents[1]}{os.pathsep}{HERE}"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    for place in (
        "lexfuse.text.citation.parent_law",
        "lexfuse.storage.filters",
        "lexfuse.web.pages.document",
        "lexfuse.data.formats.html_text",
    ):
        assert f"{place}:" in done.stdout
