"""LegalQuAD: 200 German court decisions with one question on each (Hoppe et al. 2021), in the layout of SQuAD.

The source has lost the line breaks of the decisions, so headings and paragraph numbers run into the words after them
("Tatbestand1Die Parteien"); the text is kept as it is. A question has one label, the decision that it was written on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json, required_members
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

QUESTIONS_FILE = r"LegalQuAD\.json"


def read_legalquad(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The decisions and their questions, from ``LegalQuAD.json`` or a folder with it.

    >>> question = '{"id": 7, "question": "Wer trägt die Kosten?", "answers": [{"text": "Der Kläger"}]}'
    >>> paragraph = f'{{"document_id": 1, "context": "Der Kläger trägt die Kosten.", "qas": [{question}]}}'
    >>> _ = (folder / "LegalQuAD.json").write_text(f'{{"data": [{{"paragraphs": [{paragraph}]}}]}}')
    >>> read_legalquad(folder).qrels["test"].as_dict()
    {'7': {'1': 1}}
    """
    report = ReadReport() if report is None else report
    documents: dict[str, Document] = {}
    queries: dict[str, Query] = {}
    labels: list[tuple[str, str, int]] = []
    for record, place in _paragraphs(path):
        try:
            document, asked = _decision(record, place)
            if document.id in documents or any(query.id in queries for query in asked):
                raise DataError("a decision or a question with an id that another one has", path=place)
        except DataError as error:
            report.bad(error)
            continue
        documents[document.id] = document
        queries |= {query.id: query for query in asked}
        labels += [(query.id, document.id, 1) for query in asked]
    report.kept += len(documents) + len(queries)
    return Collection(
        Corpus.of(documents.values()),
        Queries.of(queries.values()) if queries else None,
        {"test": Qrels.of(labels)} if labels else {},
    )


def _paragraphs(path: str | Path) -> Iterator[tuple[Any, str]]:
    for place, raw in required_members(path, QUESTIONS_FILE, "LegalQuAD.json"):
        content = parse_json(raw, place)
        try:
            records = [record for entry in content["data"] for record in entry["paragraphs"]]
        except (KeyError, TypeError):
            raise DataError("expected the layout of SQuAD: data, a list of objects with paragraphs", path=place) from None
        yield from ((record, f"{place}, record {number}") for number, record in enumerate(records, start=1))


def _decision(record: Any, place: str) -> tuple[Document, list[Query]]:
    if not isinstance(record, Mapping) or not isinstance(record.get("context"), str) or "document_id" not in record:
        raise DataError("expected document_id, context and qas", path=place)
    document = Document(str(record["document_id"]), text=record["context"], language="de", kind=DocumentKind.DECISION)
    queries = []
    for asked in record.get("qas") or []:
        if not isinstance(asked, Mapping) or "id" not in asked or not isinstance(asked.get("question"), str):
            raise DataError("expected questions with id and question", path=place)
        answers = [answer["text"] for answer in asked.get("answers") or [] if isinstance(answer, Mapping) and answer.get("text")]
        queries.append(Query(str(asked["id"]), asked["question"], language="de", extra={"answers": answers}))
    return document, queries
