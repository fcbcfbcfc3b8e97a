"""``lexfuse import``: files, tables and published collections become a folder in BEIR layout with legal metadata."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lexfuse.cli.options.table_flags import TableFlags
from lexfuse.cli.output.console import AsJson, SkipBad, note, print_json, progress_bar, spinner, table
from lexfuse.cli.output.summaries import print_summary
from lexfuse.data.collection_statistics import summary_of
from lexfuse.data.dates import parse_date
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection, is_collection, read_collection, write_collection
from lexfuse.data.formats.file_format import is_corpus_table, read_corpus, read_queries
from lexfuse.data.formats.standard_input import InputFormat, standard_input
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.formats.trec_run import stem
from lexfuse.data.periods import Periods, split_by_period
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.file_folder import FileAccount, read_files
from lexfuse.data.sources.legalize.law_history import LawAccount, read_history
from lexfuse.data.sources.names import SourceName, WithinTest
from lexfuse.data.sources.registry import detect_source, read_source
from lexfuse.errors import ConfigError, DataError, StorageError
from lexfuse.text.analysis.language_table import known_language
from lexfuse.text.annotation import annotate
from lexfuse.text.paragraph_documents import paragraph_documents

_NO_FLAGS = TableFlags()


def import_(
    source: Annotated[
        Path,
        typer.Argument(
            help="A folder of files, a file (PDF, DOCX, ODT, HTML, XML, Markdown, text, zip), a table (.csv, .tsv, .jsonl, "
            ".json, .parquet, also .gz), a BEIR folder, a published collection, or - for standard input."
        ),
    ],
    out: Annotated[Path, typer.Argument(help="The folder to write.")],
    from_: Annotated[SourceName | None, typer.Option("--from", help="What SOURCE is, when it is not recognised.")] = None,
    queries: Annotated[Path | None, typer.Option(help="Queries to go with a corpus file.")] = None,
    qrels: Annotated[
        list[Path] | None, typer.Option(help="Judgements to go with them; the file name is the split's name. May be repeated.")
    ] = None,
    within_test: Annotated[
        WithinTest | None,
        typer.Option(help="cjeu: what to do with citations between paragraphs of the test period [default: remove-citations]."),
    ] = None,
    dev_from: Annotated[
        str, typer.Option(help="First day of dev: split again by the dates of the queries. Needs --test-from.", metavar="DATE")
    ] = "",
    test_from: Annotated[str, typer.Option(help="First day of test, such as 2015-01-01.", metavar="DATE")] = "",
    tables: TableFlags = _NO_FLAGS,
    format_: Annotated[
        InputFormat | None, typer.Option("--format", help="What standard input is, when its beginning does not show it.")
    ] = None,
    whole_files: Annotated[
        bool, typer.Option("--whole-files", help="Make every file one document, even if it has articles or numbered paragraphs.")
    ] = False,
    history: Annotated[
        bool, typer.Option("--history", help="SOURCE is a git repository of law: read every version of every article.")
    ] = False,
    law: Annotated[
        list[str] | None, typer.Option("--law", help="With --history: only this file, by its name without .md. May be repeated.")
    ] = None,
    force_language: Annotated[
        str,
        typer.Option("--force-language", help="Language of every document, instead of what the source states.", metavar="CODE"),
    ] = "",
    skip_bad: SkipBad = False,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it is a collection already.")] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Write plain files instead of gzipped ones.")] = False,
    json: AsJson = False,
) -> None:
    """Read files, a table or a collection of law and write them as a corpus folder.

    Files are divided into their articles, sections or numbered paragraphs. A file that cannot be read is
    skipped, and the report names it. A column of a table that is no field of documents is metadata.

    Languages that are not given are detected; --force-language states that of every document. The articles
    and decisions that each text cites are resolved to documents. OUT appears only when it is complete.

        lexfuse import judgments/ data/judgments

        lexfuse import cases.csv data/cases --id nr --text body --field court=Gericht --date-format %d.%m.%Y

        lexfuse import bsard/ data/bsard

        lexfuse import socialgouv-legi-data-2.513.0.tgz data/legi

        lexfuse import corpus.csv data/mine --queries questions.csv --qrels test.tsv

        lexfuse import cjeu/ data/cjeu-2015 --dev-from 2012-01-01 --test-from 2015-01-01

        lexfuse import legalize-fr/ data/code-civil --history --law LEGITEXT000006070721
    """
    report, periods = ReadReport(skip_bad=skip_bad), periods_of(dev_from, test_from)
    forced = known_language(force_language) if force_language else ""
    refuse_existing(out, force)
    if law and not history:
        raise ConfigError("--law names a file of a repository; give --history with it")
    reading = nullcontext() if history else spinner(f"reading {source}")  # a history shows how much of it is read
    with standard_input(source, format_, has_columns=bool(tables.given)) as place, reading:
        account: FileAccount | None = None
        laws: list[LawAccount] = []
        if history:
            refuse_with_history(from_, queries, qrels, within_test, periods, format_, whole_files, *tables.given)
            collection = read_history(existing(source), report, laws=law or (), accounts=laws, progress=progress_bar)
        elif from_ is None and is_files(place):
            refuse_table_flags(source, tables, queries, qrels, periods)
            corpus, account = read_files(place, report, divided=not whole_files, divide=paragraph_documents)
            collection = Collection(corpus)
        else:
            if whole_files:
                raise ConfigError(f"--whole-files is for files of text; {str(source)!r} is a table or a collection")
            collection = read_any(place, from_, queries, qrels or [], within_test, periods, report, tables)
    collection, found = completed(collection, forced)
    with spinner(f"writing {out}"):
        write_collection(collection, out, replace=force, gzipped=not plain)
    summary = summary_of(collection) | {"citations_found_in_text": found}
    if json:
        files: dict[str, Any] = {} if account is None else {"files": account.as_json()}
        files |= {"laws": [one.as_json() for one in laws]} if laws else {}
        print_json({"out": str(out), **summary, **files, "skipped": report.skipped, "report": report.lines()})
        return
    for remark in [*(account.lines() if account else ()), *report.lines()]:
        note(remark)
    if laws:
        table("laws", ["law", "snapshots", "first", "last", "longest gap", "versions"], [one.row() for one in laws])
    print_summary(f"{out}", summary)


def refuse_existing(out: Path, force: bool) -> None:
    """Refuse an existing target before the work starts."""
    if out.exists() and not force and (not out.is_dir() or any(out.iterdir())):
        raise StorageError(f"{str(out)!r} already exists; choose another name, or give --force to replace it")


def refuse_with_history(*others: object) -> None:
    """Refuse options of other sources.

    >>> refuse_with_history(None, SourceName.LEGI)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: --history reads a git repository of law, which has no --from, --queries, --qrels or periods; ...
    """
    if any(others):
        raise ConfigError(
            "--history reads a git repository of law, which has no --from, --queries, --qrels or periods; leave these out"
        )


def periods_of(dev_from: str, test_from: str) -> Periods | None:
    """The periods that the flags name, both or neither.

    >>> periods_of("2012-01-01", "")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: --dev-from and --test-from go together: the first day of each; got '2012-01-01' and ''
    """
    days = [parse_date(one) for one in (dev_from, test_from)]
    if days == [None, None] and not (dev_from or test_from):
        return None
    if days[0] is None or days[1] is None:
        raise ConfigError(f"--dev-from and --test-from go together: the first day of each; got {dev_from!r} and {test_from!r}")
    return Periods(days[0], days[1])


def read_any(
    source: Path,
    kind: SourceName | None,
    queries: Path | None,
    qrels: list[Path],
    within_test: WithinTest | None,
    periods: Periods | None,
    report: ReadReport,
    tables: TableFlags = _NO_FLAGS,
) -> Collection:
    """Read a published collection, a BEIR folder, or a corpus file with its queries and judgements; split it by periods."""
    existing(source)
    kind = kind or (None if is_collection(source) else detect_source(source))
    if kind is not SourceName.CJEU and within_test and periods is None:
        raise ConfigError(f"--within-test is for the cjeu collection, which {str(source)!r} is not; give --from cjeu if it is")
    if kind is SourceName.CJEU and not (queries or qrels):
        return read_source(kind, source, report, within_test=within_test, periods=periods)
    collection = _read_unsplit(source, kind, queries, qrels, report, tables)
    return collection if periods is None else split_by_period(collection, periods, within_test or WithinTest.KEEP, report)


def is_files(path: Path) -> bool:
    """Whether a path is read as files of text: a folder or file that is neither a table nor a collection."""
    existing(path)
    if not path.is_dir() and is_corpus_table(path):
        return False
    return not is_collection(path) and detect_source(path) is None


def refuse_table_flags(
    source: Path, tables: TableFlags, queries: Path | None, qrels: list[Path] | None, periods: Periods | None
) -> None:
    """Refuse flags that have no meaning for files of text."""
    if tables.given:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in tables.given)
        advice = "; --force-language states the language of all files" if "language" in tables.given else ""
        raise ConfigError(f"{flags} is for a table; {str(source)!r} is read as files of text{advice}")
    if queries or qrels or periods:
        raise ConfigError(f"--queries, --qrels and periods are for a table or a collection; {str(source)!r} is read as files")


def _read_unsplit(
    source: Path, kind: SourceName | None, queries: Path | None, qrels: list[Path], report: ReadReport, tables: TableFlags
) -> Collection:
    if kind is None and not is_collection(source):
        corpus = read_corpus(source, report, tables.options())
        asked = read_queries(queries, report) if queries else None
        names = asked.ids if asked else None
        judged = {stem(path): read_qrels(path, report, queries=names, docs=corpus.ids) for path in qrels}
        empty = [queries] if queries and not asked else []
        empty += [path for path in qrels if not len(judged[stem(path)])]
        if empty:
            raise DataError("has no readable row; leave it out, or give a file with at least one row", path=empty[0])
        return Collection(corpus, asked, judged)
    if tables.given:
        raise ConfigError(f"columns are named for a table; {str(source)!r} is a whole collection")
    if queries or qrels:
        raise ConfigError(f"--queries and --qrels are for a corpus file; {str(source)!r} is a whole collection")
    return read_source(kind, source, report) if kind else read_collection(source, report)


def completed(collection: Collection, language: str = "") -> tuple[Collection, int]:
    """The collection with its documents' languages detected and citations resolved, and how many citations that added.

    `language` replaces that of every document.

    Queries keep the language they were given: a short query shows little of its language, and the documents help to detect it.
    """
    with progress_bar("finding citations", len(collection.corpus)) as progress:
        corpus, annotation = annotate(collection.corpus, language=language, progress=progress)
    return replace(collection, corpus=corpus), annotation.citations
