"""What the French legal models learn from, made once on any machine and small enough to carry to one with a GPU.

    python recipes/french_material.py FR-LABOUR KALI.tgz SHEETS.tgz OUT

FR-LABOUR is the collection (BEIR layout, with its splits), KALI and SHEETS are the packages @socialgouv/kali-data 3.449.0 and
@socialgouv/fiches-travail-data 4.1174.0 as `npm pack` gives them. The default install is enough; it takes some minutes.

Never looked at: the test questions, the sheets behind dev and test questions, other sheets of the same title or sections of the
same text (five sheets are there twice), and wordings of requests that those splits have too. The articles of the collection are
there, as they are for whoever searches them.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import lzma
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lexfuse.data.archives import members, parse_json
from lexfuse.data.arrays import I32
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import Collection, read_collection
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.kali import read_kali
from lexfuse.data.sources.labour_sheets import SHEETS_FILE, SOURCE_LISTS, read_sheets
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import DataError
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.annotation import with_languages
from lexfuse.train.examples.hard_negatives import mining_run
from lexfuse.train.examples.training_pair import TrainingPair, filter_pairs
from lexfuse.train.structure.citation_pairs import cited_pairs
from lexfuse.train.structure.structure_pairs import StructureKind, structure_pairs

ARTICLES = (StructureKind.HEADINGS, StructureKind.TITLE, StructureKind.CITED, StructureKind.CLOZE)
AGREEMENTS = (StructureKind.HEADINGS, StructureKind.CLOZE)  # their titles name the agreement
MOST_CITING = 20  # sentences of agreements for one article of a code: thousands say where an agreement is deposited
LEAST_WORDS = 8  # of an agreement's article
SECTION_WORDS = 15  # of a sheet's section
SHEETS_CODE = "Code du travail"  # what a sheet means by an article without a code
DEPTH = 200  # of the lexical rankings
WEAK_DEPTH, SECTION_LETTERS = 50, 3000  # articles that BM25 ranks for a section, by this many letters of its text
Places = list[tuple[int, float]]  # of articles, with their scores
Ranking = Callable[[Iterable[str], int], dict[str, Places]]
TRANSFER = "Code de la sécurité sociale"
_SHEET = re.compile(r"ft-(article\d+)-")
_LINKS = re.compile(
    r"services en ligne|(à )?lire (sur|en complément)|qui contacter|modèles? de|voir aussi|en savoir plus|.*(vidéo|web ?série)|"
    + "|".join(map(re.escape, SOURCE_LISTS)),
    re.IGNORECASE,
)  # sections that tell nothing of the law themselves


class Asked(NamedTuple):
    """A text, the articles that it asks for, and others that may be meant as well, so that they are never its negatives."""

    text: str
    articles: list[str]
    spared: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Material:
    """Texts, pairs of texts by source, questions with their judgements, and lexical rankings."""

    documents: list[str]  # distinct texts; the articles come first
    ids: list[str]  # of the collection's articles
    article: I32  # the text of each
    pairs: dict[str, list[TrainingPair]]
    outside: dict[str, list[int]]  # which pairs of a source have nothing of the code that transfer is measured on
    train: dict[str, tuple[str, dict[str, int]]]  # question and grades by id
    dev: dict[str, tuple[str, dict[str, int]]]
    variants: list[tuple[str, str]]  # train question, another wording of it
    more: dict[str, list[Asked]]  # by source: other texts of sheets that ask for articles
    rankings: dict[str, list[int]]  # places of articles by BM25, for every one of these texts
    sections: dict[str, Places]  # those of these texts that are titles of sections, with what BM25 ranks for the text below

    @property
    def articles(self) -> list[str]:
        """The text of each article."""
        return [self.documents[text] for text in self.article]

    @property
    def held(self) -> set[str]:
        """The articles of the code that transfer is measured on."""
        return {id for id, text in zip(self.ids, self.articles, strict=True) if text.startswith(TRANSFER)}

    def without_code(self) -> Material:
        """What there is to learn from without that code: no pair, no question and no sentence that has to do with it."""
        held = self.held
        return dataclasses.replace(
            self,
            pairs={name: [some[at] for at in self.outside[name]] for name, some in self.pairs.items()},
            train={id: (text, grades) for id, (text, grades) in self.train.items() if not held & set(grades)},
            variants=[(id, text) for id, text in self.variants if not held & set(self.train[id][1])],
            more={name: [one for one in some if not held & set(one.articles)] for name, some in self.more.items()},
        )

    def write(self, folder: Path) -> None:
        """Save; most texts of pairs are documents without a piece, and are written as such."""
        folder.mkdir(parents=True, exist_ok=True)
        texts = list(dict.fromkeys(text for some in self.pairs.values() for pair in some for text in pair))
        cuts, verbatim = _cuts(texts, self.documents)
        number = {text: at for at, text in enumerate(texts)}
        tables = {
            name: np.array([[number[text] for text in pair] for pair in some], np.int32) for name, some in self.pairs.items()
        }
        arrays: dict[str, Any] = {"cuts": cuts, "article": self.article} | {f"of {name}": table for name, table in tables.items()}
        np.savez_compressed(folder / "pairs.npz", **arrays)
        kept = ("ids", "outside", "train", "dev", "variants", "more", "rankings", "sections")
        plain = {name: getattr(self, name) for name in kept}
        for name, values in (("documents", self.documents), ("verbatim", verbatim), ("questions", plain)):
            with lzma.open(folder / f"{name}.json.xz", "wt", encoding="utf-8", preset=4) as stream:
                json.dump(values, stream, ensure_ascii=False)

    @classmethod
    def read(cls, folder: Path) -> Material:
        """What `write` saved."""
        documents, verbatim, plain = (read_json(folder / f"{name}.json.xz") for name in ("documents", "verbatim", "questions"))
        with np.load(folder / "pairs.npz", allow_pickle=False) as stored:
            tables = {name.removeprefix("of "): stored[name].tolist() for name in stored.files if name.startswith("of ")}
            cuts, article = stored["cuts"].tolist(), stored["article"]
        texts = [verbatim[start] if at < 0 else documents[at][:start] + documents[at][stop:] for at, start, stop in cuts]
        pairs = {name: [TrainingPair(texts[query], texts[passage]) for query, passage in table] for name, table in tables.items()}
        plain["more"] = {name: [Asked(*one) for one in some] for name, some in plain["more"].items()}
        return cls(documents, article=article, pairs=pairs, **plain)


def made(collection: Collection, kali: Corpus, sheets: Iterable[Mapping[str, Any]], cited: Collection) -> Material:
    """The material of a collection, the agreements, the sheets, and what sections of these cite (`read_sheets`)."""
    if collection.queries is None:
        raise DataError("the collection has no questions; give the folder with its queries and splits")
    seen = {name: {query: dict(qrels.judged(query)) for query in qrels.queries} for name, qrels in collection.qrels.items()}
    agreements = _distinct(kali)
    documents = list(dict.fromkeys([*map(whole_text, collection.corpus), *map(whole_text, agreements)]))
    place = {text: at for at, text in enumerate(documents)}
    pairs = structure_pairs(collection.corpus, ARTICLES, report=ReadReport())
    others = collection.corpus.select([at for at, code in enumerate(collection.corpus.code) if code != TRANSFER])
    outside = {name: set(some) for name, some in structure_pairs(others, ARTICLES, report=ReadReport()).items()}
    pairs |= {f"kali-{name}": some for name, some in structure_pairs(agreements, AGREEMENTS, report=ReadReport()).items()}
    pairs["kali-cited"] = _few_each(filter_pairs(cited_pairs(agreements, Counter(), cited=collection.corpus), Counter()))
    outside["kali-cited"] = {pair for pair in pairs["kali-cited"] if not pair.passage.startswith(TRANSFER)}
    sections = _sections(sheets, {query for split in ("dev", "test") for query in seen[split]})
    pairs["sheets"] = [TrainingPair(section.title, section.text) for section in sections]
    text = {query.id: query.text for query in collection.queries}
    variants = _variants(collection.queries, seen)
    with lexical_ranking(collection.corpus) as ranked:
        more = {
            "explained": _explained(sections, collection.corpus),
            "labelled": _labelled(sections, cited, seen, set(text.values())),
            "weak": _weak(sections, cited, set(text.values()), ranked),
        }
        asked = [text[id] for split in ("train", "dev") for id in seen[split]]
        asked += [*(wording for _, wording in variants), *(one for some in more.values() for one, _, _ in some)]
        rankings = {asks: [at for at, _ in places] for asks, places in ranked(asked, DEPTH).items()}
        below = {section.title: _told(section) for section in sections if section.title in rankings}
        near = ranked(below.values(), DEPTH)
    return Material(
        documents,
        list(collection.corpus.ids),
        np.array([place[whole_text(document)] for document in collection.corpus], np.int32),
        pairs,
        {
            name: [at for at, pair in enumerate(some) if name not in outside or pair in outside[name]]
            for name, some in pairs.items()
        },
        {id: (text[id], seen["train"][id]) for id in seen["train"]},
        {id: (text[id], seen["dev"][id]) for id in seen["dev"]},
        variants,
        more,
        rankings,
        {title: near[name] for title, name in below.items() if near[name]},
    )


def _distinct(kali: Corpus) -> Corpus:
    """The agreements' articles, each wording once."""
    first: dict[str, int] = {}
    for ordinal, text in enumerate(kali.text):
        if len(text.split()) >= LEAST_WORDS:
            first.setdefault(" ".join(text.casefold().split()), ordinal)
    return kali.select(sorted(first.values()))


