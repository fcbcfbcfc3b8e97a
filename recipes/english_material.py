"""What the English models learn from, made once on any machine and small enough to carry to one with a GPU.

    python recipes/english_material.py CJEU OUT

CJEU is the collection (BEIR layout, with its splits): numbered paragraphs of judgments, a question being a paragraph that cites
paragraphs of earlier judgments. The default install is enough; it takes some minutes.

Pairs come from documents before the first dev or test question alone, whatever their kind: a later judgment may hold the answers
of that period, and its paragraphs are the questions. A pair or a train question that repeats a dev or test question is left out.
Of the documents, all that a train or dev question may cite are there; those from the day of the last dev question on are not,
and so no test question is, not even as a paragraph, unless an earlier judgment has the very words.
"""

from __future__ import annotations

import argparse
import json
import lzma
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import DataError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.citation.citation import DECISIONS
from lexfuse.text.citation.find import mask_citations
from lexfuse.train.examples.hard_negatives import mining_run
from lexfuse.train.examples.splits import documents_before
from lexfuse.train.examples.training_pair import TrainingPair, word_count
from lexfuse.train.structure.structure_pairs import StructureKind, structure_pairs

KINDS = (StructureKind.HEADINGS, StructureKind.TITLE, StructureKind.CITING_PARAGRAPH, StructureKind.CLOZE)
DEPTH, DEV_DEPTH = 200, 1000  # of the lexical rankings
LEAST_WORDS = 8  # of a piece of a held-out question that counts as a repetition: all judgments share shorter ones
FILE = "material.json.xz"
Value = TypeVar("Value")


class Form(StrEnum):
    """How a question is asked: as it is printed, or without the judgments that it cites, which would give the answer away."""

    PRINTED = "printed"
    MASKED = "masked"


class Question(NamedTuple):
    """A paragraph in both forms, its day, and the earlier paragraphs that it cites."""

    printed: str
    masked: str
    day: str
    grades: dict[str, int]

    def text(self, form: Form) -> str:
        """What is asked."""
        return self.printed if form is Form.PRINTED else self.masked


@dataclass(frozen=True, slots=True)
class Material:
    """Documents, pairs of texts by source, questions with their judgements, and lexical rankings."""

    before: str  # the day of the first dev or test question; pairs are of earlier documents
    ids: list[str]
    documents: list[str]
    days: list[str]
    pairs: dict[str, list[TrainingPair]]
    train: dict[str, Question]
    dev: dict[str, Question]
    rankings: dict[str, list[int]]  # places of earlier documents by BM25, for `ranking_of`
    repeated: dict[str, int]  # what was left out since a dev or test question repeats it, by source

    def write(self, folder: Path) -> None:
        """Save; the dictionary of the strongest compression reaches back to the documents, which most pairs are pieces of."""
        folder.mkdir(parents=True, exist_ok=True)
        with lzma.open(folder / FILE, "wt", encoding="utf-8", preset=9) as stream:
            json.dump(asdict(self), stream, ensure_ascii=False)

    @classmethod
    def read(cls, folder: Path) -> Material:
        """What `write` saved."""
        with lzma.open(folder / FILE, "rt", encoding="utf-8") as stream:
            plain = json.load(stream)
        plain["pairs"] = {name: [TrainingPair(*pair) for pair in some] for name, some in plain["pairs"].items()}
        for split in ("train", "dev"):
            plain[split] = {id: Question(*question) for id, question in plain[split].items()}
        return cls(**plain)


def ranking_of(split: str, form: Form, id: str) -> str:
    """The name of a question's ranking."""
    return f"{split}/{form.value}/{id}"


