"""Canada's consolidated acts and regulations: sections in English and French, and the marginal notes as questions.

The file has one record per section, with the text and the marginal note in both languages (made from GitHub
justicecanada/laws-lois-xml). Notes are not part of the text. A note is a question if it has at least three words and no other
section has the same note, so that it asks for one section. A hash of the act's name decides whether the whole act is train, dev
or test.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.archives import members, parse_json
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError

SECTIONS_FILE = r"pairs\.jsonl(?:\.gz)?"
LANGUAGES = ("en", "fr")
SHORTEST = 3  # words of a note that is a question
_SHARES = {"dev": 10, "test": 20}  # percent of the acts, added up; the others are train
_FIELDS = ("id", "act", "label", "en", "fr", "en_note", "fr_note")


def read_canada(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The sections of both languages and the notes that ask for one of them, from ``pairs.jsonl`` or a folder with it.

    >>> note = '"en_note": "Duty of the Minister", "fr_note": "Obligation"'
    >>> text = '"en": "The Minister shall act.", "fr": "Le ministre agit."'
    >>> _ = (folder / "pairs.jsonl").write_text(f'{{"id": "A-1#3", "act": "A-1", "label": "3", {note}, {text}}}')
    >>> found = read_canada(folder)
    >>> found.corpus.ids.names, found.queries.text, split_of("A-1")
    (('A-1#3-en', 'A-1#3-fr'), ('Duty of the Minister',), 'train')
    """
    report = ReadReport() if report is None else report
    sections: dict[str, dict[str, str]] = {}
    for record, place in _records(path):
        try:
            if not isinstance(record, Mapping) or any(not isinstance(record.get(name), str) for name in _FIELDS):
                raise DataError(f"expected texts in {', '.join(_FIELDS)}", path=place)
            if record["id"] in sections:
                raise DataError(f"a second section {record['id']!r}", path=place)
        except DataError as error:
            report.bad(error)
            continue
        sections[record["id"]] = {name: record[name] for name in _FIELDS}
    documents = [_document(section, language) for section in sections.values() for language in LANGUAGES]
    queries, labels = _questions(sections)
    report.kept += len(documents) + len(queries)
    return Collection(
        Corpus.of(documents),
        Queries.of(queries) if queries else None,
        {split: Qrels.of(some) for split, some in labels.items() if some},
    )


def split_of(act: str) -> str:
    """The split of an act and all of its sections, the same for both languages."""
    place = int(hashlib.sha256(act.encode()).hexdigest(), 16) % 100
    return next((split for split, below in _SHARES.items() if place < below), "train")


def _records(path: str | Path) -> Iterator[tuple[Any, str]]:
    found = False
    for place, raw in members(existing(path), SECTIONS_FILE):
        found = True
        for number, line in enumerate(raw.split(b"\n"), start=1):
            if line.strip():
                yield parse_json(line, f"{place}, line {number}"), f"{place}, line {number}"
    if not found:
        raise NotFoundError(f"no pairs.jsonl in {str(path)!r}; give the file or the folder with it")


def _document(section: Mapping[str, str], language: str) -> Document:
    return Document(
        f"{section['id']}-{language}",
        text=section[language],
        language=language,
        kind=DocumentKind.STATUTE,
        code=section["act"],
        number=section["label"],
    )


def _questions(sections: Mapping[str, Mapping[str, str]]) -> tuple[list[Query], dict[str, list[tuple[str, str, int]]]]:
    """The notes that one section alone has, in each language."""
    queries: list[Query] = []
    labels: dict[str, list[tuple[str, str, int]]] = {"train": [], **{split: [] for split in _SHARES}}
    for language in LANGUAGES:
        notes = {id: section[f"{language}_note"].strip() for id, section in sections.items()}
        often = Counter(note.casefold() for note in notes.values())
        for id, note in notes.items():
            if len(note.split()) >= SHORTEST and often[note.casefold()] == 1:
                query = Query(f"{id}-{language}-note", note, language)
                queries.append(query)
                labels[split_of(sections[id]["act"])].append((query.id, f"{id}-{language}", 1))
    return queries, labels
