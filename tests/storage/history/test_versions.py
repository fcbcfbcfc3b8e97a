"""Versions in an index: a day's law is searched exactly as if the index held nothing else, whatever was written before."""

import datetime
from dataclasses import replace

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.document_history import in_force, is_absence, join_versions, versions_of
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, DataError, UnknownDocumentError
from lexfuse.index import Index
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.catalog_file import FORMAT, HISTORY_FORMAT
from lexfuse.storage.history.version_rows import MARK, rows_of
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["bail", "loyer", "preneur", "bailleur", "terme", "congé", "dépôt", "garantie", "caution", "état", "lieux", "meuble"]
QUERIES = Queries.of([Query(word, f"{word} terme", "fr") for word in WORDS])


def day(year, month=1, number=1):
    return datetime.date(year, month, number)


def version(id, text, start=None, end=None, **values):
    return Document(id, text=text, language="fr", valid_from=start, valid_to=end, **values)


def random_law(seed, documents=30):
    """Documents with up to five versions, gaps, absences, texts that return, and some without dates."""
    random = np.random.default_rng(seed)
    law = []
    for number in range(documents):
        years = sorted(random.choice(np.arange(1990, 2030), size=random.integers(1, 6), replace=False).tolist())
        texts = [" ".join(random.choice(WORDS, size=random.integers(2, 12))) for _ in range(3)]
        every = [version(f"a{number}", texts[random.integers(3)], day(year)) for year in years]
        every = [replace(one, valid_to=day(one.valid_from.year, 6)) if random.random() < 0.2 else one for one in every]
        if random.random() < 0.5:
            every.append(version(f"a{number}", "", day(1980), day(years[0])))
        if random.random() < 0.1:
            every = [version(f"a{number}", texts[0])]
        law += join_versions(every)
    return law


def law_on(documents, when):
    """The documents of a day, each in its version of that day, without history."""
    every = (one for document in documents for one in versions_of(document) if not is_absence(one) and in_force(one, when))
    return [replace(one, history=()) for one in every]


def ranking(snapshot):
    return BM25(snapshot).retrieve(QUERIES, 20).as_dict()


def open_day(folder, when):
    with IndexFolder(folder) as index:
        return index.snapshot().on(when)


def assert_same(folder, documents, when, other):
    """The snapshot of a day equals that of an index of the day's law alone."""
    IndexFolder.create(other, documents=law_on(documents, when), replace=True).close()
    with open_day(folder, when) as shown, open_day(other, when) as alone:
        assert sorted(shown.ids) == sorted(alone.ids)
        assert ranking(shown) == ranking(alone)
        assert shown.documents(sorted(shown.ids)) == alone.documents(sorted(alone.ids))
        assert [one.id for one in shown.heads(sorted(shown.ids))] == sorted(alone.ids)
        for name in ("valid_from", "valid_to", "title"):
            assert dict(zip(shown.ids, shown.column(name), strict=True)) == dict(zip(alone.ids, alone.column(name), strict=True))
            assert set(shown.coded(name)[1]) == set(alone.coded(name)[1])  # no values of other days
        for at, id in enumerate(shown.ids):
            assert shown.ids.ordinal(id) == at == shown.ids.ordinals([id, "nowhere"])[0]
            assert shown.ids[at] == id
            assert id in shown.ids
        assert shown.coverage(when).in_force == len(alone)


@pytest.mark.parametrize("seed", range(4))
def test_a_day_is_ranked_as_in_an_index_of_its_law_alone(tmp_path, seed):
    law = random_law(seed)
    IndexFolder.create(tmp_path / "law", documents=law).close()
    with IndexFolder(tmp_path / "law") as index:
        assert index.verify() == []
    for year in (1985, 1991, 2001, 2010, 2029):
        assert_same(tmp_path / "law", law, day(year, 3), tmp_path / "alone")


def test_changes_leave_no_trace(tmp_path):
    law, other = random_law(5), [replace(one, id=f"x{one.id}", history=()) for one in random_law(6)]
    changed = {one.id: one for one in random_law(7)}
    with IndexFolder.create(tmp_path / "law", documents=law) as index:
        for one in other:  # many small segments, which are merged
            index.add([one])
        assert index.delete([one.id for one in other]).deleted == len(other)
        counts = index.add([changed[id] for id in ("a3", "a4", "a5")], update=True)
        assert (counts.added, counts.updated) == (0, 3)
        assert index.delete(["a6", "a6", f"a7{MARK}2001-01-01"]).missing == (f"a7{MARK}2001-01-01",)
        assert index.verify() == []
    law = [changed[one.id] if one.id in ("a3", "a4", "a5") else one for one in law if one.id != "a6"]
    for action in ("merge", "rebuild"):
        for when in (day(1999, 3), day(2015, 3)):
            assert_same(tmp_path / "law", law, when, tmp_path / "alone")
        with IndexFolder(tmp_path / "law") as index:
            getattr(index, action)()
            assert index.verify() == []
    assert_same(tmp_path / "law", law, day(2015, 3), tmp_path / "alone")


