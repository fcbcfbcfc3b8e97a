"""Results and judgements as files that other programs read: tables, TREC files, bibliographies.

Every format has its own dangers, and each is met where the format is written: a spreadsheet runs a cell that begins like a
formula, BibTeX reads commands in a text, and a line break would begin a new field or a new line.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote

import orjson

from lexfuse.data.formats.fields import query_record
from lexfuse.data.formats.trec_qrels import qrels_lines
from lexfuse.data.formats.trec_run import run_blocks
from lexfuse.data.judgements import last_grades, merged_grade
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Query
from lexfuse.data.run import Run
from lexfuse.service.schemas.document import Judgements
from lexfuse.service.schemas.search import SearchPage, SearchResult
from lexfuse.storage.feedback import query_id
from lexfuse.text.citation.find import find_citations
from lexfuse.text.citation.styles import ecli_citation, french_citation

_NAMED = 20  # documents that a file lacks and that are named


class ResultFormat(StrEnum):
    """Formats of exported results."""

    CSV = "csv"
    JSON = "json"
    TREC = "trec"
    BIBTEX = "bibtex"
    RIS = "ris"
    FRENCH = "french"  # citations as French lawyers write them, one a line
    ECLI = "ecli"  # citations with the European case law identifier, one a line


class JudgementFormat(StrEnum):
    """Formats of exported judgements."""

    QRELS = "qrels"
    QUERIES = "queries"  # the questions of the qrels, as JSON lines
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Export:
    """A file to be handed out.

    >>> Export("a", "text/plain", "a.txt").name
    'a.txt'
    """

    text: str
    media_type: str
    name: str
    left_out: tuple[str, ...] = ()  # ids of documents that the format cannot hold

    @property
    def headers(self) -> dict[str, str]:
        r"""Headers of the response: the file name, which the service chose, and what was left out.

        >>> Export("", "text/plain", "a.txt", left_out=("a\tb",)).headers["X-LexFuse-Left-Out"]
        '1: a%09b'
        """
        named = " ".join(quote(id[:200], safe="") for id in self.left_out[:_NAMED])
        left_out = {"X-LexFuse-Left-Out": f"{len(self.left_out)}: {named}"} if self.left_out else {}
        return {"Content-Disposition": f'attachment; filename="{self.name}"', **left_out}


def export_results(page: SearchPage, wanted: ResultFormat, address: str = "") -> Export:
    r"""Results as a file; a TREC run calls the question as the judgements on it do.

    With the address of the service, tables, bibliographies and citations have the address of every document.

    >>> from lexfuse.service.schemas.search import MarkedSpan, SearchTiming
    >>> result = SearchResult(id="a", rank=1, found="bm25", score=2.5, snippet=MarkedSpan(text="…"))
    >>> page = SearchPage(index="i", generation=1, profile="bm25", query="loi", results=[result], timing=SearchTiming(total=0.0))
    >>> export_results(page, ResultFormat.TREC).text
    'f61a54dbfaac2e0c5 Q0 a 1 2.5 bm25\n'
    """
    urls = {one.id: _url(address, page.index, one.id) for one in page.results}
    if wanted in (ResultFormat.FRENCH, ResultFormat.ECLI):
        style = french_citation if wanted is ResultFormat.FRENCH else ecli_citation
        lines = [" ".join(filter(None, (_line(style(one)), urls[one.id]))) for one in page.results]
        return Export("\n".join([*lines, ""]), "text/plain; charset=utf-8", "results.txt")
    if wanted is ResultFormat.CSV:
        return Export(_csv(page.results, urls), "text/csv; charset=utf-8", "results.csv")
    if wanted is ResultFormat.TREC:
        left_out = tuple(result.id for result in page.results if not _is_column(result.id))
        return Export(_trec(page), "text/plain; charset=utf-8", "results.trec", left_out)
    if wanted is ResultFormat.BIBTEX:
        return Export(_bibtex(page.results, urls), "application/x-bibtex; charset=utf-8", "results.bib")
    if wanted is ResultFormat.RIS:
        return Export(_ris(page.results, urls), "application/x-research-info-systems; charset=utf-8", "results.ris")
    return Export(page.model_dump_json(indent=2) + "\n", "application/json", "results.json")


def exported_judgements(judged: Judgements, wanted: JudgementFormat) -> Export:
    """Judgements as a file; the ids of a file of queries are those of the qrels.

    Qrels have one grade for a result, merged as `lexfuse.data.judgements` says. They have TREC's four columns or, where an id has
    a space inside, BEIR's three with tabs between.

    >>> exported_judgements(Judgements(index="i", judgements=[]), JudgementFormat.QRELS).text
    ''
    """
    if wanted is JudgementFormat.JSON:
        return Export(judged.model_dump_json(indent=2) + "\n", "application/json", "judgements.json")
    grades = last_grades((one.query_id, one.document, one.judge, one.grade) for one in judged.judgements)
    merged = {result: merged_grade(by_judge.values()) for result, by_judge in grades.items()}
    left_out = tuple(dict.fromkeys(doc for _, doc in merged if not _is_column(doc)))
    kept = {result: grade for result, grade in merged.items() if _is_column(result[1])}
    if wanted is JudgementFormat.QUERIES:
        texts, asked = {one.query_id: one.query for one in judged.judgements}, dict.fromkeys(query for query, _ in kept)
        lines = (orjson.dumps(query_record(Query(id, texts[id]))).decode() + "\n" for id in asked)
        return Export("".join(lines), "application/x-ndjson; charset=utf-8", "queries.jsonl", left_out)
    spaced = any(doc.split() != [doc] for _, doc in merged)
    qrels = Qrels.of((query, doc, grade) for (query, doc), grade in kept.items())
    text = b"".join(qrels_lines(qrels, beir=spaced)).decode()
    return Export(text, "text/plain; charset=utf-8", "judgements.tsv" if spaced else "judgements.qrels", left_out)


def _is_column(id: str) -> bool:
    """Whether an id can be a column of a line: it is one line without tabs, and nothing at its ends is lost."""
    return not any(mark in id for mark in "\t\r\n") and id == id.strip().removeprefix("\ufeff") != ""


COLUMNS = (
    "rank", "id", "title", "kind", "code", "number", "headings", "court", "date", "valid_from", "valid_to", "status", "language",
    "identifiers", "found", "score", "passage", "url",
)  # fmt: skip


def _url(address: str, index: str, id: str) -> str:
    """The address of a document; none without that of the service."""
    return f"{address}/documents/{quote(id, safe='')}?index={quote(index, safe='')}" if address else ""


def _csv(results: Sequence[SearchResult], urls: Mapping[str, str]) -> str:
    """RFC 4180, with the mark by which spreadsheets know UTF-8."""
    out = io.StringIO(newline="")
    out.write("\ufeff")
    writer = csv.writer(out)
    names = sorted({name for result in results for name in result.metadata})
    writer.writerow([*COLUMNS, *(_safe(f"metadata.{name}" if name in COLUMNS else name) for name in names)])
    for result in results:
        own = {"passage": result.snippet.text, "url": urls[result.id]}
        row = [own[column] if column in own else getattr(result, column) for column in COLUMNS]
        cells = [_cell(value, " > " if column == "headings" else "; ") for column, value in zip(COLUMNS, row, strict=True)]
        writer.writerow([*cells, *(_cell(result.metadata.get(name), "; ") for name in names)])
    return out.getvalue()


_BREAKS = ("\t", "\r", "\n")
_FORMULA = ("=", "+", "-", "@", *_BREAKS)


def _cell(value: object, between: str) -> str | int | float:
    if isinstance(value, int | float):
        return value
    return _safe(between.join(map(str, value)) if isinstance(value, list) else str(value or ""))


def _safe(text: str) -> str:
    """A text as a cell: a spreadsheet would compute one that begins like a formula; the apostrophe says that it is text."""
    text = text.replace("\x00", "")
    return f"'{text}" if is_formula(text) else text


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may compute a cell: it begins like a formula, also in the wide letters of East Asian keyboards.

    >>> [is_formula(text) for text in ("=1+1", "＝1+1", "\u200b =1", "a=1")]
    [True, True, True, False]
    """
    begins = next((mark for mark in text if mark in _BREAKS or not (mark.isspace() or unicodedata.category(mark) == "Cf")), "")
    return unicodedata.normalize("NFKC", begins).startswith(_FORMULA)


