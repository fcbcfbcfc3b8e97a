"""A catalog with changed bytes: found by `verify` or refused, never a traceback, and never summed up as if it were meant."""

import shutil
import sqlite3
import sys
from contextlib import closing, suppress

import numpy as np
import pytest

from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.cli import main
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import DataError, LexFuseError
from lexfuse.storage.catalog import FEEDBACK, Catalog
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.feedback import FeedbackEntry
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.stored_channel import ChannelSettings

TABLES = ("meta", "segments", "tombstones", "documents", "contents", "channels", "parts")


def vectors(documents):
    return EncodedBlock(VectorPart.of(np.ones((len(documents), 4), np.float32)), len(documents))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """An index with a row in every table, its catalog in pages so small that most of its bytes mean something."""
    folder = tmp_path_factory.mktemp("sound") / "i"
    documents = [
        Document(f"d{n}", title="T", text=f"la loi {n}", language="fr", number="L1", headings=("I",), extra={"a": n})
        for n in range(6)
    ]
    with IndexFolder.create(folder, documents=documents) as index:
        index.channels.make("dense", ChannelSettings("dense", "model", "00", options={"approximate": False}))
        index.channels.fill("dense", vectors)
        index.delete(["d3"])
        index.add([Document("e", text="le droit")])
        index.feedback.keep(FeedbackEntry("loi", "d1", 1, rank=2, generation=1))
        index.keep_distributions({"bm25:{}": {"scores": 2}})
        assert index.verify() == []
    with closing(sqlite3.connect(folder / "catalog.sqlite", isolation_level=None)) as connection:
        for statement in ("journal_mode = DELETE", "page_size = 512"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA journal_mode = WAL")
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    return shutil.copytree(sound, tmp_path / "i")


def changed(folder, *statements):
    with closing(sqlite3.connect(folder / "catalog.sqlite", isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


def rows(folder):
    """Whatever a query of the catalog can give."""
    with closing(sqlite3.connect(f"file:{folder / 'catalog.sqlite'}?mode=ro&immutable=1", uri=True)) as connection:
        ask = [f"SELECT * FROM {table}" for table in TABLES]  # noqa: S608
        ask += [f"SELECT {FEEDBACK} FROM feedback ORDER BY number"]  # noqa: S608 -- what the number is, nobody asks
        ask += ["SELECT id, title, text FROM documents JOIN contents USING (serial) ORDER BY id"]
        ask += [f"SELECT serial FROM documents WHERE id = 'd{n}'" for n in range(6)]  # noqa: S608
        return [connection.execute(one).fetchall() for one in ask]


def flips(raw):
    """The header of the file byte by byte, and every seventh byte of the rest, each with another bit changed."""
    for at in [*range(100), *range(100, len(raw), 7)]:
        damaged = bytearray(raw)
        damaged[at] ^= 1 << at % 8
        yield bytes(damaged)


def test_every_changed_byte_is_found_or_changes_nothing(folder):
    path = folder / "catalog.sqlite"
    raw, expected, harmful = path.read_bytes(), rows(folder), 0
    for damaged in flips(raw):
        path.write_bytes(damaged)
        try:
            harmed = rows(folder) != expected
        except (sqlite3.Error, UnicodeDecodeError):
            harmed = True
        try:
            with IndexFolder(folder) as index:
                told = index.verify()
        except LexFuseError as error:
            told = [str(error)]
        at = next(at for at in range(len(raw)) if raw[at] != damaged[at])
        assert told or not harmed, f"byte {at} is {damaged[at]}, not {raw[at]}"
        harmful += harmed
    assert harmful > 300


def searched(folder):
    with open_snapshot(folder) as snapshot:
        BM25(snapshot).retrieve(Queries.of([Query("q", "loi", "fr")]), 5).hits("q")
        snapshot.documents(list(snapshot.ids))
        within(snapshot, [Condition.parse("title=T")])
        _ = [snapshot.column(name) for name in ("title", "headings", "extra")], snapshot.channel_numbering("dense").order


def updated(folder):
    with IndexFolder(folder) as index:
        index.add([Document("d1", text="new"), Document("z", text="loi")], update=True)
        index.channels.fill("dense", vectors)


def deleted(folder):
    with IndexFolder(folder) as index:
        index.delete(["d2"])
        index.compact()


def rebuilt(folder):
    with IndexFolder(folder) as index:
        index.rebuild()
        index.verify()


def judged(folder):
    with IndexFolder(folder) as index:
        index.feedback.keep(FeedbackEntry("droit", "d2", 1, generation=1))
        index.feedback.remove("loi", "d1")


def replaced(folder):
    with IndexFolder.create(folder, documents=[Document("n")], replace=True) as index:
        assert index.verify() == []


USES = [searched, updated, deleted, rebuilt, judged, replaced]


def test_no_use_of_a_damaged_catalog_ends_in_another_error(sound, tmp_path):
    raw = (sound / "catalog.sqlite").read_bytes()
    for number, damaged in enumerate(flips(raw)):
        if number % 13 == 0:
            folder = shutil.copytree(sound, tmp_path / str(number))
            (folder / "catalog.sqlite").write_bytes(damaged)
            with suppress(LexFuseError):
                USES[number // 13 % len(USES)](folder)
            shutil.rmtree(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = replace(value, '1.0', '2.0') WHERE name = 'settings'",
        "UPDATE meta SET value = '9' WHERE name = 'next_serial'",
        "UPDATE channels SET passages = passages + 1",
        "UPDATE channels SET settings = replace(settings, '00', '01')",
        "UPDATE parts SET documents = documents + 1",
        "UPDATE segments SET manifest = replace(manifest, '0', '1')",
        "DELETE FROM meta WHERE name LIKE 'distribution:%'",
        "INSERT INTO meta VALUES ('more', '1')",
        "CREATE TABLE more (a)",
    ],
)
def test_damage_is_found_and_not_summed_up_by_the_next_change(folder, statement):
    changed(folder, statement)
    with IndexFolder(folder) as index:
        assert index.verify() != []
        for change in (lambda: index.add([Document("z")]), lambda: index.delete(["d1"]), index.compact):
            with pytest.raises(DataError, match=r"catalog is damaged \(table .* has other rows than were written\)"):
                change()
        assert index.verify() != []
    with IndexFolder.create(folder, documents=[Document("n")], replace=True) as index:
        assert index.verify() == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE feedback SET grade = 3",
        "UPDATE feedback SET query = 'lois'",
        "DELETE FROM feedback",
        "UPDATE contents SET serial = serial + 100 WHERE serial = 2",
        "DELETE FROM contents WHERE serial = 2",
        "UPDATE documents SET title = NULL",
        "UPDATE documents SET title = 3",
        "UPDATE documents SET number = x'4c31'",
        "UPDATE documents SET ordinal = 'x' WHERE serial = 1",
        "UPDATE tombstones SET ordinal = 'x'",
        "UPDATE tombstones SET segment = 77",
    ],
)
def test_damage_of_large_tables_is_found(folder, statement):
    changed(folder, statement)
    with IndexFolder(folder) as index:
        assert index.verify() != []
    for use in USES[:-1]:
        with suppress(LexFuseError):
            use(folder)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE segments SET folder = 'segments/000077'",
        "UPDATE segments SET manifest = 'x', documents = 'many'",
        "DELETE FROM segments",
        "UPDATE tombstones SET ordinal = 'x'",
        "UPDATE documents SET segment = 77",
        "UPDATE parts SET folder = 'x'",
        "UPDATE parts SET channel = 'densf'",
    ],
)
def test_rebuilding_mends_what_can_be_written_anew(folder, statement):
    changed(folder, statement)
    with IndexFolder(folder) as index:
        assert index.verify() != []
        index.rebuild()
        assert index.verify() == []
        index.channels.fill("dense", vectors)
        assert index.verify() == []
    searched(folder)


