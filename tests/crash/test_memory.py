"""Memory may run out at any moment: the change succeeds or ends in a clear error, and nothing committed is lost."""


def test_running_out_of_memory_loses_nothing(crash_script):
    found = crash_script("memory", "--every", 6)
    assert found["problems"] == []
    assert found["ends"]["raised MemoryError"] > 5
