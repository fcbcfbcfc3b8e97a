"""Citations in real documents: precision and recall against labels made by hand, look-ups in German codes, and speed.

    python bench/citations.py recall [--uk FOLDER] [--us FOLDER] [--gesetze FOLDER]
    python bench/citations.py sample SOURCE [--part development|held-out] [--count 60]
    python bench/citations.py german --gesetze FOLDER
    python bench/citations.py speed [--quick] [--json]

`sample` draws candidates by a loose pattern (digits after "section", "§", "Art." or a year in brackets, digits around an
abbreviation) from one part of the documents, with a fixed seed: documents are divided by a hash of their ids. The grammar was
written with the development part. `citation_labels.tsv` has the labels of the held-out part: source, document, offset of the
candidate, and what is cited (the number and, after a bar, the law if it is named there; - if nothing is cited). A citation
counts if its number is the same and its law is the law of the label.

LEXFUSE_DATA names the folder with irled2017, ca-parallel and cjeu. The other folders have files of public repositories:
judgments of the United Kingdom (test/judgments/*.xml of nationalarchives/tna-judgments-parser), opinions of the United States
(tests/assets/opinion.txt of freelawproject/eyecite and cl/assets/media/test/search/opinion_text.txt of
freelawproject/courtlistener) and German laws (bundestag/gesetze). `german` looks up the questions of `german_lookups.tsv`.
`speed` compares `find_citations` with its French and European part on French articles, in processor time of one run.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import os
import random
import re
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from lexfuse.data.document import Document
from lexfuse.data.formats.file_documents import documents_of
from lexfuse.index import Index
from lexfuse.text.citation.citation import Citation, CitationSystem
from lexfuse.text.citation.code_names import full_code
from lexfuse.text.citation.decisions import decisions
from lexfuse.text.citation.find import find_citations
from lexfuse.text.citation.laws import mean_the_same
from lexfuse.text.citation.scanner import scan
from lexfuse.text.citation.statutes import statutes
from lexfuse.text.short_text_cache import forget_all
from runner.needs import Needs

NEEDS = Needs(collections=("fr-labour",), arguments=("speed",))

QUICK_STEP = 30
LABELS = Path(__file__).with_name("citation_labels.tsv")
SEED = 23
CANDIDATE = re.compile(
    r"(?:\b[Ss]ections?\s|\bss?\.\s?|\bS\.\s|§+\s?|\b[Aa]rt(?:icle|ikel)?s?\.?\s|\bu/s\.?\s|\b[Ss]ubsections?\s|\b[Pp]aragraph\s)\d+"
    r"|[\[(](?:1[89]|20)\d\d[\])]\s?(?:\d|[A-Z])[\w.]*(?:\s[A-Z][\w.]*){0,2}\s\d+"
    r"|\b\d{1,4}\s(?!(?:Jan|Feb|Mar|Apr|Ma[iy]|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-z]*\s)[A-Z][A-Za-z.]{0,8}(?:\s?(?:\d[a-z]+|[A-Z][a-z.]*)){0,3}\s\d{1,4}\b"
)
TAG = re.compile(r"<[^>]+>")


class Label(NamedTuple):
    """What is cited at a place."""

    source: str
    document: str
    offset: int
    number: str
    law: str


def lines_of(file: Path) -> Iterator[dict[str, str]]:
    """The objects of a compressed file of JSON lines."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def texts_of(source: str, arguments: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Ids and texts of a source; nothing if its folder is not given."""
    data = Path(os.environ.get("LEXFUSE_DATA", ""))
    if source in ("irled2017", "cjeu"):
        yield from ((row["_id"], row["text"]) for row in lines_of(data / source / "corpus.jsonl.gz"))
    elif source == "ca-parallel":
        yield from ((row["id"], row["en"]) for row in lines_of(data / source / "pairs.jsonl.gz"))
    elif source == "gesetze" and arguments.gesetze:
        for file in sorted(arguments.gesetze.rglob("index.md")):
            yield file.parent.name, " ".join(file.read_text("utf-8").split())
    elif source in ("uk", "us") and (folder := getattr(arguments, source)):
        for file in sorted(path for path in folder.rglob("*") if path.suffix in (".xml", ".html", ".txt")):
            yield file.name, " ".join(html.unescape(TAG.sub(" ", file.read_text("utf-8", "replace"))).split())


