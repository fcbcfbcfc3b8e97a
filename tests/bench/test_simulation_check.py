"""The check of the simulation injects one straggler, and passes answers on with the time they took."""

import os

import pytest

from bench.simulation_check import SETTINGS, Copies, WaitingRequest, _is_straggler, main


class Echo:
    def answer(self, shard):
        return shard


def test_a_request_without_waiting_passes_the_answer_on():
    answered = WaitingRequest(Echo(), 0.0, 0.4).answer("shard")
    assert answered.answer == "shard"
    assert answered.milliseconds > 0


def test_the_first_process_is_the_straggler(tmp_path):
    assert _is_straggler(tmp_path / "file")
    assert _is_straggler(tmp_path / "file")
    assert (tmp_path / "file").read_text() == str(os.getpid())
    (tmp_path / "other").write_text("1")
    assert not _is_straggler(tmp_path / "other")


def test_copies_are_counted(tmp_path):
    """Of four requests one was served by two replicas, and one twice by the same, which nobody used."""
    file = tmp_path / "copies"
    file.write_text("0-0 1 10\n0-1 2 10\n1-0 1 10\n1-0 3 30\n1-1 2 10\n1-1 2 10\n")
    assert Copies.read(file) == (0.5, 0.5, 1.0)
    WaitingRequest(Echo(), 0.0, 0.4, copies=str(file), name="2-0").answer("shard")
    assert Copies.read(file).second == 2 / 5


def test_settings_have_different_names():
    assert len({setting.name for setting in SETTINGS}) == len(SETTINGS)


@pytest.mark.parametrize("words", [["--median", "0"], ["--sigma", "-1"], ["--requests", "0"]])
def test_impossible_options_are_refused(words):
    with pytest.raises(SystemExit, match="must"):
        main(words)
