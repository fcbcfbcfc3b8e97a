"""Any call to the file system may fail: the change succeeds or ends in a clear error, and nothing committed is lost."""


def test_a_failing_call_loses_nothing(crash_script):
    found = crash_script("io_errors", "--every", 80)
    assert found["problems"] == []
    assert len(found["of"]) == 16  # kinds of changes
    assert found["refused"] > 15


def test_a_commit_that_cannot_be_forced_to_disk_leaves_the_index_whole(crash_script):
    found = crash_script("io_errors", "--every", 18, "--changes", "update", "judge")
    assert found["problems"] == []
    assert found["refused"] > 5
