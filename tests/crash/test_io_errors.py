"""Any call to the file system may fail: the change succeeds or ends in a clear error, and nothing committed is lost."""


def test_a_failing_call_loses_nothing(crash_script):
    told = crash_script("io_errors", "--every", 40)
    assert told["problems"] == []
    assert len(told["of"]) == 16  # kinds of changes
    assert told["refused"] > 30


def test_a_commit_that_cannot_be_forced_to_disk_leaves_the_index_whole(crash_script):
    told = crash_script("io_errors", "--every", 9, "--changes", "update", "judge")
    assert told["problems"] == []
    assert told["refused"] > 10
