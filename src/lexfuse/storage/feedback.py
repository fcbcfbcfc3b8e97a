"""Feedback on results, stored in the catalog: judgements for evaluation and tuning.

A judgement contains the text of its query and is stored only when a user gives one: searching stores nothing. The first judgement
creates the table, so an index without feedback is unchanged. Judgements are not searched: storing one makes no new generation,
and readers need not reopen.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lexfuse.data.judgements import last_grades, merged_grade
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError, NotFoundError, UnknownDocumentError
from lexfuse.storage.catalog import FEEDBACK, Catalog
from lexfuse.storage.catalog_file import sqlite_errors

WAIT_TO_KEEP = 5_000  # milliseconds to wait for another writer: users judge while the index changes
_HIGHEST = 2**31 - 1  # the limit of qrels

_TABLE = """
CREATE TABLE IF NOT EXISTS feedback (number INTEGER PRIMARY KEY, query TEXT NOT NULL, doc TEXT NOT NULL, grade INTEGER NOT NULL,
                                     rank INTEGER, profile TEXT NOT NULL, moment TEXT NOT NULL, generation INTEGER NOT NULL,
                                     judge TEXT NOT NULL DEFAULT '')
"""


@dataclass(frozen=True, slots=True)
class FeedbackEntry:
    """How well a document answers a query, by a user who saw it in the results; a grade above 0 is relevant.

    >>> FeedbackEntry("Qui paie le préavis ?", "L1237-1", 2, rank=3, profile="labour law", generation=7).moment.tzname()
    'UTC'
    >>> FeedbackEntry("Qui paie le préavis ?", "L1237-1", 2, rank=0, generation=7)
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: feedback: rank must be a whole number from 1, or none, got 0
    """

    query: str
    doc: str
    grade: int
    rank: int | None = field(default=None, kw_only=True)  # in the results, from 1; None if it was not among them
    profile: str = field(default="", kw_only=True)  # that ranked the results
    moment: datetime = field(default_factory=lambda: datetime.now(UTC), kw_only=True)
    generation: int = field(kw_only=True)  # the state of the index that was searched
    judge: str = field(default="", kw_only=True)  # the name of the user, empty if it was not given

    def __post_init__(self) -> None:
        """Refuse values that cannot be stored."""
        for name in ("query", "doc", "profile", "judge"):
            _check_text(name, getattr(self, name), needed=name in ("query", "doc"))
        _check_number("grade", self.grade, -_HIGHEST - 1, "a whole number")
        _check_number("generation", self.generation, 0, "a whole number from 0")
        if self.rank is not None:
            _check_number("rank", self.rank, 1, "a whole number from 1, or none")
        if not isinstance(self.moment, datetime) or self.moment.tzinfo is None:
            raise DataError(f"feedback: moment must be a date and time with its time zone, got {self.moment!r}")


class FeedbackStore:
    """The feedback on results of one index; see `IndexFolder.feedback`.

    It survives changes of documents, merging and rebuilding, including feedback on deleted documents; replacing the index with
    `IndexFolder.create` clears it.

    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with IndexFolder.create(folder / "i", documents=[Document("a")]) as index:
    ...     index.feedback.keep(FeedbackEntry("préavis", "a", 1, rank=2, generation=1))
    ...     [(one.query, one.doc, one.grade) for one in index.feedback.kept()]
    ...     index.feedback.remove("préavis", "a"), index.feedback.kept()
    [('préavis', 'a', 1)]
    (1, [])
    """

    def __init__(self, folder: Path) -> None:
        """Keep the folder of the index; every call opens its catalog, since that of an `IndexFolder` may be in a change."""
        self._folder = folder

    def keep(self, *given: FeedbackEntry, wait: int = WAIT_TO_KEEP) -> None:
        """Store feedback: all of it or, if the index does not have a document, nothing (`NotFoundError`).

        It makes no new generation, so readers need not reopen. ``wait`` is the milliseconds to wait for another writer; then
        `BusyError`.
        """
        if not given:
            return
        with closing(Catalog.open(self._folder)) as catalog, catalog.writing(wait):
            present = catalog.present([one.doc for one in given])
            for one in given:
                if one.doc not in present:
                    raise UnknownDocumentError(f"feedback: the index has no document {one.doc!r}; nothing was kept")
            _make_table(catalog)
            marks = ", ".join("?" * len(fields(FeedbackEntry)))
            rows = [_row(one) for one in given]
            catalog.connection.executemany(f"INSERT INTO feedback ({FEEDBACK}) VALUES ({marks})", rows)  # noqa: S608 -- constants
            catalog.recount("feedback", added=rows)

    def kept(self, query: str | None = None) -> list[FeedbackEntry]:
        """All feedback, or that for one query, in the order of storing; `qrels_of` turns it into qrels."""
        _check_text("query", query or "", needed=False)
        with closing(Catalog.open(self._folder)) as catalog, catalog.reading(), sqlite_errors(catalog.path):
            if not catalog.has_table("feedback"):
                return []
            which = "" if query is None else "WHERE query = ?"
            asked = f"SELECT {catalog.feedback_columns} FROM feedback {which} ORDER BY number"  # noqa: S608 -- constants
            rows = catalog.connection.execute(asked, () if query is None else (query,)).fetchall()
        try:
            return [_of_row(*row) for row in rows]
        except (TypeError, ValueError):
            raise DataError("a judgement in the table feedback is damaged; restore the catalog", path=catalog.path) from None

    def remove(self, query: str, doc: str, judge: str | None = None) -> int:
        """Remove the feedback on a document for a query, of one judge or of all; returns the number of removed judgements."""
        for name, value in (("query", query), ("doc", doc), ("judge", judge or "")):
            _check_text(name, value, needed=False)
        with closing(Catalog.open(self._folder)) as catalog, catalog.writing(WAIT_TO_KEEP):
            if not catalog.has_table("feedback"):
                return 0
            _make_table(catalog)
            pair = f"feedback WHERE query = ? AND doc = ?{'' if judge is None else ' AND judge = ?'}"
            values = (query, doc) if judge is None else (query, doc, judge)
            rows = catalog.connection.execute(f"SELECT {FEEDBACK} FROM {pair}", values).fetchall()  # noqa: S608 -- constants
            catalog.connection.execute(f"DELETE FROM {pair}", values)  # noqa: S608 -- constants
            catalog.recount("feedback", removed=rows)
            return len(rows)


def _make_table(catalog: Catalog) -> None:
    """Create the table, or add the column of judges to that of an older LexFuse, inside `writing`."""
    if not catalog.has_table("feedback"):
        catalog.connection.execute(_TABLE)
    elif catalog.feedback_columns != FEEDBACK:
        if "feedback" in catalog.damaged_tables(["feedback"]):  # a new digest must not include damage
            raise DataError("table feedback has other rows than were written; restore the catalog", path=catalog.path)
        catalog.connection.execute("ALTER TABLE feedback ADD COLUMN judge TEXT NOT NULL DEFAULT ''")
        catalog.sum_anew("feedback")


def forget_feedback(catalog: Catalog) -> None:
    """Remove every judgement, inside `writing`: a new index replaces this one."""
    if catalog.has_table("feedback"):
        catalog.connection.execute("DELETE FROM feedback")
        catalog.sum_anew("feedback")


def qrels_of(feedback: Sequence[FeedbackEntry], judge: str = "") -> tuple[Queries, Qrels]:
    """Judgements as queries and qrels: those of one judge, or of all, merged as `lexfuse.data.judgements` says.

    >>> one = FeedbackEntry("préavis", "a", 0, generation=1)
    >>> queries, qrels = qrels_of([one, FeedbackEntry("bail", "b", 1, generation=1), FeedbackEntry("préavis", "a", 2,
    ...     generation=3)])
    >>> [(query.id, query.text) for query in queries]
    [('f023ac6fec5d75915', 'préavis'), ('ffa881abf4b4d8eb1', 'bail')]
    >>> qrels.as_dict()
    {'f023ac6fec5d75915': {'a': 2}, 'ffa881abf4b4d8eb1': {'b': 1}}
    """
    chosen = [one for one in feedback if not judge or one.judge == judge]
    if judge and not chosen:
        names = ", ".join(sorted({one.judge for one in feedback if one.judge})) or "no named judges"
        raise NotFoundError(f"there are no judgements by {judge!r}; there are {names}")
    ids = {text: query_id(text) for text in dict.fromkeys(one.query for one in chosen)}
    grades = last_grades((ids[one.query], one.doc, one.judge, one.grade) for one in chosen)
    queries = Queries.of(Query(id, text) for text, id in ids.items())
    return queries, Qrels.of((query, doc, merged_grade(each.values())) for (query, doc), each in grades.items())


def query_id(text: str) -> str:
    """The id of a query without one: a digest of its text.

    >>> query_id("préavis")
    'f023ac6fec5d75915'
    """
    return f"f{hashlib.sha256(text.encode('utf-8')).hexdigest()[:16]}"


def _row(one: FeedbackEntry) -> tuple[Any, ...]:
    moment = one.moment.astimezone(UTC).isoformat()
    return one.query, one.doc, one.grade, one.rank, one.profile, moment, one.generation, one.judge


def _of_row(
    query: str, doc: str, grade: int, rank: int | None, profile: str, moment: str, generation: int, judge: str = ""
) -> FeedbackEntry:
    when = datetime.fromisoformat(moment)
    return FeedbackEntry(query, doc, grade, rank=rank, profile=profile, moment=when, generation=generation, judge=judge)


def _check_text(name: str, value: object, *, needed: bool) -> None:
    if not isinstance(value, str) or (needed and not value.strip()):
        raise DataError(f"feedback: {name} must be a text{' that says something' if needed else ''}, got {value!r}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(f"feedback: {name} has a lone surrogate at position {error.start} and cannot be stored") from None


def _check_number(name: str, value: object, lowest: int, expected: str) -> None:
    if type(value) is not int or not lowest <= value <= _HIGHEST:
        raise DataError(f"feedback: {name} must be {expected}, got {value!r}")