def test_an_index_without_check_sums_is_used_as_ever_and_gets_them_with_the_next_change(folder):
    changed(folder, "DELETE FROM meta WHERE name = 'digests'")
    with IndexFolder(folder) as index:
        assert (index.has_digests, index.verify()) == (False, [])
        searched(folder)
        assert not index.has_digests
        index.feedback.keep(FeedbackEntry("droit", "d2", 1, generation=1))
        assert (index.has_digests, index.verify()) == (True, [])
    changed(folder, "UPDATE feedback SET grade = 3 WHERE query = 'loi'")
    with IndexFolder(folder) as index:
        assert [line for line in index.verify() if "table feedback has other rows" in line]


@pytest.mark.parametrize("file", ["segments/000001/bm25/weights.npy", "channels/dense/000002/fp32.npy"])
def test_damage_does_not_hide_in_what_is_merged(folder, file):
    """What is merged gets new check sums; the damage must not get one."""
    raw = bytearray((folder / file).read_bytes())
    raw[-1] ^= 1
    (folder / file).write_bytes(raw)
    with IndexFolder(folder) as index:
        index.channels.fill("dense", vectors)
        with pytest.raises(DataError, match=r"other bytes than were written.*rebuild the index; nothing was changed"):
            index.merge()
        assert [line for line in index.verify() if file in line]
        index.rebuild()
        index.channels.fill("dense", vectors)
        assert index.verify() == []


