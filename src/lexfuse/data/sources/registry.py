"""The importable collections by name, and how to recognise one by its files."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import cast

from lexfuse.data.archives import has_member
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.periods import Periods
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import SourceName, WithinTest
from lexfuse.errors import ConfigError, DataError

# The module and function that read each collection, imported on use.
_READERS = {
    SourceName.BSARD: "bsard:read_bsard",
    SourceName.LLEQA: "lleqa:read_lleqa",
    SourceName.CJEU: "cjeu:read_cjeu",
    SourceName.LEGALPINCITE: "legalpincite:read_legalpincite",
    SourceName.LEGI: "legi:read_legi",
    SourceName.KALI: "kali:read_kali",
    SourceName.LABOUR: "labour_sheets:read_labour",
    SourceName.CONSTITUTION: "constitution:read_constitution",
    SourceName.MSMARCO: "msmarco:read_msmarco",
    SourceName.COLIEE: "coliee:read_coliee",
    SourceName.WIKIPEDIA_SIMILARITY: "wikipedia_similarity:read_wikipedia_similarity",
    SourceName.LEGALQUAD: "legalquad:read_legalquad",
    SourceName.SCIFACT: "scifact:read_scifact",
    SourceName.CANADA: "canada:read_canada",
    SourceName.HUMAN_RIGHTS: "human_rights.judgments:read_judgments",
}


# Collections with documents, queries and labels; the others have documents only.
_WITH_QUERIES = frozenset(set(SourceName) - {SourceName.LEGI, SourceName.KALI, SourceName.CONSTITUTION, SourceName.HUMAN_RIGHTS})


def read_source(
    source: SourceName,
    path: str | Path,
    report: ReadReport | None = None,
    *,
    within_test: WithinTest | None = None,
    periods: Periods | None = None,
) -> Collection:
    """Import a collection; one without documents, or without the queries it should have, is a `DataError`.

    ``within_test`` and ``periods`` apply to `SourceName.CJEU` only; ``None`` means the paper's rule and its periods.

    >>> read_source(SourceName.LEGI, "/dev/null")
    Traceback (most recent call last):
    ...
    lexfuse.errors.NotFoundError: no LEGITEXT….json in '/dev/null'; ...
    """
    module, function = _READERS[source].split(":")
    reader = cast("Callable[..., Collection]", getattr(import_module(f"lexfuse.data.sources.{module}"), function))
    options = {name: value for name, value in (("within_test", within_test), ("periods", periods)) if value is not None}
    if options and source is not SourceName.CJEU:
        raise ConfigError(f"{' and '.join(options)} applies to {SourceName.CJEU.value!r} only; {str(path)!r} is {source.value!r}")
    return _complete(reader(path, report, **options), source, path)


def _complete(collection: Collection, source: SourceName, path: str | Path) -> Collection:
    """Refuse a result without the parts that the collection must have: the files are not the expected ones."""
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
        from lexfuse.data.sources.tables import tables_in

        files = ", ".join(file.name for file in tables_in(path)[:8]) or "no table"
        raise DataError(f"no {' and no '.join(missing)} of {source.value!r} could be read; the folder holds {files}", path=path)
    return collection


def detect_source(path: str | Path) -> SourceName | None:
    """The collection in a file, folder or archive, ``None`` if no importer reads it.

    File names identify most of them; columns identify the collections made of tables.
    """
    from lexfuse.data.sources.canada import SECTIONS_FILE
    from lexfuse.data.sources.coliee import is_coliee
    from lexfuse.data.sources.constitution import ARTICLES_FILE
    from lexfuse.data.sources.human_rights.judgments import JUDGMENT_FILE
    from lexfuse.data.sources.kali import AGREEMENT_FILE
    from lexfuse.data.sources.labour_sheets import SHEETS_FILE
    from lexfuse.data.sources.legalquad import QUESTIONS_FILE
    from lexfuse.data.sources.legi import CODE_FILE
    from lexfuse.data.sources.msmarco import is_msmarco
    from lexfuse.data.sources.scifact import ABSTRACTS_FILE
    from lexfuse.data.sources.wikipedia_similarity import is_wikipedia_similarity

    path = existing(path)
    for source, recognised in (
        (SourceName.MSMARCO, is_msmarco),
        (SourceName.COLIEE, is_coliee),
        (SourceName.WIKIPEDIA_SIMILARITY, is_wikipedia_similarity),
    ):
        if recognised(path):
            return source
    files = {
        SHEETS_FILE: SourceName.LABOUR,  # before the codes, which it also has
        CODE_FILE: SourceName.LEGI,
        AGREEMENT_FILE: SourceName.KALI,
        ARTICLES_FILE: SourceName.CONSTITUTION,
        QUESTIONS_FILE: SourceName.LEGALQUAD,
        ABSTRACTS_FILE: SourceName.SCIFACT,
        SECTIONS_FILE: SourceName.CANADA,
        JUDGMENT_FILE: SourceName.HUMAN_RIGHTS,
    }
    for name, source in files.items():
        if has_member(path, name):
            return source
    return _table_source(path)


def _table_source(path: Path) -> SourceName | None:
    from lexfuse.data.sources.cjeu import is_citations, is_pairs, is_paragraphs
    from lexfuse.data.sources.tables import DatasetPart, is_table, parts_in, tables_in

    files = [path] if path.is_file() and is_table(path) else tables_in(path)
    corpus = parts_in(path).get(DatasetPart.CORPUS, [])
    for file in corpus[:1]:
        names = _columns(file)
        if {"id", "article", "code"} <= names:
            return SourceName.LLEQA if names & {"paragraphs", "authority"} else SourceName.BSARD
    headers = [_columns(file) for file in files]
    if any({"docno", "text"} <= names for names in headers):
        return SourceName.LEGALPINCITE
    if any(is_pairs(names) for names in headers):
        return SourceName.CJEU
    if any(is_paragraphs(names) for names in headers) and any(is_citations(names) for names in headers):
        return SourceName.CJEU
    return None


def _columns(file: Path) -> set[str]:
    from lexfuse.data.sources.tables import columns

    try:
        return set(columns(file))
    except DataError:  # not a table of one of these collections
        return set()
