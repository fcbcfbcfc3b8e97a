"""Channels of vectors from files against their definition in numpy: cosine and dot product, passages and pools, after changes."""

import numpy as np
import pytest

from lexfuse import Document, Index, Queries, Query
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.dense.kind import DenseKind
from lexfuse.errors import ConfigError, DataError, NotFoundError

CHANCE = np.random.default_rng(7)
IDS = [f"d{number:02}" for number in range(40)]
PASSAGES = [*IDS, *IDS[::3], *IDS[::5]]  # several of some documents
ROWS = CHANCE.normal(size=(len(PASSAGES), 24))
QUERIES = Queries.of(Query(f"q{number}", f"question {number}") for number in range(8))
ASKED = CHANCE.normal(size=(len(QUERIES), 24))
DOCUMENTS = [Document(id, text=f"texte {id}", language="fr") for id in IDS]


@pytest.fixture
def files(tmp_path):
    np.savez(tmp_path / "documents.npz", ids=PASSAGES, vectors=ROWS)
    np.savez(tmp_path / "by-id.npz", ids=list(QUERIES.ids), vectors=ASKED)
    np.savez(tmp_path / "by-text.npz", texts=QUERIES.text, vectors=ASKED)
    return tmp_path


def plan(files, queries="by-id.npz", **options):
    return ChannelPlan(str(files / "documents.npz"), str(files / queries), **{"storage": "fp32"} | options)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def expected(similarity, pool):
    """Each document's score, by pooling the scores of its passages."""
    owner = np.array([IDS.index(id) for id in PASSAGES])
    dots = ASKED @ ROWS.T if similarity == "dot" else unit(ASKED) @ unit(ROWS).T
    groups = [np.sort(dots[:, owner == place], axis=1)[:, ::-1] for place in range(len(IDS))]
    return np.stack([group[:, : None if pool == "all" else pool].mean(axis=1) for group in groups], axis=1)


@pytest.mark.parametrize("queries", ["by-id.npz", "by-text.npz"])
@pytest.mark.parametrize("pool", [1, 2, "all"])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_rankings_and_scores_are_those_of_numpy(files, similarity, pool, queries):
    made = plan(files, queries, dot_product=similarity == "dot")
    with Index.build(files / "i", DOCUMENTS, channels={"dense-ada": made}) as index:
        run = index.run(QUERIES, depth=len(IDS), channels=["dense-ada"], pool=pool)
    for row, scores in zip(QUERIES.ids, expected(similarity, pool), strict=True):
        hits = run.hits(row)
        assert [hit.doc for hit in hits] == [IDS[place] for place in np.argsort(-scores)]
        np.testing.assert_allclose([hit.score for hit in hits], np.sort(scores)[::-1], rtol=1e-5, atol=1e-6)


def test_the_channel_is_fused_explained_tuned_and_kept_over_changes(files):
    with Index.build(files / "i", DOCUMENTS, channels={"dense-ada": plan(files, "by-text.npz")}) as index:
        fused = index.run(QUERIES, depth=10, channels=["bm25", "dense-ada"], fusion="rrf")
        assert len(fused.hits("q0")) == 10
        hits = index.search("question 3", k=3, profile="dense-ada")
        best = np.argsort(-expected("cosine", 1)[3])[:3]
        assert [hit.id for hit in hits] == [IDS[place] for place in best]
        assert index.explain("question 3", hits[1].id, profile="dense-ada").rank == 2
        assert list(index.specs) == ["bm25", "dense-ada"]  # no part of the default search: new questions have no vector
        index.delete([hits[0].id])
        index.merge()
        assert [hit.id for hit in index.search("question 3", k=2, profile="dense-ada")] == [hit.id for hit in hits][1:]
        assert index.verify() == []


