"""Judgements by several people: the names of judges, and one grade from several.

Of several judgements by one judge of the same result, the last counts. Of several judges, the median grade counts; where two
grades are in the middle, the lower one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from lexfuse.errors import ConfigError

NAME_LENGTH = 60
NAME_PATTERN = r"^[\w .'’@\-]{0,60}$"
_NAME = re.compile(NAME_PATTERN)

ResultGrades = dict[tuple[str, str], dict[str, int]]  # (query, document) -> judge -> grade


def judge_name(text: str) -> str:
    """The name of a judge in its stored form; empty for a judge without a name.

    >>> judge_name("  Zoé   d'Arc ")
    "Zoé d'Arc"
    >>> judge_name("<b>Zoé</b>")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: the name of a judge has letters, digits, spaces and . ' ’ @ _ - only, at most 60; got '<b>Zoé</b>'
    """
    name = re.sub(" +", " ", unicodedata.normalize("NFC", text[: 10 * NAME_LENGTH])).strip(" ")
    if len(text) > 10 * NAME_LENGTH or not _NAME.fullmatch(name):
        allowed = f"letters, digits, spaces and . ' ’ @ _ - only, at most {NAME_LENGTH}"
        raise ConfigError(f"the name of a judge has {allowed}; got {text[: NAME_LENGTH + 20]!r}")
    return name


def last_grades(judgements: Iterable[tuple[str, str, str, int]]) -> ResultGrades:
    """The grades of every result by judge, from (query, document, judge, grade) in the order in which they were given.

    >>> last_grades([("q", "d", "Zoé", 0), ("q", "d", "Max", 1), ("q", "d", "Zoé", 2)])
    {('q', 'd'): {'Zoé': 2, 'Max': 1}}
    """
    found: ResultGrades = {}
    for query, doc, judge, grade in judgements:
        found.setdefault((query, doc), {})[judge] = grade
    return found


def merged_grade(grades: Collection[int]) -> int:
    """The median of the grades of one result; the lower one of two in the middle.

    >>> merged_grade([3, 0, 2]), merged_grade([3, 1])
    (2, 1)
    """
    return sorted(grades)[(len(grades) - 1) // 2]
