"""Flags that say which column of a table is which field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from lexfuse.cli.options.flag_group import FlagGroup
from lexfuse.data.columns.column_types import stated_types
from lexfuse.data.columns.table_options import TableOptions, mapped_columns

_TAB = {"tab": "\t", "\\t": "\t"}


@dataclass(frozen=True, kw_only=True)
class TableFlags(FlagGroup):
    """The columns of a table, their types, and the form of its dates.

    >>> TableFlags(id="nr", field=["court=Gericht"], type=["fee=number"]).options().columns
    {'id': 'nr', 'court': 'Gericht'}
    """

    id: Annotated[str, typer.Option(help="Column of the id.", metavar="COLUMN")] = ""
    text: Annotated[str, typer.Option(help="Column of the text.", metavar="COLUMN")] = ""
    title: Annotated[str, typer.Option(help="Column of the title.", metavar="COLUMN")] = ""
    date: Annotated[str, typer.Option(help="Column of the date.", metavar="COLUMN")] = ""
    language: Annotated[str, typer.Option(help="Column of the language.", metavar="COLUMN")] = ""
    field: Annotated[
        list[str] | None,
        typer.Option(
            help="Column of any other field, or of metadata under a name of your choice. May be repeated.", metavar="NAME=COLUMN"
        ),
    ] = None
    type: Annotated[
        list[str] | None,
        typer.Option(help="Type of a column of metadata: text, number or date. May be repeated.", metavar="NAME=TYPE"),
    ] = None
    date_format: Annotated[
        str,
        typer.Option(help="Form of the dates, such as %d/%m/%Y; without it 2/3/2010 is refused as ambiguous.", metavar="FORMAT"),
    ] = ""
    delimiter: Annotated[
        str, typer.Option(help="What separates the columns of a CSV file, when its header does not show it: , ; | or tab.")
    ] = ""

    def options(self) -> TableOptions:
        """The flags as the options of a table."""
        common = {"id": self.id, "text": self.text, "title": self.title, "date": self.date, "language": self.language}
        return TableOptions(
            mapped_columns(common, self.field or ()),
            stated_types(self.type or ()),
            self.date_format,
            _TAB.get(self.delimiter, self.delimiter),
        )
