"""LegalPincite (2026): paragraphs of CJEU judgments, citing paragraphs with their citations masked, and labels.

Files: ``doc_SPLIT_par.csv`` (docno, text), ``query_SPLIT_par.csv`` (qid, query, query_unmasked) and ``qrel_SPLIT_par_par.csv``
(qid, docno, label, source). An id is a CELEX number, a hyphen and a paragraph number. Files at case level (``…_case.csv``) are
ignored.
"""

from __future__ import annotations

from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.cjeu import paragraph
from lexfuse.data.sources.tables import SPLITS, TableRow, part_of, rows, tables_in, unknown_table
from lexfuse.errors import DataError, NotFoundError

_LEVEL, _CASE_LEVEL = "_par", "_case"


def read_legalpincite(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""All paragraphs, the masked queries (unmasked text in ``extra``), and the labels of every split.

    >>> _ = (folder / "doc_test_par.csv").write_text("docno,text\n62010CJ0002-7,It must be held.\n")
    >>> _ = (folder / "query_test_par.csv").write_text("qid,query_unmasked,query\n62018CJ0001-5,See C-2/10.,See.\n")
    >>> _ = (folder / "qrel_test_par_par.csv").write_text("qid,docno,label\n62018CJ0001-5,62010CJ0002-7,1\n")
    >>> read_legalpincite(folder).qrels["test"].as_dict()
    {'62018CJ0001-5': {'62010CJ0002-7': 1}}
    """
    report = ReadReport() if report is None else report
    found = {kind: _files(path, kind) for kind in ("doc", "query", "qrel")}
    if not found["doc"]:
        raise NotFoundError(f"no LegalPincite paragraphs in {str(path)!r}; expected doc_dev_par.csv or doc_test_par.csv")
    read = {file for files in found.values() for file in files}
    for file in tables_in(path):
        if file not in read and not file.name.split(".")[0].endswith(_CASE_LEVEL):
            report.bad(unknown_table(file, "a file named like doc_test_par.csv, query_test_par.csv or qrel_test_par_par.csv"))
    documents = _documents(found["doc"], report)
    queries = _queries(found["query"], report)
    qrels = _qrels(found["qrel"], documents, queries, report)
    report.kept += len(documents) + len(queries)
    return Collection(
        corpus=Corpus.of(documents.values()), queries=Queries.of(queries.values()) if queries else None, qrels=qrels
    )


def _files(path: str | Path, kind: str) -> list[Path]:
    level = _LEVEL + _LEVEL if kind == "qrel" else _LEVEL
    return [file for file in tables_in(path) if file.name.startswith(f"{kind}_") and file.name.split(".")[0].endswith(level)]


def _documents(files: list[Path], report: ReadReport) -> dict[str, Document]:
    """The paragraphs; splits share some, and equal text under the same id is the same document."""
    documents: dict[str, Document] = {}
    for row in (row for file in files for row in rows(file, report, ("docno", "text"))):
        id, text = row.text("docno"), row.text("text")
        celex, _, number = id.rpartition("-")
        if not celex or not text:
            report.bad(
                row.error("docno is not a CELEX number with a paragraph number" if not celex else "a paragraph without text")
            )
        elif documents.setdefault(id, paragraph(celex, number, text, id=id)).text != text:
            report.note("paragraph with two texts, the first one kept", path=f"{row.place}, {id}")
    return documents


def _queries(files: list[Path], report: ReadReport) -> dict[str, Query]:
    queries: dict[str, Query] = {}
    for row in (row for file in files for row in rows(file, report, ("qid", "query"))):
        id, text = row.text("qid"), row.text("query")
        if not id or not text or id in queries:
            report.bad(row.error("a query without id or text, or a repeated one", f"qid {id!r}"))
            continue
        unmasked = row.text("query_unmasked")
        queries[id] = Query(id, text, extra={"unmasked": unmasked} if unmasked else {})
    return queries


def _qrels(files: list[Path], documents: dict[str, Document], queries: dict[str, Query], report: ReadReport) -> dict[str, Qrels]:
    triples: dict[str, dict[tuple[str, str], int]] = {}
    for file in files:
        part = part_of(file.name)
        if part not in SPLITS:
            report.note("labels of no known split, not read", path=file)
            continue
        pairs = triples.setdefault(part.value, {})
        for row in rows(file, report, ("qid", "docno", "label")):
            try:
                query, doc, grade = _judgement(row, documents, queries)
            except DataError as error:
                report.bad(error)
                continue
            pairs[query, doc] = max(grade, pairs.get((query, doc), grade))  # two sources may have the same citation
    return {split: Qrels.of((*pair, grade) for pair, grade in pairs.items()) for split, pairs in triples.items() if pairs}


def _judgement(row: TableRow, documents: dict[str, Document], queries: dict[str, Query]) -> tuple[str, str, int]:
    query, doc, label = row.text("qid"), row.text("docno"), row.text("label").removesuffix(".0")
    if query not in queries:
        raise row.error("a label of an unknown query", f"qid {query!r}")
    if doc not in documents:
        raise row.error("a label on a paragraph that is not in the corpus", f"docno {doc!r}")
    if not label.lstrip("-").isdigit():
        raise row.error("a label that is not an integer", f"label {label!r}")
    return query, doc, int(label)
