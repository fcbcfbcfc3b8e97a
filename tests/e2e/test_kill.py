"""A writer may be killed at any moment: what was committed is there, what was in flight happened as a whole or not at all."""

import json
import subprocess
import sys
from pathlib import Path

KILLING = Path(__file__).with_name("killing.py")


def lines_of(*arguments):
    done = subprocess.run([sys.executable, "-W", "error", str(KILLING), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_two_hundred_kills_lose_nothing(tmp_path):
    *kills, last = lines_of(tmp_path / "i", 200, 7)
    assert len(kills) == 200
    assert [kill for kill in kills if kill["problems"]] == []
    assert last == {"unnamed at the end": 0, "problems at the end": []}
    # The kills came at moments that matter: inside operations of several kinds, and with files written but not yet named.
    assert len({kill["in flight"] for kill in kills} - {None}) >= 4
    assert sum(kill["done"] for kill in kills) > 100
    assert sum(kill["unnamed"] > 0 for kill in kills) > 10
    # A channel was cut off while it was filled, and it held vectors, so that there was something to check.
    assert sum(kill["in flight"] == "fill" for kill in kills) > 10
    assert sum(kill["held"] > 0 for kill in kills) > 20


def test_the_check_finds_an_index_that_names_files_before_they_are_written(tmp_path):
    kills = lines_of(tmp_path / "i", 12, 7, "--names-first")
    assert any(kill["problems"] for kill in kills)


def test_the_check_finds_a_channel_that_names_files_before_they_are_written(tmp_path):
    kills = lines_of(tmp_path / "i", 12, 7, "--parts-first")
    assert any("channels" in problem for kill in kills for problem in kill["problems"])
