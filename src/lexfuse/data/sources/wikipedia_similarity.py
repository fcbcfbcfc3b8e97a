"""The Wikipedia sets of SDR (Ginzburg et al. 2021; RPRS, table 6): articles on wines or video games, and similar ones by experts.

The files are those of the program ``microsoft/SDR``: a CSV table of articles (``raw_data``, published as ``wines.txt`` and
``video_games.txt``), whose second column is a Python list of sections, and ``gt``, a pickled dictionary of titles. Nothing is
unpickled: the labels are read from ``gt.json``, and where there is only ``gt``, the error says how to convert it.
"""

from __future__ import annotations

import ast
import csv
import html
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from lexfuse.data.archives import parse_json
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import decode, existing, read_bytes
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError

ARTICLES_FILE = re.compile(r"raw_data(?:\.csv|\.txt)?|wines\.txt|video_games\.txt")
LABELS_FILE, PICKLED_LABELS = "gt.json", "gt"
TEST = "test"  # the sets have no other split
_CONVERSION = """python -c "import json, pickle; json.dump(pickle.load(open('gt', 'rb')), open('gt.json', 'w'))\""""
_LONGEST_FIELD = 1 << 30  # characters of an article


def read_wikipedia_similarity(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""All articles as documents; those with similar articles are also queries, and the labels are of the split test.

    >>> rows = 'title,sections\nCava,"[(\'\', \'A wine.\')]"\nChampagne,"[(\'History\', \'Old.\')]"\n'
    >>> _ = (folder / "raw_data").write_text(rows)
    >>> _ = (folder / "gt.json").write_text('{"Cava": {"Champagne": 1}}')
    >>> collection = read_wikipedia_similarity(folder)
    >>> collection.corpus[1].text, collection.qrels["test"].as_dict()
    ('History\nOld.', {'0': {'1': 1}})
    """
    report = ReadReport() if report is None else report
    folder = existing(path)
    found = sorted(file for file in folder.rglob("*") if ARTICLES_FILE.fullmatch(file.name)) if folder.is_dir() else []
    if len(found) != 1 or not _labels_next_to(found[0]):
        seen = ", ".join(str(file.relative_to(folder)) for file in found) or "no table of articles"
        raise NotFoundError(
            f"no Wikipedia set of SDR in {str(path)!r}; expected one of raw_data, wines.txt, video_games.txt, and gt.json next "
            f"to it; found {seen}"
        )
    corpus = Corpus.of(_articles(found[0], report))
    numbers: dict[str, str] = {}
    for document in corpus:
        numbers.setdefault(document.title, document.id)
    triples = list(_labels(found[0].parent / LABELS_FILE, numbers, report))
    asked = [corpus.document(id) for id in dict.fromkeys(query for query, _, _ in triples)]
    queries = [Query(one.id, f"{one.title}\n{one.text}", language="en", extra={"title": one.title}) for one in asked]
    report.kept += len(corpus) + len(queries)
    return Collection(corpus, Queries.of(queries) if queries else None, {TEST: Qrels.of(triples)} if triples else {})


def is_wikipedia_similarity(path: Path) -> bool:
    """Whether a folder has a table of articles with labels next to it, pickled ones included."""
    files = (file for file in path.rglob("*") if ARTICLES_FILE.fullmatch(file.name)) if path.is_dir() else ()
    return any(_labels_next_to(file) for file in files)


def _labels_next_to(articles: Path) -> bool:
    return any((articles.parent / name).is_file() for name in (LABELS_FILE, PICKLED_LABELS))


def _articles(file: Path, report: ReadReport) -> Iterator[Document]:
    """The articles; their ids are their numbers in the file, from 0, as in the program."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(io.StringIO(decode(read_bytes(file), path=file), newline=""))
    try:
        for number, fields in enumerate(reader, start=-1):
            if number < 0:
                continue
            if len(fields) < 2:
                report.bad(
                    DataError(
                        f"expected a title and a list of sections, found {len(fields)} fields", path=file, line=reader.line_num
                    )
                )
                continue
            try:
                text = _text(fields[1])
            except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
                reason = f"the sections are no list of titles and texts ({type(error).__name__})"
                report.bad(DataError(reason, path=f"{file}, article {number}", line=reader.line_num))
                continue
            yield Document(str(number), title=html.unescape(fields[0]).strip(), text=text, language="en")
    except csv.Error as error:
        raise DataError(f"not valid CSV ({error}); is a quote not closed?", path=file, line=reader.line_num) from None


def _text(sections: str) -> str:
    """The sections that have a text, each under its title."""
    parts = []
    for section in ast.literal_eval(sections):
        title, text = str(section[0]).strip(), str(section[1]).strip()
        if text:
            parts.append(f"{title}\n{text}" if title else text)
    return "\n".join(parts)


def _labels(file: Path, numbers: Mapping[str, str], report: ReadReport) -> Iterator[tuple[str, str, int]]:
    """Query, similar article and how often it was named; titles are compared without HTML entities, as the program does."""
    for title, similar in _counts(file).items():
        query = numbers.get(html.unescape(str(title)).strip())
        if query is None:
            report.note("title with labels that is not in the collection, left out", path=f"{file}, {title}")
            continue
        for other, count in similar.items():
            target = numbers.get(html.unescape(str(other)).strip())
            if target is None:
                report.note("similar article that is not in the collection, left out", path=f"{file}, {title}: {other}")
            elif target != query:
                yield query, target, int(count)


def _counts(file: Path) -> Mapping[str, Mapping[str, int]]:
    if not file.is_file():
        pickled = file.with_name(PICKLED_LABELS)
        raise DataError(f"pickled labels are not read, since a pickle may run code; if you trust it: {_CONVERSION}", path=pickled)
    values = parse_json(read_bytes(file), str(file))
    if not isinstance(values, dict) or not all(
        isinstance(similar, dict) and all(type(count) is int for count in similar.values()) for similar in values.values()
    ):
        raise DataError("expected an object of titles and, for each, of similar titles and counts", path=file)
    return values
