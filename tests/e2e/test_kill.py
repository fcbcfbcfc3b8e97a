"""A writer may be killed at any moment: what was committed is there, what was in flight happened as a whole or not at all.

Writers are killed before a call to the file system that is drawn by a seed, never after a time: see tests/crash/kills.py.
"""


def test_kills_lose_nothing(crash_script):
    told = crash_script("kills", "--kills", 100)
    assert (told["kills"], told["problems"]) == (100, [])
    # The kills came at moments that matter: inside operations of several kinds, and with files written but not yet named.
    assert len(told["in flight"].keys() - {"none"}) >= 8
    assert {"create", "add", "update", "delete", "fill"} <= told["in flight"].keys()
    assert told["changes done"] > 100
    assert told["with files not yet named"] > 10
    assert {"-9", "-15"} <= set(told["signals"]) <= {"-9", "-15", "97"}  # 97: a command that SIGTERM ended in order


def test_the_check_finds_an_index_that_names_files_before_they_are_written(crash_script):
    told = crash_script("kills", "--kills", 8, "--names-first")
    assert any("segments" in problem for kill in told["problems"] for problem in kill["problems"])


def test_the_check_finds_a_channel_that_names_files_before_they_are_written(crash_script):
    told = crash_script("kills", "--kills", 32, "--parts-first")
    assert any("channels" in problem for kill in told["problems"] for problem in kill["problems"])


def test_an_output_is_there_whenever_its_writer_is_killed(crash_script):
    told = crash_script("kills", "--every-call-of", "file", "folder", "key", "revoke")
    assert told["kills"] > 50
    assert told["problems"] == []
