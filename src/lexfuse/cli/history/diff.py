"""``lexfuse diff``: what changed in a document from one day to another."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from lexfuse.cli.options.search_flags import IndexArgument
from lexfuse.cli.output.console import AsJson, line, note, print_json, screen
from lexfuse.data.document import Document
from lexfuse.index import Index
from lexfuse.text.difference import ChangeKind

_MARKS = {ChangeKind.SAME: ("", "", ""), ChangeKind.REMOVED: ("[-", "-]", "red"), ChangeKind.ADDED: ("{+", "+}", "green")}


def diff(
    folder: IndexArgument,
    document: Annotated[str, typer.Argument(metavar="ID", help="The id of a document, or a citation.")],
    before: Annotated[str, typer.Argument(metavar="DATE", help="The first day, such as 1990-01-01.")],
    after: Annotated[str, typer.Argument(metavar="DATE", help="The second day.")],
    json: AsJson = False,
) -> None:
    """Show what changed in a document from one day to another, word by word.

    lexfuse diff code-civil.index LEGITEXT000006070721-1240 2016-09-30 2024-01-01

    Removed words are marked [-so-], added words {+so+}.
    """
    with Index.open(folder) as index:
        found = index.diff(document, before, after)
    sides = list(zip(found.days, (found.before, found.after), strict=True))
    if json:
        changes = [{"kind": change.kind.value, "text": change.text} for change in found.changes]
        versions = [{**_side_json(str(day), side), "known": day not in found.unknown_days} for day, side in sides]
        print_json({"id": found.id, "changed": found.changed, "versions": versions, "changes": changes})
        return
    for day, side in sides:
        unknown = f"unknown, the first version begins on {found.first_day}" if day in found.unknown_days else "not in force"
        state = period(side) if side else unknown
        line(f"{found.id} on {day}: {state}", style="bold")
    if not found.changed:
        note("nothing changed" if found.before else "the document is in force on neither day; info --history lists its versions")
    text = Text()
    for change in found.changes:
        opening, closing, style = _MARKS[change.kind]
        text.append(f"{opening}{change.text}{closing}", style=style)
    screen().print(text)


def period(version: Document) -> str:
    """The period of a version in words.

    >>> period(Document("a"))
    'in force, dates unknown'
    """
    if version.valid_from is None and version.valid_to is None:
        return "in force, dates unknown"
    start = f"from {version.valid_from}" if version.valid_from else "from an unknown day"
    return f"{start} until {version.valid_to}" if version.valid_to else start


def _side_json(day: str, side: Document | None) -> dict[str, str | bool | None]:
    dates = (side.valid_from, side.valid_to) if side else (None, None)
    return {
        "day": day,
        "in_force": side is not None,
        "valid_from": str(dates[0]) if dates[0] else None,
        "valid_to": str(dates[1]) if dates[1] else None,
    }
