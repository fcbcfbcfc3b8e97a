"""BM25: bad input, parameters, explanations, exact scores over segments and after deletions."""

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25, IdfForm
from lexfuse.channels.query_context import query_context
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError, NotFoundError
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder

TEXTS = {
    "a": "Le salarié licencié reçoit une indemnité de licenciement",
    "b": "L'employeur verse le salaire au salarié",
    "c": "La loi protège le salarié et la salariée",
    "d": "Notice must be given to the employee before dismissal",
    "e": "Le préavis et l'indemnité sont dus au salarié, salarié ou non",
}


def documents(names="abcde"):
    return [Document(name, text=TEXTS[name], language="en" if name == "d" else "fr") for name in names]


@pytest.fixture
def index(tmp_path):
    return IndexFolder.create(tmp_path / "index")


def asked(*texts, language="fr"):
    return Queries.of(Query(f"q{number}", text, language) for number, text in enumerate(texts))


@pytest.mark.parametrize("idf", IdfForm)
def test_scores_do_not_depend_on_segments_or_on_what_was_deleted(tmp_path, index, idf):
    index.add(documents())
    split = IndexFolder.create(tmp_path / "split")
    split.add([*documents("eb"), Document("x", text="salarié indemnité loi", language="fr")])
    split.add(documents("c"))
    split.add(documents("ad"))
    split.delete(["x"])
    queries = asked("indemnité du salarié", "salarié salarié licencié préavis", "loi")
    one = BM25(index.snapshot(), idf=idf).retrieve(queries, 10)
    other = BM25(split.snapshot(), idf=idf).retrieve(queries, 10)
    assert one.as_dict() == other.as_dict()
    assert len(one) > 5
    split.merge()
    assert BM25(split.snapshot(), idf=idf).retrieve(queries, 10).as_dict() == one.as_dict()


@pytest.mark.parametrize("idf", IdfForm)
def test_score_has_the_bits_of_retrieve(index, idf):
    index.add([*documents("abd"), Document("x", text="salarié")])
    index.add(documents("ce"))
    index.delete(["x"])
    retriever = BM25(index.snapshot(), 0.9, 0.4, idf)
    queries = asked("indemnité du salarié licencié", "loi et préavis")
    run = retriever.retrieve(queries, 10)
    assert retriever.score(queries, run).tobytes() == run.score.tobytes()
    named = Run.of("named", {"q1": {"e": 0.0, "d": 0.0}})  # other ids, another order, a document without any term
    expected = {hit.doc: hit.score for hit in run.hits("q1")}
    assert retriever.score(queries, named).tolist() == [0.0, np.float32(expected["e"])]


def test_pairs_must_be_of_the_index_and_of_the_queries(index):
    index.add(documents())
    with pytest.raises(NotFoundError, match="'z'"):
        BM25(index.snapshot()).score(asked("loi"), Run.of("x", {"q0": {"z": 1.0}}))
    with pytest.raises(NotFoundError, match="'other'"):
        BM25(index.snapshot()).score(asked("loi"), Run.of("x", {"other": {"a": 1.0}}))


@pytest.mark.parametrize("text", ["", "   ", "et le la de", "x", "?", "…", "zzzzzz"])
def test_queries_without_a_known_term_have_an_empty_ranking(index, text):
    index.add(documents())
    run = BM25(index.snapshot()).retrieve(asked(text, "loi"), 10)
    assert run.hits("q0") == []
    assert [hit.doc for hit in run.hits("q1")] == ["c"]


def test_a_search_reads_its_question_once(index, monkeypatch):
    index.add(documents())
    bm25, queries, read = BM25(index.snapshot()), asked("salarié"), []
    plain = BM25._expanded
    monkeypatch.setattr(BM25, "_expanded", lambda self, some: read.append(some) or plain(self, some))
    with query_context():
        found = bm25.retrieve(queries, 10)
        bm25.score(queries, found)
        bm25.evidence(Query("q0", "salarié", "fr"), [hit.doc for hit in found.hits("q0")])
        assert len(read) == 1
        bm25.retrieve(asked("salarié", language="en"), 10)
        assert len(read) == 2
    assert bm25.retrieve(queries, 10).hits("q0") == found.hits("q0") != []


def test_a_query_of_200_000_words(index):
    index.add(documents())
    retriever = BM25(index.snapshot())
    long = asked("indemnité mot " * 100_000)
    run = retriever.retrieve(long, 10)
    short = retriever.retrieve(asked("indemnité"), 10)
    assert [hit.doc for hit in run.hits("q0")] == [hit.doc for hit in short.hits("q0")] == ["a", "e"]
    assert run.score == pytest.approx(100_000 * short.score)
    assert retriever.score(long, run).tobytes() == run.score.tobytes()


@pytest.mark.parametrize("language", ["lv", "xx", "", "fr", "en"])
def test_a_query_of_any_language_is_read(index, language):
    index.add(documents())
    run = BM25(index.snapshot()).retrieve(asked("given", language=language), 10)  # its own stem in every language
    assert [hit.doc for hit in run.hits("q0")] == ["d"]


