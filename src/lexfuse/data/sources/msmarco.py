"""MS MARCO passages and its translations (mMARCO, which FUSE trains on): tables of tabs without a header.

- ``collection.tsv``: id, passage; in mMARCO ``french_collection.tsv``
- ``queries.train.tsv``, ``queries.dev.small.tsv``, ``queries.dev.tsv``: id, query; in mMARCO ``french_queries.train.tsv``
- ``qrels.train.tsv``, ``qrels.dev.small.tsv``, ``qrels.dev.tsv``: query, 0, passage, grade
- ``triples.train.ids.small.tsv``: query, relevant passage, other passage. mMARCO has no ``qrels.train.tsv``: without it, the
  relevant passages of the triples are the train judgements.

Most publications report the small dev set. It is the split ``dev``, and the whole one ``dev-full``, where both are there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import decode, existing, lines
from lexfuse.data.formats.beir import Collection
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.tables import tables_in
from lexfuse.errors import DataError, NotFoundError

LANGUAGES = {
    "arabic": "ar", "chinese": "zh", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "hindi": "hi",
    "indonesian": "id", "italian": "it", "japanese": "ja", "portuguese": "pt", "russian": "ru", "spanish": "es",
    "vietnamese": "vi",
}  # fmt: skip
CORPUS_FILE = re.compile(r"(?:(?P<language>[a-z]{2,20})_)?collection\.tsv(?:\.gz)?")
_QUERIES_FILE = re.compile(r"(?:(?P<language>[a-z]{2,20})_)?queries\.(?P<split>train|dev\.small|dev)\.tsv(?:\.gz)?")
_QRELS_FILE = re.compile(r"qrels\.(?P<split>train|dev\.small|dev)\.tsv(?:\.gz)?")
_TRIPLES_FILE = re.compile(r"(?:qidpid)?triples\.train\.(?:ids\.|full\.)?[\w.]*tsv(?:\.gz)?")
_UNLABELLED_FILE = re.compile(r"(?:[a-z]{2,20}_)?queries\.eval[\w.]*\.tsv(?:\.gz)?|top1000\.[\w.]+\.tsv(?:\.gz)?")
_EXPECTED = (
    "collection.tsv, queries.SPLIT.tsv, qrels.SPLIT.tsv or triples.train.ids.small.tsv, SPLIT one of train, dev.small, dev"
)


def read_msmarco(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""The passages, the queries of train and dev, and their judgements.

    >>> _ = (folder / "french_collection.tsv").write_text("7\tLe bail est écrit.\n")
    >>> _ = (folder / "french_queries.train.tsv").write_text("3\tforme du bail\n")
    >>> _ = (folder / "triples.train.ids.small.tsv").write_text("3\t7\t9\n")
    >>> collection = read_msmarco(folder)
    >>> collection.corpus[0].language, collection.qrels["train"].as_dict()
    ('fr', {'3': {'7': 1}})
    """
    report = ReadReport() if report is None else report
    files = _files(path, report)
    passages = Corpus.of(
        Document(id, text=text, language=_language(files["corpus"])) for id, text in _pairs(files["corpus"], report, "passage")
    )
    splits, queries = _queries(files, report)
    qrels = dict(_qrels(files, splits, passages.ids, report))
    if not qrels.get("train") and (triples := files.get("triples")) is not None:
        qrels = {"train": _triples(triples, splits.get("train", Ids(())), passages.ids, report), **qrels}
    report.kept += len(passages) + len(queries)
    found = {split: judged for split, judged in qrels.items() if len(judged)}
    return Collection(passages, Queries.of(queries.values()) if queries else None, found)


def is_msmarco(path: Path) -> bool:
    """Whether a folder has the collection file of MS MARCO or of a translation."""
    return any(CORPUS_FILE.fullmatch(file.name) for file in tables_in(path))


def _files(path: str | Path, report: ReadReport) -> dict[str, Path]:
    """The files by their part: corpus, ``queries dev``, ``qrels dev.small``, triples. An unknown table is a bad record."""
    found: dict[str, Path] = {}
    for file in tables_in(existing(path)):
        part = _part(file.name)
        if part is None and _UNLABELLED_FILE.fullmatch(file.name):
            report.note("queries without judgements, or a ranking; not read", path=file)
        elif part is None:
            report.bad(DataError(f"not a table of MS MARCO; expected {_EXPECTED}", path=file))
        elif part in found:
            raise DataError(f"two files of one part, {found[part].name!r} is the other; import one language at a time", path=file)
        else:
            found[part] = file
    if "corpus" not in found:
        seen = ", ".join(file.name for file in tables_in(path)[:8]) or "no table"
        raise NotFoundError(f"no MS MARCO collection in {str(path)!r}; expected {_EXPECTED}; found {seen}")
    return found