def test_damaged_parts_are_made_again_from_the_file(files):
    with Index.build(files / "i", DOCUMENTS, channels={"dense-ada": plan(files)}) as index:
        before = index.run(QUERIES, channels=["dense-ada"])
    [part] = (files / "i" / "channels").rglob("fp32.npy")
    part.write_bytes(part.read_bytes()[:-4] + b"\0\0\0\0")
    with Index.open(files / "i") as index:
        assert index.verify()
        index.rebuild()
        assert index.add_channels()["dense-ada"].encoded == len(IDS)
        assert index.verify() == []
        again = index.run(QUERIES, channels=["dense-ada"])
    assert [again.hits(id) for id in QUERIES.ids] == [before.hits(id) for id in QUERIES.ids]


def test_new_documents_and_questions_are_found_once_the_files_have_them(files):
    with Index.build(files / "i", DOCUMENTS, channels={"dense-ada": plan(files)}) as index:
        index.add([Document("new", text="nouveau", language="fr")])
        with pytest.raises(DataError, match=r"documents.npz: no vector of 1 of 1 documents, 'new'; add their vectors"):
            index.add_channels()
        np.savez(files / "documents.npz", ids=[*PASSAGES, "new"], vectors=np.vstack([ROWS, ASKED[:1]]))
        assert index.add_channels()["dense-ada"].encoded == 1
        assert index.run(QUERIES, channels=["dense-ada"]).hits("q0")[0].doc == "new"
        other = Queries.of([Query("q0", "known"), Query("q9", "unknown")])
        with pytest.raises(
            NotFoundError, match=r"by-id.npz has no vector of the question 'q9'; add it to the file, or search by"
        ):
            index.run(other, channels=["dense-ada"])
        with pytest.raises(NotFoundError, match="no vector of the question"):
            index.search("une question", channels=["bm25", "dense-ada"])
        assert len(index.search("nouveau")) == 1
    np.savez(files / "by-id.npz", ids=["q0", "q9"], vectors=ASKED[:2])
    with Index.open(files / "i") as index:
        assert len(index.run(other, depth=5, channels=["dense-ada"])) == 10


def test_a_model_may_encode_the_questions(files, tmp_path):
    rows = CHANCE.normal(size=(len(IDS), 384))
    np.savez(tmp_path / "live.npz", ids=IDS, vectors=rows)
    made = ChannelPlan(str(tmp_path / "live.npz"), "fr-legal-dense", storage="fp32")
    with Index.build(files / "i", DOCUMENTS, channels={"dense": made}) as index:
        asked = DenseKind().load_encoder("fr-legal-dense", DenseKind.build_options(), None).encode(["le congé"], "query")
        best = np.argsort(-(unit(rows) @ asked[0]))[:3]
        assert [hit.id for hit in index.search("le congé", k=3, profile="dense")] == [IDS[place] for place in best]


def test_plans_that_cannot_be_searched_are_refused(files, tmp_path):
    np.savez(tmp_path / "short.npz", ids=["q0"], vectors=np.ones((1, 3)))
    np.savez(tmp_path / "named.npz", ids=["q0"], vectors=np.ones((1, 24)), model="one")
    np.savez(tmp_path / "other.npz", ids=IDS, vectors=ROWS[: len(IDS)], model="another")
    with Index.build(files / "i", DOCUMENTS) as index:
        for name, refused, words in (
            ("dense-ada", ChannelPlan(str(files / "documents.npz")), "--query-model dense-ada=questions.npz"),
            ("dense-ada", plan(files, "short.npz"), "gives vectors of 3 numbers, that of passages of 24"),
            (
                "dense-ada",
                ChannelPlan(str(tmp_path / "other.npz"), str(tmp_path / "named.npz")),
                "vectors of another and one cannot",
            ),
            ("dense-ada", plan(files, passages="windows"), "leave out passages, size and overlap"),
            ("dense-ada", ChannelPlan("fr-legal-dense", dot_product=True), "dot_product is for vectors from a file"),
            ("dense", plan(files), "name the channel like dense-mine"),
            ("splade-ada", ChannelPlan("fr-legal-splade", dot_product=True), "has no option 'dot_product'"),
        ):
            with pytest.raises(ConfigError, match=words):
                index.add_channels({name: refused})
        assert index.channels == ()
