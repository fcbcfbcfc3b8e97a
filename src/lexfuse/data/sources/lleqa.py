"""LLeQA, long-form question answering on Belgian law: BSARD's successor, with answers and cited paragraphs.

Columns as in the authors' loader and dataset card. Access to the dataset (``maastrichtlawtech/lleqa`` on the hub) requires an
agreement, so it is imported from files that the user has downloaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lexfuse.data.formats.beir import Collection
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.bsard import HEADING_COLUMNS, labelled_questions
from lexfuse.data.sources.tables import TableRow, required_parts

_FILES = ("articles.json", "questions_train.json", "questions_dev.json", "questions_test.json")
_ARTICLE_EXTRA = ("authority", "reference")
_QUESTION_EXTRA = ("answer", "regions", "topics")


def read_lleqa(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The articles, and the questions of every split (train, dev, test, synthetic).

    The expert's answer, the regions, the topics and the cited paragraphs of a question are in its ``extra``.

    >>> _ = (folder / "articles.json").write_text('[{"id": 1, "article": "Texte.", "code": "Code civil"}]')
    >>> _ = (folder / "questions_dev.json").write_text('[{"id": 5, "question": "Qui ?", "article_ids": [1]}]')
    >>> read_lleqa(folder).qrels["dev"].as_dict()
    {'5': {'1': 1}}
    """
    report = ReadReport() if report is None else report
    parts = required_parts(path, "LLeQA", _FILES, report)
    return labelled_questions(parts, _article_extra, answer_extra, report)


def answer_extra(row: TableRow) -> dict[str, Any]:
    """The further fields of a question; paragraph ids keep the column name of the file.

    >>> answer_extra(TableRow({"answer": "Oui.", "topics": ["Bail"], "gold_paragraph_ids": ["1§2"], "regions": []}, "a", 1))
    {'answer': 'Oui.', 'topics': ['Bail'], 'gold_paragraph_ids': ['1§2']}
    """
    names = (*_QUESTION_EXTRA, *(name for name in row.values if name.endswith("paragraph_ids")))
    return {name: value for name in names if (value := row.values.get(name))}


def _article_extra(row: TableRow) -> dict[str, Any]:
    extra: dict[str, Any] = {name: text for name in _ARTICLE_EXTRA if (text := row.text(name))}
    if any(row.text(column) for column in HEADING_COLUMNS) and row.values.get("description"):
        extra["description"] = row.values["description"]
    paragraphs = row.values.get("paragraphs")
    if isinstance(paragraphs, dict):  # Parquet gives every row the keys of all rows
        extra["paragraphs"] = {number: text for number, text in paragraphs.items() if text is not None}
    elif paragraphs:
        extra["paragraphs"] = paragraphs
    return extra
