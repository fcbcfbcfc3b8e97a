"""Memory may run out at any moment: the change succeeds or ends in a clear error, and nothing committed is lost."""


def test_running_out_of_memory_loses_nothing(crash_script):
    told = crash_script("memory", "--every", 3)
    assert told["problems"] == []
    assert told["ends"]["raised MemoryError"] > 5
