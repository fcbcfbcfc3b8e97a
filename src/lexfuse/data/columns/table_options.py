"""How the columns of a table become the fields of documents."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexfuse.data.columns.column_types import ColumnType, check_date_format, iso_day, typed
from lexfuse.data.formats.fields import DATE_FIELDS, DOCUMENT_FIELDS, NAMES
from lexfuse.data.read_report import listed
from lexfuse.errors import ConfigError, DataError

REQUIRED = ("id", "text")
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
# Names that other collections give to the columns of an id or a text, for advice alone.
_OTHER_NAMES = {
    "id": ("docid", "doc_id", "docno", "identifier", "document_id", "uid", "key", "nr", "no"),
    "text": ("content", "body", "full_text", "fulltext", "article", "passage", "texte", "inhalt", "document", "judgment"),
}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Which column is which field, the types of other columns, the form of dates, and the delimiter of a text table.

    >>> options = TableOptions(columns={"text": "body", "court": "Gericht"})
    >>> options.record({"id": "1", "body": "…", "Gericht": "BGH", "fee": 3})
    {'id': '1', 'fee': 3, 'text': '…', 'court': 'BGH'}
    """

    columns: Mapping[str, str] = field(default_factory=dict)  # field or name of metadata: column
    types: Mapping[str, ColumnType] = field(default_factory=dict)  # by name after the mapping
    date_format: str = ""  # of strptime; empty: the forms that are unambiguous
    delimiter: str = ""  # empty: by the header

    def __post_init__(self) -> None:
        """Refuse a column for two fields, a type of a field that has one, and an unknown delimiter."""
        twice = sorted({column for column in self.columns.values() if list(self.columns.values()).count(column) > 1})
        if twice:
            raise ConfigError(f"column {listed(twice)} is given for two fields; a column can be one field")
        if known := sorted(set(self.types) & set(DOCUMENT_FIELDS)):
            raise ConfigError(f"{listed(known)} has a type already; a type is for a column of metadata")
        if self.date_format:
            check_date_format(self.date_format)
        if self.delimiter and self.delimiter not in DELIMITERS:
            raise ConfigError(f"a delimiter is one of {', '.join(map(repr, DELIMITERS))}; got {self.delimiter!r}")

    def names(self, columns: Iterable[str]) -> dict[str, str]:
        """The name of every column after the mapping."""
        mapped = {column: name for name, column in self.columns.items()}
        return {column: mapped.get(column, column) for column in columns}

    def record(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row with the names of fields and the types that were stated; a value without the type is a `DataError`."""
        if not self.columns and not self.types and not self.date_format:
            return dict(row)
        taken = set(self.columns.values())
        hidden = {other for name in self.columns for other in NAMES.get(name, ())}
        renamed = {column: value for column, value in row.items() if column not in taken and column not in hidden}
        kept = {column: value for column, value in row.items() if column in hidden and column not in taken}
        renamed |= {name: row[column] for name, column in self.columns.items() if column in row}
        for name in {*DATE_FIELDS} & renamed.keys() if self.date_format else ():
            renamed[name] = iso_day(name, renamed[name], self.date_format)
        for name in self.types.keys() & renamed.keys():
            renamed[name] = typed(name, renamed[name], self.types[name], self.date_format)
        if kept:  # a column named like a field that another column is
            extra = renamed.get("extra")
            renamed["extra"] = {**(extra if isinstance(extra, Mapping) else {}), **kept}
        return renamed

    def check_record(self, record: Mapping[str, Any]) -> None:
        """Refuse a record of a file without a header that lacks the column of its id or text."""
        if any(self.columns.get(name) not in (None, *record) for name in REQUIRED):
            self.check(list(record))

    def check(self, columns: Sequence[str]) -> None:
        """Refuse a table without a column that was named, or without an id or a text; near misses are suggested.

        >>> TableOptions(columns={"text": "txt"}).check(["id", "text"])
        Traceback (most recent call last):
        ...
        lexfuse.errors.DataError: column 'txt' not found; did you mean 'text'? columns: 'id', 'text'
        """
        for name, column in self.columns.items():
            if column not in columns:
                raise missing_column(column, columns, name)
        missing = [name for name in REQUIRED if name not in self.columns and not set(NAMES[name]) & set(columns)]
        if missing:
            raise DataError(f"no column {listed(missing)}: found {listed(columns) or 'no header'}{_advice(missing, columns)}")


PLAIN = TableOptions()


def missing_column(column: str, columns: Sequence[str], field: str = "") -> DataError:
    """The error for a column that a table does not have, with the one that is nearest in spelling."""
    near = difflib.get_close_matches(column.casefold(), [one.casefold() for one in columns], n=1, cutoff=0.5)
    meant = next((one for one in columns if near and one.casefold() == near[0]), "")
    advice = f"; did you mean {meant!r}?" if meant else ";"
    forced = "; to state the language of every document, give --force-language" if field == "language" else ""
    return DataError(f"column {column!r} not found{advice} columns: {listed(columns) or 'none'}{forced}")


def is_likely_header(cells: Sequence[str]) -> bool:
    """Whether a first row has the name of an id or a text, in any of its usual spellings.

    >>> is_likely_header(["nr", "Inhalt"]), is_likely_header(["7", "Le bail est écrit."])
    (True, False)
    """
    names = {name for field in REQUIRED for name in (*NAMES[field], *_OTHER_NAMES[field])}
    return any(cell.strip().casefold() in names for cell in cells)


def mapped_columns(stated: Mapping[str, str], fields: Iterable[str]) -> dict[str, str]:
    """Columns by field from flags: those of the common fields, and ``NAME=COLUMN`` for any other.

    >>> mapped_columns({"id": "nr", "title": ""}, ["court=Gericht"])
    {'id': 'nr', 'court': 'Gericht'}
    """
    columns = {name: column for name, column in stated.items() if column}
    for text in fields:
        name, equals, column = text.partition("=")
        if not name or not equals or not column:
            raise ConfigError(f"a field is written NAME=COLUMN, such as court=Gericht; got {text!r}")
        if name in columns:
            raise ConfigError(f"{name!r} is given two columns, {columns[name]!r} and {column!r}; give one")
        columns[name] = column
    return columns


def _advice(missing: Sequence[str], columns: Sequence[str]) -> str:
    found = []
    for name in missing:
        lowered = {column.casefold(): column for column in columns}
        near = [other for other in (*NAMES[name], *_OTHER_NAMES[name]) if other in lowered]
        near += difflib.get_close_matches(name, lowered, n=1, cutoff=0.5)
        if near:
            found.append(f"--{name} {lowered[near[0]]!r}")
    others = listed([name for name in DOCUMENT_FIELDS if name not in REQUIRED])
    advice = f"perhaps {' and '.join(found)}" if found else "name the columns with --id and --text"
    return f"; expected 'id' and 'text', and where known {others}; {advice}"
