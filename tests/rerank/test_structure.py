"""Reranking by sections and citations: its formula, written out slowly here, its invariants, and its evidence."""

import numpy as np
import pytest

from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.data.arrays import offsets_of
from lexfuse.data.document import Document
from lexfuse.data.queries import Queries, Query
from lexfuse.errors import ConfigError
from lexfuse.rerank.citation_graph import CitationGraph
from lexfuse.rerank.document_sections import DocumentSections
from lexfuse.rerank.structure import PARTS, Structure, StructureScores, StructureWeights
from lexfuse.storage.index_folder import IndexFolder

WORDS = ["loi", "droit", "juge", "contrat", "bail", "congé", "salaire", "préavis"]
QUERIES = Queries.of(
    [Query("q1", "loi du contrat de bail", "fr"), Query("q2", "salaire et congé", "fr"), Query("q3", "zzz", "fr")]
)
WEIGHTS = StructureWeights(section=0.3, cited=0.2)


@pytest.fixture(scope="module")
def documents():
    chance = np.random.default_rng(0)
    return [
        Document(
            f"d{number:02}", text=" ".join(chance.choice(WORDS, size=chance.integers(2, 9))), language="fr",
            code=f"Code {number % 2}" if number % 7 else "",
            headings=("Livre", f"Titre {chance.integers(3)}", f"Section {chance.integers(2)}")[: 1 + number % 3],
            citations=tuple(f"d{one:02}" for one in chance.choice(60, size=number % 4)),
        )
        for number in range(60)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory, documents):
    with IndexFolder.create(tmp_path_factory.mktemp("s") / "i", documents=documents) as index, index.snapshot() as snapshot:
        yield snapshot


def by_the_text(documents, hits, weights):
    """The new scores of the hits of one query, as the docstring of the module has them."""
    found = {one.id: one for one in documents}
    section = {id: (one.code, *one.headings) if one.code and one.headings else (id,) for id, one in found.items()}
    low, high = hits[-1].score, hits[0].score
    own = {hit.doc: (hit.score - low) / (high - low) if high > low else 1.0 for hit in hits}
    new = {}
    for doc in own:
        path = section[doc]
        inside = [own.get(id, 0.0) for id in found if section[id] == path]
        citing = [own[id] for id in own if doc in found[id].citations and id != doc]
        parts = {"section": max(inside), "cited": max(citing, default=0)}
        new[doc] = weights.own * own[doc] + sum(getattr(weights, name) * value for name, value in parts.items())
    return new


@pytest.mark.parametrize("weights", [WEIGHTS, StructureWeights(), StructureWeights(0.6, 0), StructureWeights(0, 0.5)], ids=str)
def test_scores_are_those_of_the_formula(snapshot, documents, weights):
    depth = 25
    first = BM25(snapshot).retrieve(QUERIES, 60)
    found = (BM25(snapshot) >> Structure(snapshot, weights, depth)).retrieve(QUERIES, 60)
    for query in ("q1", "q2"):
        hits = first.hits(query)
        assert len(hits) > depth
        expected = by_the_text(documents, hits[:depth], weights)
        order = sorted(expected, key=lambda doc: (-np.float32(expected[doc]), doc))
        assert [hit.doc for hit in found.hits(query)] == order + [hit.doc for hit in hits[depth:]]
        for hit in found.hits(query)[:depth]:
            assert hit.score == pytest.approx(expected[hit.doc], rel=1e-5)
            assert hit.parts["structure"] == pytest.approx(hit.score)
    assert found.hits("q3") == []


def test_without_weights_the_order_stays(snapshot):
    first = BM25(snapshot).retrieve(QUERIES, 60)
    found = (BM25(snapshot) >> Structure(snapshot, StructureWeights(0, 0))).retrieve(QUERIES, 60)
    assert [hit.doc for hit in found.hits("q1")] == [hit.doc for hit in first.hits("q1")]


def scores_of(own, citations=()):
    """Four candidates, the documents 1, 0, 3 and 2, in sections, with citations between them."""
    sections = DocumentSections([], np.array(own, np.int32), np.bincount(own, minlength=4))
    citing = [doc for doc, _ in sorted(citations)]
    graph = CitationGraph(offsets_of(np.bincount(citing, minlength=4)), np.array([doc for _, doc in sorted(citations)], np.int32))
    return StructureScores.of(sections, graph, np.array([1, 0, 3, 2], np.int32), np.array([4, 3, 2.9, 2.8], np.float32))