def _trec(page: SearchPage) -> str:
    """A run in the order of the page: its own scores, or the reciprocal ranks where these do not descend in that order.

    They do not where documents that the question cites come first, and where results are sorted by date.
    """
    kept = [result for result in page.results if _is_column(result.id)]
    query, scores = query_id(page.query), {result.id: result.score for result in kept}
    tag = "-".join(page.profile.split()) or "lexfuse"
    run = Run.of(tag, {query: scores})
    if [hit.doc for hit in run.hits(query)] != list(scores):
        run = Run.of(tag, {query: {result.id: 1.0 / result.rank for result in kept}})
    return b"".join(run_blocks(run)).decode()


_BIBTEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def _bibtex(results: Sequence[SearchResult], urls: Mapping[str, str]) -> str:
    keys = _keys(results)
    return "\n".join(_entry(result, key, urls[result.id]) for result, key in zip(results, keys, strict=True))


def _keys(results: Sequence[SearchResult]) -> list[str]:
    """A key for every entry: its id in the letters that BibTeX allows, with a number where two would be the same."""
    keys: list[str] = []
    taken: set[str] = set()
    numbers: dict[str, int] = {}
    for result in results:
        key = re.sub(r"[^A-Za-z0-9:./+-]+", "-", _folded(result.id)).strip("-") or "document"
        same, number = key, numbers.get(key.lower(), 2)
        while same.lower() in taken:  # BibTeX does not tell capitals from small letters
            same, number = f"{key}-{number}", number + 1
        numbers[key.lower()] = number
        taken.add(same.lower())
        keys.append(same)
    return keys


