"""The export: complete or nothing, once, refused where it would harm; names of schemas and fields are never SQL."""

import datetime
import threading
from dataclasses import replace

import pytest

import lexfuse
from lexfuse.channels.postgres.export import ExportOptions, export_index
from lexfuse.channels.registry import open_retriever
from lexfuse.errors import ConfigError, DataError, GoneError, LexFuseError, StorageError, UnknownIndexError
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.postgres.address import PostgresAddress

SCHEMAS = ["plain", 'with "quotes" and space', "x; DROP SCHEMA public; --", "Élan.été", "{documents} $1 \\", "a.b"]


@pytest.fixture
def tables(sql):
    """The names of the tables of a schema."""
    return lambda schema: {name for own, name in sql("SELECT schemaname, tablename FROM pg_tables") if own == schema}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_name_of_a_schema_is_quoted(export, law, schema):
    address, result = export(schema, channels=("dense",))
    assert result.written
    assert result.documents == len(law)
    with lexfuse.Index(address) as index:
        assert index.name == schema
        assert index.search("préavis de démission", k=3, channels=["bm25", "dense"])
        assert index.search("préavis", k=3, channels=["bm25"], filters=["number^=L1"])


def test_documents_come_back_as_they_were(law, exported):
    ids = list(law.snapshot.ids)
    assert sorted(ids) == list(exported.snapshot.ids)
    assert exported.snapshot.documents(ids) == law.snapshot.documents(ids)
    assert exported.snapshot.heads([*ids, "nowhere"]) == law.snapshot.heads(ids)
    for name in ("code", "valid_to", "language"):
        assert sorted(map(str, exported.snapshot.column(name))) == sorted(map(str, law.snapshot.column(name)))


def test_the_law_of_a_day_is_exported_from_an_index_with_history(export, law, tmp_path, tiny):
    """A day's versions, their vectors and their dates; without a day, or with one where there are no versions, it is refused."""
    dates = [datetime.date(year, 1, 1) for year in (1990, 2000, 2010)]
    texts = ("Le bail prend fin.", "Le bail est renouvelé.", "Le congé met fin au bail.")
    versions = [lexfuse.Document("a", text=text, language="fr", valid_from=day) for text, day in zip(texts, dates, strict=True)]
    other = lexfuse.Document("b", text="Le loyer est payé.", language="fr", valid_from=dates[1])
    channels = {"dense": str(tiny.folder(tmp_path / "model"))}
    with lexfuse.Index.build(tmp_path / "time.index", [*versions, other], channels=channels) as single:
        with pytest.raises(ConfigError, match=r"several; choose the day whose law is exported: --as-of"):
            export("time", tmp_path / "time.index")
        for day, count in (("1995-06-01", 1), ("2005-06-01", 2)):
            address, result = export("time", tmp_path / "time.index", as_of=datetime.date.fromisoformat(day), replace=True)
            assert (result.written, result.documents) == (True, count)
            with lexfuse.Index(address) as index:
                for search in ({"channels": ["dense"]}, {"channels": ["bm25"]}):
                    ours, theirs = (one.search("bail", as_of=day, **search) for one in (index, single))
                    assert [hit.document for hit in ours] == [hit.document for hit in theirs]
                assert not index.search("bail", as_of="1980-01-01", channels=["bm25"])
    with pytest.raises(ConfigError, match="no versions, and all are exported; leave out --as-of"):
        export("time", law.folder, as_of=dates[0])


def test_the_same_index_is_written_once(export):
    _, first = export("once")
    _, second = export("once")
    assert (first.written, second.written) == (True, False)
    assert replace(second, written=True) == first


def test_another_index_is_replaced_only_when_asked(export, tmp_path, tables):
    other = tmp_path / "other.index"
    lexfuse.Index.build(other, [lexfuse.Document("only", text="Une seule loi.", language="fr")]).close()
    address, _ = export("taken")
    with pytest.raises(StorageError, match=r"has another index.*--force.*\?schema="):
        export("taken", other)
    with lexfuse.Index(address) as index:
        before = len(index), len(index.search("préavis", k=5, channels=["bm25"]))
        export("taken", other, replace=True)
        with pytest.raises(GoneError, match="exported again since it was opened"):
            index.search("préavis", k=5, channels=["bm25"])
        index.refresh()
        assert before == (59, 5)
        assert [hit.id for hit in index.search("loi")] == ["only"]
    assert tables("taken") == {"settings", "documents", "lexemes"}


@pytest.mark.parametrize("change", ["format = 1", "content = '{}'", "content = '[]'"])
def test_an_index_that_cannot_be_read_is_replaced_when_asked(export, sql, change):
    address, _ = export("unread", channels=("dense",), replace=True)
    sql(f"UPDATE unread.settings SET {change}")  # noqa: S608
    with pytest.raises(DataError, match=r"export (it|the index) again"):
        len(lexfuse.Index(address))
    with pytest.raises(StorageError, match="has another index, or another state of it; replace it with --force"):
        export("unread", channels=("dense",))
    assert export("unread", channels=("dense",), replace=True)[1].written
    with lexfuse.Index(address) as index:
        assert index.search("préavis", k=3, channels=["dense"])


