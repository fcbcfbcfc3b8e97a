"""What a reader tells about a reading."""

import pytest

from lexfuse.data.read_report import REASONS, ReadReport
from lexfuse.errors import DataError


def test_strict_reports_raise():
    with pytest.raises(DataError, match="f, line 2: wrong"):
        ReadReport().bad(DataError("wrong", path="f", line=2))


def test_the_same_reason_is_one_line_with_its_first_places():
    report = ReadReport(skip_bad=True)
    for line in range(1, 1201):
        report.bad(DataError("wrong", path="f", line=line))
    assert report.skipped == 1200
    assert report.lines() == ["1,200 skipped: wrong (f, line 1; f, line 2; f, line 3)"]


def test_notes_are_told_after_what_was_skipped_and_do_not_count_as_skipped():
    report = ReadReport(skip_bad=True)
    report.note("sorted", path="r")
    report.bad(DataError("wrong"))
    assert report.lines() == ["1 skipped: wrong", "1 noted: sorted (r)"]
    assert report.skipped == 1


def test_thousands_of_reasons_are_summed_up():
    report = ReadReport(skip_bad=True)
    for number in range(1000):
        report.bad(DataError(f"unknown id 'd{number}'"))
    assert len(report.lines()) == REASONS + 1
    assert report.lines()[-1] == f"{1000 - REASONS} more skipped, for {1000 - REASONS} other reasons"
    assert report.skipped == 1000