def _few_each(pairs: list[TrainingPair]) -> list[TrainingPair]:
    """Without what cites an article that many others cite before it."""
    before: Counter[str] = Counter()
    few = []
    for pair in pairs:
        before[pair.passage] += 1
        if before[pair.passage] <= MOST_CITING:
            few.append(pair)
    return few


def _sections(sheets: Iterable[Mapping[str, Any]], held: set[str]) -> list[Document]:
    """The sections of sheets, without those that dev and test questions were made of, or that repeat them."""
    numbers = {match.group(1) for query in held if (match := _SHEET.match(query))}
    known = list(sheets)
    out = [sheet for sheet in known if sheet["pubId"] in numbers]
    titles = {_plain(sheet["title"]) for sheet in out}
    bodies = {_plain(section["text"]) for sheet in out for section in sheet["sections"]}
    found = []
    for sheet in known:
        of = _plain(sheet["title"])
        for number, section in enumerate(sheet["sections"] if of not in titles else ()):
            title, body = _plain(section["title"]), _plain(section["text"])
            if not _LINKS.match(title) and body not in bodies and len(body.split()) >= SECTION_WORDS:
                name = of if title == of else f"{of} : {title}"
                found.append(Document(f"{sheet['pubId']}-{number}", title=name, text=body, code=SHEETS_CODE, language="fr"))
    return found