@pytest.mark.parametrize("text", ["CDI", "mise a pied", "le congé"])
def test_a_query_that_shows_no_language_is_read_in_that_of_the_documents(index, text):
    """Stop words and stems are those of the documents, whatever little a detector sees in three words."""
    index.add([Document("x", text="Le CDI, la mise à pied et les congés", language="fr")])
    given = BM25(index.snapshot()).retrieve(asked(text, language="fr"), 10)
    assert BM25(index.snapshot()).retrieve(asked(text, language=""), 10).as_dict() == given.as_dict()
    assert len(given) == 1


def test_documents_of_unknown_language_are_found_by_queries_of_unknown_language(index):
    index.add([Document("x", text="Les congés payés du salarié"), Document("y", text="notices")])
    assert BM25(index.snapshot()).retrieve(asked("les congés payés", language=""), 10).hits("q0")[0].doc == "x"


def test_a_language_that_is_none_is_refused(index):
    index.add(documents())
    with pytest.raises(ConfigError, match="language"):
        BM25(index.snapshot()).retrieve(asked("loi", language="Klingon"), 10)


def test_k_beyond_the_corpus_and_below_one(index):
    index.add(documents())
    retriever = BM25(index.snapshot())
    assert retriever.retrieve(asked("salarié"), 10**12).as_dict() == retriever.retrieve(asked("salarié"), 5).as_dict()
    for idf in IdfForm:
        with pytest.raises(ConfigError, match="k must be at least 1"):
            BM25(index.snapshot(), idf=idf).retrieve(asked("salarié"), 0)


@pytest.mark.parametrize("idf", IdfForm)
def test_no_documents_and_no_queries(index, idf):
    assert len(BM25(index.snapshot(), idf=idf).retrieve(asked("loi"), 10)) == 0
    index.add(documents())
    assert len(BM25(index.snapshot(), idf=idf).retrieve(Queries.of([]), 10)) == 0
    index.delete(list(TEXTS))
    assert len(BM25(index.snapshot(), idf=idf).retrieve(asked("loi"), 10)) == 0


@pytest.mark.parametrize("idf", IdfForm)
def test_filters_apply_inside(index, idf):
    index.add(documents("abc"))
    index.add(documents("de"))
    snapshot = index.snapshot()
    retriever = BM25(snapshot, idf=idf)
    everything = retriever.retrieve(asked("indemnité du salarié"), 10).hits("q0")
    within = np.array([name in "ace" for name in snapshot.ids])
    filtered = retriever.retrieve(asked("indemnité du salarié"), 2, within=within).hits("q0")
    assert [(hit.doc, hit.score) for hit in filtered] == [(hit.doc, hit.score) for hit in everything if hit.doc in "ace"][:2]
    nothing = np.zeros(len(snapshot), dtype=bool)
    assert len(retriever.retrieve(asked("salarié"), 10, within=nothing)) == 0
    with pytest.raises(ConfigError, match="5 documents, got 2"):
        retriever.retrieve(asked("salarié"), 10, within=nothing[:2])


@pytest.mark.parametrize("idf", IdfForm)
def test_explanations_add_up_to_the_score(index, idf):
    index.add(documents("abc"))
    index.add(documents("de"))
    retriever = BM25(index.snapshot(), idf=idf)
    query = Query("q", "salarié, salarié, indemnité, loi", "fr")
    hits = {hit.doc: hit.score for hit in retriever.retrieve(Queries.of([query]), 10).hits("q")}
    for doc in "abce":
        parts = retriever.evidence(query, [doc])[0].terms
        assert sum(part.contribution for part in parts) == pytest.approx(hits[doc], abs=1e-5)
        assert [part.contribution for part in parts] == sorted((part.contribution for part in parts), reverse=True)
    by_term = {part.term: part for part in retriever.evidence(query, ["e"])[0].terms}
    assert (by_term["salar"].in_query, by_term["salar"].in_document, by_term["loi"].in_document) == (2.0, 2.0, 0.0)
    assert [part.contribution for part in retriever.evidence(query, ["d"])[0].terms] == [0.0, 0.0, 0.0]  # why not?
    with pytest.raises(NotFoundError, match="'z'"):
        retriever.evidence(query, ["z"])


def test_parameters_are_chosen_at_query_time(index):
    index.add(documents())
    snapshot = index.snapshot()
    first = BM25(snapshot, 1.2, 0.75).retrieve(asked("salarié"), 10).as_dict()
    flat = BM25(snapshot, 0.0, 0.0).retrieve(asked("salarié"), 10)
    assert len(set(flat.score.tolist())) == 1  # k1 = 0: only presence counts
    assert BM25(snapshot, 1.2, 0.75).retrieve(asked("salarié"), 10).as_dict() == first


@pytest.mark.parametrize(("k1", "b"), [(-0.1, 0.5), (np.inf, 0.5), (np.nan, 0.5), (1.2, -0.1), (1.2, 1.1), (1.2, np.nan)])
def test_parameters_that_cannot_be_are_refused(index, k1, b):
    with pytest.raises(ConfigError, match="usual"):
        BM25(index.snapshot(), k1, b)


def test_bounds(example_index):
    with open_snapshot(example_index) as snapshot:
        assert BM25(snapshot).bounds.low == 0.0
        assert BM25(snapshot, idf=IdfForm.ROBERTSON).bounds.low == -np.inf
