"""Versions of an index have in common what they can, and each finds what an index that is opened alone finds."""

import random

import numpy as np
import pytest

from lexfuse.channels.dense import candidate_screen
from lexfuse.channels.dense.candidate_screen import CandidateScreen, _in_bytes
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.lexical.tfidf import TfIdf
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import NotFoundError
from lexfuse.storage.channel_store import EncodedBlock
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.segments.channel_postings import Postings
from lexfuse.storage.segments.inverted_file import InvertedFile
from lexfuse.storage.segments.shared_postings import JoinedLists, JoinedVocabulary
from lexfuse.storage.stored_channel import ChannelSettings
from lexfuse.storage.string_list import StringList
from lexfuse.text.analysis.vocabulary import Vocabulary

WORDS = [f"word{number}" for number in range(40)]
QUERIES = Queries.of([Query(word, word, "en") for word in WORDS] + [Query("all", " ".join(WORDS), "en")])


def document(number, chance):
    return Document(f"d{number:03}", text=" ".join(chance.choices(WORDS, k=chance.randint(1, 30))), language="en")


def dense(documents):
    return EncodedBlock(VectorPart.of(np.ones((len(documents), 4), np.float32)), len(documents))


def sparse(documents):
    rows = [(np.array([len(one.text) % 3, 3], np.int32), np.array([1.5, 0.5], np.float32)) for one in documents]
    return EncodedBlock(SparsePart.of(rows, Vocabulary(["a", "b", "c", "d"])), len(documents))


@pytest.fixture
def index(tmp_path):
    chance = random.Random(3)  # noqa: S311
    with IndexFolder.create(tmp_path / "i", documents=[document(number, chance) for number in range(60)]) as made:
        for name, kind, encode in (("dense", "dense", dense), ("splade", "sparse", sparse)):
            made.channels.make(name, ChannelSettings(kind, "model", "00"))
            made.channels.fill(name, encode)
        yield made


def found(snapshot):
    """Whatever depends on posting lists, terms and ids."""
    names = [*(f"d{number:03}" for number in range(130)), "x"]
    runs = [
        retriever.retrieve(QUERIES, 20) for retriever in (BM25(snapshot), BM25(snapshot, idf=IdfForm.ROBERTSON), TfIdf(snapshot))
    ]
    scores = [BM25(snapshot).score(QUERIES, run).tolist() for run in runs]
    told = [BM25(snapshot).evidence(QUERIES.query("all"), [id])[0].terms for id in list(snapshot.ids)[:3]]
    lexical, splade = snapshot.postings("bm25"), snapshot.postings("splade")
    statistics = [lexical.collection_frequency.tolist(), lexical.document_frequency.tolist(), splade.document_frequency.tolist()]
    ids = [list(snapshot.ids), snapshot.ids.ordinals(names).tolist(), [name in snapshot.ids for name in names]]
    weights = [splade.spread(lambda some: some.weights)[start:end].tolist() for start, end in zip(*spans(splade), strict=True)]
    return [[run.as_dict() for run in runs], scores, told, statistics, ids, list(lexical.vocabulary), weights, len(lexical)]


def spans(postings):
    return (edges.ravel().tolist() for edges in postings.ranges(np.arange(len(postings.vocabulary), dtype=np.int32)))


def change(index, chance, step):
    kind = chance.choice(["add", "add", "update", "delete", "merge", "fill"])
    if kind == "merge" and step % 3 == 0:
        index.merge()
    elif kind == "delete":
        index.delete([f"d{chance.randrange(100):03}" for _ in range(3)])
    elif kind == "fill":
        index.channels.fill("splade", sparse)
        index.channels.fill("dense", dense)
    else:
        index.add([document(chance.randrange(100), chance)], update=True)


@pytest.mark.parametrize("seed", range(3))
def test_every_version_finds_what_one_that_is_opened_alone_finds(index, seed):
    chance, versions, expected = random.Random(seed), [open_snapshot(index.folder)], []  # noqa: S311
    for step in range(14):
        change(index, chance, step)
        versions.append(open_snapshot(index.folder, versions[-1]))
        with open_snapshot(index.folder) as alone:
            expected.append(found(alone))
        if step % 2:
            assert found(versions[-1]) == expected[-1]
    for at, version in enumerate(versions[1:]):  # also those that are asked only now, after the lists went on
        version.forget_impacts()
        assert found(version) == expected[at]
        version.close()


