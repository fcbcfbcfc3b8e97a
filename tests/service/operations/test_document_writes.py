"""Writing documents: seen by the next question, guarded by etags, encoded for the channels."""

import datetime

import pytest

from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.channels.registry import fill_channel, plan_channel
from lexfuse.data.document import Document
from lexfuse.errors import ConfigError, ConflictError, DataError, NotFoundError
from lexfuse.index import Index
from lexfuse.service.operations.document_writes import DocumentBody, Precondition, delete_document, put_document
from lexfuse.service.operations.documents import document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.schemas.document import DocumentChange
from lexfuse.storage.index_folder import IndexFolder


def found(library, question, profile=""):
    return [result.id for result in search(library, SearchQuery(query=question, profile=profile, language="fr")).results]


def test_a_new_document_is_found_replaced_and_gone(small):
    written = put_document(small, "x/1", DocumentBody(text="La clause de mobilité.", kind="statute"))
    assert (written.change, written.generation) == (DocumentChange.CREATED, small.index().generation)
    assert found(small, "mobilité") == ["x/1"]
    assert document(small, "x/1").document.etag == written.etag
    again = put_document(small, "x/1", DocumentBody(text="La clause de dédit.", kind="statute"))
    assert (again.change, again.etag == written.etag, again.generation > written.generation) == (
        DocumentChange.REPLACED,
        False,
        True,
    )
    assert (found(small, "mobilité"), found(small, "dédit")) == ([], ["x/1"])
    assert delete_document(small, "x/1").etag is None
    assert found(small, "dédit") == []


def test_the_same_again_changes_nothing(small):
    first, second = (put_document(small, "x", DocumentBody(text="La clause.")) for _ in range(2))
    assert (second.change, second.etag, second.generation) == (DocumentChange.UNCHANGED, first.etag, first.generation)


def test_language_and_citations_are_found_in_the_text(small):
    text = "Le salarié est dispensé du préavis de l'article L. 1 du code du travail, sauf faute grave."
    put_document(small, "x", DocumentBody(text=text, citations=["given"]))
    held = document(small, "x").document
    assert (held.language, [card.id for card in held.cites]) == ("fr", ["travail-L1"])
    assert "x" in [card.id for card in document(small, "travail-L1").document.cited_by]


def test_a_change_on_what_has_changed_is_refused_and_changes_nothing(small):
    etag = put_document(small, "x", DocumentBody(text="un")).etag
    generation = small.index().generation
    with pytest.raises(ConflictError, match="has changed since it was read"):
        put_document(small, "x", DocumentBody(text="deux"), precondition=Precondition(match=("other",)))
    with pytest.raises(ConflictError, match="already exists"):
        put_document(small, "x", DocumentBody(text="deux"), precondition=Precondition(none_match=("*",)))
    with pytest.raises(ConflictError, match="no longer exists"):
        put_document(small, "y", DocumentBody(text="deux"), precondition=Precondition(match=("*",)))
    with pytest.raises(ConflictError, match="has changed"):
        delete_document(small, "x", precondition=Precondition(match=("other",)))
    assert (small.index().generation, document(small, "x").document.text) == (generation, "un")
    assert (
        put_document(small, "x", DocumentBody(text="deux"), precondition=Precondition(match=(etag,))).change
        is DocumentChange.REPLACED
    )
    assert (
        put_document(small, "y", DocumentBody(text="un"), precondition=Precondition(none_match=("*",))).change
        is DocumentChange.CREATED
    )


def test_a_document_that_another_process_wrote_is_seen(small, shelf_folder):
    from lexfuse.data.document import Document

    with IndexFolder(shelf_folder) as index:
        index.add([Document("x", text="par un autre")])
    with pytest.raises(ConflictError, match="already exists"):
        put_document(small, "x", DocumentBody(text="le mien"), precondition=Precondition(none_match=("*",)))


def test_channels_hold_the_new_document_with_the_model_that_searches(shelf_folder):
    with IndexFolder(shelf_folder) as index:
        index.channels.make("dense", plan_channel("dense", ChannelPlan("fr-legal-dense")))
        fill_channel(index, "dense")
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        assert put_document(library, "x", DocumentBody(text="Le bail commercial et le loyer.", language="fr")).notes == []
        assert found(library, "location d'un local", "dense")[0] == "x"
        page = search(library, SearchQuery(query="loyer", profile="hybrid", language="fr"))
        assert page.results[0].id == "x"
        assert page.results[0].sources["dense"] is not None
    with IndexFolder(shelf_folder) as index:
        assert len(index.channels.pending("dense")) == 0