def test_a_document_without_a_text_does_not_keep_a_filling_busy_for_ever(folder):
    changed(folder, "DELETE FROM contents WHERE serial IN (SELECT serial FROM documents WHERE id = 'e')",
            "DELETE FROM meta WHERE name = 'digests'")  # fmt: skip
    with IndexFolder(folder) as index, pytest.raises(DataError, match=r"catalog is damaged \(document number \d+ has no text"):
        index.channels.fill("dense", vectors)


def test_what_people_said_is_counted_without_reading_it_all(folder, monkeypatch):
    asked = []
    ask = Catalog._rows

    def remembered(self, statement, values=()):
        asked.append(statement)
        return ask(self, statement, values)

    monkeypatch.setattr(Catalog, "_rows", remembered)
    with IndexFolder(folder) as index:
        index.feedback.keep(*(FeedbackEntry("droit", f"d{n}", 1, generation=1) for n in (1, 2, 4)))
        index.feedback.remove("loi", "d1")
        index.add([Document("z")])
        assert not [statement for statement in asked if "FROM feedback" in statement]
        assert index.verify() == []
    assert [statement for statement in asked if "FROM feedback" in statement]


COMMANDS = [
    ("index", "{}", "--verify"),
    ("index", "{}", "--rebuild"),
    ("search", "{}", "loi"),
    ("info", "{}"),
    ("serve", "{}", "--port", "0"),
]
DAMAGES = [
    "UPDATE meta SET value = '\"x\"' WHERE name = 'format'",
    "UPDATE meta SET value = 'true' WHERE name = 'generation'",
    "UPDATE meta SET value = '[]' WHERE name = 'settings'",
    "UPDATE channels SET settings = '{'",
    "UPDATE channels SET settings = '3'",
]


@pytest.mark.parametrize("statement", DAMAGES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command))
def test_commands_say_what_is_wrong_and_what_to_do(folder, command, statement, monkeypatch, capsys):
    changed(folder, statement)
    monkeypatch.setattr(sys, "argv", ["lexfuse", *(part.format(folder) for part in command)])
    with pytest.raises(SystemExit) as ended:
        main()
    captured = capsys.readouterr()
    told = " ".join((captured.out + captured.err).split())
    assert ended.value.code == 3
    assert "damaged" in told
    assert "again" in told
    assert "Traceback" not in told
