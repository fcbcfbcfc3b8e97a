"""Tables that an export fills under other names until all are complete, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lexfuse.storage.postgres.database import Database, Row

if TYPE_CHECKING:
    from psycopg import Connection


@dataclass(frozen=True, slots=True)
class TableWriter:
    """Writes the tables of one export; its generation is part of their names until they are complete."""

    database: Database
    connection: Connection[Row]
    generation: int

    @property
    def schema(self) -> str:
        """The schema of the index."""
        return self.database.address.schema

    def new(self, table: str) -> tuple[str, str]:
        """The name of a table until it is complete."""
        return self.schema, f"{table}~{self.generation}"

    def execute(self, text: str, *values: Any, **names: Any) -> list[Row]:
        """The rows of a statement; ``{name}`` is replaced by a quoted name, values are bound."""
        return self.database.execute(self.connection, text, *values, **names)

    def copy(self, table: tuple[str, str], every: Iterable[Sequence[Any]], types: Sequence[str] = ()) -> None:
        """Write rows into a table: as text, or in the binary format of these types."""
        given = " (FORMAT BINARY)" if types else ""
        with self.connection.cursor().copy(self.database.sql(f"COPY {{table}} FROM STDIN{given}", table=table)) as rows:
            if types:
                rows.set_types(types)
            for row in every:
                rows.write_row(row)

    def put_in_place(self, tables: Iterable[str], former: Iterable[str]) -> None:
        """Drop the former tables, and let the new ones take their names."""
        for table in former:
            self.execute("DROP TABLE IF EXISTS {table}", table=(self.schema, table))
        for table in tables:
            self.execute("ANALYZE {table}", table=self.new(table))
            self.execute("ALTER TABLE {table} RENAME TO {name}", table=self.new(table), name=table)