def test_tables_of_others_are_left_alone(export, sql, tables):
    sql("CREATE SCHEMA shop", "CREATE TABLE shop.documents (invoice text)")
    with pytest.raises(StorageError, match="a table 'documents' that LexFuse did not write"):
        export("shop", replace=True)
    assert tables("shop") == {"documents"}


@pytest.mark.parametrize("table", ["settings", "lexemes", "vectors of dense", "weights of splade", "terms of splade"])
def test_a_schema_of_another_program(export, sql, tables, table):
    schema = f"other {table}"
    sql(f'CREATE SCHEMA "{schema}"', f'CREATE TABLE "{schema}"."{table}" (invoice text)')
    with pytest.raises(StorageError, match=rf"has a table '{table}' that LexFuse did not write; name another schema"):
        export(schema, replace=True)
    assert tables(schema) == {table}


def test_settings_of_another_program_are_no_index(sql, postgres_server):
    sql("CREATE SCHEMA app", "CREATE TABLE app.settings (key text, value text)")
    with pytest.raises(StorageError, match="has a table 'settings' that LexFuse did not write"):
        len(lexfuse.Index(f"{postgres_server}&schema=app"))


def test_a_view_of_others_keeps_the_export_from_destroying_it(export, sql, tmp_path):
    export("viewed")
    sql("CREATE VIEW public.mine AS SELECT id FROM viewed.documents")
    other = tmp_path / "other.index"
    lexfuse.Index.build(other, [lexfuse.Document("only", text="Une loi.", language="fr")]).close()
    with pytest.raises(StorageError, match=r"cannot drop table viewed\.documents because other objects depend on it"):
        export("viewed", other, replace=True)
    assert sql("SELECT count(*) FROM public.mine") == [(59,)]
    sql("DROP VIEW public.mine")


def test_an_export_that_fails_leaves_nothing(export, tmp_path, sql):
    broken = tmp_path / "broken.index"
    lexfuse.Index.build(broken, [lexfuse.Document("a", text="bien"), lexfuse.Document("b", text="mal\0")]).close()
    with pytest.raises(DataError, match="document 'b' has the character NUL"):
        export("broken", broken)
    assert sql("SELECT 1 FROM pg_namespace WHERE nspname = 'broken'") == []


def exported_with(address, folder, progress, **options):
    with open_snapshot(folder) as snapshot:
        export_index(snapshot, "law", address, ExportOptions(replace=True, **options), progress=progress)


def test_an_interrupted_export_leaves_what_was_there(export, law_folder, tables):
    address, _ = export("stopped")
    before = tables("stopped")

    def interrupt(_):
        raise KeyboardInterrupt

    other = replace(address, schema="stopped new")
    with pytest.raises(KeyboardInterrupt):
        exported_with(other, law_folder, interrupt)
    with pytest.raises(KeyboardInterrupt):
        exported_with(address, law_folder, interrupt, b=0.5)  # else it would be up to date
    assert (tables("stopped"), tables("stopped new")) == (before, set())
    with lexfuse.Index(address) as index:
        assert len(index.search("préavis", k=3)) == 3


def test_a_server_that_ends_the_connection_of_an_export(law_folder, postgres_server, sql, tables):
    address = PostgresAddress.parse(f"{postgres_server}&schema=ended")

    def end(_):
        own = "SELECT pid FROM pg_stat_activity WHERE application_name = 'lexfuse' AND xact_start IS NOT NULL"
        sql(f"SELECT pg_terminate_backend(pid, 60000) FROM ({own}) AS export")  # noqa: S608

    with pytest.raises(StorageError, match=r"schema=ended: .*"):
        exported_with(address, law_folder, end)
    assert tables("ended") == set()


def test_readers_see_the_old_index_while_a_new_one_is_written(export, tmp_path):
    address, _ = export("watched")
    seen, other = [], tmp_path / "other.index"
    lexfuse.Index.build(other, [lexfuse.Document("only", text="Une seule loi.", language="fr")]).close()

    def look(_):
        with lexfuse.Index(address) as index:
            seen.append(len(index))

    with open_snapshot(other) as snapshot:
        export_index(snapshot, "other", address, ExportOptions(replace=True), progress=look)
    assert seen == [59]
    with lexfuse.Index(address) as index:
        assert len(index) == 1


def test_two_exports_at_once_are_one_after_the_other(export):
    results, failures = [], []

    def run():
        try:
            results.append(export("twice")[1].written)
        except LexFuseError as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(results), failures) == ([False, True], [])


