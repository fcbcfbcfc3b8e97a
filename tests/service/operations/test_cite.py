"""Citations of a text, with the documents that they mean."""

import pytest

from lexfuse.data.document import Document, DocumentKind
from lexfuse.deadline import Deadline, limited
from lexfuse.errors import NotFoundError, OverloadError, TooLargeError
from lexfuse.service.operations.documents import CiteParameters, cite
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.storage.index_folder import IndexFolder


def meant(library, text, **values):
    return [
        (one.text, [card.id for card in one.documents]) for one in cite(library, CiteParameters(text=text, **values)).citations
    ]


def test_every_spelling_in_order_of_place(law):
    text = "Voir l’article L. 1 du code civil, puis L2 du code du travail et l'arrêt C‑60/22, point 9."
    found = cite(law, CiteParameters(text=text)).citations
    assert [[card.id for card in one.documents] for one in found] == [["civil-L1"], ["travail-L2"], ["C-60/22#9"]]
    assert all(text[slice(*one.span)] == one.text for one in found)


def test_without_a_code_any_code_or_the_one_that_is_said(law):
    assert meant(law, "L. 1") == [("L. 1", ["civil-L1", "travail-L1"])]
    assert meant(law, "L. 1", code="Code du travail") == [("L. 1", ["travail-L1"])]


def test_what_means_nothing_here_is_listed_without_documents(law):
    assert meant(law, "article L. 9999-1 du code du travail")[0][1] == []
    assert meant(law, "rien à citer <script>") == []


def test_a_long_range_is_listed_in_part_and_counted(tmp_path):
    articles = [Document(f"a{n:03}", number=f"L{n}", code="Code du travail", kind=DocumentKind.STATUTE) for n in range(1, 51)]
    IndexFolder.create(tmp_path / "i", documents=articles).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "i")]) as library:
        [found] = cite(library, CiteParameters(text="les articles L. 1 à L. 50 du code du travail")).citations
    assert (len(found.documents), found.more, found.documents[0].id) == (20, 30, "a001")


def test_an_index_that_is_not_there(law):
    with pytest.raises(NotFoundError, match="no index 'x'"):
        cite(law, CiteParameters(text="L. 1", index="x"))


def test_a_text_with_more_citations_than_are_looked_up_is_counted_to_its_end(law, monkeypatch):
    monkeypatch.setattr("lexfuse.service.operations.documents.MAX_CITATIONS", 3)
    page = cite(law, CiteParameters(text="L. 1 " * 5))
    assert (len(page.citations), page.more) == (3, 2)
    assert cite(law, CiteParameters(text="L. 1 " * 3)).more == 0


def test_a_text_that_is_too_long_is_refused(law):
    with pytest.raises(TooLargeError, match="the text has 1,000,001 characters, 1,000,000 are allowed"):
        cite(law, CiteParameters(text="a" * 1_000_001))


def test_citations_stop_at_the_deadline(law):
    with limited(deadline := Deadline(60)):
        deadline.revoke()
        with pytest.raises(OverloadError):
            cite(law, CiteParameters(text="L. 1 du code civil"))
