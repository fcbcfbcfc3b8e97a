"""The collections of the atlas: where each is, which questions are asked, and which documents are searched."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from lexfuse.data.corpus import Corpus
from lexfuse.data.formats.beir import Collection, is_collection, read_collection
from lexfuse.data.formats.file_format import read_corpus, read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.sources.names import SourceName
from lexfuse.data.sources.registry import read_source
from lexfuse.errors import DataError, NotFoundError
from lexfuse.text.annotation import with_languages
from reproduce.datasets import DataFolders, check_layout

MOST_DOCUMENTS = 30_000  # that are searched in one collection
MOST_QUESTIONS = 500  # of dev and of test each
SETTINGS = ("zero-shot", "tuned")


@dataclass(frozen=True)
class StudySample:
    """What is measured: documents, questions, and judgements to choose on and to test on."""

    corpus: Corpus
    queries: Queries
    dev: Qrels
    test: Qrels | None
    documents: int  # of the whole collection
    questions: int  # judged, of dev and test, before any were left out


@dataclass(frozen=True)
class StudyCollection:
    """A collection as collections.toml describes it."""

    name: str
    title: str
    language: str
    law: bool = True
    folder: str = ""
    corpus: str = ""
    importer: str = ""
    public: str = ""
    before_query_date: bool = False
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    halves: str = ""
    models: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # setting -> channel -> model

    def place(self, folders: DataFolders) -> Path:
        """Its folder; `NotFoundError` where it is missing, `DataError` where it is laid out otherwise."""
        found = _folder(folders, self.folder or self.name, self.public)
        if self.corpus:
            _questions_only(found)
            check_layout(_folder(folders, self.corpus), "")
        else:
            check_layout(found, self.importer)
        return found

    def sample(self, folders: DataFolders, *, documents: int = MOST_DOCUMENTS, questions: int = MOST_QUESTIONS) -> StudySample:
        """The questions and documents, at most as many as given; relevant documents are always among them."""
        whole = self._read(folders)
        if whole.queries is None:
            raise DataError("has no queries", path=self.place(folders))
        corpus = with_languages(whole.corpus)
        spoken = [at for at, language in enumerate(corpus.language) if not self.importer or language == self.language]
        known = {corpus.ids[at] for at in spoken}
        dev, test = (self._judged(whole, splits, known) for splits in (self.dev, self.test))
        if self.halves:
            dev, test = _halves(self._judged(whole, (self.halves,), known))
        asked = [_some(judged, questions) for judged in (dev, test)]
        relevant = {doc for judged in asked for grades in judged.values() for doc in grades}
        kept = set(_first([corpus.ids[at] for at in spoken if corpus.ids[at] not in relevant], documents - len(relevant)))
        rows = [at for at in spoken if corpus.ids[at] in relevant or corpus.ids[at] in kept]
        queries = whole.queries.select([whole.queries.ids.ordinal(query) for judged in asked for query in judged])
        return StudySample(
            corpus.select(rows) if len(rows) < len(corpus) else corpus,
            queries,
            _qrels(asked[0]),
            _qrels(asked[1]) if asked[1] else None,
            len(spoken),
            len(dev) + len(test),
        )

    def _read(self, folders: DataFolders) -> Collection:
        folder = self.place(folders)
        if self.corpus:
            corpus, queries = read_corpus(_folder(folders, self.corpus)), read_queries(folder)
            files = {split: folder / "qrels" / f"{split}.tsv" for split in (*self.dev, *self.test)}
            judged = {split: read_qrels(file, queries=queries.ids, docs=corpus.ids) for split, file in files.items()}
            return Collection(corpus, queries, judged)
        return read_collection(folder) if is_collection(folder) else read_source(SourceName(self.importer), folder)

    def _judged(self, whole: Collection, splits: Sequence[str], known: set[str]) -> dict[str, dict[str, int]]:
        """The relevant documents of the questions of some splits, among those that are searched."""
        found: dict[str, dict[str, int]] = {}
        for split in splits:
            if split not in whole.qrels:
                raise NotFoundError(f"{self.name} has no split {split!r}; it has {', '.join(whole.qrels) or 'none'}")
            for query, grades in whole.qrels[split].as_dict().items():
                if relevant := {doc: grade for doc, grade in grades.items() if grade > 0 and doc in known}:
                    found[query] = relevant
        return found


@cache
def study_collections() -> dict[str, StudyCollection]:
    """Every collection of the atlas by name, in the order of the file."""
    values = tomllib.loads((Path(__file__).parent / "collections.toml").read_text("utf-8"))
    found = {}
    for name, about in values.items():
        given: dict[str, Any] = {key: tuple(one) if isinstance(one, list) else one for key, one in about.items()}
        models = {setting: given.pop(setting) for setting in SETTINGS if setting in given}
        found[name] = StudyCollection(name, **given, models=models)
    return found


def find_collection(name: str) -> StudyCollection:
    """A collection of the atlas; `NotFoundError` for an unknown name."""
    known = study_collections()
    if name not in known:
        near = get_close_matches(name, known, n=3) or list(known)
        raise NotFoundError(f"the atlas has no collection {name!r}; did you mean {', '.join(near)}?")
    return known[name]


def _folder(folders: DataFolders, name: str, public: str = "") -> Path:
    for folder in folders.folders:
        if (folder / name).exists():
            return folder / name
    places = ", ".join(map(str, folders.folders)) or "no folder: name one with --data or LEXFUSE_DATA"
    how = f"; lexfuse collect {public} makes it" if public else "; docs/collections.md says where it comes from"
    raise NotFoundError(f"no collection {name!r} in {places}{how}")


def _questions_only(folder: Path) -> None:
    if not folder.is_dir() or not list(folder.glob("queries.jsonl*")) or not (folder / "qrels").is_dir():
        raise DataError("expected queries.jsonl and qrels/ of a collection whose documents another folder has", path=folder)


def _place(id: str) -> str:
    """Where an id is in the order that samples are drawn by: random, and the same everywhere."""
    return hashlib.sha256(id.encode()).hexdigest()


def _first(ids: Iterable[str], most: int) -> list[str]:
    return sorted(ids, key=_place)[: max(0, most)]


def _some(judged: Mapping[str, dict[str, int]], most: int) -> dict[str, dict[str, int]]:
    kept = set(_first(judged, most))
    return {query: grades for query, grades in judged.items() if query in kept}


def _halves(judged: Mapping[str, dict[str, int]]) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    first = set(_first(judged, len(judged) // 2))
    sides = [{query: grades for query, grades in judged.items() if (query in first) is side} for side in (True, False)]
    return sides[0], sides[1]


def _qrels(judged: Mapping[str, Mapping[str, int]]) -> Qrels:
    return Qrels.of((query, doc, grade) for query, grades in judged.items() for doc, grade in grades.items())