def test_vectors_are_those_of_the_command_line(shelf_folder, tmp_path):
    """The shared encoder divides and encodes a document as the one that fills an index does."""
    from lexfuse.channels.registry import open_retriever

    text = " ".join(f"La clause numéro {n} oblige le salarié à respecter le préavis." for n in range(120))
    for folder in (shelf_folder, tmp_path / "other.index"):
        with IndexFolder(folder) if folder == shelf_folder else IndexFolder.create(folder) as index:
            index.channels.make("dense", plan_channel("dense", ChannelPlan("fr-legal-dense")))
            fill_channel(index, "dense")
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        put_document(library, "x", DocumentBody(text=text, language="fr"))
    from lexfuse.data.document import Document

    with IndexFolder(tmp_path / "other.index") as index:
        index.add([Document("x", text=text, language="fr")])
        fill_channel(index, "dense")
    parts = []
    for folder in (shelf_folder, tmp_path / "other.index"):
        with IndexFolder(folder) as index, index.snapshot() as snapshot:
            dense = open_retriever(snapshot, "dense")
            parts.append([part.spans.tolist() for part in dense.parts][-1])
    assert parts[0] == parts[1]
    assert len(parts[0]) > 1


def test_a_channel_whose_model_is_gone_is_told_and_words_find_it(shelf_folder, monkeypatch):
    with IndexFolder(shelf_folder) as index:
        index.channels.make("dense", plan_channel("dense", ChannelPlan("fr-legal-dense")))
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:

        def missing(*_, **__):
            raise NotFoundError("no model 'fr-legal-dense'")

        monkeypatch.setattr("lexfuse.service.operations.document_writes.fill_channel", missing)
        written = put_document(library, "x", DocumentBody(text="La mobilité.", language="fr"))
        assert len(written.notes) == 1
        assert "no model" in written.notes[0]
        assert found(library, "mobilité", "bm25") == ["x"]


def test_a_channel_that_lacks_much_is_left_to_the_command_line(shelf_folder, monkeypatch):
    with IndexFolder(shelf_folder) as index:
        index.channels.make("dense", plan_channel("dense", ChannelPlan("fr-legal-dense")))
    monkeypatch.setattr("lexfuse.service.operations.document_writes.FEW", 2)
    with IndexRegistry.open([IndexPlace.of(shelf_folder)]) as library:
        assert "lacks 4 documents" in put_document(library, "x", DocumentBody(text="La mobilité.")).notes[0]


@pytest.mark.parametrize("id", ["", " ", "a\nb", "a\x00", "x" * 501, "\ud800"])
def test_ids_that_cannot_be(small, id):
    with pytest.raises(DataError, match="1 to 500 printable characters"):
        put_document(small, id, DocumentBody(text="x"))


def test_a_document_that_is_not_there_cannot_be_deleted(small):
    with pytest.raises(NotFoundError, match="no document 'nowhere'"):
        delete_document(small, "nowhere")
    with pytest.raises(ConflictError):
        delete_document(small, "nowhere", precondition=Precondition(match=("*",)))


def test_headers_of_preconditions():
    assert Precondition.parse('"a", W/"b" , "c"', 'W/"d"') == Precondition(("a", "c"), ("d",))
    assert Precondition.parse('W/"b"', None).match == ()  # a weak one matches nothing
    with pytest.raises(ConflictError):
        Precondition.parse('W/"b"', None).check("b")
    for header in ("a", '"a', "", '"a" "b"', "*, *"):
        with pytest.raises(ConfigError, match="If-Match takes"):
            Precondition.parse(header, None)


def test_a_new_text_replaces_all_versions_and_says_so(tmp_path):
    day = datetime.date
    versions = [Document("a", text="avant", valid_from=day(1990, 1, 1)), Document("a", text="après", valid_from=day(2000, 1, 1))]
    Index.build(tmp_path / "law", versions).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "law")]) as registry:
        assert document(registry, "a", as_of=day(1995, 1, 1)).document.text == "avant"
        written = put_document(registry, "a", DocumentBody(text="enfin"))
        assert written.notes == ["1 former version removed with the document"]
        assert document(registry, "a").document.text == "enfin"
        with pytest.raises(NotFoundError):
            document(registry, "b")