SOURCES = {
    "irled2017": "India, judgments",
    "ca-parallel": "Canada, acts and regulations",
    "cjeu": "Court of Justice, English",
    "gesetze": "Germany, laws",
    "uk": "United Kingdom, judgments",
    "us": "United States, opinions",
}


def is_held_out(document: str) -> bool:
    """Whether a document belongs to the part that the grammar was not written with."""
    return zlib.crc32(document.encode()) % 2 == 1


def candidates(source: str, held_out: bool, count: int, arguments: argparse.Namespace) -> list[tuple[str, str, re.Match[str]]]:
    """A fixed random sample of candidates: document, text, place; at most five of a document, where there are many."""
    most = 40 if source == "us" else 5
    chance, found = random.Random(SEED), []  # noqa: S311 -- a sample, not a secret
    for document, text in texts_of(source, arguments):
        if is_held_out(document) is held_out:
            places = list(CANDIDATE.finditer(text))
            found += [(document, text, place) for place in chance.sample(places, min(most, len(places)))]
    return chance.sample(found, min(count, len(found)))


def sample(arguments: argparse.Namespace) -> None:
    """Print candidates with their surroundings, for labelling."""
    for document, text, place in candidates(arguments.source, arguments.part == "held-out", arguments.count, arguments):
        around = f"{text[max(0, place.start() - 60) : place.start()]}«{place.group()}»{text[place.end() : place.end() + 90]}"
        around = around.replace("\n", " ").replace("\t", " ")
        own = [one for one in find_citations(text) if one.start < place.end() and place.start() < one.end]
        seen = "" if arguments.blind else "   => " + "; ".join(f"{one.system.value} {one}" for one in own)
        print(f"{arguments.source}\t{document}\t{place.start()}\t…{around}…{seen}")


def is_right(citation: Citation, label: Label) -> bool:
    """Whether a citation is what the label says."""
    numbers = {citation.key, citation.last, citation.key.rpartition(" § ")[2]}
    if label.number.casefold() not in {number.casefold() for number in numbers}:
        return False
    return not label.law or mean_the_same(citation.code, label.law) or full_code(citation.code) == full_code(label.law)


def recall(arguments: argparse.Namespace) -> None:
    """Print precision and recall of each source."""
    labels = [Label(*row[:2], int(row[2]), *row[3].partition("|")[::2]) for row in _rows(LABELS)]
    print(f"{'documents':32} {'labels':>7} {'cited':>6} {'found':>6} {'right':>6} {'precision':>9} {'recall':>7}")
    for source, name in SOURCES.items():
        wanted = {(one.document, one.offset): one for one in labels if one.source == source}
        documents = {one.document for one in wanted.values()}
        counts = {"cited": 0, "found": 0, "right": 0, "labels": 0}
        for document, text in texts_of(source, arguments) if wanted else ():
            if document in documents:
                documents.discard(document)
                _count(text, [one for key, one in wanted.items() if key[0] == document], counts, arguments.misses)
        if counts["labels"]:
            precision, reached = counts["right"] / max(1, counts["found"]), counts["right"] / max(1, counts["cited"])
            row = f"{counts['labels']:7} {counts['cited']:6} {counts['found']:6} {counts['right']:6}"
            missing = f"   without {len(documents)} documents that are not there" if documents else ""
            print(f"{name:32} {row} {precision:9.3f} {reached:7.3f}{missing}", flush=True)
        elif wanted:
            print(f"{name:32} not measured: its folder is not given, or has none of the labelled documents", flush=True)


def _count(text: str, labels: list[Label], counts: dict[str, int], misses: bool) -> None:
    found = [one for one in find_citations(text) if one.system is not CitationSystem.PARAGRAPH]
    for label in labels:
        place = CANDIDATE.match(text, label.offset)
        if place is None:
            sys.exit(
                f"{label.source} {label.document} has no candidate at {label.offset}; the text is not the one that was labelled"
            )
        own = [one for one in found if one.start < place.end() and place.start() < one.end]
        right = label.number != "-" and any(is_right(one, label) for one in own)
        counts["labels"] += 1
        counts["cited"] += label.number != "-"
        counts["found"] += bool(own)
        counts["right"] += right
        if (misses and right != (label.number != "-")) or (misses and label.number == "-" and own):
            around = text[max(0, place.start() - 40) : place.end() + 80]
            print("  ", label, "…", around, "=>", [str(one) for one in own])


def _rows(file: Path) -> Iterator[list[str]]:
    for line in file.read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


