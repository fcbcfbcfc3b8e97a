"""Judgement files: TREC's four columns ``query 0 document grade``, or BEIR's three columns separated by tabs.

The first line decides; BEIR files may have the header ``query-id corpus-id score``. TREC columns are separated by white space, so
trec_eval, ir_measures and ranx would cut an id that contains some. It is written with signs in their place and read back as it
was: ``A 1`` is ``A␠1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from lexfuse.data.arrays import I32, I64
from lexfuse.data.files import decode, lines, written_file
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import DataError

BEIR_HEADER = "query-id\tcorpus-id\tscore"
QRELS_COLUMNS = 4
_SPACE_SIGN, _ESCAPE_SIGN = "\u2420", "\u241b"
_SIGN = re.compile(f"{_SPACE_SIGN}|{_ESCAPE_SIGN}([0-9A-F]{{1,4}}){_ESCAPE_SIGN}")
_GRADE = re.compile(r"[+-]?\d{1,10}")


def read_qrels(
    path: str | Path, report: ReadReport | None = None, *, queries: Ids | None = None, docs: Ids | None = None
) -> Qrels:
    """Read judgements in TREC or BEIR form; ids that are not in ``queries`` or ``docs``, where given, are refused.

    Documents get the ordinals of ``docs`` if it is given.

    >>> path = folder / "qrels.txt"
    >>> _ = path.write_text("q1 0 d7 2")
    >>> read_qrels(path).as_dict()
    {'q1': {'d7': 2}}
    """
    report = report or ReadReport()
    first: dict[tuple[str, str], int] = {}
    grades: list[int] = []
    for line, query, doc, grade in _judgements(path, report):
        try:
            if queries is not None and query not in queries:
                raise DataError(f"query {query!r} is not among the queries; remove the line or add the query")
            if docs is not None and doc not in docs:
                raise DataError(f"document {doc!r} is not in the corpus; remove the line or add the document")
            if (query, doc) in first:
                raise DataError(f"query {query!r} judges document {doc!r} already on line {first[query, doc]}; keep one line")
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))
            continue
        first[query, doc] = line
        grades.append(grade)
    report.kept += len(grades)
    if not grades:
        report.note("no judgements", path=path)
    names = Ids(dict.fromkeys(query for query, _ in first))
    docs = Ids(dict.fromkeys(doc for _, doc in first)) if docs is None else docs
    query_at, doc_at = names.ordinals(query for query, _ in first), docs.ordinals(doc for _, doc in first)
    return Qrels.from_arrays(names, docs, query_at, doc_at, np.array(grades, dtype=np.int32))


def write_qrels(qrels: Qrels, path: str | Path) -> None:
    r"""Write judgements, sorted by document id within a query: BEIR form for ``.tsv``, TREC form for other names.

    >>> write_qrels(Qrels.of([("q1", "d7", 2)]), folder / "test.tsv")
    >>> (folder / "test.tsv").read_text()
    'query-id\tcorpus-id\tscore\nq1\td7\t2\n'
    """
    content = qrels_lines(qrels, beir=Path(path).name.removesuffix(".gz").endswith(".tsv"))
    with written_file(path) as out:
        out.writelines(content)


def qrels_lines(qrels: Qrels, *, beir: bool = False) -> Iterator[bytes]:
    r"""The lines of a judgement file in TREC or BEIR form; ids it cannot represent are refused before the first line.

    >>> [line.decode() for line in qrels_lines(Qrels.of([("q1", "d7", 2), ("q1", "d 7", 1)]))]
    ['q1 0 d␠7 1\n', 'q1 0 d7 2\n']
    """
    query = np.repeat(np.arange(len(qrels.queries)), np.diff(qrels.offsets))
    queries, docs = id_columns(qrels.queries, query, spaced=beir), id_columns(qrels.docs, qrels.doc, spaced=beir)
    form = b"%b\t%b\t%d\n" if beir else b"%b 0 %b %d\n"
    order = np.lexsort((qrels.docs.order[qrels.doc], query))
    rows = zip(query[order].tolist(), qrels.doc[order].tolist(), qrels.grade[order].tolist(), strict=True)
    header = [BEIR_HEADER.encode() + b"\n"] if beir else []
    return chain(header, (form % (queries[row], docs[at], grade) for row, at, grade in rows))


def _judgements(path: str | Path, report: ReadReport) -> Iterator[tuple[int, str, str, int]]:
    beir = None
    for line, raw in lines(path):
        try:
            text = decode(raw, path=path, line=line)
            if beir is None:
                beir = text.count("\t") == 2
                if beir and _is_header(text):
                    continue
            if not text.strip():
                continue
            yield line, *_judgement(text, beir)
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=line))


def _is_header(text: str) -> bool:
    try:
        _judgement(text, beir=True)
    except DataError:
        return True
    return False


def _judgement(text: str, beir: bool) -> tuple[str, str, int]:
    columns = text.split("\t")
    if not beir and (len(columns) != QRELS_COLUMNS or len(text.split()) <= QRELS_COLUMNS):
        columns = text.split()
    if len(columns) != (3 if beir else QRELS_COLUMNS):
        form = "three columns 'query-id corpus-id score' separated by tabs" if beir else "four columns 'query 0 document grade'"
        raise DataError(f"expected the {form}, got {len(columns)}")
    query, doc, grade = columns[0], columns[-2], columns[-1].strip()
    if not query or not doc:
        raise DataError("the query or the document has no id")
    if not _GRADE.fullmatch(grade) or abs(int(grade)) >= 2**31:
        raise DataError(f"the grade {grade[:40]!r} is not a whole number below 2,147,483,648")
    return (query, doc, int(grade)) if beir else (read_id(query), read_id(doc), int(grade))


def id_columns(names: Ids, used: I32 | I64, *, spaced: bool = False) -> dict[int, bytes]:
    r"""The UTF-8 bytes of the used ids; an id with a tab or a line end, or an empty one, is refused.

    White space is kept only where it does not end a column (``spaced``), else `written_id` takes its place.
    """
    columns = {}
    for at in np.unique(used).tolist():
        name = names[at]
        if not name or name.startswith("\ufeff") or any(mark in name for mark in "\t\r\n"):
            raise DataError(f"id {name!r}: this format cannot represent an empty id or one with a tab or line end; rename it")
        columns[at] = encode_columns(name if spaced else written_id(name))
    return columns


def written_id(name: str) -> str:
    r"""An id without white space: ``␠`` for a space, ``␛A0␛`` for the character U+00A0; `read_id` is the inverse.

    >>> written_id("A 1"), written_id("A\xa01"), read_id("A␛A0␛1") == "A\xa01"
    ('A␠1', 'A␛A0␛1', True)
    """
    if name.split() == [name] and _SPACE_SIGN not in name and _ESCAPE_SIGN not in name:
        return name
    return "".join(_sign(mark) if mark.isspace() or mark in (_SPACE_SIGN, _ESCAPE_SIGN) else mark for mark in name)


def read_id(name: str) -> str:
    """The id that `written_id` wrote."""
    if _SPACE_SIGN not in name and _ESCAPE_SIGN not in name:
        return name
    return _SIGN.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", name)


def _sign(mark: str) -> str:
    return _SPACE_SIGN if mark == " " else f"{_ESCAPE_SIGN}{ord(mark):X}{_ESCAPE_SIGN}"


def encode_columns(name: str) -> bytes:
    """The UTF-8 bytes of an id; `DataError` if it cannot be encoded."""
    try:
        return name.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"id {name!r} cannot be written as UTF-8: {error.reason}; rename it") from None