def test_days_share_what_does_not_depend_on_them(tmp_path, monkeypatch):
    read, column = [], Catalog.column
    monkeypatch.setattr(Catalog, "column", lambda self, name: (read.append(name), column(self, name))[1])
    IndexFolder.create(tmp_path / "law", documents=random_law(8)).close()
    with open_day(tmp_path / "law", day(1999, 3)) as shown:
        read.clear()
        days = [shown.on(day(year, 3)) for year in (2001, 2010, 2015)]
        assert len({tuple(sorted(one.column("title"))) for one in days}) >= 1
        assert len({len(one) for one in days}) > 1
        assert read == ["title"]
        vocabularies = {id(one.postings("bm25").vocabulary) for one in days if len(one.segments) == len(days[0].segments)}
        assert len(vocabularies) == 1


def test_the_segment_of_todays_law_is_searched_alone(tmp_path):
    law = [join_versions([version(f"a{n}", "avant", day(1990)), version(f"a{n}", "après", day(2000))])[0] for n in range(9)]
    with IndexFolder.create(tmp_path / "law", documents=law) as index:
        index.merge()
        snapshot = index.snapshot()
        assert [len(segment.ids) for segment in snapshot.segments] == [9]
        assert snapshot.postings("bm25").alive.all()
        assert [len(segment.ids) for segment in snapshot.on(day(1995)).segments] == [9]
        snapshot.close()


def test_a_text_that_returns_is_stored_once_and_has_both_periods(tmp_path):
    every = [version("a", "un", day(1990)), version("a", "deux", day(2000)), version("a", "un", day(2010), day(2011))]
    with IndexFolder.create(tmp_path / "law", documents=join_versions(every)) as index:
        assert index._catalog._rows("SELECT count(*) FROM contents") == [(2,)]
        with index.snapshot() as snapshot:
            periods = [(one.id, one.text, one.valid_from.year, one.valid_to.year) for one in snapshot.history("a")]
            assert periods == [("a", "un", 1990, 2000), ("a", "deux", 2000, 2010), ("a", "un", 2010, 2011)]
            assert snapshot.on(day(1995)).document("a").valid_to == day(2000)
            assert snapshot.on(day(1995)).column("valid_to") == ["2000-01-01"]
            assert snapshot.on(day(2010, 5)).document("a").valid_from == day(2010)
            assert len(snapshot.on(day(2012))) == 0
            assert snapshot.on(day(2012)).document("a").text == "un"  # the newest can be read by its id


def test_versions_that_follow_each_other_with_the_same_text_are_one():
    every = versions_of(join_versions([version("a", "un", day(1990)), version("a", "un", day(2000), day(2010))])[0])
    assert [(one.valid_from, one.valid_to) for one in every] == [(day(1990), day(2010))]


def test_days_before_the_first_period_are_unknown_and_gaps_are_known(tmp_path):
    known = [version("known", "", day(1980), day(2000)), version("known", "né en 2000", day(2000))]
    gap = [version("gap", "avant", day(1980), day(1990)), version("gap", "après", day(2000))]
    documents = join_versions([*known, *gap, version("later", "depuis", day(2005)), version("undated", "toujours")])
    IndexFolder.create(tmp_path / "law", documents=documents).close()
    with IndexFolder(tmp_path / "law") as index, index.snapshot() as snapshot:
        found = {year: snapshot.coverage(day(year)) for year in (1970, 1985, 1995, 2010)}
        assert {year: (one.documents, one.in_force, one.unknown) for year, one in found.items()} == {
            1970: (4, 1, 3),
            1985: (4, 2, 1),
            1995: (4, 1, 1),
            2010: (4, 4, 0),
        }


def test_an_index_without_history_has_no_table_and_the_old_format(tmp_path):
    document = version("a", "la loi", day(1990), day(2000))
    with IndexFolder.create(tmp_path / "law", documents=[document]) as index, index.snapshot() as snapshot:
        assert not index._catalog.has_table("periods")
        assert index._catalog.meta("format") == FORMAT
        assert not snapshot.has_history
        assert len(snapshot) == 1  # a document that has ended is searched where no day is given
        assert snapshot.on(day(1900)) is snapshot
        index.add(join_versions([version("b", "un", day(1990)), version("b", "deux", day(2000))]))
        assert index._catalog.meta("format") == HISTORY_FORMAT
        with index.snapshot() as newer:
            assert list(newer.ids) == ["b"]  # with versions, the law of today is searched
        index.delete(["b"])
        with index.snapshot() as again:
            assert list(again.ids) == ["a"]
            assert not again.has_history
    with IndexFolder.create(tmp_path / "law", documents=[document], replace=True) as index:
        assert index._catalog.meta("format") == FORMAT