LAWS = ("bgb", "gg", "stgb", "zpo", "hgb", "stpo", "owig_1968", "ao_1977", "sgb_5", "estg", "kredwg", "gewo")
LOOKUPS = Path(__file__).with_name("german_lookups.tsv")


def german_documents(folder: Path) -> Iterator[Document]:
    """One document for each paragraph or article of the laws, as ``lexfuse import`` divides them."""
    for law in LAWS:
        file = folder / law[0] / law / "index.md"
        if not file.is_file():
            sys.exit(f"no file {file}; give the folder of a whole clone of bundestag/gesetze")
        yield from documents_of(file.read_bytes(), f"{law}/index.md")


def german(arguments: argparse.Namespace) -> None:
    """Look up German citations in an index of twelve laws, and print which are first."""
    documents = {document.id: document for document in german_documents(arguments.gesetze)}
    with tempfile.TemporaryDirectory() as folder, Index.build(Path(folder, "index"), documents.values()) as index:
        right, rows = 0, list(_rows(LOOKUPS))
        for question, *numbers in rows:
            wanted = ["{}/index.md#{}".format(*number.rsplit("-", 1)) for number in numbers]
            hits = [hit.id for hit in index.search(question, len(wanted)).hits[: len(wanted)]]
            right += hits == wanted
            if hits != wanted:
                print(f"{question}: expected {wanted}, got {hits}")
    print(
        f"{right} of {len(rows)} questions have exactly the cited paragraphs first, among {len(documents):,} of {len(LAWS)} laws"
    )


def speed(arguments: argparse.Namespace) -> None:
    """Processor time of all citations compared with those of France and the European Union alone, on French articles."""
    data = Path(os.environ["LEXFUSE_DATA"])
    step = QUICK_STEP if arguments.quick else arguments.every
    texts = [row["text"] for row in lines_of(data / "fr-labour" / "corpus.jsonl.gz")][::step]

    def french(text: str) -> None:
        items = list(scan(text))
        statutes(text, [item for item in items if item.system not in _DECISIONS])
        decisions(text, [item for item in items if item.system in _DECISIONS])

    times = [[_seconds(call, texts) for call in (find_citations, french)] for _ in range(3)]
    every, before = (min(column) for column in zip(*times, strict=True))
    metric, peer = f"processor seconds, citations of {len(texts):,} articles", "without other jurisdictions"
    record = {"metric": metric, "ours": every, "peer": peer, "theirs": before, "ratio": before / every}
    shown = "{metric}: {ours:.2f}  {peer} {theirs:.2f}  x{ratio:.2f}".format(**record)
    print(json.dumps(record) if arguments.json else shown)


_DECISIONS = (CitationSystem.ECLI, CitationSystem.CELEX, CitationSystem.EU_CASE, CitationSystem.FRENCH_CASE)


def _seconds(call: Callable[[str], object], texts: list[str]) -> float:
    forget_all()
    begun = time.process_time()
    for text in texts:
        call(text)
    return time.process_time() - begun


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("recall", "sample", "german", "speed"))
    parser.add_argument("source", nargs="?", choices=SOURCES, help="of sample")
    parser.add_argument("--part", choices=("development", "held-out"), default="development")
    parser.add_argument("--count", type=int, default=60, help="candidates of a sample")
    parser.add_argument("--blind", action="store_true", help="print a sample without what is found")
    parser.add_argument("--misses", action="store_true", help="print every label that is not met")
    parser.add_argument("--every", type=int, default=3, help="every n-th French article")
    parser.add_argument("--quick", action="store_true", help=f"every {QUICK_STEP}th French article")
    parser.add_argument("--json", action="store_true", help="speed as a JSON object")
    for folder in ("gesetze", "uk", "us"):
        parser.add_argument(f"--{folder}", type=Path)
    arguments = parser.parse_args()
    needed = {"recall": ["irled2017", "ca-parallel", "cjeu"], "sample": [arguments.source], "german": [], "speed": ["fr-labour"]}
    if arguments.command == "sample" and arguments.source is None:
        parser.error(f"sample needs a source: {', '.join(SOURCES)}")
    if arguments.command == "german" and arguments.gesetze is None:
        parser.error("german needs --gesetze, the folder of a clone of bundestag/gesetze")
    if names := [name for name in needed[arguments.command] if name in ("irled2017", "ca-parallel", "cjeu", "fr-labour")]:
        NEEDS.on(names).check()
    {"recall": recall, "sample": sample, "german": german, "speed": speed}[arguments.command](arguments)


if __name__ == "__main__":
    main()
