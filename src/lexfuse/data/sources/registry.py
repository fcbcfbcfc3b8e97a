"""The known collections by name, and how to recognise one from its files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from lexfuse.data.archives import holds
from lexfuse.data.beir import Collection
from lexfuse.data.files import existing
from lexfuse.data.report import Report
from lexfuse.data.sources.names import Source, WithinTest
from lexfuse.errors import ConfigError, DataError

# One line a collection: the module and the function that read it, loaded on use.
_READERS = {
    Source.BSARD: "bsard:read_bsard",
    Source.LLEQA: "lleqa:read_lleqa",
    Source.CJEU: "cjeu:read_cjeu",
    Source.LEGALPINCITE: "legalpincite:read_legalpincite",
    Source.LEGI: "legi:read_legi",
    Source.KALI: "kali:read_kali",
    Source.LABOUR: "sheets:read_labour",
    Source.CONSTITUTION: "constitution:read_constitution",
}


# Collections that are made of documents, queries and labels; the others have documents alone.
_WITH_QUERIES = frozenset({Source.BSARD, Source.LLEQA, Source.CJEU, Source.LEGALPINCITE, Source.LABOUR})


def read_source(
    source: Source, path: str | Path, report: Report | None = None, *, within_test: WithinTest | None = None
) -> Collection:
    """Import a collection of a known kind; one without documents, or without the queries it is known for, is a `DataError`.

    ``within_test`` is a choice of `Source.CJEU` alone; None takes the paper's rule.

    >>> read_source(Source.LEGI, "/dev/null")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no LEGITEXT….json in '/dev/null'; ...
    """
    module, function = _READERS[source].split(":")
    reader = cast("Callable[..., Collection]", getattr(import_module(f"lexfuse.data.sources.{module}"), function))
    if within_test is None:
        return _complete(reader(path, report), source, path)
    if source is not Source.CJEU:
        raise ConfigError(f"within_test is a choice of {Source.CJEU.value!r} alone; {str(path)!r} is {source.value!r}")
    return _complete(reader(path, report, within_test=within_test), source, path)


def _complete(collection: Collection, source: Source, path: str | Path) -> Collection:
    """Refuse a reading that found nothing of what the collection is made of: the files are not what was expected."""
    missing = [
        what
        for what, there in (
            ("document", len(collection.corpus)),
            ("query", source not in _WITH_QUERIES or collection.queries),
            ("label", source not in _WITH_QUERIES or collection.qrels),
        )
        if not there
    ]
    if missing:
        from lexfuse.data.sources.tablefiles import tables_in

        files = ", ".join(file.name for file in tables_in(path)[:8]) or "no table"
        raise DataError(f"no {' and no '.join(missing)} of {source.value!r} could be read; the folder holds {files}", path=path)
    return collection


def detect(path: str | Path) -> Source | None:
    """The kind of collection that a file, folder or archive holds, ``None`` when it is none of them.

    Names of files tell LEGI, KALI, the sheets and the Constitution; columns tell the collections made of tables.

    >>> detect("/dev/null") is None
    True
    """
    from lexfuse.data.sources.constitution import ARTICLES_FILE
    from lexfuse.data.sources.kali import AGREEMENT_FILE
    from lexfuse.data.sources.legi import CODE_FILE
    from lexfuse.data.sources.sheets import SHEETS_FILE

    path = existing(path)
    if holds(path, SHEETS_FILE):
        return Source.LABOUR
    if holds(path, CODE_FILE):
        return Source.LEGI
    if holds(path, AGREEMENT_FILE):
        return Source.KALI
    if holds(path, ARTICLES_FILE):
        return Source.CONSTITUTION
    return _table_source(path)


def _table_source(path: Path) -> Source | None:
    from lexfuse.data.sources.cjeu import is_citations, is_pairs, is_paragraphs
    from lexfuse.data.sources.tablefiles import Part, parts_in, tables_in
    from lexfuse.data.tables import is_table

    files = [path] if path.is_file() and is_table(path) else tables_in(path)
    corpus = parts_in(path).get(Part.CORPUS, [])
    for file in corpus[:1]:
        names = _columns(file)
        if {"id", "article", "code"} <= names:
            return Source.LLEQA if names & {"paragraphs", "authority"} else Source.BSARD
    headers = [_columns(file) for file in files]
    if any({"docno", "text"} <= names for names in headers):
        return Source.LEGALPINCITE
    if any(is_pairs(names) for names in headers):
        return Source.CJEU
    if any(is_paragraphs(names) for names in headers) and any(is_citations(names) for names in headers):
        return Source.CJEU
    return None


def _columns(file: Path) -> set[str]:
    from lexfuse.data.tables import columns

    try:
        return set(columns(file))
    except DataError:  # whatever it is, it is not a table of one of these collections
        return set()
