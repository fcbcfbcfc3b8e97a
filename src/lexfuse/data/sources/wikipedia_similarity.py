"""The Wikipedia sets of SDR (Ginzburg et al. 2021; RPRS, table 6): articles on wines or video games, and similar ones by experts.

The files are those of the program ``microsoft/SDR``: a CSV table of articles (``raw_data``, published as ``wines.txt`` and
``video_games.txt``), whose second column is a Python list of sections, and ``gt``, a pickled dictionary of titles. The pickle may
hold dictionaries, text and numbers only; anything else is refused, so that no code of the file can run.
"""

from __future__ import annotations

import ast
import csv
import html
import io
import pickle
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.files import decode, existing, read_bytes
from lexfuse.data.formats.beir import Collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError, NotFoundError

ARTICLES_FILE = re.compile(r"raw_data(?:\.csv|\.txt)?|wines\.txt|video_games\.txt")
LABELS_FILE = "gt"
TEST = "test"  # the sets have no other split
_LARGEST_LABELS = 1 << 24  # bytes; the real files have 30,000
_LONGEST_FIELD = 1 << 30  # characters of an article


def read_wikipedia_similarity(path: str | Path, report: ReadReport | None = None) -> Collection:
    r"""All articles as documents; those with similar articles are also queries, and the labels are of the split test.

    >>> rows = 'title,sections\nCava,"[(\'\', \'A wine.\')]"\nChampagne,"[(\'History\', \'Old.\')]"\n'
    >>> _ = (folder / "raw_data").write_text(rows)
    >>> _ = (folder / "gt").write_bytes(pickle.dumps({"Cava": {"Champagne": 1}}))
    >>> collection = read_wikipedia_similarity(folder)
    >>> collection.corpus[1].text, collection.qrels["test"].as_dict()
    ('History\nOld.', {'0': {'1': 1}})
    """
    report = ReadReport() if report is None else report
    folder = existing(path)
    found = sorted(file for file in folder.rglob("*") if ARTICLES_FILE.fullmatch(file.name)) if folder.is_dir() else []
    if len(found) != 1 or not (found[0].parent / LABELS_FILE).is_file():
        seen = ", ".join(str(file.relative_to(folder)) for file in found) or "no table of articles"
        raise NotFoundError(
            f"no Wikipedia set of SDR in {str(path)!r}; expected one of raw_data, wines.txt, video_games.txt, and gt next to it; "
            f"found {seen}"
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
    """Whether a folder has a table of articles with the pickled labels next to it."""
    files = (file for file in path.rglob("*") if ARTICLES_FILE.fullmatch(file.name)) if path.is_dir() else ()
    return any((file.parent / LABELS_FILE).is_file() for file in files)


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
    for title, similar in _unpickled(file).items():
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


class _PlainUnpickler(pickle.Unpickler):
    """Builds dictionaries of text and numbers, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Only the two kinds of dictionary that the published files have."""
        allowed = {("collections", "defaultdict"): defaultdict, ("builtins", "dict"): dict}
        if (module, name) not in allowed:
            raise pickle.UnpicklingError(f"it holds {module}.{name}")
        return allowed[module, name]


def _unpickled(file: Path) -> Mapping[Any, Mapping[Any, int]]:
    raw = read_bytes(file)
    if len(raw) > _LARGEST_LABELS:
        raise DataError(f"has {len(raw):,} bytes; labels have at most {_LARGEST_LABELS:,}", path=file)
    try:
        values: Mapping[Any, Mapping[Any, int]] = _PlainUnpickler(io.BytesIO(raw)).load()
        good = isinstance(values, dict) and all(
            isinstance(one, dict) and all(type(count) is int for count in one.values()) for one in values.values()
        )
    except Exception as error:  # a damaged pickle raises anything
        raise DataError(f"not a pickled dictionary of titles ({error}); nothing else is read from a pickle", path=file) from None
    if not good:
        raise DataError("expected a dictionary of titles and, for each, of similar titles and counts", path=file)
    return values
