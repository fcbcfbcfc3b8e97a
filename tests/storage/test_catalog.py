"""The catalog: one writer, consistent readers, and no error of SQLite that comes out raw."""

import sqlite3

import orjson
import pytest

from lexfuse.data.document import Document
from lexfuse.errors import DataError, NotFoundError, StorageError
from lexfuse.storage.catalog import Catalog, CatalogSegment
from lexfuse.storage.document_rows import row_of
from lexfuse.storage.folder_names import FILE

ODD_IDS = ["'; DROP TABLE documents; --", "a\x00b", "a", "%", "_", "NULL", "1", "1.0", "é", "x" * 5000, '"', "\\", " ", "😀"]


@pytest.fixture
def catalog(tmp_path):
    made = Catalog.create(tmp_path, {"settings": {"a": 1}})
    yield made
    made.close()


def insert(catalog, *documents, number=1):
    with catalog.writing():
        catalog.insert(
            CatalogSegment(number, f"segments/{number:06}", len(documents), "0"), [row_of(document) for document in documents]
        )


def test_odd_ids_are_ids(catalog):
    insert(catalog, *(Document(id, text=f"text of {id}") for id in ODD_IDS))
    assert catalog.present([*ODD_IDS, "b", "\ud800", "a\x00"]) == set(ODD_IDS)
    assert [catalog.document(id).text for id in ODD_IDS] == [f"text of {id}" for id in ODD_IDS]
    assert [document.id for document in catalog.documents()] == sorted(ODD_IDS)
    with catalog.writing():
        catalog.remove(ODD_IDS[:2])
    assert catalog.present(ODD_IDS) == set(ODD_IDS[2:])
    assert catalog.tombstones() == [(1, 0), (1, 1)]
    assert catalog.damages() == []


def test_presence_of_very_many_ids(catalog):
    insert(catalog, *(Document(f"{number:06}") for number in range(3)))
    assert catalog.present([f"{number:06}" for number in range(70_000)]) == {"000000", "000001", "000002"}


@pytest.mark.parametrize("id", ["x", "\ud800", "'; --"])
def test_a_document_that_is_not_there(catalog, id):
    with pytest.raises(NotFoundError, match="the index has no document"):
        catalog.document(id)


def test_columns(catalog):
    insert(catalog, Document("a", code="C", text="T"), Document("b", headings=("H",)))
    assert catalog.column("code") == ([1, 1], [0, 1], ["C", ""])
    assert catalog.column("text") == ([1, 1], [0, 1], ["T", ""])
    assert catalog.column("headings") == ([1, 1], [0, 1], [None, '["H"]'])
    with pytest.raises(NotFoundError, match="no field 'colour'; they have title, language"):
        catalog.column("colour")


def test_columns_hold_any_text(catalog):
    insert(catalog, *(Document(f"{number:02}", court=id, headings=(id,)) for number, id in enumerate(ODD_IDS)))
    assert catalog.column("court")[2] == ODD_IDS
    assert [orjson.loads(value) for value in catalog.column("headings")[2]] == [[id] for id in ODD_IDS]


def test_columns_of_very_many_documents(catalog):
    insert(catalog, *(Document(f"{number:06}", court=str(number)) for number in range(25_000)))
    with catalog.writing():
        catalog.remove([f"{number:06}" for number in range(9_990, 21_000)])
    kept = [*range(9_990), *range(21_000, 25_000)]
    assert catalog.column("court") == ([1] * len(kept), kept, [str(number) for number in kept])


def test_a_change_that_fails_did_not_happen(catalog):
    with pytest.raises(KeyboardInterrupt), catalog.writing():  # noqa: PT012
        catalog.set_meta("settings", {"a": 2})
        raise KeyboardInterrupt
    assert catalog.meta("settings") == {"a": 1}
    with catalog.writing():
        catalog.set_meta("settings", {"a": 3})
    assert catalog.meta("settings") == {"a": 3}


