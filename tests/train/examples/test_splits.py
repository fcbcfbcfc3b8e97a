import datetime
import os
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.formats.beir import read_collection
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.splits import Field, chronological_share, documents_before, held_out, random_share, temporal_split

START = date(2000, 1, 1)


def day(number: int) -> date:
    return START + datetime.timedelta(days=number)


def some(seed: int, count: int = 200) -> tuple[Queries, Qrels]:
    """Queries of random days, many of them on the same, each with one to four judgements."""
    chosen = np.random.default_rng(seed)
    queries = Queries.of(Query(f"q{n}", "…", date=day(int(chosen.integers(60)))) for n in range(count))
    return queries, Qrels.of((id, f"d{n}", n % 2) for id in queries.ids for n in range(chosen.integers(1, 5)))


def days_of(queries: Queries, qrels: Qrels) -> set[date]:
    return {queries.query(id).date for id in qrels.queries}


@pytest.mark.parametrize("seed", range(8))
def test_periods_follow_each_other_and_lose_nothing(seed):
    queries, qrels = some(seed)
    split = temporal_split(queries, qrels, dev=0.15, test=0.2)
    train, dev, test = (days_of(queries, part) for part in (split.train, split.dev, split.test))
    assert max(train) < split.dev_from <= min(dev)
    assert max(dev) < split.test_from <= min(test)
    assert split.train.as_dict() | split.dev.as_dict() | split.test.as_dict() == qrels.as_dict()
    assert len(split.train) + len(split.dev) + len(split.test) == len(qrels)
    assert abs(len(split.test) / len(qrels) - 0.2) < 0.03
    assert abs(len(split.dev) / len(qrels) - 0.15) < 0.04


def test_the_order_of_queries_and_judgements_does_not_matter():
    queries, qrels = some(1)
    rows = [(query, doc, grade) for query, judged in qrels.as_dict().items() for doc, grade in judged.items()]
    one, two = (
        temporal_split(queries, found, dev=0.1, test=0.1)
        for found in (qrels, Qrels.of(rows[n] for n in np.random.default_rng(2).permutation(len(rows))))
    )
    assert (one.test.as_dict(), one.dev_from) == (two.test.as_dict(), two.dev_from)


def test_judgements_of_documents_that_are_not_earlier_are_dropped_and_counted():
    queries = Queries.of(Query(f"q{n}", "…", date=day(n)) for n in range(1, 11))
    documents = Corpus.of([Document("old", date=day(0)), Document("new", date=day(5)), Document("undated")])
    qrels = Qrels.of((f"q{n}", id, 1) for n in range(1, 11) for id in documents.ids)
    split = temporal_split(queries, qrels, dev=0.2, test=0.2, documents=documents)
    assert split.dropped == 10 + 5
    assert split.train.as_dict()["q5"] == {"old": 1}
    assert all(set(judged) == {"old", "new"} for judged in split.test.as_dict().values())


def test_a_group_stands_where_its_latest_query_does():
    queries = Queries.of(Query(f"q{n}", "…", date=day(n)) for n in range(10))
    qrels = Qrels.of((f"q{n}", "d", 1) for n in range(10))
    groups = {f"q{n}": "pair" if n in (0, 9) else f"q{n}" for n in range(10)}
    split = temporal_split(queries, qrels, dev=0.2, test=0.2, groups=groups)
    assert set(split.test.queries) == {"q0", "q9"}
    with pytest.raises(DataError, match="1 queries have no group: 'q3'"):
        temporal_split(queries, qrels, dev=0.2, test=0.2, groups={id: g for id, g in groups.items() if id != "q3"})


@pytest.mark.parametrize(
    "shares", [(0, 0.1), (0.1, 0), (-0.1, 0.1), (1.5, 0.1), (0.5, 0.5), (float("nan"), 0.1), (0.1, float("inf"))]
)
def test_bad_shares(shares):
    queries, qrels = some(1)
    with pytest.raises(ConfigError, match=r"must be above 0 and below 1|leave nothing to train on"):
        temporal_split(queries, qrels, dev=shares[0], test=shares[1])


@pytest.mark.parametrize(
    "divide", [lambda q, r: temporal_split(q, r, dev=0.1, test=0.1), lambda q, r: chronological_share(q, r, 0.5)]
)
def test_queries_without_a_date_are_named(divide):
    queries = Queries.of([Query("dated", "…", date=day(1)), *(Query(f"q{n}", "…") for n in range(5)), Query("unjudged", "…")])
    qrels = Qrels.of([("dated", "d", 1), *((f"q{n}", "d", 1) for n in range(5))])
    with pytest.raises(DataError, match=r"5 judged queries have no date: 'q0', 'q1', 'q2' …; date them, or take random shares"):
        divide(queries, qrels)


def test_too_few_days_cannot_be_divided():
    queries = Queries.of(Query(f"q{n}", "…", date=day(n % 2)) for n in range(10))
    with pytest.raises(DataError, match="would be empty: the judged queries are of 2 days"):
        temporal_split(queries, Qrels.of((f"q{n}", "d", 1) for n in range(10)), dev=0.1, test=0.1)


def test_nothing_earlier_at_all():
    queries = Queries.of([Query("q", "…", date=day(1))])
    with pytest.raises(DataError, match="none of 1 judgements"):
        temporal_split(queries, Qrels.of([("q", "d", 1)]), dev=0.1, test=0.1, documents=Corpus.of([Document("d", date=day(1))]))