def test_versions_have_files_and_lists_in_common(index):
    first = open_snapshot(index.folder)
    found(first)
    index.add([Document("new", text="word1 entirely new", language="en")])
    second = open_snapshot(index.folder, first)
    found(second)
    index.add([Document("newer", text="word1 newer", language="en")])
    third = open_snapshot(index.folder, second)
    found(third)
    assert third.segments[:1] == second.segments[:1] == first.segments
    assert third.segments[1] is second.segments[1]
    for name in ("dense", "splade"):
        assert third.channel(name).parts[0] is first.channel(name).parts[0]
    assert np.shares_memory(second.postings("bm25").docs, third.postings("bm25").docs)
    assert np.shares_memory(second.postings("bm25").weights, third.postings("bm25").weights)
    assert second.ids.names[0] is third.ids.names[0]
    assert second.postings("bm25").impacts
    second.forget_impacts()
    assert not second.postings("bm25").impacts
    for version in (first, second, third):
        version.close()


def test_a_merge_of_everything_starts_anew_and_leaves_older_versions_alone(index):
    first = open_snapshot(index.folder)
    index.add([Document("new", text="word1", language="en")])
    second = open_snapshot(index.folder, first)
    before = found(second)
    index.merge()
    third = open_snapshot(index.folder, second)
    with open_snapshot(index.folder) as alone:
        assert found(third) == found(alone)
    second.forget_impacts()
    assert found(second) == before
    for version in (first, second, third):
        version.close()


def test_another_folder_has_nothing_in_common(index, tmp_path):
    IndexFolder.create(tmp_path / "other", documents=[Document("a", text="word1", language="en")]).close()
    with index.snapshot() as first, open_snapshot(tmp_path / "other", first) as second:
        assert list(second.ids) == ["a"]
        assert second.segments[0] is not first.segments[0]


def test_lists_start_anew_when_there_is_no_room():
    first = InvertedFile.of([["a"]] * 10)
    more = [InvertedFile.of([["a", "b"]] * size) for size in (2, 4, 30)]
    joined = JoinedLists()
    views = []
    for count in (1, 2, 3):
        files = [first, *more[:count]]
        bases = np.cumsum([0, *(len(file.lengths) for file in files)])
        postings = Postings(files, bases, np.ones(int(bases[-1]), dtype=bool), joined)
        (starts,), (ends,) = postings.ranges(np.array([postings.vocabulary.find("a")], dtype=np.int32))
        docs = [doc for start, end in zip(starts, ends, strict=True) for doc in postings.docs[start:end].tolist()]
        assert docs == list(range(int(bases[-1])))
        views.append(postings.docs)
    assert not np.shares_memory(views[1], views[2])


def test_rows_in_floats_are_made_once_for_a_part():
    part = VectorPart.of(np.eye(4, dtype=np.float32), storage=VectorStorage.FP16)
    screens = [CandidateScreen([part], np.empty(0, np.int32)) for _ in range(2)]
    for screen in screens:
        screen.prepare()
    assert screens[0].exact_part(part) is screens[1].exact_part(part) is not part


def test_rows_in_bytes_are_made_once_for_a_part(monkeypatch):
    monkeypatch.setattr(candidate_screen, "SCANNED_FROM", 0)
    part = VectorPart.of(np.eye(4, dtype=np.float32))
    screens = [CandidateScreen([part], np.empty(0, np.int32)) for _ in range(2)]
    for screen in screens:
        screen.prepare()
    assert screens[0]._bytes[0] is screens[1]._bytes[0] is _in_bytes(part)


def test_terms_of_a_joined_vocabulary():
    terms = JoinedVocabulary(StringList.of(["a", "c"]), ["c", "b", "a", "d"])
    assert list(terms) == ["a", "c", "b", "d"] == [terms[at] for at in range(4)] == terms[:]
    assert [terms.find(term) for term in ("a", "b", "d", "x")] == [0, 2, 3, None]
    assert (terms[-1], terms[-4], terms.learn("c"), terms.learn("e"), len(terms)) == ("d", "a", 1, 4, 5)
    with pytest.raises(IndexError):
        _ = terms[5]


def test_ids_of_segments(index):
    index.delete(["d001"])
    index.add([Document("d002", text="again", language="en")], update=True)
    with index.snapshot() as snapshot:
        ids = snapshot.ids
        assert "d001" not in ids
        assert [ids[ids.ordinal(id)] for id in ("d000", "d002", "d059")] == ["d000", "d002", "d059"]
        assert ids.ordinals(["d001", "d002"]).tolist() == [-1, len(ids) - 1]
        with pytest.raises(NotFoundError, match="no id 'd001' among 59 ids"):
            ids.ordinal("d001")
        assert 3 not in ids
