"""The citations between the documents of an index."""

import numpy as np

from lexfuse.data.document import Document
from lexfuse.rerank.citation_graph import CitationGraph
from lexfuse.storage.index_folder import IndexFolder


def graph_of(folder, citations):
    documents = [Document(id, text=f"Texte de {id}.", language="fr", citations=cited) for id, cited in citations.items()]
    with IndexFolder.create(folder, documents=documents) as index, index.snapshot() as snapshot:
        return CitationGraph.of(snapshot), {id: snapshot.ids.ordinal(id) for id in snapshot.ids}


def test_a_document_cites_others_once_and_never_itself_or_what_is_not_there(tmp_path):
    graph, place = graph_of(tmp_path / "i", {"a": ("c", "b", "c", "a", "elsewhere"), "b": (), "c": ("a",)})
    assert sorted(graph.cited_by(place["a"]).tolist()) == sorted([place["b"], place["c"]])
    assert graph.cited_by(place["b"]).tolist() == []
    assert list(zip(graph.citing.tolist(), graph.cited.tolist(), strict=True))[-1] == (place["c"], place["a"])


def test_citations_among_some_documents_are_positions_among_them(tmp_path):
    graph, place = graph_of(tmp_path / "i", {"a": ("b", "c"), "b": ("c", "d"), "c": (), "d": ("a", "b")})
    some = [place[id] for id in ("d", "c", "b")]
    citing, cited = graph.among(np.array(some, np.int32))
    assert set(zip(citing.tolist(), cited.tolist(), strict=True)) == {(0, 2), (2, 1), (2, 0)}
    for nothing in ([], [place["a"]]):
        citing, cited = graph.among(np.array(nothing, np.int32))
        assert len(citing) == len(cited) == 0


def test_an_index_without_citations_and_an_empty_one_have_no_graph(tmp_path):
    graph, _ = graph_of(tmp_path / "i", {"a": (), "b": ()})
    assert len(graph.cited) == 0
    assert graph.starts.tolist() == [0, 0, 0]
    empty, _ = graph_of(tmp_path / "empty", {})
    assert len(empty.cited) == 0
