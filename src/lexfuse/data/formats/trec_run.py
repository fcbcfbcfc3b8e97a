"""TREC runs: six columns ``query Q0 document rank score tag``. Judgements are in `lexfuse.data.formats.trec_qrels`.

The rank column is ignored: score and tie rule decide. The format loses queries without hits and the raw scores of sources.
White space in an id is written with signs in its place, so that trec_eval, ir_measures and ranx read six columns; see
`trec_qrels`. A run whose columns are separated by tabs is read too.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import orjson

from lexfuse.data.arrays import F32, F64, I32, I64
from lexfuse.data.files import chunks, decode, written_file
from lexfuse.data.formats.trec_qrels import encode_columns, id_columns, read_id, read_qrels, write_qrels
from lexfuse.data.ids import Ids
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, DataError

__all__ = ["read_qrels", "read_run", "stem", "write_qrels", "write_run"]

RUN_COLUMNS = 6
_SUFFIXES = (".gz", ".trec", ".txt", ".run", ".tsv")
_BOM = b"\xef\xbb\xbf"
_Hits = tuple[list[bytes], list[bytes], F64, I64]  # queries, documents, scores, line numbers


def read_run(path: str | Path, name: str | None = None, report: ReadReport | None = None) -> Run:
    """Read a run, plain or gzipped; it is named after the file, without ``.trec``, ``.txt``, ``.run`` and ``.gz``.

    >>> path = folder / "bm25.trec"
    >>> _ = path.write_text("q1 Q0 d7 1 3.5 bm25")
    >>> run = read_run(path)
    >>> run.name, run.hits("q1")
    ('bm25', [Hit(doc='d7', rank=1, score=3.5, parts={})])
    """
    report = report or ReadReport()
    queries, docs = _OrdinalTable(), _OrdinalTable()
    query, doc, score, line = [], [], [], []
    for query_names, doc_names, scores, numbers in _hits(path, report):
        query.append(queries.ordinals(query_names))
        doc.append(docs.ordinals(doc_names))
        score.append(scores)
        line.append(numbers)
    name = stem(path) if name is None else name
    if not query:
        report.note("no hits in the run", path=path)
        return Run.of(name, {})
    table = _without_repeats(
        queries.ids(),
        docs.ids(),
        np.concatenate(query),
        np.concatenate(doc),
        np.concatenate(score),
        np.concatenate(line),
        path,
        report,
    )
    return Run.from_arrays(name, *table)


def write_run(run: Run, path: str | Path, tag: str | None = None) -> None:
    r"""Write a run; each score has the fewest digits that give the same 32-bit number.

    >>> write_run(Run.of("x", {"q1": {"d7": 0.1}}), folder / "x.trec")
    >>> (folder / "x.trec").read_text()
    'q1 Q0 d7 1 0.1 x\n'
    """
    blocks = run_blocks(run, tag)
    with written_file(path) as out:
        out.writelines(blocks)


def run_blocks(run: Run, tag: str | None = None) -> Iterator[bytes]:
    r"""The bytes of a TREC run, query by query; values it cannot represent are refused before the first block."""
    tag = run.name if tag is None else tag
    if tag.split() != [tag]:
        raise ConfigError(f"the tag of a TREC run must be one word, got {tag!r}; pass another as tag")
    if not np.isfinite(run.score).all():
        raise DataError(f"run {run.name!r} has infinite scores, which a TREC file cannot represent")
    ranked = np.flatnonzero(np.diff(run.offsets))
    queries, docs = id_columns(run.queries, ranked), id_columns(run.docs, run.doc)
    ending = b" " + encode_columns(tag) + b"\n"
    scores = orjson.dumps(run.score, option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")

    def block(row: int, query: bytes) -> bytes:
        start, stop = int(run.offsets[row]), int(run.offsets[row + 1])
        ranking = zip(run.doc[start:stop].tolist(), scores[start:stop], strict=True)
        return b"".join(
            b" ".join((query, b"Q0", docs[at], b"%d" % rank, text)) + ending for rank, (at, text) in enumerate(ranking, 1)
        )

    return (block(row, query) for row, query in queries.items())


def columns(line: bytes) -> list[bytes]:
    r"""The columns of a line: split at white space or, if that gives too many, at tabs.

    >>> columns(b"q1 Q0 d7 1 3.5 x"), columns(b"q 1\tQ0\td7\t1\t3.5\tx")
    ([b'q1', b'Q0', b'd7', b'1', b'3.5', b'x'], [b'q 1', b'Q0', b'd7', b'1', b'3.5', b'x'])
    """
    words, tabbed = line.split(), line.rstrip(b"\r\n").split(b"\t")
    return tabbed if len(words) > RUN_COLUMNS == len(tabbed) else words


def stem(path: str | Path) -> str:
    """The name of a run, from its file name.

    >>> stem("runs/bm25.k1.trec.gz")
    'bm25.k1'
    """
    name = Path(path).name
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix) or name
    return name


class _OrdinalTable:
    """Ordinals by first appearance; names stay bytes until the end, since most are repeated."""

    def __init__(self) -> None:
        self.known: dict[bytes, int] = {}

    def ordinals(self, names: list[bytes]) -> I32:
        for name in dict.fromkeys(names):
            self.known.setdefault(name, len(self.known))
        return np.fromiter(map(self.known.__getitem__, names), dtype=np.int32, count=len(names))

    def ids(self) -> Ids:
        return Ids(read_id(name.decode()) for name in self.known)


def _hits(path: str | Path, report: ReadReport) -> Iterator[_Hits]:
    """The columns of each block of lines: at once if all lines are regular, else line by line."""
    for first, block in chunks(path):
        if first == 1:
            block = block.removeprefix(_BOM)
        hits = _block(block, first) or _line_by_line(block, first, path, report)
        if hits[0]:
            yield hits


def _block(block: bytes, first: int) -> _Hits | None:
    numbers = _regular_lines(block)
    if numbers is None:
        return None
    words = block.split()
    try:
        block.decode()
        with np.errstate(over="ignore"):
            scores = np.array(list(map(float, words[4::RUN_COLUMNS])), dtype=np.float64)
            sound = np.isfinite(scores.astype(np.float32)).all() and b"_" not in b"".join(words[4::RUN_COLUMNS])
    except ValueError:  # a score that is not a number, or bytes that are not UTF-8
        return None
    return (words[0::RUN_COLUMNS], words[2::RUN_COLUMNS], scores, numbers + first) if sound else None


def _regular_lines(block: bytes) -> I64 | None:
    """Numbers, from 0, of the lines that are not blank, or ``None`` if one does not have six columns."""
    data = np.frombuffer(block, dtype=np.uint8)
    space = (data == ord(" ")) | ((data >= ord("\t")) & (data <= ord("\r")))
    starts = np.flatnonzero(~space & np.concatenate([[True], space[:-1]]))
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    return np.flatnonzero(counts) if ((counts == RUN_COLUMNS) | (counts == 0)).all() else None


def _line_by_line(block: bytes, first: int, path: str | Path, report: ReadReport) -> _Hits:
    queries, docs, scores, numbers = [], [], [], []
    for number, line in enumerate(block.split(b"\n"), start=first):
        words = columns(line)
        if not words:
            continue
        try:
            decode(line, path=path, line=number)
            if len(words) != RUN_COLUMNS:
                raise DataError(f"expected the six columns 'query Q0 document rank score tag', got {len(words)}")
            scores.append(_score(words[4].decode()))
        except DataError as error:
            report.bad(DataError(error.reason, path=path, line=number))
            continue
        queries.append(words[0])
        docs.append(words[2])
        numbers.append(number)
    return queries, docs, np.array(scores, dtype=np.float64), np.array(numbers, dtype=np.int64)


def _score(word: str) -> float:
    try:
        score = float(word.replace("_", "?"))
    except ValueError:
        raise DataError(f"the score {word!r} is not a number") from None
    with np.errstate(over="ignore"):
        if not np.isfinite(np.float32(score)):
            raise DataError(f"the score {word!r} is not a finite 32-bit number")
    return score


def _without_repeats(
    queries: Ids, docs: Ids, query: I32, doc: I32, score: F64, line: I64, path: str | Path, report: ReadReport
) -> tuple[Ids, Ids, I32, I32, F32]:
    """Refuse the later lines of a document ranked twice, and note rankings that are not sorted."""
    pair = query.astype(np.int64) * len(docs) + doc
    _, kept = np.unique(pair, return_index=True)
    if len(kept) < len(pair):
        kept_at = dict(zip(pair[kept].tolist(), line[kept].tolist(), strict=True))
        for at in np.setdiff1d(np.arange(len(pair)), kept):
            reason = (
                f"query {queries[int(query[at])]!r} ranks document {docs[int(doc[at])]!r} already on line "
                f"{kept_at[int(pair[at])]}; keep one line"
            )
            report.bad(DataError(reason, path=path, line=int(line[at])))
        kept.sort()
        query, doc, score, line = query[kept], doc[kept], score[kept], line[kept]
    by_query = np.argsort(query, kind="stable")
    rising = (np.diff(query[by_query]) == 0) & (np.diff(score[by_query]) > 0)
    if rising.any():
        unordered = len(np.unique(query[by_query][1:][rising]))
        where = int(line[by_query][1:][rising].min())
        report.note(f"scores out of order in {unordered:,} rankings, sorted by score", path=path, line=where)
    report.kept += len(query)
    return queries, docs, query, doc, score.astype(np.float32)
