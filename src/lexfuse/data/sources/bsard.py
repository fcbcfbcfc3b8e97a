"""BSARD, the Belgian statutory article retrieval dataset: articles, citizens' questions, labels by jurists.

Columns as in Table 4 of BSARD's appendix and as on the hub, where each heading level has a column. Published at
https://doi.org/10.5281/zenodo.5217310 under CC BY-NC-SA 4.0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.beir import Collection
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.tables import SPLITS, DatasetPart, TableRow, required_parts, rows
from lexfuse.errors import DataError

HEADING_COLUMNS = ("book", "part", "act", "chapter", "section", "subsection")
ARTICLE_COLUMNS = ("id", "article", "code")
QUESTION_COLUMNS = ("id", "question", "article_ids")

_FILES = ("articles_fr.csv", "questions_fr_train.csv", "questions_fr_test.csv", "corpus.csv", "train.csv", "test.csv")
_QUESTION_EXTRA = ("category", "subcategory", "extra_description")
_ARTICLE_EXTRA = ("law_type", "reference")
_REFERENCE_NUMBER = re.compile(r"Art(?:icle|\.)?(?P<number>[^,]+),")


def read_bsard(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""The articles, and the questions of every split in the folder (train, test, synthetic).

    >>> _ = (folder / "articles_fr.csv").write_text("id,article,code,article_no\n1,Texte.,Code civil,5\n")
    >>> _ = (folder / "questions_fr_test.csv").write_text('id,question,article_ids\nq,Qui ?,"1"\n')
    >>> read_bsard(folder).qrels["test"].as_dict()
    {'q': {'1': 1}}
    """
    report = ReadReport() if report is None else report
    parts = required_parts(path, "BSARD", _FILES, report)
    return labelled_questions(parts, _article_extra, _question_extra, report)


def article_headings(row: TableRow) -> tuple[str, ...]:
    """The heading path: one column per level if the table has them, else the description.

    >>> article_headings(TableRow({"book": "Livre 1", "part": "", "chapter": "Chapitre 2"}, "a.csv", 1))
    ('Livre 1', 'Chapitre 2')
    >>> article_headings(TableRow({"description": "Livre 1, Chapitre 2"}, "a.csv", 1))
    ('Livre 1, Chapitre 2',)
    """
    levels = tuple(heading for column in HEADING_COLUMNS if (heading := row.text(column)))
    if levels:
        return levels
    description = row.values.get("description")
    found = description if isinstance(description, list) else [row.text("description")]
    return tuple(text for item in found if item and (text := str(item).strip()))


def statute(row: TableRow, extra: Mapping[str, Any]) -> Document:
    """One article of Belgian law as a document.

    >>> statute(TableRow({"id": 3, "article": "Texte.", "reference": "Art. 1.2, Code civil", "code": "Code civil"}, "a", 1),
    ...     {}).number
    '1.2'
    """
    if not row.text("id"):
        raise row.error("an article without id")
    code, reference = row.text("code"), row.text("reference")
    match = _REFERENCE_NUMBER.match(reference)
    number = row.text("article_no") or (match["number"].strip() if match else "")
    return Document(
        id=row.text("id"),
        title=reference or (f"{code}, art. {number}" if number else code),
        text=row.text("article"),
        language="fr",
        kind=DocumentKind.STATUTE,
        code=code,
        number=number,
        headings=article_headings(row),
        extra=extra,
    )


def _question_extra(row: TableRow) -> dict[str, Any]:
    """Topic and tags of a question, which are not part of its text."""
    return {name: text for name in _QUESTION_EXTRA if (text := row.text(name))}


def labelled_questions(
    parts: Mapping[DatasetPart, list[Path]],
    article_extra: Callable[[TableRow], dict[str, Any]],
    question_extra: Callable[[TableRow], dict[str, Any]],
    report: ReadReport,
) -> Collection:
    """The articles, and the questions of every split, each with its further fields; each label has grade 1.

    Synthetic questions have their own numbering, so their ids get the prefix ``synthetic-``.
    """
    corpus = Corpus.of(_articles(parts[DatasetPart.CORPUS], article_extra, report))
    queries: dict[str, Query] = {}
    qrels: dict[str, Qrels] = {}
    for split in SPLITS:
        triples: list[tuple[str, str, int]] = []
        for row in (row for file in parts.get(split, []) for row in rows(file, report, QUESTION_COLUMNS)):
            try:
                query = _query(row, split, question_extra(row), queries)
            except DataError as error:
                report.bad(error)
                continue
            queries[query.id] = query
            triples.extend((query.id, id, 1) for id in _known_articles(row, corpus.ids, report))
        if triples:
            qrels[split.value] = Qrels.of(triples)
    report.kept += len(corpus) + len(queries)
    return Collection(corpus=corpus, queries=Queries.of(queries.values()) if queries else None, qrels=qrels)


def _articles(files: list[Path], article_extra: Callable[[TableRow], dict[str, Any]], report: ReadReport) -> Iterable[Document]:
    kept: dict[str, Document] = {}
    for row in (row for file in files for row in rows(file, report, ARTICLE_COLUMNS)):
        try:
            document = statute(row, article_extra(row))
            if document.id in kept:
                raise row.error("is repeated; ids must be unique", f"id {document.id!r}")
        except DataError as error:
            report.bad(error)
            continue
        kept[document.id] = document
    return kept.values()


def _article_extra(row: TableRow) -> dict[str, Any]:
    extra = {name: text for name in _ARTICLE_EXTRA if (text := row.text(name))}
    if any(row.text(column) for column in HEADING_COLUMNS) and row.text("description"):
        extra["description"] = row.text("description")
    return extra


def _query(row: TableRow, split: DatasetPart, extra: dict[str, Any], known: Mapping[str, Query]) -> Query:
    id, text = row.text("id"), row.text("question")
    if not id or not text:
        raise row.error("a question without id" if not id else "a question without text")
    id = f"synthetic-{id}" if split is DatasetPart.SYNTHETIC else id
    if id in known:
        raise row.error("is repeated; ids must be unique", f"id {id!r}")
    return Query(id, text, language="fr", extra=extra)


def _known_articles(row: TableRow, ids: Ids, report: ReadReport) -> list[str]:
    known = []
    for id in row.items("article_ids"):
        if id in ids:
            known.append(id)
        else:
            report.bad(row.error("a label on an article that is not in the corpus", f"article {id!r}"))
    if not known:
        report.note("question without a label, kept without one", path=row.place)
    return known