def test_words_of_a_long_document_are_all_counted(export, tmp_path):
    long, folder = " ".join(f"cour juge mot{number % 700}" for number in range(20_000)), tmp_path / "long.index"
    short = lexfuse.Document("short", text="La cour.", language="fr")
    lexfuse.Index.build(folder, [lexfuse.Document("long", text=long, language="fr"), short]).close()
    address, _ = export("long", folder)
    with lexfuse.Index(address) as index:
        snapshot = index.snapshot
        counts = snapshot.rows(snapshot.sql("SELECT counts, lengths FROM {lexemes} WHERE lexeme = 'cour'", lexemes="lexemes"))
        assert counts == [([20_000, 1], [60_000, 1])]
        found = open_retriever(snapshot, "bm25").lexemes_of([long, "", "cour"])
    assert (found[0]["cour"], sum(found[0].values()), found[1:]) == (20_000, 60_000, [{}, {"cour": 1}])


def test_a_document_with_more_words_than_pg_textsearch_takes(export, tmp_path, sql):
    folder, words = tmp_path / "vast.index", " ".join(f"mot{number}" for number in range(150_000))
    lexfuse.Index.build(folder, [lexfuse.Document("a", text="loi"), lexfuse.Document("vast", text=words)]).close()
    with pytest.raises(DataError, match=r"document 'vast' has more words than pg_textsearch can index.*divide it"):
        export("vast", folder)
    assert sql("SELECT 1 FROM pg_namespace WHERE nspname = 'vast'") == []


def test_what_cannot_be_exported_is_refused(export):
    with pytest.raises(ConfigError, match="the channel 'colbert' is not in the index; dense, sentences, splade can be exported"):
        export("never", channels=("colbert",))
    with pytest.raises(ConfigError, match="no text search configuration 'klingon'; it has arabic"):
        export("never", text_config="klingon")


def test_a_server_without_pg_textsearch_ranks_from_the_lexemes(postgres_server, law_folder, sql):
    sql("CREATE DATABASE plain", "CREATE ROLE writer LOGIN", "GRANT CREATE ON DATABASE plain TO writer")
    sql("CREATE EXTENSION vector", database="plain")
    address = PostgresAddress.parse(postgres_server.replace("/postgres?", "/plain?").replace("postgres:@", "writer:@"))
    with open_snapshot(law_folder) as snapshot:
        result = export_index(snapshot, "law", address)
    assert not result.bm25_index  # which only a superuser may create
    with lexfuse.Index(address) as index:
        assert {hit.id for hit in index.search("préavis de démission", k=5)}
        assert index.search("préavis", k=3, channels=["bm25"])[0].score > 0


def test_a_server_without_pgvector(law_folder, postgres_server, sql, tmp_path):
    sql("CREATE DATABASE bare", "CREATE ROLE tenant LOGIN")
    sql("CREATE SCHEMA mine AUTHORIZATION tenant", database="bare")
    uri = postgres_server.replace("/postgres?", "/bare?").replace("postgres:@", "tenant:@")
    address, words = PostgresAddress.parse(f"{uri}&schema=mine"), tmp_path / "words.index"
    with pytest.raises(ConfigError, match=r"has no extension pgvector; install it .*CREATE EXTENSION vector as a role that may"):
        exported_with(address, law_folder, lambda _: None)
    lexfuse.Index.build(words, [lexfuse.Document("only", text="Une seule loi.", language="fr")]).close()
    exported_with(address, words, lambda _: None)  # which has no vectors
    with lexfuse.Index(address) as index:
        assert [hit.id for hit in index.search("loi")] == ["only"]


def test_rights_that_are_missing(law_folder, law_address, sql):
    sql("CREATE ROLE visitor LOGIN")
    visitor = law_address.replace("postgres:@", "visitor:@")
    with pytest.raises(StorageError, match=r"permission denied.*grant the role the right"):
        lexfuse.Index(visitor).search("préavis")
    with open_snapshot(law_folder) as snapshot, pytest.raises(StorageError, match="permission denied for database"):
        export_index(snapshot, "law", PostgresAddress.parse(visitor.replace("schema=law", "schema=new")))


@pytest.mark.parametrize("name", ["My Config", "x'; DROP SCHEMA law CASCADE; --", 'a"b'])
def test_names_of_text_search_configurations_are_never_sql(export, sql, tables, law_address, name):
    quoted = name.replace('"', '""')
    sql(f'DROP TEXT SEARCH CONFIGURATION IF EXISTS "{quoted}"', f'CREATE TEXT SEARCH CONFIGURATION "{quoted}" (COPY = french)')
    address, result = export("configured", text_config=name, replace=True)
    assert result.written
    with lexfuse.Index(address) as index:
        for options in ({}, {"exact": True}):
            assert index.search("les préavis", k=3, channels=["bm25"], **options)
    assert "documents" in tables("law")


def test_a_schema_without_an_index(postgres_server):
    with pytest.raises(UnknownIndexError, match=r"no index in postgresql://.*schema=nothing; export one with"):
        len(lexfuse.Index(f"{postgres_server}&schema=nothing"))