def test_the_engine_answers_by_the_version_of_the_day(tmp_path):
    every = [version("a", "le bail ancien", day(1990), code="Code civil", number="1"), version("b", "le dépôt", day(1990))]
    every += [version("a", "le bail nouveau", day(2000), code="Code civil", number="1")]
    with Index.build(tmp_path / "law", every) as index:
        assert len(index) == 2
        assert [hit.document.text for hit in index.search("bail")] == ["le bail nouveau"]
        assert index.search("bail").coverage.day == datetime.date.today()
        [hit] = index.search("bail", as_of="1995-01-01")
        assert (hit.id, hit.document.text) == ("a", "le bail ancien")
        assert hit.explain().score == pytest.approx(hit.score)
        assert [str(hit.snippet) for hit in index.search("article 1 du code civil", as_of="1995-01-01")] == ["le bail ancien"]
        assert [hit.document.text for hit in index.similar("un bail ancien", as_of=day(1995))] == ["le bail ancien"]
        assert index.run(Queries.of([Query("q", "ancien")]), as_of="1995-01-01").as_dict()["q"].keys() == {"a"}
        assert index.run(Queries.of([Query("q", "ancien")])).as_dict() == {"q": {}}
        assert index.explain("ancien", "a", as_of="1995-01-01").listed
        assert index.document("a").text == "le bail nouveau"
        assert index.document("a", as_of="1995-01-01").text == "le bail ancien"
        assert [one.text for one in index.history("a")] == ["le bail ancien", "le bail nouveau"]
        with pytest.raises(UnknownDocumentError, match=r"'a' is not in force on 1980-01-01; its versions: \[1990-01-01, 2000"):
            index.document("a", as_of="1980-01-01")
        for year in range(1950, 2000):  # more days than stay open
            index.search("bail", as_of=day(year))


def test_vectors_are_those_of_the_version(tmp_path):
    every = [
        version("a", "le bail ancien", day(1990)),
        version("a", "la pêche en mer", day(2000)),
        version("b", "le vin", day(1990)),
    ]
    with Index.build(tmp_path / "law", every, channels=["dense"]) as index:
        assert index.snapshot.channel("dense").named.passages == 3
        for when in (day(1995), day(2005)):
            alone = [one for one in law_on(join_versions(every), when)]
            with Index.build(tmp_path / "alone", alone, channels=["dense"], replace=True) as other:
                for question in ("un bail", "la mer"):
                    found, expected = (one.search(question, channels=["dense"], as_of=when) for one in (index, other))
                    assert [(hit.id, hit.score) for hit in found] == [(hit.id, hit.score) for hit in expected]


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ([version("a", "x", day(1990), day(2001)), version("a", "y", day(2000))], "periods overlap"),
        ([version("a", "x", day(1990)), version("a", "y", day(1990))], "is repeated"),
        ([version("a", "x"), version("a", "y")], "is repeated"),
        ([version("a", "", day(1990)), version("a", "", day(2000))], "only versions without title and text"),
        ([Document(f"a{MARK}", text="x"), version("b", "x", day(1)), version("b", "y", day(2))], "choose another id"),
    ],
)
def test_impossible_histories_are_refused(tmp_path, documents, said):
    with pytest.raises(DataError, match=said):
        IndexFolder.create(tmp_path / "law", documents=join_versions(documents))


def test_a_version_with_another_id_is_refused():
    with pytest.raises(DataError, match="another id"):
        rows_of([replace(version("a", "x", day(2000)), history=(version("b", "y", day(1990)),))])


def test_a_filter_by_another_day_than_the_snapshots_is_refused(tmp_path):
    from lexfuse.storage.filters import within

    IndexFolder.create(tmp_path / "law", documents=random_law(1)).close()
    with open_day(tmp_path / "law", day(2001)) as snapshot:
        assert within(snapshot, as_of=day(2001)) is None
        with pytest.raises(ConfigError, match=r"take snapshot\.on"):
            within(snapshot, as_of=day(1990))


def test_damaged_periods_are_found(tmp_path):
    IndexFolder.create(tmp_path / "law", documents=random_law(2)).close()
    catalog = Catalog.open(tmp_path / "law")
    catalog.connection.execute("UPDATE periods SET serial = 99999 WHERE serial = (SELECT max(serial) FROM periods)")
    catalog.close()
    with IndexFolder(tmp_path / "law") as index:
        found = "\n".join(index.verify())
        assert "table periods has other rows than were written" in found
        assert "has a period without a text" in found
        with pytest.raises(DataError, match="has a period without a text"):
            index.snapshot()


def test_postgres_refuses_an_index_with_history(tmp_path):
    from lexfuse.channels.postgres.export import export_index
    from lexfuse.storage.postgres.address import PostgresAddress

    IndexFolder.create(tmp_path / "law", documents=random_law(3)).close()
    address = PostgresAddress.parse("postgresql://nobody@localhost/nothing")
    with open_day(tmp_path / "law", day(2001)) as snapshot, pytest.raises(ConfigError, match="PostgreSQL holds one version"):
        export_index(snapshot, "law", address)