def _part(name: str) -> str | None:
    if CORPUS_FILE.fullmatch(name):
        return "corpus"
    if _TRIPLES_FILE.fullmatch(name):
        return "triples"
    for kind, pattern in (("queries", _QUERIES_FILE), ("qrels", _QRELS_FILE)):
        if match := pattern.fullmatch(name):
            return f"{kind} {match['split']}"
    return None


def _language(file: Path) -> str:
    match = CORPUS_FILE.fullmatch(file.name)
    name = match["language"] if match else None
    if name is None:  # MS MARCO itself, or a translation that does not say
        return ""
    if name not in LANGUAGES:
        raise DataError(f"unknown language {name!r} in the name of the file; known are {', '.join(LANGUAGES)}", path=file)
    return LANGUAGES[name]


def _pairs(file: Path, report: ReadReport, what: str) -> Iterator[tuple[str, str]]:
    """Id and text of every line; a line without a tab, an id or a text and a repeated id are bad records."""
    seen: set[str] = set()
    for line, raw in lines(file):
        try:
            id, tab, text = decode(raw, path=file, line=line).partition("\t")
            if not tab or not id.strip() or not text.strip():
                raise DataError(f"expected the id of a {what}, a tab and its text", path=file, line=line)
            if id in seen:
                raise DataError(f"id {id!r} is repeated; ids must be unique", path=file, line=line)
        except DataError as error:
            report.bad(error)
            continue
        seen.add(id)
        yield id, text.strip()


def _queries(files: Mapping[str, Path], report: ReadReport) -> tuple[dict[str, Ids], dict[str, Query]]:
    """The ids of each split's queries, and all queries; the small dev set is part of the whole one."""
    language = _language(files["corpus"])
    splits: dict[str, Ids] = {}
    queries: dict[str, Query] = {}
    for split in ("train", "dev.small", "dev"):
        if (file := files.get(f"queries {split}")) is None:
            continue
        found = dict(_pairs(file, report, "query"))
        splits[split] = Ids(found)
        for id, text in found.items():
            if queries.setdefault(id, Query(id, text, language=language)).text != text:
                report.note("query with two texts, the first one kept", path=f"{file}, query {id}")
    return splits, queries


def _qrels(files: Mapping[str, Path], splits: Mapping[str, Ids], docs: Ids, report: ReadReport) -> Iterator[tuple[str, Qrels]]:
    """The judgements of each split, of the queries that the folder has."""
    both = all(f"qrels {split}" in files for split in ("dev.small", "dev"))
    for split in ("train", "dev.small", "dev"):
        if (file := files.get(f"qrels {split}")) is None:
            continue
        known = splits.get(split) or (splits.get("dev.small" if split == "dev" else "dev") if split != "train" else None)
        if known is None:
            raise DataError(f"has judgements, but the folder has no queries.{split}.tsv; add it", path=file)
        judged = read_qrels(file, report, docs=docs)
        triples = [
            (query, doc, grade) for query in judged.queries if query in known for doc, grade in judged.judged(query).items()
        ]
        if left := sum(query not in known for query in judged.queries):
            report.note(f"judgements of {left:,} queries that the folder does not have, left out", path=file)
        yield ("dev-full" if both else "dev") if split == "dev" else split.removesuffix(".small"), Qrels.of(triples)


def _triples(file: Path, queries: Ids, docs: Ids, report: ReadReport) -> Qrels:
    """The relevant passages of triples of ids. Their other passages are no judgements: hard negatives come from a ranking."""
    found: dict[tuple[str, str], None] = {}
    unknown = 0
    for line, raw in lines(file):
        columns = decode(raw, path=file, line=line).split("\t")
        if len(columns) != 3 or not columns[0].isdigit():
            reason = "expected three ids, of a query, a relevant passage and another one; triples of texts are not read"
            report.bad(DataError(reason, path=file, line=line))
            continue
        query, doc = columns[0], columns[1]
        if query not in queries:
            unknown += 1
        elif doc not in docs:
            report.bad(
                DataError("a triple with a passage that is not in the collection", path=f"{file}, passage {doc}", line=line)
            )
        else:
            found[query, doc] = None
    if unknown:
        report.note(f"{unknown:,} triples of queries that the folder does not have, left out", path=file)
    report.note("relevant passages of triples are the train judgements; their other passages are not kept", path=file)
    return Qrels.of((query, doc, 1) for query, doc in found)
