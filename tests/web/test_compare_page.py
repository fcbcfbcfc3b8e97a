"""The compare page through the application."""

import re

import pytest

from lexfuse.data.document import Document
from lexfuse.search.spec.spec import SearchSpec

# Long documents fall back under bm25, which looks at lengths, and not under a bm25 that does not.
DOCUMENTS = [
    Document("a", title="Court", text="Le bail prend fin.", language="fr"),
    Document("b", title="Long", text="Le bail, le bail, le bail. " + "Rien de plus ne fut dit ce jour. " * 20, language="fr"),
    Document("<i>c</i>", title="<b>Marque</b>", text="Un bail de chasse en forêt, la nuit.", language="fr"),
]


@pytest.fixture
def client(site, tmp_path):
    profile = tmp_path / "plain.toml"
    SearchSpec.of("bm25", k1=1.2, b=0.0, name="plain").save(profile)
    return site(DOCUMENTS, profiles=[profile])


def rows(text):
    """Documents of every column with the mark of each."""
    columns = text.split('<section class="column"')[1:]
    return [
        [
            (match[1], " ".join(re.sub("<[^>]+>", " ", match[2]).split()))
            for match in re.finditer(r'<li data-document="([^"]+)">\s*<p class="place">(.*?)</p>', column, re.DOTALL)
        ]
        for column in columns
    ]


def test_moves_beside_the_first(client):
    first, second = rows(client.get("/compare", params={"q": "bail", "profile": ["bm25", "plain"]}).text)
    assert [document for document, _ in first] == ["a", "&lt;i&gt;c&lt;/i&gt;", "b"]
    assert second == [("b", "1 ▲ 2 up 2 places"), ("&lt;i&gt;c&lt;/i&gt;", "2 = same place"), ("a", "3 ▼ 2 down 2 places")]
    assert [mark for _, mark in first] == ["1", "2", "3"]


def test_without_a_question_there_is_the_form_alone(client):
    text = client.get("/compare").text
    assert rows(text) == []
    assert "Ask a question above" in text
    assert text.count("<select") == 3


def test_the_second_profile_is_chosen_where_one_is_given(client):
    text = client.get("/compare", params={"q": "bail", "profile": "bm25"}).text
    assert re.findall(r'<h2 id="column-\d">(.*?)</h2>', text) == ["bm25", "plain"]


def test_what_is_not_there_is_told(client):
    assert client.get("/compare", params={"q": "bail", "profile": ["bm25", "nowhere"]}).status_code == 404
    assert client.get("/compare", params={"q": "bail", "index": "nowhere"}).status_code == 404
    assert client.get("/compare", params={"q": "b" * 20_001}).status_code == 413
    twice = client.get("/compare", params={"q": "bail", "profile": ["bm25", "bm25"]})
    assert "Choose profiles that differ" in twice.text
    assert client.get("/compare", params={"q": "bail", "filter": "nonsense"}).status_code == 400


def test_names_and_questions_stay_text(client):
    text = client.get("/compare", params={"q": 'bail "><script>x</script>', "filter": "title!=<u>"}).text
    assert "<script>x" not in text
    assert "<b>Marque" not in text
    assert "<u>" not in text


def test_an_index_with_one_profile_has_nothing_to_compare(site):
    client = site(DOCUMENTS)
    assert "one profile only" in client.get("/compare", params={"q": "bail"}).text


def test_a_part_is_the_part_alone(client):
    part = client.get("/compare", params={"q": "bail"}, headers={"X-LexFuse-Part": "compare"})
    assert part.text.lstrip().startswith('<div data-part="compare"')
    assert "<html" not in part.text


def test_french_counts_as_french_does(site, tmp_path):
    profile = tmp_path / "plain.toml"
    SearchSpec.of("bm25", k1=1.2, b=0.0, name="plain").save(profile)
    client = site(DOCUMENTS, profiles=[profile], language="fr")
    text = client.get("/compare", params={"q": "bail", "profile": ["bm25", "plain"]}).text
    assert "2 déplacés, 0 nouveau, 0 perdu" in text
    assert "monte de 2 rangs" in text
