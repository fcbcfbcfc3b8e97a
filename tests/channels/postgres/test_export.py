"""The export: complete or nothing, once, refused where it would harm; names of schemas and fields are never SQL."""

import threading
from dataclasses import replace

import pytest

import lexfuse
from lexfuse.errors import ConfigError, DataError, GoneError, LexFuseError, StorageError, UnknownIndexError
from lexfuse.storage.postgres.address import PostgresAddress

psycopg = pytest.importorskip("psycopg", reason="the driver comes with the extra postgres")

SCHEMAS = ["plain", 'with "quotes" and space', "x; DROP SCHEMA public; --", "Élan.été", "{documents} $1 \\", "a.b"]


def tables(server, schema):
    with psycopg.connect(server) as connection:
        return {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (schema,))}


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


def test_the_same_index_is_written_once(export):
    _, first = export("once")
    _, second = export("once")
    assert (first.written, second.written) == (True, False)
    assert replace(second, written=True) == first


def test_another_index_is_replaced_only_when_asked(export, tmp_path, postgres_server):
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
    assert tables(postgres_server, "taken") == {"settings", "documents", "lexemes"}


def test_tables_of_others_are_left_alone(export, postgres_server):
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA shop")
        connection.execute("CREATE TABLE shop.documents (invoice text)")
    with pytest.raises(StorageError, match="a table 'documents' that LexFuse did not write"):
        export("shop", replace=True)
    assert tables(postgres_server, "shop") == {"documents"}


def test_a_view_of_others_keeps_the_export_from_destroying_it(export, postgres_server, tmp_path):
    export("viewed")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE VIEW public.mine AS SELECT id FROM viewed.documents")
    other = tmp_path / "other.index"
    lexfuse.Index.build(other, [lexfuse.Document("only", text="Une loi.", language="fr")]).close()
    with pytest.raises(StorageError, match=r"cannot drop table viewed\.documents because other objects depend on it"):
        export("viewed", other, replace=True)
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        assert connection.execute("SELECT count(*) FROM public.mine").fetchone() == (59,)
        connection.execute("DROP VIEW public.mine")


def test_an_export_that_fails_leaves_nothing(export, tmp_path, postgres_server):
    broken = tmp_path / "broken.index"
    lexfuse.Index.build(broken, [lexfuse.Document("a", text="bien"), lexfuse.Document("b", text="mal\0")]).close()
    with pytest.raises(DataError, match="document 'b' has the character NUL"):
        export("broken", broken)
    with psycopg.connect(postgres_server) as connection:
        assert connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = 'broken'").fetchone() is None


def test_readers_see_the_old_index_while_a_new_one_is_written(export, postgres_server, law_folder, tmp_path):
    from lexfuse.channels.postgres.export import ExportOptions, export_index
    from lexfuse.storage.folder_snapshot import open_snapshot

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


def test_what_cannot_be_exported_is_refused(export):
    with pytest.raises(ConfigError, match="the channel 'colbert' is not in the index; dense, sentences, splade can be exported"):
        export("never", channels=("colbert",))
    with pytest.raises(ConfigError, match="no text search configuration 'klingon'; it has arabic"):
        export("never", text_config="klingon")


def test_a_server_without_pg_textsearch_ranks_from_the_lexemes(postgres_server, law_folder, law):
    from lexfuse.channels.postgres.export import export_index
    from lexfuse.storage.folder_snapshot import open_snapshot

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE plain")
        connection.execute("CREATE ROLE writer LOGIN")
        connection.execute("GRANT CREATE ON DATABASE plain TO writer")
    with psycopg.connect(postgres_server.replace("/postgres?", "/plain?"), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
    address = PostgresAddress.parse(postgres_server.replace("/postgres?", "/plain?").replace("postgres:@", "writer:@"))
    with open_snapshot(law_folder) as snapshot:
        result = export_index(snapshot, "law", address)
    assert not result.bm25_index  # which only a superuser may create
    with lexfuse.Index(address) as index:
        assert {hit.id for hit in index.search("préavis de démission", k=5)}
        assert index.search("préavis", k=3, channels=["bm25"])[0].score > 0


def test_rights_that_are_missing(postgres_server, law_folder, law_address):
    from lexfuse.channels.postgres.export import export_index
    from lexfuse.storage.folder_snapshot import open_snapshot

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE ROLE visitor LOGIN")
    visitor = law_address.replace("postgres:@", "visitor:@")
    with pytest.raises(StorageError, match=r"permission denied.*grant the role the right"):
        lexfuse.Index(visitor).search("préavis")
    with open_snapshot(law_folder) as snapshot, pytest.raises(StorageError, match="permission denied for database"):
        export_index(snapshot, "law", PostgresAddress.parse(visitor.replace("schema=law", "schema=new")))


def test_a_schema_without_an_index(postgres_server):
    with pytest.raises(UnknownIndexError, match=r"no index in postgresql://.*schema=nothing; export one with"):
        len(lexfuse.Index(f"{postgres_server}&schema=nothing"))
