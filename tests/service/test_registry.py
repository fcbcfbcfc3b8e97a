"""Versions of an index: leases, what is kept and closed, writes that are seen, and what is offered."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError, GoneError, NotFoundError
from lexfuse.service import registry as module
from lexfuse.service.operations.document_writes import DocumentBody, delete_document, put_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder

ELSEWHERE = """if True:
    import sys
    from lexfuse.data.document import Document
    from lexfuse.storage.index_folder import IndexFolder
    with IndexFolder(sys.argv[1]) as index:
        index.add([Document("elsewhere", text="Un mot, zorglub.", language="fr")])
        index.merge()
"""


def changed(folder, number=0):
    with IndexFolder(folder) as index:
        index.add([Document(f"n{number}", text=f"un mot neuf{number}", language="fr")])


def found(library, query):
    return [result.id for result in search(library, SearchQuery(query=query, language="fr")).results]


def closed(opened):
    try:
        opened.snapshot.document("travail-L1")
    except (sqlite3.ProgrammingError, Exception) as error:
        return "closed" in str(error).lower()
    return False


def open_files():
    return sorted(
        os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if Path(f"/proc/self/fd/{name}").exists()
    )


def test_a_lease_keeps_its_version_while_newer_ones_come(small, shelf_folder):
    shelf = small.index()
    with shelf.lease() as old:
        before = old.generation
        changed(shelf_folder)
        assert shelf.generation == before
        assert shelf.refresh()
        assert not shelf.refresh()  # there is none newer
        assert shelf.generation > before
        assert old.snapshot.document("travail-L1").id == "travail-L1"
        assert "n0" not in old.snapshot.ids.names
        with shelf.lease() as new, shelf.lease(before) as again:
            assert again is old
            assert "n0" in new.snapshot.ids.names


def test_versions_that_are_kept_have_nearly_everything_in_common(small, shelf_folder):
    shelf, kept = small.index(), []
    with ExitStack() as leases:
        for number in range(3):
            changed(shelf_folder, number)
            shelf.refresh()
            kept.append(leases.enter_context(shelf.lease()))
        first, second, third = (opened.snapshot for opened in kept)
        assert third.segments[:2] == second.segments[:2] == first.segments[:2]
        assert np.shares_memory(third.postings("bm25").docs, second.postings("bm25").docs)
        assert [bool(version.postings("bm25").impacts) for version in (first, second, third)] == [False, False, True]
        assert found(small, "neuf2") == ["n2"]
        # Scores of an older version are computed again when they are asked for.
        assert list(BM25(first).retrieve(Queries.of([Query("q", "neuf0", "fr")]), 5).as_dict()["q"]) == ["n0"]


def test_a_version_that_is_read_is_not_closed_though_it_is_one_too_many(shelf_folder):
    with IndexRegistry.open([IndexPlace.of(shelf_folder)], kept=1) as library:
        shelf = library.index()
        with shelf.lease() as old:
            for number in range(3):
                changed(shelf_folder, number)
                assert shelf.refresh()
            assert not closed(old)
            with shelf.lease(old.generation) as again:
                assert again is old
        assert closed(old)
        with pytest.raises(GoneError), shelf.lease(old.generation):
            pass
        with shelf.lease() as new:
            assert new.generation == shelf.generation


def test_versions_that_were_replaced_long_ago_are_let_go(small, shelf_folder, monkeypatch):
    shelf = small.index()
    with shelf.lease() as old:
        pass
    changed(shelf_folder)
    shelf.refresh()
    with shelf.lease(old.generation):
        pass
    now = time.monotonic()
    monkeypatch.setattr(module.time, "monotonic", lambda: now + module.KEPT_SECONDS + 1)
    with shelf.lease():
        pass
    assert closed(old)
    with pytest.raises(GoneError), shelf.lease(old.generation):
        pass


def test_what_another_process_writes_and_merges_is_taken_over(small, shelf_folder):
    with small.index().lease() as old:
        subprocess.run([sys.executable, "-c", ELSEWHERE, str(shelf_folder)], check=True)
        assert found(small, "zorglub") == []
        assert small.refresh() == ["small"]
        assert small.refresh() == []
        assert found(small, "zorglub") == ["elsewhere"]
        assert [document.id for document in old.snapshot.documents(["travail-L1"])] == ["travail-L1"]  # its files are gone


def test_a_write_is_seen_by_the_next_question(small):
    for number in range(3):
        written = put_document(small, "a", DocumentBody(text=f"un zorglub{number}", language="fr"))
        page = search(small, SearchQuery(query=f"zorglub{number}", language="fr"))
        assert [result.id for result in page.results] == ["a"]
        assert page.generation == written.generation == small.index().generation
        if number:
            assert found(small, f"zorglub{number - 1}") == []
    delete_document(small, "a")
    assert found(small, "zorglub2") == []


def test_a_version_that_cannot_be_opened_leaves_the_old_one(small, shelf_folder, monkeypatch):
    changed(shelf_folder)

    def broken(folder, former):
        raise OSError("no")

    with monkeypatch.context() as patch:
        patch.setattr("lexfuse.storage.index_source.open_snapshot", broken)
        with pytest.raises(OSError, match="no"):
            small.refresh()
        assert found(small, "préavis")
    assert small.refresh() == ["small"]
    assert found(small, "neuf0") == ["n0"]


def test_a_write_that_fails_changes_nothing_and_the_next_one_may(small):
    before = small.index().generation
    with pytest.raises(ValueError, match="no"), small.index().writing():
        raise ValueError("no")
    assert small.index().generation == before
    put_document(small, "a", DocumentBody(text="zorglub", language="fr"))
    assert found(small, "zorglub") == ["a"]


def test_files_of_old_versions_are_closed(small, shelf_folder):
    shelf = small.index()
    with IndexFolder(shelf_folder) as index:  # one writer stays open, as its files would come and go
        for number in range(60):
            index.add([Document("a", text=f"mot{number}", language="fr")], update=True)
            assert shelf.refresh()
            assert found(small, f"mot{number}") == ["a"]
            if number == 9:
                first = len(open_files())
            assert len(shelf._versions) <= module.KEPT
    assert len(open_files()) <= first


def test_closing_lets_go_of_everything(shelf_folder):
    before = open_files()
    library = IndexRegistry.open([IndexPlace.of(shelf_folder)])
    with library.index().lease() as opened:
        pass
    changed(shelf_folder)
    library.refresh()
    library.close()
    assert closed(opened)
    assert [name for name in open_files() if "catalog.sqlite" in name] == [name for name in before if "catalog.sqlite" in name]


def test_indexes_by_name_the_first_by_default(shelf_folder, tmp_path):
    IndexFolder.create(tmp_path / "other", documents=[Document("o", text="zorglub", language="fr")]).close()
    with IndexRegistry.open([IndexPlace.of(shelf_folder), IndexPlace("second", tmp_path / "other", "Second")]) as library:
        assert library.names == ("small", "second")
        assert library.index().name == "small"
        assert library.index("second").title == "Second"
        assert [result.id for result in search(library, SearchQuery(query="zorglub", index="second")).results] == ["o"]
        with pytest.raises(NotFoundError, match="'x'; there are small, second"):
            library.index("x")


def test_a_library_that_cannot_be_is_refused(shelf_folder, tmp_path):
    with pytest.raises(ConfigError, match="no index to serve"):
        IndexRegistry.open([])
    with pytest.raises(ConfigError, match="same name"):
        IndexRegistry.open([IndexPlace.of(shelf_folder), IndexPlace.of(shelf_folder)])
    with pytest.raises(NotFoundError, match="nowhere"):
        IndexRegistry.open([IndexPlace.of(shelf_folder), IndexPlace.of(tmp_path / "nowhere")])


def test_a_profile_must_fit_an_index_and_is_offered_where_it_does(shelf_folder, law_folder, tmp_path):
    profile = tmp_path / "vectors.toml"
    profile.write_text('version = 1\nname = "vectors"\n\n[[channel]]\nname = "dense"\n', "utf-8")
    with pytest.raises(ConfigError, match="'vectors' fits no index: index 'small'"):
        IndexRegistry.open([IndexPlace.of(shelf_folder)], [profile])
    with pytest.raises(ConfigError, match="already"):
        IndexRegistry.open([IndexPlace.of(law_folder)], [profile, profile])
    with IndexRegistry.open([IndexPlace.of(shelf_folder), IndexPlace.of(law_folder)], [profile]) as library:
        with library.index("small").lease() as opened:
            assert [(card.name, card.usable) for card in opened.profiles] == [("vectors", False), ("bm25", True)]
            assert opened.default_profile == "bm25"
        with library.index("law").lease() as opened:
            assert [card.name for card in opened.profiles] == ["vectors", "hybrid", "bm25", "dense"]
            assert opened.default_profile == "vectors"
            assert opened.pipeline("hybrid") is opened.pipeline("hybrid")


def test_what_is_derived_is_made_once_for_each_version(small, shelf_folder):
    made = []
    shelf = small.index()

    def make():
        made.append(1)
        return object()

    with shelf.lease() as opened:
        assert opened.cached("x", make) is opened.cached("x", make)
    changed(shelf_folder)
    shelf.refresh()
    with shelf.lease() as newer:
        newer.cached("x", make)
    assert len(made) == 2


def test_a_profile_does_not_vanish_while_new_documents_are_not_encoded_yet(law_folder, tmp_path):
    folder = shutil.copytree(law_folder, tmp_path / "own.index")
    with IndexRegistry.open([IndexPlace.of(folder)]) as library:
        changed(folder)
        assert library.refresh() == ["own"]
        page = search(library, SearchQuery(query="neuf0", profile="hybrid", language="fr"))
        assert page.results[0].id == "n0"
        assert "dense" not in page.results[0].sources
        assert search(library, SearchQuery(query="neuf0", language="fr")).profile == "hybrid"
    with IndexRegistry.open([IndexPlace.of(folder)]) as library, library.index().lease() as opened:
        assert list(opened.specs) == ["bm25"]  # who opens it now has not promised anything


def test_no_half_of_a_write_is_taken_over(small):
    seen, shelf = [], small.index()
    with ThreadPoolExecutor(1) as pool:
        with shelf.writing() as index:
            index.add([Document("first", text="zorglub", language="fr")])
            refreshing = pool.submit(shelf.refresh)
            seen.append(found(small, "zorglub"))
            index.add([Document("second", text="zorglub", language="fr")])
        refreshing.result(60)
    assert seen == [[]]
    assert sorted(found(small, "zorglub")) == ["first", "second"]
