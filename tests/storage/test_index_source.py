"""Where an index is: a folder is read and written, an address is read, and neither shows a password."""

from pathlib import Path

import pytest

import lexfuse
from lexfuse.errors import ConfigError, UnknownIndexError
from lexfuse.storage.index_source import FolderSource, PostgresSource, index_source


def test_a_folder_is_read_and_written(tmp_path):
    folder = tmp_path / "law.index"
    lexfuse.Index.build(folder, [lexfuse.Document("a", text="la loi", language="fr")]).close()
    source = index_source(folder)
    assert isinstance(source, FolderSource)
    assert (source.name, source.folder, str(source)) == ("law.index", folder, str(folder))
    before = source.generation()
    with source.snapshot() as former, source.writer() as writer:
        writer.add([lexfuse.Document("b", text="le droit", language="fr")])
        assert source.generation() == before + 1
        with source.snapshot(former) as newer:
            assert (len(former), len(newer)) == (1, 2)
            assert newer.segments[0] is former.segments[0]  # which both share


def test_no_folder(tmp_path):
    with pytest.raises(UnknownIndexError, match="no index in"):
        index_source(tmp_path).snapshot()


def test_an_address_is_only_read():
    source = index_source("postgresql://me:s3cr3t@db/law?schema=labour")
    assert isinstance(source, PostgresSource)
    assert (source.name, source.folder) == ("labour", None)
    with pytest.raises(ConfigError, match="only read") as refused:
        source.writer()
    assert "s3cr3t" not in f"{refused.value} {source}"


def test_a_path_is_a_folder_whatever_it_is_called():
    assert index_source(Path("postgresql.index")).folder == Path("postgresql.index")
