"""Paragraphs of the Court of Justice of the EU that cite each other (CJEU, section 3.1; Olsen et al. 2023).

Three published forms are supported:

- pairs: one row per citation, both paragraphs in full (``celex_from, number_from, date_from, text_from, celex_to, …``);
- one table of paragraphs and one of citations, joined by CELEX (or ECLI) and paragraph number, or by id, as in the paper's files
  (``unique_pars.csv`` with PAR_ID, TEXT, DATE and ``citations_cleaned.csv`` or edge lists with PAR_ID_FROM, PAR_ID_TO);
- LegalPincite, read by `lexfuse.data.sources.legalpincite`.

A citing paragraph is a query, the paragraphs it cites are relevant, and the date of the citing paragraph decides the split, as in
Table 2 of CJEU or by other periods, such as those of its Table 14. Citations between paragraphs of the test period are removed,
as in the paper (`WithinTest`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.periods import SPLITS, Periods, labels_within_test
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import WithinTest
from lexfuse.data.sources.tables import TableRow, columns, is_table, rows, tables_in, unknown_table
from lexfuse.errors import DataError, NotFoundError

# Table 2 of CJEU: training 1979-2016, validation 2017-2018, test 2019-2021.
PERIODS = Periods(datetime.date(2017, 1, 1), datetime.date(2019, 1, 1))

# Column names of the published tables; the first that a table has is used.
PARAGRAPH = {
    "id": ("id", "_id", "paragraph_id", "par_id"),
    "case": ("celex", "celex_id", "celex_number", "ecli"),
    "ecli": ("ecli",),
    "number": ("number", "paragraph_number", "paragraph_no", "paragraph", "par", "point"),
    "text": ("text", "paragraph_text", "text_clean"),
    "date": ("date", "decision_date", "date_document"),
    "language": ("language", "lang"),
}
CITATION_ENDS = {
    "from": ("from", "from_id", "source", "citing", "citing_id", "par_id_from"),
    "to": ("to", "to_id", "target", "cited", "cited_id", "par_id_to"),
}
EXPECTED = (
    "pairs with celex_from, number_from, text_from, …_to; or paragraphs with par_id, text, date, or celex or ecli, number, text, "
    "date; or citations with par_id_from, par_id_to, or from, to, or celex_from, number_from, …_to"
)
CASES_FILE = "unique_cases"  # one of the paper's files; the paragraphs contain the same data

# Court of a CELEX descriptor, by its first letter.
COURTS = {"C": "Court of Justice", "T": "General Court", "F": "Civil Service Tribunal"}

# Cases had no letter until the General Court was created in 1989; later judgments add it even to older cases.
LAST_YEAR_WITHOUT_LETTER = 1989

_JUDGMENT = re.compile(r"6(?P<year>\d{4})(?P<court>[CTF])[A-Z](?P<number>\d{4})(?:\(\d+\))?")


@dataclass(slots=True)
class _CjeuTables:
    """Paragraphs and citations as read; ids in order of first appearance."""

    paragraphs: dict[str, Document] = field(default_factory=dict)
    citations: dict[tuple[str, str], TableRow] = field(default_factory=dict)


def read_cjeu(
    path: str | Path,
    report: ReadReport | None = None,
    *,
    within_test: WithinTest = WithinTest.REMOVE_CITATIONS,
    periods: Periods = PERIODS,
) -> Collection:
    r"""Paragraphs as documents, citing paragraphs as queries, citations as labels of train, dev and test.

    >>> _ = (folder / "pairs.csv").write_text(
    ...     "CELEX_FROM,NUMBER_FROM,DATE_FROM,TEXT_FROM,CELEX_TO,NUMBER_TO,DATE_TO,TEXT_TO\n"
    ...     "62018CJ0001,5,2019-03-01,As held before.,62010CJ0002,7,2012-01-01,It must be held.\n")
    >>> read_cjeu(folder).qrels["test"].as_dict()
    {'62018CJ0001#5': {'62010CJ0002#7': 1}}
    """
    report = ReadReport() if report is None else report
    gathered, seen = _CjeuTables(), []
    for file in _tables(path):
        names = columns(file)
        seen.append(f"{file.name} ({', '.join(names)})")
        if is_pairs(names):
            _gather_pairs(file, gathered, report)
        elif is_citations(names):
            _gather_citations(file, gathered, report)
        elif is_paragraphs(names):
            _gather_paragraphs(file, gathered, report)
        elif file.name.startswith(CASES_FILE):
            report.note("table of cases, not needed", path=file)
        else:
            report.bad(unknown_table(file, EXPECTED))
    if not gathered.paragraphs:
        raise NotFoundError(f"no CJEU paragraphs in {str(path)!r}; expected {EXPECTED}; found {'; '.join(seen) or 'no table'}")
    return _collection(gathered, within_test, periods, report)


def is_pairs(names: Iterable[str]) -> bool:
    """Whether these are the columns of a table of citation pairs with both texts."""
    return {"celex_from", "number_from", "text_from", "celex_to", "number_to", "text_to"} <= set(names)


def is_citations(names: Iterable[str]) -> bool:
    """Whether these are the columns of a table of citations without texts."""
    found = set(names)
    ends = all(found & set(aliases) for aliases in CITATION_ENDS.values())
    return ends or {"celex_from", "number_from", "celex_to", "number_to"} <= found


def is_paragraphs(names: Iterable[str]) -> bool:
    """Whether these are the columns of a table of paragraphs."""
    found = set(names)
    return {"par_id", "text"} <= found or all(found & set(PARAGRAPH[part]) for part in ("case", "number", "text"))


def paragraph(case: str, number: str, text: str, *, id: str = "", ecli: str = "", day: datetime.date | None = None) -> Document:
    """One numbered paragraph, found by ECLI, CELEX and case number; with an id it needs none of them.

    >>> paragraph("62022CJ0060", "64", "It follows.").identifiers, paragraph("62022CJ0060", "64", "It follows.").title
    (('62022CJ0060', 'C-60/22'), 'C-60/22, paragraph 64')
    """
    court, numbers = case_numbers(case)
    return Document(
        id=id or f"{case}#{number}",
        title=", ".join(part for part in (numbers[0] if numbers else case, f"paragraph {number}" if number else "") if part),
        text=text,
        kind=DocumentKind.PARAGRAPH,
        number=number,
        court=court,
        date=day,
        identifiers=tuple(dict.fromkeys(one for one in (ecli, case, *numbers) if one)),
    )


def _tables(path: str | Path) -> list[Path]:
    path = existing(path)
    return [path] if path.is_file() and is_table(path) else tables_in(path)


def _gather_pairs(file: Path, gathered: _CjeuTables, report: ReadReport) -> None:
    for row in rows(file, report):
        try:
            ends = [_paragraph_of(row, f"_{end}", report, gathered) for end in ("from", "to")]
        except DataError as error:
            report.bad(error)
            continue
        gathered.citations.setdefault((ends[0], ends[1]), row)


def _paragraph_of(row: TableRow, end: str, report: ReadReport, gathered: _CjeuTables) -> str:
    case, number, text = row.text(f"celex{end}"), _number(row.text(f"number{end}")), row.text(f"text{end}")
    if not case or not number or not text:
        raise row.error(f"celex{end}, number{end} or text{end} is empty")
    document = paragraph(
        case, number, text, ecli=row.text(f"ecli{end}"), day=parse_date(row.values.get(f"date{end}"), path=row.place)
    )
    known = gathered.paragraphs.setdefault(document.id, document)
    if known.text != document.text:
        report.note("paragraph with two texts, the first one kept", path=f"{row.place}, {document.id}")
    return document.id


def _gather_paragraphs(file: Path, gathered: _CjeuTables, report: ReadReport) -> None:
    for row in rows(file, report):
        try:
            case, number, text, id = (row.text(*PARAGRAPH[part]) for part in ("case", "number", "text", "id"))
            if not text or not (id or (case and number)):
                raise row.error("a paragraph without text, or without both an id and a case with a number")
            date = next((row.values[name] for name in PARAGRAPH["date"] if name in row.values), None)
            ecli, language = (row.text(*PARAGRAPH[part]) for part in ("ecli", "language"))
            document = replace(
                paragraph(case, _number(number), text, id=_number(id), ecli=ecli, day=parse_date(date, path=row.place)),
                language=language,
            )
            if document.id in gathered.paragraphs:
                raise row.error("is repeated; ids must be unique", f"id {document.id!r}")
        except DataError as error:
            report.bad(error)
            continue
        gathered.paragraphs[document.id] = document


def _gather_citations(file: Path, gathered: _CjeuTables, report: ReadReport) -> None:
    for row in rows(file, report):
        ends = []
        for end, aliases in CITATION_ENDS.items():
            case, number = row.text(f"celex_{end}", f"ecli_{end}"), _number(row.text(f"number_{end}"))
            ends.append(f"{case}#{number}" if case and number else _number(row.text(*aliases)))
        if all(ends):
            gathered.citations.setdefault((ends[0], ends[1]), row)
        else:
            report.bad(row.error("a citation without both ends"))


def _collection(gathered: _CjeuTables, within_test: WithinTest, periods: Periods, report: ReadReport) -> Collection:
    by_name = _by_name(gathered.paragraphs)
    cited: dict[str, list[str]] = {}
    for (citing_name, cited_name), row in gathered.citations.items():
        citing, target = by_name.get(citing_name), by_name.get(cited_name)
        if citing is None or target is None:
            missing = citing_name if citing is None else cited_name
            report.bad(row.error("a citation of or by a paragraph that is not in the collection", missing))
        elif citing != target and target not in cited.setdefault(citing, []):
            cited[citing].append(target)
    corpus = Corpus.of(
        replace(document, citations=tuple(cited.get(document.id, ()))) for document in gathered.paragraphs.values()
    )
    tested = {one.id for one in corpus if one.date is not None and periods.split_of(one.date) == "test"}
    labels = labels_within_test(cited, tested, tested, within_test, report)
    queries = list(_queries(corpus, labels, report))
    report.kept += len(corpus) + len(queries)
    return Collection(corpus=corpus, queries=Queries.of(queries) if queries else None, qrels=_qrels(queries, labels, periods))


def _by_name(paragraphs: Mapping[str, Document]) -> dict[str, str]:
    """Ids of paragraphs by every name that a citation may use: the id, or CELEX or ECLI with the number."""
    names: dict[str, str] = {}
    for id, document in paragraphs.items():
        for case in document.identifiers:
            names.setdefault(f"{case}#{document.number}", id)
    names.update((id, id) for id in paragraphs)
    return names


def _queries(corpus: Corpus, labels: Mapping[str, list[str]], report: ReadReport) -> Iterator[Query]:
    for document in corpus:
        if document.id not in labels:
            continue
        if document.date is None:
            report.bad(DataError("a citing paragraph without date cannot be put in a split", path=f"paragraph {document.id}"))
            continue
        yield Query(document.id, document.text, language=document.language, date=document.date)


def _qrels(queries: list[Query], labels: Mapping[str, list[str]], periods: Periods) -> dict[str, Qrels]:
    triples: dict[str, list[tuple[str, str, int]]] = {split: [] for split in SPLITS}
    for query in queries:
        split = periods.split_of(query.date or datetime.date.min)
        triples[split].extend((query.id, target, 1) for target in labels[query.id])
    return {split: Qrels.of(found) for split, found in triples.items() if found}


def _number(text: str) -> str:
    """A paragraph number or id; tables of floats turn 64 into ``64.0``."""
    return text.removesuffix(".0") if text.removesuffix(".0").isdigit() else text


def case_numbers(celex: str) -> tuple[str, tuple[str, ...]]:
    """The court and the case numbers in common use of a CELEX number; empty if it is not a decision of an EU court.

    >>> case_numbers("62022CJ0060"), case_numbers("61962CJ0026")
    (('Court of Justice', ('C-60/22',)), ('Court of Justice', ('C-26/62', '26/62')))
    """
    match = _JUDGMENT.fullmatch(celex)
    if not match:
        return "", ()
    year, number = int(match["year"]), int(match["number"])
    bare = f"{number}/{year % 100:02d}"
    named = f"{match['court']}-{bare}"
    old = match["court"] == "C" and year <= LAST_YEAR_WITHOUT_LETTER
    return COURTS[match["court"]], (named, bare) if old else (named,)
