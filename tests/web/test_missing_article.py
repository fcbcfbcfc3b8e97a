"""A question that cites an article its code does not have: the page, the API and the library say so."""

import pytest

from lexfuse.data.document import Document, DocumentKind
from lexfuse.index import Index

NOTE = "Code du travail has no article L9999-1"
QUESTION = "l'article L. 9999-1 du code du travail & <b>"


@pytest.fixture
def documents():
    return [Document("a", text="Le congé est payé.", kind=DocumentKind.STATUTE, code="Code du travail", number="L1234-5")]


def test_the_page_and_the_api_say_it(site, documents):
    client = site(documents)
    page = client.get("/", params={"q": QUESTION})
    assert "No such article: Code du travail, L9999-1" in page.text
    assert (
        "Cet article n’existe pas\u00a0: Code du travail, L9999-1" in client.get("/", params={"q": QUESTION, "lang": "fr"}).text
    )
    assert "<b>" not in page.text
    asked = client.get("/v1/search", params={"query": QUESTION})
    assert asked.json()["notes"] == [NOTE]
    assert client.get("/v1/search", params={"query": "article L. 1234-5 du code du travail"}).json()["notes"] == []


def test_the_library_says_it(tmp_path, documents):
    with Index.build(tmp_path / "index", documents) as index:
        assert index.search(QUESTION).notes == (NOTE,)
        assert index.search("congé payé").notes == ()
