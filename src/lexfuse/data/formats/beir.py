"""A collection as a BEIR folder: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv``, each plain or gzipped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lexfuse.data.corpus import Corpus
from lexfuse.data.files import checksum, existing, written_folder
from lexfuse.data.formats.file_format import plain_or_gzipped, read_corpus, read_queries, write_corpus, write_queries
from lexfuse.data.formats.trec_qrels import read_qrels, write_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError, DataError, StorageError


@dataclass(frozen=True, slots=True, eq=False)
class Collection:
    """A corpus with its queries, and judgements by name of their split."""

    corpus: Corpus
    queries: Queries | None = None
    qrels: Mapping[str, Qrels] = field(default_factory=dict)


def read_collection(folder: str | Path, report: ReadReport | None = None) -> Collection:
    """Read a BEIR folder. Queries and judgements are optional; every judged query and document must exist.

    >>> write_collection(Collection(Corpus.of([Document("a", text="un")])), folder / "c")
    >>> read_collection(folder / "c").corpus.text
    ('un',)
    """
    report, folder = report or ReadReport(), existing(folder)
    if not folder.is_dir():
        raise DataError("is a file; expected a folder with corpus.jsonl", path=folder)
    corpus = read_corpus(folder, report)
    queries_file = plain_or_gzipped(folder, "queries.jsonl")
    queries = None if queries_file is None else read_queries(queries_file, report)
    names = None if queries is None else queries.ids
    qrels = {split: read_qrels(path, report, queries=names, docs=corpus.ids) for split, path in _qrels_files(folder).items()}
    return Collection(corpus, queries, qrels)


def write_collection(
    collection: Collection, folder: str | Path, *, replace: bool = False, gzipped: bool = True, provenance: str = ""
) -> None:
    """Write a BEIR folder, complete or not at all; ``replace`` overwrites an older collection.

    Corpus and queries are gzipped unless ``gzipped`` is false; judgements are plain, as other tools expect. A text on the
    provenance becomes PROVENANCE.md, with the checksums of the files.

    >>> write_collection(Collection(Corpus.of([Document("a", text="un")])), folder / "c", gzipped=False)
    >>> [path.name for path in (folder / "c").iterdir()]
    ['corpus.jsonl']
    """
    _check_judged(collection)
    _check_target(Path(folder))
    suffix = ".jsonl.gz" if gzipped else ".jsonl"
    with written_folder(folder, replace=replace) as partial:
        write_corpus(collection.corpus, partial / f"corpus{suffix}")
        if collection.queries is not None:
            write_queries(collection.queries, partial / f"queries{suffix}")
        for split, qrels in collection.qrels.items():
            write_qrels(qrels, partial / "qrels" / f"{split}.tsv")
        if provenance:
            files = sorted(file for file in partial.rglob("*") if file.is_file())
            sums = "".join(f"{checksum(file)}  {file.relative_to(partial).as_posix()}\n" for file in files)
            (partial / "PROVENANCE.md").write_text(f"{provenance}\n## Files (sha256)\n\n```\n{sums}```\n", encoding="utf-8")


def is_collection(path: str | Path) -> bool:
    """Whether a folder holds a BEIR corpus."""
    return any(Path(path, name).is_file() for name in ("corpus.jsonl", "corpus.jsonl.gz"))


def _qrels_files(folder: Path) -> dict[str, Path]:
    splits = {path.name.removesuffix(".gz").removesuffix(".tsv") for path in (folder / "qrels").glob("*.tsv*")}
    files = {split: plain_or_gzipped(folder / "qrels", f"{split}.tsv") for split in sorted(splits)}
    return {split: path for split, path in files.items() if path is not None}


def _check_judged(collection: Collection) -> None:
    """Ensure that the result can be read again: judged ids must exist, and splits must be valid file names."""
    for split, qrels in collection.qrels.items():
        if not split or Path(split).name != split or split.startswith("."):
            raise ConfigError(f"the split {split!r} cannot be a file name; use a word like 'test'")
        judged = Ids(qrels.docs[at] for at in sorted(set(qrels.doc.tolist())))
        _check_known(judged, collection.corpus.ids, f"split {split!r} judges documents that are not in the corpus")
        if collection.queries is not None:
            _check_known(qrels.queries, collection.queries.ids, f"split {split!r} judges queries that are not in the collection")


def _check_known(names: Ids, known: Ids, what: str) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        raise DataError(
            f"{what}: {', '.join(map(repr, unknown[:3]))}{' …' if len(unknown) > 3 else ''} ({len(unknown):,} in all)"
        )


def _check_target(folder: Path) -> None:
    """Only a collection or an empty folder may be replaced: a mistyped path must not destroy other files."""
    if folder.is_dir() and any(folder.iterdir()) and not is_collection(folder):
        raise StorageError(f"{str(folder)!r} has other files but no corpus.jsonl; choose another folder")