def _explained(sections: Iterable[Document], articles: Corpus) -> list[Asked]:
    """Sentences of sheets that cite articles, without the citation, to those articles."""
    id_of = {whole_text(document): document.id for document in articles}
    found: dict[str, dict[str, None]] = {}
    for pair in filter_pairs(cited_pairs(Corpus.of(sections), Counter(), cited=articles), Counter()):
        found.setdefault(pair.query, {})[id_of[pair.passage]] = None
    return [Asked(sentence, list(ids), []) for sentence, ids in found.items()]


def _labelled(
    sections: Iterable[Document], cited: Collection, seen: Mapping[str, Mapping[str, Any]], known: set[str]
) -> list[Asked]:
    """Sections with the articles that they cite which are no questions of the collection, mostly lists for a whole sheet.

    Those that cite the very articles of a dev or test question are left out, as the collection keeps such questions together.
    """
    held = [frozenset(grades) for split in ("dev", "test") for grades in seen[split].values()]
    sheets = {section.id.rsplit("-", 1)[0] for section in sections}
    articles = _articles(cited)
    return [
        Asked(query.text, sorted(articles[query.id]), [])
        for query in cited.queries or ()
        if query.id.rsplit("-", 1)[0] in sheets and query.text not in known and frozenset(articles[query.id]) not in held
    ]


