"""Sections of an index: the articles of one code below one heading."""

from lexfuse.data.document import Document
from lexfuse.rerank.document_sections import DocumentSections, has_sections
from lexfuse.storage.index_folder import IndexFolder


def article(id, code, *headings, **values):
    return Document(id, text=f"Texte de {id}.", language="fr", code=code, headings=headings, **values)


DOCUMENTS = [
    article("a1", "Code A", "Livre I", "Titre I"),
    article("a2", "Code A", "Livre I", "Titre I"),
    article("a3", "Code A", "Livre I", "Titre II"),
    article("a4", "Code A", "Livre I"),
    article("a5", "Code A"),
    article("b1", "Code B", "Livre I", "Titre I"),
    article("none", "", "Livre I", "Titre I"),
    article("other", "", "Livre I", "Titre I"),
]


def sections_of(folder, documents):
    with IndexFolder.create(folder, documents=documents) as index, index.snapshot() as snapshot:
        return DocumentSections.of(snapshot), has_sections(snapshot), {id: snapshot.ids.ordinal(id) for id in snapshot.ids}


def test_articles_below_one_heading_of_one_code_are_a_section(tmp_path):
    sections, there, place = sections_of(tmp_path / "i", DOCUMENTS)
    assert there
    assert sections.path(place["a1"]) == sections.path(place["a2"]) == ("Code A", "Livre I", "Titre I")
    assert [sections.path(place[id]) for id in ("none", "a5")] == [(), ()]
    own = {id: int(sections.own[at]) for id, at in place.items()}
    assert own["a1"] == own["a2"]
    assert len({own[id] for id in ("a1", "a3", "a4", "a5", "b1", "none", "other")}) == 7
    assert [int(sections.size[own[id]]) for id in ("a1", "a3", "a4", "b1", "none")] == [2, 1, 1, 1, 1]


def test_an_index_without_codes_and_headings_has_no_sections(tmp_path):
    documents = [Document("p1", text="Un.", language="fr", headings=("Faits",)), Document("p2", text="Deux.", language="fr")]
    sections, there, _ = sections_of(tmp_path / "i", documents)
    assert not there
    assert sections.paths == []
    assert sorted(sections.own.tolist()) == [0, 1]
    assert sections.size.tolist() == [1, 1]
    empty, there, _ = sections_of(tmp_path / "empty", [])
    assert not there
    assert len(empty.own) == 0