def made(collection: Collection) -> Material:
    """The material of a collection."""
    queries = collection.queries
    if queries is None:
        raise DataError("the collection has no questions; give the folder with its queries and splits")
    held = {split: list(collection.qrels[split].queries) for split in ("dev", "test")}
    before = min(_days(queries, [*held["dev"], *held["test"]]))
    corpus = documents_before(collection.corpus, max(_days(queries, held["dev"])))
    printed = [queries.query(id).text for some in held.values() for id in some]
    heldout = _HeldOut([*printed, *(mask_citations(text, DECISIONS) for text in printed)])
    pairs = structure_pairs(documents_before(corpus, before), KINDS, report=ReadReport())
    again = {name: heldout.repeated(pair.query for pair in some) for name, some in pairs.items()}
    train, dev = (_questions(queries, collection.qrels[split], corpus) for split in ("train", "dev"))
    if late := [id for id, question in train.items() if question.day >= before.isoformat()]:
        raise DataError(f"train question {late[0]!r} is not earlier than {before}, the first of dev and test; split by date")
    again["train"] = heldout.repeated(question.masked for question in train.values())
    train = dict(_others(train.items(), again["train"]))
    return Material(
        before.isoformat(),
        list(corpus.ids),
        [whole_text(document) for document in corpus],
        [str(day) for day in corpus.date],
        {name: _others(some, again[name]) for name, some in pairs.items()},
        train,
        dev,
        _ranked(corpus, {"train": train, "dev": dev}),
        {name: sum(some) for name, some in again.items()},
    )


class _HeldOut:
    """What is asked in dev and test, in both forms, to be kept out of training."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = list(dict.fromkeys(map(_plain, texts)))
        self.joined = "\n".join(self.texts)

    def repeated(self, queries: Iterable[str]) -> list[bool]:
        """Whether each query is a held-out question, a long piece of one, or has one in it."""
        plain = list(map(_plain, queries))
        everything = "\n".join(plain)
        inside = [text for text in self.texts if text in everything]
        return [
            (word_count(query) >= LEAST_WORDS and query in self.joined) or any(text in query for text in inside)
            for query in plain
        ]


def _others(values: Iterable[Value], repeated: Iterable[bool]) -> list[Value]:
    return [value for value, again in zip(values, repeated, strict=True) if not again]


def _plain(text: str) -> str:
    """Without what makes no other text: capitals, spaces, the full stop at the end."""
    return " ".join(text.casefold().split()).rstrip(" .;")


def _days(queries: Queries, ids: Iterable[str]) -> Iterator[date]:
    """The day of each question."""
    for id in ids:
        day = queries.query(id).date
        if day is None:
            raise DataError(f"question {id!r} has no date; what may be learned from depends on it")
        yield day


def _questions(queries: Queries, qrels: Qrels, corpus: Corpus) -> dict[str, Question]:
    """The questions of a split that cite an earlier paragraph."""
    questions = {}
    for id, day in zip(qrels.queries, _days(queries, qrels.queries), strict=True):
        text = " ".join(queries.query(id).text.split())
        places = {doc: corpus.ids.ordinal(doc) for doc in qrels.judged(id) if doc in corpus.ids}
        earlier = {doc for doc, at in places.items() if corpus.date[at] < np.datetime64(day)}
        grades = {doc: grade for doc, grade in qrels.judged(id).items() if doc in earlier and grade > 0}
        if grades:
            questions[id] = Question(text, " ".join(mask_citations(text, DECISIONS).split()), day.isoformat(), grades)
    return questions


def _ranked(corpus: Corpus, splits: Mapping[str, Mapping[str, Question]]) -> dict[str, list[int]]:
    """The earlier documents that BM25 ranks first for each question, in both forms."""
    place = {id: at for at, id in enumerate(corpus.ids)}
    asked = [
        Query(ranking_of(split, form, id), question.text(form), date=date.fromisoformat(question.day))
        for split, questions in splits.items()
        for id, question in questions.items()
        for form in Form
    ]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "index")
        with IndexFolder.create(folder) as index:
            index.add(corpus)
        run = mining_run(folder, Queries.of(asked), depth=DEV_DEPTH, before_query_date=True)
    depth = {split: DEV_DEPTH if split == "dev" else DEPTH for split in splits}
    return {query.id: [place[hit.doc] for hit in run.hits(query.id)[: depth[query.id.split("/")[0]]]] for query in asked}


def main() -> None:
    """Make and save it."""
    parser = argparse.ArgumentParser(description="What the English models learn from")
    parser.add_argument("collection", type=Path)
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    material = made(read_collection(options.collection))
    material.write(options.out)
    early = sum(day < material.before for day in material.days)
    print(f"{len(material.ids):,} documents, {early:,} of them before {material.before}, which pairs are made of")
    for name, some in material.pairs.items():
        print(f"{name}: {len(some):,} pairs, {material.repeated[name]:,} more repeat a dev or test question")
    print(
        f"{len(material.train)} train questions, {material.repeated['train']} more repeat one; {len(material.dev)} dev questions"
    )


if __name__ == "__main__":
    main()
