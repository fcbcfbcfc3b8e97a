"""Whatever somebody did to the files of an index: it is found or refused, and never ends in a crash or a wrong answer unseen."""


def test_damage_of_any_file_and_any_column_is_found_or_refused(crash_script):
    found = crash_script("malformed", "--every", 61)
    assert found["problems"] == []
    assert found["outcomes"]["found"] + found["outcomes"]["refused"] > 15