def _weak(sections: Iterable[Document], cited: Collection, known: set[str], ranked: Ranking) -> list[Asked]:
    """Sections that cite nothing themselves, with articles that their sheet cites and BM25 ranks high for their text."""
    articles, of_sheet = _articles(cited), defaultdict[str, set[str]](set)
    for id, docs in articles.items():
        of_sheet[id.rsplit("-", 1)[0]] |= docs
    open_ = {}
    for section in sections:
        sheet, number = section.id.rsplit("-", 1)
        if section.title not in known and f"{sheet}-{int(number) + 1}" not in articles and of_sheet[sheet]:
            open_[section.title] = (_told(section), of_sheet[sheet])
    places = ranked([text for text, _ in open_.values()], WEAK_DEPTH)
    ids = list(cited.corpus.ids)
    found = [
        Asked(title, [ids[at] for at, _ in places[text] if ids[at] in docs], sorted(docs))
        for title, (text, docs) in open_.items()
    ]
    return [one for one in found if one.articles]


def _articles(cited: Collection) -> dict[str, set[str]]:
    """The articles of every section that cites some."""
    return {query: set(qrels.judged(query)) for qrels in cited.qrels.values() for query in qrels.queries}


def _told(section: Document) -> str:
    """What a section is about: its title and the beginning of its text."""
    return f"{section.title} {section.text}"[:SECTION_LETTERS]


def _plain(text: Any) -> str:
    return " ".join(str(text).split())


def _variants(queries: Queries, seen: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Other wordings of train requests; none that a held-out question has."""
    wordings = {query.id: [query.text, *map(str, query.extra.get("variants", ()))] for query in queries}
    held = {wording.casefold() for split in ("dev", "test") for id in seen[split] for wording in wordings[id]}
    return [
        (id, text)
        for id in seen["train"]
        for text in wordings[id][1:]
        if text.casefold() not in held | {wordings[id][0].casefold()}
    ]


@contextmanager
def lexical_ranking(corpus: Corpus) -> Iterator[Ranking]:
    """What gives the articles that BM25 ranks first for texts."""
    place = {id: at for at, id in enumerate(corpus.ids)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "index")
        with IndexFolder.create(folder) as index:
            index.add(with_languages(corpus))

        def ranked(asked: Iterable[str], depth: int) -> dict[str, Places]:
            texts = list(dict.fromkeys(asked))
            run = mining_run(folder, Queries.of(Query(str(at), text) for at, text in enumerate(texts)), depth=depth)
            return {text: [(place[hit.doc], round(hit.score, 3)) for hit in run.hits(str(at))] for at, text in enumerate(texts)}

        yield ranked


def _cuts(texts: list[str], documents: list[str]) -> tuple[I32, list[str]]:
    """Each text as a document and the piece that it lacks, or as the place among the others, which are returned."""
    ends, starts = defaultdict(list), defaultdict(list)
    for at, text in enumerate(documents):
        ends[text[-50:]].append(at)
        starts[text[:120]].append(at)
    cuts, verbatim = np.full((len(texts), 3), -1, dtype=np.int32), list[str]()
    for row, text in zip(cuts, texts, strict=True):
        for at in (*ends[text[-50:]][:40], *starts[text[:120]][:40]) if len(text) > 150 else ():
            document = documents[at]
            start = _common(document, text)
            stop = len(document) - (len(text) - start)
            if stop >= start and document[stop:] == text[start:]:
                row[:] = at, start, stop
                break
        else:
            row[1] = len(verbatim)
            verbatim.append(text)
    return cuts, verbatim


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def read_json(path: Path) -> Any:
    """The value of a compressed JSON file."""
    with lzma.open(path, "rt", encoding="utf-8") as stream:
        return json.load(stream)


def main() -> None:
    """Make and save it."""
    parser = argparse.ArgumentParser(description="What the French legal models learn from")
    for name in ("collection", "kali", "sheets", "out"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    found = [parse_json(content, name) for name, content in members(options.sheets, SHEETS_FILE)]
    collection = read_collection(options.collection)
    cited = read_sheets(options.sheets, collection.corpus, ReadReport())
    material = made(collection, read_kali(options.kali).corpus, found[0], cited)
    material.write(options.out)
    for name, some in material.pairs.items():
        print(f"{name}: {len(some):,} pairs")
    for name, texts in material.more.items():
        print(f"{name}: {len(texts):,} texts for {sum(len(one.articles) for one in texts):,} articles")
    print(
        f"{len(material.train)} train questions with {len(material.variants):,} other wordings, {len(material.dev)} dev questions"
    )


if __name__ == "__main__":
    main()