def _folded(text: str) -> str:
    """The text with accents taken off."""
    return "".join(mark for mark in unicodedata.normalize("NFKD", text) if not unicodedata.combining(mark))


def _entry(result: SearchResult, key: str, url: str) -> str:
    fields = {
        "title": result.title or result.id,
        "author": result.court,
        "year": str(result.date.year) if result.date else "",
        "date": result.date.isoformat() if result.date else "",
        "howpublished": ", ".join(part for part in (result.code, result.number) if part),
        "number": _case_number(result),
        "note": "; ".join(part for part in (*result.identifiers, _validity(result), result.status) if part),
        "language": result.language,
        "url": url,
    }
    lines = [f"  {name} = {{{_in_bibtex(value, whole=name in ('title', 'author'))}}}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{key},", *lines, "}", ""])


def _in_bibtex(text: str, *, whole: bool) -> str:
    """Text without commands; `whole` keeps its capitals, and a court that has " and " in its name one author."""
    escaped = "".join(_BIBTEX.get(mark, mark) for mark in _line(text))
    return f"{{{escaped}}}" if whole else escaped


_TYPES = {"statute": "STAT", "decision": "CASE", "paragraph": "CASE"}


def _ris(results: Sequence[SearchResult], urls: Mapping[str, str]) -> str:
    return "".join(f"{tag}  - {_line(value)}\r\n" for one in results for tag, value in _tags(one, urls[one.id]))


def _tags(result: SearchResult, url: str) -> Iterator[tuple[str, str]]:
    yield "TY", _TYPES.get(result.kind, "GEN")
    fields = (
        ("TI", result.title or result.id),
        ("T2", result.code),
        ("SE", result.number),
        ("AU" if result.kind == "other" else "PB", result.court),
        ("PY", str(result.date.year) if result.date else ""),
        ("DA", result.date.isoformat().replace("-", "/") if result.date else ""),
        ("M1", _case_number(result)),
        ("AB", result.snippet.text),
        ("LA", result.language),
        ("AN", result.id),
        ("UR", url),
        ("N1", "; ".join(part for part in (_validity(result), result.status) if part)),
    )
    yield from ((tag, value) for tag, value in fields if value)
    yield from (("KW", heading) for heading in result.headings if heading)
    yield from (("C1", identifier) for identifier in result.identifiers if identifier)
    yield "ER", ""


def _case_number(result: SearchResult) -> str:
    """The identifier of a decision by which a lawyer knows it, the first that is a citation."""
    if result.kind not in ("decision", "paragraph"):
        return ""
    return next((identifier for identifier in result.identifiers if find_citations(identifier)), "")


def _validity(result: SearchResult) -> str:
    ends = (result.valid_from, result.valid_to)
    return f"{'/'.join(day.isoformat() if day else '..' for day in ends)}" if any(ends) else ""


def _line(text: str) -> str:
    """The text on one line, without control characters; spaces that do not break stay."""
    plain = "".join(" " if unicodedata.category(mark) in ("Cc", "Zl", "Zp") else mark for mark in text)
    return re.sub(" +", " ", plain).strip()
