"""Split judgements for training: by time, by share, or by held-out documents. A query is never on two sides.

Time is the day of the query, and all queries of a day stay together, so nothing on one side is later than anything on the next.
Shares count judgements, as CJEU counts citations (section 3.1: about 80, 10 and 10 %), except random shares, which count queries.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from lexfuse.data.arrays import I32, I64, Bools, Days
from lexfuse.data.corpus import Corpus
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.dev_evaluation import first_ids
from lexfuse.train.examples.training_pair import stable_random


@dataclass(frozen=True, slots=True, eq=False)
class QrelsSplit:
    """Judgements of three consecutive periods, and the first day of the later two."""

    train: Qrels
    dev: Qrels
    test: Qrels
    dev_from: datetime.date
    test_from: datetime.date
    dropped: int = 0  # judgements of documents that are not earlier than the query


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The earliest judgements for training, and the next ones for validation."""

    train: Qrels
    dev: Qrels


class Field(StrEnum):
    """The fields by which a part of a corpus can be held out."""

    CODE = "code"
    COURT = "court"
    KIND = "kind"
    LANGUAGE = "language"


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """A corpus in two: the part that a model may see, and the part that it is tested on."""

    seen: Corpus
    held: Corpus
    train: Qrels  # of queries that no held-out document is judged for
    test: Qrels  # of held-out documents
    shared: int = 0  # queries judged on both sides: in the test, and not in the training


def temporal_split(
    queries: Queries,
    qrels: Qrels,
    *,
    dev: float,
    test: float,
    documents: Corpus | None = None,
    groups: Mapping[str, str] | None = None,
) -> QrelsSplit:
    """The latest share of the judgements as test, the share before it as dev, the rest as train.

    A boundary is between two days, where the shares are closest to the requested ones. With ``documents``, a judgement of a
    document that is undated or not earlier than its query is dropped and counted. ``groups`` (query id -> name) keeps queries
    together; a group has the date of its latest query.

    >>> queries = Queries.of(Query(f"q{year}", "…", date=datetime.date(year, 1, 1)) for year in range(2011, 2021))
    >>> split = temporal_split(queries, Qrels.of((f"q{year}", "d", 1) for year in range(2011, 2021)), dev=0.1, test=0.2)
    >>> split.dev.as_dict(), split.test_from
    ({'q2018': {'d': 1}}, datetime.date(2019, 1, 1))
    """
    for name, share in (("dev", dev), ("test", test)):
        _check_share(share, name)
    if dev + test >= 1:
        raise ConfigError(f"dev {dev} and test {test} leave nothing to train on; 0.1 each is usual")
    day = _days(queries, qrels)
    kept = np.ones(len(qrels), dtype=bool)
    if documents is not None:
        kept = np.asarray(documents.date[_ordinals(qrels, documents)] < day)  # false where there is no date
    if not kept.any():
        raise DataError(f"none of {len(qrels):,} judgements has a document that is earlier than its query; check the dates")
    dropped = len(qrels) - int(kept.sum())
    qrels, day = _rows(qrels, kept), day[kept]
    day = day if groups is None else _latest(day, qrels, groups)
    dev_from, test_from = _border(day, 1 - dev - test), _border(day, 1 - test)
    parts = {"train": day < dev_from, "dev": (dev_from <= day) & (day < test_from), "test": day >= test_from}
    for name, rows in parts.items():
        if not rows.any():
            count = len(np.unique(day))
            raise DataError(f"{name} would be empty: the judged queries are of {count:,} days; take other shares, or more data")
    found = {name: _rows(qrels, rows) for name, rows in parts.items()}
    return QrelsSplit(
        **found, dev_from=dev_from.astype(datetime.date), test_from=test_from.astype(datetime.date), dropped=dropped
    )


