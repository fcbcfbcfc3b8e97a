"""Recognise the tables of a published dataset by the names of files and folders."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from lexfuse.data.files import existing
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.tables import SUFFIXES, columns, is_table
from lexfuse.errors import DataError, NotFoundError


class DatasetPart(StrEnum):
    """The content of a table: the corpus, or the questions of one split."""

    CORPUS = "corpus"
    TRAIN = "train"
    DEV = "dev"
    TEST = "test"
    SYNTHETIC = "synthetic"


SPLITS = (DatasetPart.TRAIN, DatasetPart.DEV, DatasetPart.TEST, DatasetPart.SYNTHETIC)

# In this order: "corpus/train-0.parquet" is the corpus, "questions_synthetic" is no training split.
_WORDS = {
    DatasetPart.CORPUS: {"corpus", "articles", "article", "documents"},
    DatasetPart.SYNTHETIC: {"synthetic"},
    DatasetPart.TEST: {"test"},
    DatasetPart.DEV: {"dev", "validation", "valid", "val"},
    DatasetPart.TRAIN: {"train", "training"},
}
_LEFT_OUT = {"negatives", "negative"}  # training lists that some datasets include


def part_of(name: str) -> DatasetPart | None:
    """The content of a file, by the words of its path.

    >>> part_of("articles_fr.csv"), part_of("questions/validation-00000-of-00001.parquet"), part_of("negatives/train.json")
    (<DatasetPart.CORPUS: 'corpus'>, <DatasetPart.DEV: 'dev'>, None)
    """
    if is_left_out(name):
        return None
    words = set(re.findall(r"[a-z]+", name.lower()))
    return next((part for part, marks in _WORDS.items() if words & marks), None)


def is_left_out(name: str) -> bool:
    """Whether a file is known but not needed, such as lists of negatives for training."""
    return bool(set(re.findall(r"[a-z]+", name.lower())) & _LEFT_OUT)


def parts_in(path: str | Path) -> dict[DatasetPart, list[Path]]:
    """The tables of a folder by content; several files of one part (shards) are sorted by name."""
    folder = existing(path)
    found: dict[DatasetPart, list[Path]] = {}
    for file in tables_in(folder):
        part = part_of(str(file.relative_to(folder)))
        if part is not None:
            found.setdefault(part, []).append(file)
    return found


def tables_in(path: str | Path) -> list[Path]:
    """Every table in a folder and its subfolders, without hidden ones."""
    folder = existing(path)
    if not folder.is_dir():
        return []
    found = (file for file in sorted(folder.rglob("*")) if file.is_file() and is_table(file))
    return [file for file in found if not any(step.startswith(".") for step in file.relative_to(folder).parts)]


def unknown_table(file: Path, expected: str) -> DataError:
    """The error for a table that its importer does not know: the file, its columns and the expected ones.

    >>> str(unknown_table(Path("/dev/null"), "id, question, article_ids"))
    '/dev/null: not a table of this collection; columns found: none (no rows); expected: id, question, article_ids'
    """
    try:
        found = ", ".join(columns(file)) or "none (no rows)"
    except DataError as error:
        found = f"none ({error.reason})"
    return DataError(f"not a table of this collection; columns found: {found}; expected: {expected}", path=file)


def required_parts(path: str | Path, dataset: str, names: Sequence[str], report: ReadReport) -> dict[DatasetPart, list[Path]]:
    """The tables of a folder that must hold a corpus; otherwise `NotFoundError` names the expected files.

    A table whose name indicates neither the corpus nor a split is reported as bad: ignoring it would lose data silently.

    >>> required_parts("/dev/null", "BSARD", ["articles_fr.csv"], ReadReport())
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no BSARD corpus in '/dev/null'; expected articles_fr.csv (or .tsv, ...), found no table
    """
    parts = parts_in(path)
    if DatasetPart.CORPUS not in parts:
        seen = ", ".join(file.name for file in tables_in(path)[:8]) or "no table"
        others = ", ".join(suffix for suffix in SUFFIXES if suffix != ".csv")
        raise NotFoundError(
            f"no {dataset} corpus in {str(path)!r}; expected {', '.join(names)} (or {others}, gzipped or not), found {seen}"
        )
    placed = {file for files in parts.values() for file in files}
    for file in tables_in(path):
        if file not in placed and not is_left_out(str(file.relative_to(existing(path)))):
            report.bad(unknown_table(file, f"a file named like one of {', '.join(names)}"))
    return parts
