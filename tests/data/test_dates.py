"""Dates of law."""

from datetime import UTC, date, datetime

import pytest

from lexfuse.data.dates import parse_date
from lexfuse.errors import DataError

DAY = date(2023, 5, 4)


@pytest.mark.parametrize(
    "value",
    [
        "2023-05-04",
        " 2023-05-04 ",
        "2023-05-04T22:00:00Z",
        "2023-05-04 00:00:00",
        "20230504",
        20230504,
        1683158400000,
        1683158400000.0,
        DAY,
        datetime(2023, 5, 4, 23, 59, tzinfo=UTC),
    ],
)
def test_every_spelling_of_one_day(value):
    assert parse_date(value) == DAY
    assert type(parse_date(value)) is date


@pytest.mark.parametrize("value", [None, "", "2999-01-01", "22/02/2222", "22220222", 32472144000000, date(2999, 1, 1)])
def test_nothing_and_the_unknown_future_are_none(value):
    assert parse_date(value) is None


@pytest.mark.parametrize("value", [0, 3_600_000, 82_800_000, -3_600_000])
def test_full_hours_around_the_epoch_are_times(value):
    assert parse_date(value) in (date(1970, 1, 1), date(1969, 12, 31))


@pytest.mark.parametrize(
    "value",
    ["2023-02-30", "31/11/2023", "20231301", "2023", 2023, "May 2023", "05-04-2023", True, [2023], {}, float("nan"), 1e300],
)
def test_what_is_no_date_is_an_error_that_shows_it(value):
    with pytest.raises(DataError, match="is not a date") as caught:
        parse_date(value)
    assert repr(value) in str(caught.value)
    assert "2023-05-04" in str(caught.value)


def test_old_law_has_old_dates():
    assert parse_date("1804-03-21") == date(1804, 3, 21)
    assert parse_date((date(1804, 3, 21) - date(1970, 1, 1)).days * 86_400_000) == date(1804, 3, 21)


@pytest.mark.parametrize("value", ["04/05/2023", "4/5/2023", "2/3/2010"])
def test_a_date_whose_day_may_be_the_month_is_refused_unless_the_day_is_first(value):
    with pytest.raises(DataError, match="ambiguous: day or month first"):
        parse_date(value)
    day, month, year = map(int, value.split("/"))
    assert parse_date(value, day_first=True) == date(year, month, day)


@pytest.mark.parametrize(("value", "day"), [("24/05/2023", date(2023, 5, 24)), ("5/5/2023", date(2023, 5, 5))])
def test_a_date_with_slashes_that_has_one_meaning_is_read(value, day):
    assert parse_date(value) == day