def test_unknown_queries_and_documents_are_named():
    queries = Queries.of([Query("q", "…", date=day(1))])
    with pytest.raises(DataError, match="1 judged queries are not among the queries: 'other'"):
        random_share(queries, Qrels.of([("other", "d", 1)]), 0.5)
    with pytest.raises(DataError, match="1 judged documents are not in the corpus: 'd'"):
        temporal_split(queries, Qrels.of([("q", "d", 1)]), dev=0.1, test=0.1, documents=Corpus.of([Document("e")]))
    with pytest.raises(DataError, match="no judgements"):
        random_share(queries, Qrels.of([]), 0.5)


@pytest.mark.parametrize("seed", range(4))
def test_chronological_shares_grow_from_the_past_and_validate_on_what_comes_next(seed):
    queries, qrels = some(seed)
    before: set[str] = set()
    for share in (0.1, 0.2, 0.3, 0.5, 0.7, 0.8):
        found = chronological_share(queries, qrels, share)
        assert max(days_of(queries, found.train)) < min(days_of(queries, found.dev))
        assert before <= set(found.train.queries)
        assert abs(len(found.train) / len(qrels) - share) < 0.03
        before = set(found.train.queries)
    assert chronological_share(queries, qrels, 1, dev=0).train.as_dict() == qrels.as_dict()
    assert len(chronological_share(queries, qrels, 0.5, dev=0).dev) == 0


@pytest.mark.parametrize(("share", "dev"), [(0, 0.1), (1.1, 0), (0.95, 0.1), (0.5, -0.1), (0.5, float("nan"))])
def test_bad_chronological_shares(share, dev):
    queries, qrels = some(1)
    with pytest.raises(ConfigError, match=r"0\.1 is"):
        chronological_share(queries, qrels, share, dev=dev)


def test_a_chronological_share_may_be_too_small():
    queries = Queries.of(Query(f"q{n}", "…", date=day(n // 5)) for n in range(10))
    with pytest.raises(DataError, match="the share would be empty"):
        chronological_share(queries, Qrels.of((f"q{n}", "d", 1) for n in range(10)), 0.1)


@pytest.mark.parametrize("seed", range(4))
def test_random_shares_are_nested_and_keep_queries_whole(seed):
    queries, qrels = some(7)
    before: dict[str, dict[str, int]] = {}
    for share in (0.01, 0.1, 0.2, 0.5, 1.0):
        found = random_share(queries, qrels, share, seed).as_dict()
        assert len(found) == round(share * len(queries))
        assert before.items() <= found.items()
        assert found.items() <= qrels.as_dict().items()
        before = found
    assert random_share(queries, qrels, 0.5, 1).as_dict() != random_share(queries, qrels, 0.5, 2).as_dict()


def test_random_shares_refuse_what_cannot_be():
    queries, qrels = some(7, count=10)
    with pytest.raises(ConfigError, match="share must be above 0 and at most 1, got 0"):
        random_share(queries, qrels, 0)
    with pytest.raises(DataError, match=r"a share of 0.01 of 10 judged queries has no query; take at least 0.1"):
        random_share(queries, qrels, 0.01)


CODES = Corpus.of(Document(f"{code}{n}", code=code, language="fr") for code in ("travail", "rural", "civil") for n in range(3))


def test_a_held_out_code_is_in_nothing_that_is_trained_on():
    qrels = Qrels.of(
        [
            ("only", "rural0", 2),
            ("both", "rural1", 1),
            ("both", "travail1", 1),
            ("none", "civil0", 1),
            ("none", "rural2", 0),
        ]
    )
    held = held_out(CODES, Field.CODE, "rural", qrels)
    assert set(held.held.code) == {"rural"}
    assert len(held.seen) + len(held.held) == len(CODES)
    assert held.test.as_dict() == {"only": {"rural0": 2}, "both": {"rural1": 1}}
    assert held.train.as_dict() == {"none": {"civil0": 1}}  # what is judged irrelevant of the code goes too
    assert held.shared == 1


def test_holding_out_refuses_what_is_not_there_or_leaves_nothing():
    qrels = Qrels.of([("a", "rural0", 1)])
    with pytest.raises(DataError, match="no documents have code 'pénal'; there are 'civil', 'rural', 'travail'"):
        held_out(CODES, Field.CODE, "pénal", qrels)
    with pytest.raises(DataError, match="all documents have language 'fr'"):
        held_out(CODES, Field.LANGUAGE, "fr", qrels)
    with pytest.raises(DataError, match="train would be empty"):
        held_out(CODES, Field.CODE, "rural", qrels)
    with pytest.raises(DataError, match="test would be empty"):
        held_out(CODES, Field.CODE, "civil", qrels)
    with pytest.raises(DataError, match="not in the corpus: 'x'"):
        held_out(CODES, Field.CODE, "civil", Qrels.of([("a", "x", 1)]))


def test_documents_before_a_day():
    corpus = Corpus.of(Document(str(n), date=day(n)) for n in range(5))
    assert list(documents_before(corpus, day(2)).ids) == ["0", "1"]
    with pytest.raises(DataError, match="no document is earlier than 2000-01-01; the first is of 2000-01-01"):
        documents_before(corpus, day(0))
    with pytest.raises(DataError, match="1 documents have no date: 'x'"):
        documents_before(Corpus.of([Document("x")]), day(0))


def test_real_judgments_split_in_time():
    data = os.environ.get("LEXFUSE_DATA")
    if not data:
        pytest.skip("LEXFUSE_DATA does not name the folder of the collections")
    collection = read_collection(Path(data, "cjeu"))
    triples = [
        (query, doc, grade)
        for qrels in collection.qrels.values()
        for query, judged in qrels.as_dict().items()
        for doc, grade in judged.items()
    ]
    split = temporal_split(collection.queries, Qrels.of(triples), dev=0.1, test=0.1, documents=collection.corpus)
    assert split.dropped == 0
    assert 0.05 < len(split.test) / len(triples) < 0.15