def test_a_document_of_a_section_with_better_ones_rises():
    scores = scores_of([0, 1, 1, 2])
    total = scores.total(StructureWeights(section=0.5, cited=0))
    assert total[0] == 1
    assert total[3] > total[1]  # the last candidate shares the section of the first one
    assert total[1] == pytest.approx(scores.own[1])  # alone in its section: nothing is added or lost


def test_a_document_that_better_ones_cite_rises():
    scores = scores_of([0, 1, 2, 3], citations=[(1, 2), (0, 2), (2, 0)])
    total = scores.total(StructureWeights(section=0, cited=0.5))
    assert total[3] == pytest.approx(0.5)  # the last candidate: the first one cites it, and a worse one adds nothing
    assert total[1] == pytest.approx(scores.own[1] / 2)  # only the last candidate cites it
    assert scores.citing.tolist() == [-1, 3, -1, 0]


def test_scores_do_not_depend_on_k_and_score_gives_what_retrieve_gives(snapshot):
    pipeline = BM25(snapshot) >> Structure(snapshot, WEIGHTS, depth=20)
    most = pipeline.retrieve(QUERIES, 60)
    for k in (1, 5, 20, 21, 40):
        assert pipeline.retrieve(QUERIES, k).hits("q1") == most.hits("q1")[:k]
    assert np.array_equal(pipeline.score(QUERIES, most), most.score)


def test_what_a_filter_leaves_out_supports_nothing(snapshot, documents):
    allowed = [one.id for one in documents if one.code == "Code 1"]
    mask = np.zeros(len(snapshot), bool)
    mask[[snapshot.ids.ordinal(id) for id in allowed]] = True
    found = (BM25(snapshot) >> Structure(snapshot, WEIGHTS)).retrieve(QUERIES, 60, within=mask)
    assert {hit.doc for hit in found.hits("q1")} <= set(allowed)
    expected = by_the_text(documents, BM25(snapshot).retrieve(QUERIES, 60, within=mask).hits("q1"), WEIGHTS)
    assert {hit.doc: hit.score for hit in found.hits("q1")} == pytest.approx(expected, rel=1e-5)


def test_evidence_adds_up_to_the_score(snapshot, documents):
    reranker, query = Structure(snapshot, WEIGHTS, depth=30), QUERIES.select([0])
    found = (BM25(snapshot) >> reranker).retrieve(query, 60).hits("q1")
    shown = reranker.evidence_of(next(iter(query)), [hit.doc for hit in found], BM25(snapshot))
    by_id = {one.id: one for one in documents}
    by_score = {hit.doc: hit.score for hit in BM25(snapshot).retrieve(query, 30).hits("q1")}
    seen = 0
    for hit, one in zip(found, shown, strict=True):
        document = by_id[hit.doc]
        if hit.rank > 30:
            assert one.structure is None
            continue
        why, seen = one.structure, seen + bool(one.structure.path)
        assert sum(getattr(why, part) for part in PARTS) == pytest.approx(hit.score, rel=1e-5)
        assert why.path == ((document.code, *document.headings) if document.code else ())
        members = [one for one in documents if (one.code, *one.headings) == why.path] or [document]
        assert why.documents == len(members)
        assert 1 <= why.candidates <= len(members)
        assert why.best_document in {one.id for one in members}
        assert (why.cited > 0) == (why.citing_document is not None and by_score[why.citing_document] > min(by_score.values()))
        assert why.citing_document is None or hit.doc in by_id[why.citing_document].citations
    assert seen > 15


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"section": -0.1}, "section must be at least 0 and less than 1, got -0.1"),
        ({"cited": 1.0}, "cited must be at least 0"),
        ({"cited": float("nan")}, "cited must be at least 0"),
        ({"section": 0.9, "cited": 0.1}, "section and cited add up to 1; they must leave something"),
    ],
)
def test_weights_that_leave_nothing_are_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        StructureWeights(**values)


def test_a_depth_below_one_is_refused(snapshot):
    with pytest.raises(ConfigError, match="depth of reranking must be at least 1"):
        Structure(snapshot, depth=0)
