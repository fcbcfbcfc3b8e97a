"""COLIEE task 1, legal case retrieval: a folder of cases as text files, and a JSON file of labels for each split.

The layout is that of 2021 and later: cases named by number (``000127.txt``), and ``task1_train_labels_2021.json``,
``task1_test_labels_2021.json`` that map the file of a query case to the files of the cases that it notices. A query case is one
of the cases. The data is available by agreement with the organisers only; the layout is taken from programs that participants
published. Up to 2020, every query has a folder with its own candidates; that layout is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lexfuse.data.archives import parse_json
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.files import decode, existing, read_bytes
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.tables import SPLITS, part_of
from lexfuse.errors import DataError, NotFoundError

LABELS_FILE = re.compile(r"[\w-]*labels?[\w-]*\.json")
_CASE_FILE = re.compile(r"(?P<number>\d+)\.txt")
_OLDER_FILE = "base_case.txt"  # one for each query up to 2020
_SUPPRESSED = re.compile(r"<?\b(?:FRAGMENT|REFERENCE|CITATION)_SUPPRESSED\b>?")  # what the organisers took out
_EXPECTED = "cases such as 000127.txt and labels such as task1_train_labels_2021.json"


def read_coliee(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""All cases as documents, the labelled ones also as queries, and the labels of every split.

    >>> for number, text in (("01", "See <FRAGMENT_SUPPRESSED>."), ("02", "Held.")):
    ...     _ = (folder / f"{number}.txt").write_text(text)
    >>> _ = (folder / "task1_test_labels_2021.json").write_text('{"01.txt": ["02.txt"]}')
    >>> collection = read_coliee(folder)
    >>> collection.queries[0].text, collection.qrels["test"].as_dict()
    ('See  .', {'01': {'02': 1}})
    """
    report = ReadReport() if report is None else report
    folder = existing(path)
    cases = {document.id: document for document in _cases(folder, report)}
    labels = {split: found for file in _label_files(folder) for split, found in [_labels(file)]}
    if not cases or not labels:
        raise NotFoundError(f"no COLIEE {'labels' if cases else 'cases'} in {str(path)!r}; expected {_EXPECTED}")
    queries: dict[str, Query] = {}
    triples: dict[str, list[tuple[str, str, int]]] = {}
    for split, noticed in labels.items():
        for case, targets in noticed.items():
            if case not in cases:
                report.bad(DataError("labels of a case that is not in the folder", path=f"{folder}, {split}, case {case}"))
                continue
            if case in queries:
                report.bad(DataError("a case with labels in two splits", path=f"{folder}, {split}, case {case}"))
                continue
            queries[case] = Query(case, cases[case].text, language=cases[case].language)
            triples.setdefault(split, []).extend((case, target, 1) for target in _known(case, targets, cases, split, report))
    corpus = Corpus.of(cases.values())
    report.kept += len(corpus) + len(queries)
    qrels = {split: Qrels.of(found) for split, found in triples.items() if found}
    return Collection(corpus, Queries.of(queries.values()) if queries else None, qrels)


def is_coliee(path: Path) -> bool:
    """Whether a folder has numbered cases and labels."""
    return path.is_dir() and bool(_label_files(path)) and any(_CASE_FILE.fullmatch(file.name) for file in path.rglob("*.txt"))


def _label_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.json") if file.is_file() and LABELS_FILE.fullmatch(file.name.lower()))


def _cases(folder: Path, report: ReadReport) -> Iterator[Document]:
    """Every case once, by number; what the organisers suppressed is left out."""
    seen: dict[str, tuple[Path, str]] = {}
    folders: set[Path] = set()
    for file in sorted(folder.rglob("*.txt")):
        match = _CASE_FILE.fullmatch(file.name)
        if file.name == _OLDER_FILE:
            reason = "a query with its own candidates, the layout up to 2020; expected one folder of cases for all queries"
            raise DataError(reason, path=file)
        if match is None:
            report.note("text file whose name is no number, not a case", path=file)
            continue
        try:
            text = _SUPPRESSED.sub(" ", decode(read_bytes(file), path=file)).replace("\xa0", " ").strip()
        except DataError as error:
            report.bad(error)
            continue
        number = match["number"]
        if number in seen:
            if seen[number][1] != text:
                report.bad(DataError(f"another case than {str(seen[number][0])!r} has the same number", path=file))
            continue
        seen[number] = (file, text)
        folders.add(file.parent)
        if not text:
            report.note("case without text", path=file)
        yield Document(number, text=text, kind=DocumentKind.DECISION)
    if len(folders) > 1:
        report.note(f"the cases of {len(folders)} folders are one corpus; to rank within one, import it with its labels alone")


def _labels(file: Path) -> tuple[str, dict[str, list[str]]]:
    """The split of a file, and the cases that each query case notices."""
    part = part_of(file.name.replace("_", " "))
    if part not in SPLITS:
        raise DataError("the name says no split; expected a word such as train or test in it", path=file)
    values = parse_json(read_bytes(file), str(file))
    if not isinstance(values, dict):
        raise DataError(f"expected an object of query case and list of cases, found {type(values).__name__}", path=file)
    found: dict[str, list[str]] = {}
    for case, targets in values.items():
        if not isinstance(targets, list) or not all(isinstance(target, str) for target in targets):
            raise DataError(f"expected a list of files for {case!r}, found {targets!r}"[:300], path=file)
        found[_number(case)] = list(dict.fromkeys(map(_number, targets)))
    return part.value, found


def _number(name: str) -> str:
    return name.strip().removesuffix(".txt")


def _known(case: str, targets: list[str], cases: Mapping[str, Document], split: str, report: ReadReport) -> Iterator[str]:
    for target in targets:
        if target == case:
            report.note("label of a case on itself, left out", path=f"{split}, case {case}")
        elif target not in cases:
            report.bad(DataError("a label on a case that is not in the folder", path=f"{split}, case {case}, label {target}"))
        else:
            yield target
    if not targets:
        report.note("query case without a label, kept without one", path=f"{split}, case {case}")
