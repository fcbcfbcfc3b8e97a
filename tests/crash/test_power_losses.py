"""Power may be lost at any moment: what was committed is there, whatever the disk makes of writes that were not synced."""


def test_nothing_committed_is_lost_with_power(crash_script):
    told = crash_script("power_losses", "--losses", 75)
    assert (told["losses"], told["problems"]) == (75, [])
    assert set(told["kinds"]) == {"all", "data", "journal", "torn", "none"}
    assert len(told["in flight"].keys() - {"none"}) >= 6


def test_the_check_finds_damage_where_nothing_is_synced(crash_script):
    told = crash_script("power_losses", "--losses", 10, "--unsynced")
    assert told["with problems"] > 0