def chronological_share(queries: Queries, qrels: Qrels, share: float, *, dev: float = 0.1) -> Share:
    """The earliest share of the judgements, and the share right after it for validation, as in Table 6 of CJEU.

    There, 10 % of the data are 1978-2000, validated on 2001-2004; 20 % are 1978-2004, validated on 2005-2007, and so on: a
    growing past with a constant later test period, which must not be in ``qrels``. Shares refer to the given judgements. With
    ``dev`` 0 nothing is kept for validation.

    >>> queries = Queries.of(Query(f"q{year}", "…", date=datetime.date(year, 1, 1)) for year in range(2011, 2021))
    >>> share = chronological_share(queries, Qrels.of((f"q{year}", "d", 1) for year in range(2011, 2021)), 0.2)
    >>> list(share.train.queries), list(share.dev.queries)
    (['q2011', 'q2012'], ['q2013'])
    """
    _check_share(share, "share", whole=True)
    if not (math.isfinite(dev) and dev >= 0 and share + dev <= 1 + 1e-9):
        raise ConfigError(f"share {share} and dev {dev} must be at most 1 together, and dev not below 0; dev 0.1 is usual")
    day = _days(queries, qrels)
    start, stop = _border(day, share), _border(day, share + dev)
    chosen, next_ = _rows(qrels, day < start), _rows(qrels, (start <= day) & (day < stop))
    for name, part in (("the share", chosen), *((("dev", next_),) if dev else ())):
        if not len(part):
            raise DataError(f"{name} would be empty: the judged queries are of {len(np.unique(day)):,} days; take a larger share")
    return Share(chosen, next_)


def random_share(queries: Queries, qrels: Qrels, share: float, seed: int = 1) -> Qrels:
    """A random share of the judged queries with all their judgements; smaller shares of a seed are subsets of larger ones.

    >>> queries = Queries.of(Query(str(n), "…") for n in range(10))
    >>> tenth, half = (random_share(queries, Qrels.of((str(n), "d", 1) for n in range(10)), share) for share in (0.1, 0.5))
    >>> len(tenth), len(half), set(tenth.queries) < set(half.queries)
    (1, 5, True)
    """
    _check_share(share, "share", whole=True)
    names = _known(queries, qrels)
    count = math.floor(share * len(names) + 0.5)
    if not count:
        raise DataError(f"a share of {share} of {len(names):,} judged queries has no query; take at least {1 / len(names):.2g}")
    chosen = sorted(names, key=lambda name: (stable_random(seed, "share", name), name))[:count]
    return _of_queries(qrels, set(chosen))


def held_out(corpus: Corpus, field: Field, value: str, qrels: Qrels) -> HeldOut:
    """Hold one whole code (court, kind, language) out of corpus and training, to test how well a model transfers.

    A query with a held-out document among its relevant ones is tested on those and not trained on: its words would give the test
    away.

    >>> corpus = Corpus.of([Document("a", code="Code du travail"), Document("b", code="Code rural")])
    >>> held = held_out(corpus, Field.CODE, "Code rural", Qrels.of([("q1", "a", 1), ("q2", "a", 1), ("q2", "b", 1)]))
    >>> held.train.as_dict(), held.test.as_dict(), held.shared
    ({'q1': {'a': 1}}, {'q2': {'b': 1}}, 1)
    """
    column: Sequence[str] = getattr(corpus, Field(field).value)
    held = np.array([one == value for one in column], dtype=bool)
    if not held.any() or held.all():
        known = sorted({one for one in column if one})
        some = "all" if held.any() else "no"
        raise DataError(f"{some} documents have {field.value} {value!r}; there are {first_ids(known)}")
    inside = held[_ordinals(qrels, corpus)]
    pointing = set(_row_queries(qrels)[inside & (qrels.grade > 0)].tolist())
    tested = np.isin(_row_queries(qrels), np.array(sorted(pointing), dtype=np.int64))
    train, test = _rows(qrels, ~tested & ~inside), _rows(qrels, tested & inside)
    for name, part in (("train", train), ("test", test)):
        if not len(part):
            raise DataError(
                f"{name} would be empty: of {len(qrels):,} judgements {int(inside.sum()):,} are held out by {value!r}"
            )
    shared = len(set(_row_queries(qrels)[tested & ~inside].tolist()))
    return HeldOut(
        corpus.select(np.flatnonzero(~held).tolist()), corpus.select(np.flatnonzero(held).tolist()), train, test, shared
    )


