"""What the French models learn from in addition to `french_material.py`, made once on any machine.

    python recipes/citizen_material.py FR-CITIZEN FR-PUBLIC FR-LABOUR CA-PARALLEL OUT [--sentences FILE]

The folders are the collections of these names. The default install is enough; it takes some minutes and 32 MB.

- Pairs from the structure of the 65 codes of fr-citizen.
- Questions of fr-citizen and fr-public, each with its title and the description of its sheet as two wordings, and what BM25 ranks
  for them. A train question whose sheet or title is also in dev or test of any of the three collections is left out.
- The parallel sections of Canadian law, without the acts that are kept for the measure of search across languages.
- Everyday sentences in both languages, if a file has them: English, a tab, French on each line, as Tatoeba's sentence pairs are
  published. A line without two texts is skipped and counted. The law does not use the words that people ask in.

Never looked at: the test questions.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import lzma
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from french_material import ARTICLES, DEPTH, lexical_ranking, read_json

from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import DataError
from lexfuse.train.examples.training_pair import TrainingPair
from lexfuse.train.structure.structure_pairs import structure_pairs

KEPT_ACTS = 150  # for the measure of search across languages, by the hash of their name
Judged = dict[str, tuple[list[str], dict[str, int]]]  # the wordings of a question and the grades of articles


@dataclass(frozen=True, slots=True)
class ParallelText:
    """A section of law in two languages, with its marginal notes if there are any."""

    act: str
    english: str
    french: str
    english_note: str
    french_note: str


@dataclass(frozen=True, slots=True, eq=False)
class CitizenMaterial:
    """Articles, pairs, questions and parallel text."""

    ids: list[str]  # of the articles of fr-citizen
    articles: list[str]
    codes: list[str]  # of each article
    pairs: dict[str, list[TrainingPair]]
    train: dict[str, Judged]  # by collection
    dev: dict[str, Judged]
    rankings: dict[str, dict[str, list[int]]]  # by collection and wording: places of articles by BM25
    parallel: list[ParallelText]
    kept: list[ParallelText]  # of the acts that are searched across languages
    sentences: list[TrainingPair] = field(default_factory=list)  # of everyday language, English and French

    @property
    def french(self) -> list[str]:
        """French law, from which a vocabulary is learned."""
        return [*self.articles, *(pair.french for pair in self.parallel)]

    def write(self, folder: Path) -> None:
        """Save."""
        folder.mkdir(parents=True, exist_ok=True)
        values = asdict(self)
        for name in ("ids", "parallel", "kept", "pairs", "sentences"):
            values[name] = getattr(self, name)
        place = {text: at for at, text in enumerate(self.articles)}
        values["pairs"] = {
            name: [[query, place.get(passage, passage)] for query, passage in some] for name, some in self.pairs.items()
        }
        for name in ("parallel", "kept"):
            values[name] = [[getattr(one, field) for field in ParallelText.__slots__] for one in getattr(self, name)]
        with lzma.open(folder / "citizen.json.xz", "wt", encoding="utf-8", preset=6) as stream:
            json.dump(values, stream, ensure_ascii=False)

    @classmethod
    def read(cls, folder: Path) -> CitizenMaterial:
        """What `write` saved."""
        values: dict[str, Any] = read_json(folder / "citizen.json.xz")
        articles = values["articles"]
        values["pairs"] = {
            name: [TrainingPair(query, articles[at] if isinstance(at, int) else at) for query, at in some]
            for name, some in values["pairs"].items()
        }
        for name in ("parallel", "kept"):
            values[name] = [ParallelText(*one) for one in values[name]]
        values["sentences"] = [TrainingPair(*one) for one in values["sentences"]]
        for split in ("train", "dev"):
            values[split] = {
                name: {id: (wordings, grades) for id, (wordings, grades) in some.items()} for name, some in values[split].items()
            }
        return cls(**values)


def made(citizen: Collection, public: Collection, labour: Collection, parallel: Iterable[ParallelText]) -> CitizenMaterial:
    """The material of three collections and of parallel text."""
    asked = {"citizen": citizen, "public": public}
    held = _held([*asked.values(), labour])
    train = {name: _judged(one, "train", held) for name, one in asked.items()}
    dev = {name: _judged(one, "dev", set()) for name, one in asked.items()}
    rankings = {}
    for name, corpus in (("citizen", citizen.corpus), ("public", labour.corpus)):
        with lexical_ranking(corpus) as ranked:
            texts = [text for judged in (train[name], dev[name]) for wordings, _ in judged.values() for text in wordings]
            rankings[name] = {text: [at for at, _ in places] for text, places in ranked(texts, DEPTH).items()}
    texts = [whole_text(document) for document in citizen.corpus]
    sections = list(parallel)
    kept = kept_acts(sections)
    return CitizenMaterial(
        list(citizen.corpus.ids),
        texts,
        [code or "" for code in citizen.corpus.code],
        structure_pairs(citizen.corpus, ARTICLES, report=ReadReport()),
        train,
        dev,
        rankings,
        [one for one in sections if one.act not in kept],
        [one for one in sections if one.act in kept],
    )


def kept_acts(sections: Iterable[ParallelText]) -> set[str]:
    """The acts that are kept for the measure of search across languages."""
    return set(sorted({one.act for one in sections}, key=_hash)[:KEPT_ACTS])


def read_parallel(path: Path) -> Iterable[ParallelText]:
    """The sections of ca-parallel."""
    with gzip.open(path / "pairs.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            one = json.loads(line)
            yield ParallelText(one["act"], one["en"], one["fr"], one["en_note"] or "", one["fr_note"] or "")


def read_sentences(path: Path, report: ReadReport) -> list[TrainingPair]:
    """Sentences of everyday language, English and French, each pair once."""
    found: dict[TrainingPair, None] = {}
    with path.open(encoding="utf-8") as stream:
        for number, line in enumerate(stream, start=1):
            english, _, french = (part.strip() for part in line.partition("\t"))
            french = french.partition("\t")[0].strip()  # a third column names the authors
            if english and french:
                found[TrainingPair(english, french)] = None
            else:
                report.bad(DataError("no English and French text with a tab between them", path=path, line=number))
    return list(found)


def _held(collections: Iterable[Collection]) -> set[str]:
    """Ids and titles of the dev and test questions of all collections."""
    found: set[str] = set()
    for one in collections:
        text = _texts(one)
        for split in ("dev", "test"):
            ids = one.qrels[split].queries if split in one.qrels else ()
            found |= {*ids, *(_plain(text[id]) for id in ids)}
    return found


def _judged(collection: Collection, split: str, held: set[str]) -> Judged:
    """The questions of a split, by title and description."""
    text, qrels = _texts(collection), collection.qrels[split]
    found: Judged = {}
    for query in collection.queries or ():
        if query.id not in qrels.queries or query.id in held or _plain(query.text) in held:
            continue
        description = str(query.extra.get("description") or "").strip()
        wordings = [text[query.id], *([description] if description and split == "train" else [])]
        found[query.id] = (wordings, dict(qrels.judged(query.id)))
    return found


def _texts(collection: Collection) -> Mapping[str, str]:
    return {query.id: query.text for query in collection.queries or ()}


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def main() -> None:
    """Make and save it."""
    parser = argparse.ArgumentParser(description="What the French models learn from in addition")
    for name in ("citizen", "public", "labour", "parallel", "out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--sentences", type=Path, help="everyday sentences: English, a tab, French on each line")
    options = parser.parse_args()
    citizen, labour = read_collection(options.citizen), read_collection(options.labour)
    public = Collection(
        labour.corpus,
        read_queries(options.public / "queries.jsonl.gz"),
        {split: read_qrels(options.public / "qrels" / f"{split}.tsv") for split in ("train", "dev")},
    )
    material = made(citizen, public, labour, read_parallel(options.parallel))
    if options.sentences is not None:
        report = ReadReport(skip_bad=True)
        material = replace(material, sentences=read_sentences(options.sentences, report))
        print(f"{len(material.sentences):,} everyday sentences", *report.lines(), sep="\n")
    material.write(options.out)
    for name, some in material.pairs.items():
        print(f"{name}: {len(some):,} pairs")
    for name in material.train:
        print(f"{name}: {len(material.train[name])} train and {len(material.dev[name])} dev questions")
    print(f"{len(material.parallel):,} parallel sections, {len(material.kept):,} of {KEPT_ACTS} acts kept apart")


if __name__ == "__main__":
    main()