def test_a_second_writer_is_refused_and_the_first_is_unharmed(catalog, tmp_path):
    other = Catalog.open(tmp_path)
    with catalog.writing():
        catalog.set_meta("settings", 1)
        with pytest.raises(StorageError, match="being written by another process"), other.writing():
            pass
        with pytest.raises(StorageError, match="being written"), catalog.writing():  # the same one, from inside
            pass
    assert other.meta("settings") == 1
    with other.writing():
        other.set_meta("settings", 2)
    assert catalog.meta("settings") == 2
    other.close()


def test_readers_see_one_state(catalog, tmp_path):
    reader = Catalog.open(tmp_path)
    with reader.reading():
        assert reader.segments() == []
        insert(catalog, Document("a"))
        assert reader.segments() == []
    assert len(reader.segments()) == 1
    reader.close()


def test_no_index(tmp_path):
    with pytest.raises(NotFoundError, match=r"no index in .*lexfuse index CORPUS"):
        Catalog.open(tmp_path)


@pytest.mark.parametrize("raw", [b"", b"garbage" * 1000, b"SQLite format 3\x00" + b"\xff" * 4096])
def test_garbage_is_no_catalog(tmp_path, raw):
    (tmp_path / FILE).write_bytes(raw)
    with pytest.raises(DataError, match=r"catalog\.sqlite.*damaged"):
        Catalog.open(tmp_path)
    assert (tmp_path / FILE).read_bytes() == raw


def test_another_database_is_no_catalog(tmp_path):
    connection = sqlite3.connect(tmp_path / FILE)
    connection.execute("CREATE TABLE meta (name, value)")
    connection.close()
    with pytest.raises(DataError, match="no 'format' in its meta table"):
        Catalog.open(tmp_path)


@pytest.mark.parametrize(("found", "advice"), [(99, "use a newer LexFuse"), (0, "build the index again")])
def test_another_version(catalog, tmp_path, found, advice):
    with catalog.writing():
        catalog.set_meta("format", found)
    with pytest.raises(DataError, match=f"format {found}, this LexFuse reads 2 and 3; {advice}"):
        Catalog.open(tmp_path)


def test_use_after_closing_is_told(catalog):
    catalog.close()
    for use in (catalog.segments, lambda: catalog.document("a"), lambda: list(catalog.documents()), catalog.compact):
        with pytest.raises(StorageError, match="was closed"):
            use()
    with pytest.raises(StorageError, match="was closed"), catalog.writing():
        pass


def test_a_text_changed_behind_our_back_is_found(catalog):
    insert(catalog, Document("a", text="one"), Document("b", text="two"))
    catalog.connection.execute("UPDATE contents SET text = 'One' WHERE text = 'one'")
    assert [line for line in catalog.damages() if "document 'a' has other bytes" in line]
    assert not [line for line in catalog.damages() if "'b'" in line]


def test_a_damaged_page_is_found(catalog, tmp_path):
    insert(catalog, *(Document(f"{number:04}", text="law " * 50) for number in range(200)))
    catalog.close()
    path = tmp_path / FILE
    raw = bytearray(path.read_bytes())
    raw[8 * 4096 : 9 * 4096] = b"\xab" * 4096
    path.write_bytes(raw)
    damaged = Catalog.open(tmp_path)
    assert damaged.damages() != []
    damaged.close()


def test_a_column_of_many_documents_comes_in_blocks_and_in_order(catalog, monkeypatch):
    monkeypatch.setattr("lexfuse.storage.catalog.AT_ONCE", 2)
    insert(catalog, *(Document(f"d{at}", number=str(at)) for at in range(5)))
    assert catalog.column("number") == ([1] * 5, [0, 1, 2, 3, 4], ["0", "1", "2", "3", "4"])


def test_serial_numbers_that_are_none_are_damage_and_far_ones_cost_nothing(catalog, monkeypatch):
    insert(catalog, Document("a", number="1"))
    catalog.connection.execute("UPDATE documents SET serial = ?", (2**62,))
    assert catalog.column("number") == ([1], [0], ["1"])
    monkeypatch.setattr(catalog, "_rows", lambda *_: [("x", "[]", "[]", "[]")])
    with pytest.raises(DataError, match="damaged"):
        catalog.column("number")