def documents_before(corpus: Corpus, day: datetime.date) -> Corpus:
    """The documents earlier than a day: what a model tested from that day on may have seen.

    >>> corpus = Corpus.of(Document(f"d{year}", date=datetime.date(year, 1, 1)) for year in (2018, 2019))
    >>> list(documents_before(corpus, datetime.date(2019, 1, 1)).ids)
    ['d2018']
    """
    undated = np.flatnonzero(np.isnat(corpus.date))
    if len(undated):
        raise DataError(f"{len(undated):,} documents have no date: {first_ids([corpus.ids[int(at)] for at in undated])}")
    earlier = np.flatnonzero(corpus.date < np.datetime64(day))
    if not len(earlier):
        raise DataError(f"no document is earlier than {day}; the first is of {corpus.date.min() if len(corpus) else 'no day'}")
    return corpus.select(earlier.tolist())


def _check_share(share: float, name: str, *, whole: bool = False) -> None:
    if not (math.isfinite(share) and (0 < share < 1 or (whole and share == 1))):
        raise ConfigError(f"{name} must be above 0 and {'at most' if whole else 'below'} 1, got {share}; 0.1 is a tenth")


def _known(queries: Queries, qrels: Qrels) -> list[str]:
    """The queries that are judged, all of which must be there."""
    counts = np.diff(qrels.offsets)
    names = [name for name, count in zip(qrels.queries, counts, strict=True) if count]
    if not names:
        raise DataError("there are no judgements to divide")
    unknown = [name for name in names if name not in queries.ids]
    if unknown:
        raise DataError(f"{len(unknown):,} judged queries are not among the queries: {first_ids(unknown)}")
    return names


def _days(queries: Queries, qrels: Qrels) -> Days:
    """The day of the query of each judgement."""
    names = _known(queries, qrels)
    undated = [name for name in names if np.isnat(queries.date[queries.ids.ordinal(name)])]
    if undated:
        raise DataError(f"{len(undated):,} judged queries have no date: {first_ids(undated)}; date them, or take random shares")
    ordinals = queries.ids.ordinals(qrels.queries)[_row_queries(qrels)]
    return np.asarray(queries.date[ordinals])


def _ordinals(qrels: Qrels, documents: Corpus) -> I32:
    """The ordinal of the document of each judgement, all of which must be there."""
    ordinals: I32 = documents.ids.ordinals(qrels.docs)[qrels.doc]
    if (ordinals < 0).any():
        unknown = sorted({qrels.docs[int(at)] for at in qrels.doc[ordinals < 0]})
        raise DataError(f"{len(unknown):,} judged documents are not in the corpus: {first_ids(unknown)}")
    return ordinals


def _latest(day: Days, qrels: Qrels, groups: Mapping[str, str]) -> Days:
    """The latest day of the group of each judgement's query."""
    missing = [name for name in qrels.queries if name not in groups]
    if missing:
        raise DataError(f"{len(missing):,} queries have no group: {first_ids(missing)}; give each query a group")
    group = np.unique([groups[name] for name in qrels.queries], return_inverse=True)[1][_row_queries(qrels)]
    latest = np.full(int(group.max()) + 1, np.datetime64(datetime.date.min), dtype="datetime64[D]")
    np.maximum.at(latest, group, day)
    return np.asarray(latest[group])


def _border(day: Days, share: float) -> np.datetime64:
    """The first day of what comes after a share of the judgements: the one that comes nearest to it, the earlier of equals."""
    days, counts = np.unique(day, return_counts=True)
    before = np.concatenate([[0], np.cumsum(counts)])
    after = np.concatenate([days, [days[-1] + np.timedelta64(1, "D")]])
    border: np.datetime64 = after[int(np.argmin(np.abs(before - share * len(day)).round(9)))]
    return border


def _row_queries(qrels: Qrels) -> I64:
    return np.repeat(np.arange(len(qrels.queries), dtype=np.int64), np.diff(qrels.offsets))


def _of_queries(qrels: Qrels, names: set[str]) -> Qrels:
    chosen = np.array([name in names for name in qrels.queries], dtype=bool)
    return _rows(qrels, chosen[_row_queries(qrels)])


def _rows(qrels: Qrels, rows: Bools) -> Qrels:
    """Some of the judgements, with only their own queries and documents."""
    query, doc, grade = _row_queries(qrels)[rows].tolist(), qrels.doc[rows].tolist(), qrels.grade[rows].tolist()
    return Qrels.of((qrels.queries[q], qrels.docs[d], g) for q, d, g in zip(query, doc, grade, strict=True))
