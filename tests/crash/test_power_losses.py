"""Power may be lost at any moment: what was committed is there, whatever the disk makes of writes that were not synced."""


def test_nothing_committed_is_lost_with_power(crash_script):
    found = crash_script("power_losses", "--losses", 40)
    assert (found["losses"], found["problems"]) == (40, [])
    assert set(found["kinds"]) == {"all", "data", "journal", "torn", "none"}
    assert len(found["in flight"].keys() - {"none"}) >= 6


def test_the_check_finds_damage_where_nothing_is_synced(crash_script):
    found = crash_script("power_losses", "--losses", 10, "--unsynced")
    assert found["with problems"] > 0
