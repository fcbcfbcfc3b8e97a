"""Reading, browsing and keeping through the application: documents with a question, contents, links that last, feeds, HEAD."""

import datetime
import re

import pytest

from lexfuse.data.document import Document, DocumentKind

TABLE = "Tarif des retards.\n| Livre | 14 jours\n| Disque | 7 jours"
LAW = [
    Document(
        f"a{number}", title=f"Code du prêt, art. {number}", text=text, language="fr", kind=DocumentKind.STATUTE,
        code="Code du prêt", number=str(number), headings=("Livre Ier", f"Titre {number % 2 + 1}"),
        valid_from=datetime.date(2000 + number, 1, 1),
    )
    for number, text in enumerate(["Le prêt d'un livre.", TABLE, *["Le prêt dure. Voir l'article 1."] * 13], 1)
]  # fmt: skip


@pytest.fixture
def client(site):
    return site(LAW)


def test_words_and_the_best_passage_are_marked_in_the_whole_document(client):
    text = client.get("/documents/a3", params={"q": "durée du prêt", "rank": "3"}).text
    assert "<mark>prêt</mark>" in text
    assert 'id="best"' in text
    assert re.search(r'rel="prev" href="/documents/[^"]+rank=\d', text)
    assert 'href="/documents/a1?q=dur%C3%A9e+du+pr%C3%AAt">article 1</a>' in text  # the question goes on with the reader
    assert client.get("/documents/a3").text.count("<mark>") == 0


def test_lines_of_cells_are_a_table(client):
    text = client.get("/documents/a2").text
    assert "<td>Livre</td><td>14 jours</td>" in text
    assert text.count("<tr>") == 2


def test_a_day_on_which_a_document_was_not_in_force(client):
    shown = client.get("/documents/a9", params={"q": "prêt", "as_of": "2001-06-01"})
    assert shown.status_code == 200
    assert "was not in force on 1\u00a0June\u00a02001" in shown.text


def test_contents_lead_to_chapters_and_know_their_limits(client):
    top = client.get("/browse").text
    assert "15 texts" in top
    assert "Titre 2" in top  # a corpus of one code begins with its parts
    chapter = client.get("/browse", params={"path": ["Code du prêt", "Livre Ier", "Titre 2"], "whole": "1"}).text
    assert chapter.count("<article") == 8
    assert client.get("/browse", params={"path": "nowhere"}).status_code == 404


JUDGMENT = """In the case of Tyrer,
PROCEDURE
1. It was referred.
I. ALLEGED BREACH OF ARTICLE 3 (art. 3)
2. Held.
B. Costs
3. None.
FOR THESE REASONS
4. So."""
DECISIONS = [
    Document(
        f"d{at}", title="Tyrer v. Italy", text=JUDGMENT, language="en", kind=DocumentKind.DECISION, court="Court",
        date=datetime.date(1975 + at % 12, 1, 1 + at),
    )
    for at in range(24)
]  # fmt: skip


def test_a_decision_has_a_plan_of_its_headings_and_an_article_has_none(site, client):
    article = client.get("/documents/a2").text
    assert 'class="plan"' not in article
    text = site(DECISIONS).get("/documents/d1").text
    plan = re.search(r'<ol class="plan">(.*?)</ol>', text)[1]
    assert re.findall(r">([^<]+)</a>", plan) == ["PROCEDURE", "I. ALLEGED BREACH OF ARTICLE 3 (art. 3)", "FOR THESE REASONS"]
    assert re.findall(r'class="rubric level-(\d)"', text) == ["1", "1", "2", "1"]


def test_years_begin_with_the_newest_and_many_decisions_are_no_single_page(site):
    client = site(DECISIONS)
    top = client.get("/browse").text
    years = re.findall(r"<span>(19\d\d)</span>", top)
    assert years == sorted(years, reverse=True)
    assert len(years) == 12
    assert "on one page" not in top
    assert client.get("/browse", params={"path": "Court", "whole": "1"}).status_code == 413
    year = client.get("/browse", params={"path": ["Court", "1976"], "whole": "1"}).text
    assert year.count("<article") == 2
    listed = client.get("/browse", params={"path": ["Court", "1976"]}).text
    assert re.findall(r'<a href="/documents/(d\d+)', listed) == ["d13", "d1"]


def test_an_index_proposes_its_own_questions(site):
    from lexfuse.service.settings import IndexSetting

    setting = IndexSetting(folder="law.index", examples=("Who may borrow?",))
    assert setting.place().examples == ("Who may borrow?",)
    text = site(LAW, examples=("Who may borrow?",)).get("/").text
    assert ">Who may borrow?</a>" in text
    assert "préavis" not in text


def test_a_further_page_is_ranked_again_when_the_index_has_changed(client):
    first = client.get("/", params={"q": "prêt"}).text
    following = re.search(r'rel="next" href="([^"]+)"', first)[1].replace("&amp;", "&")
    service = client.app.state.service
    service.registry.index()._kept = 1
    with service.registry.index().writing() as folder:
        folder.add([Document("new", text="Le prêt.", language="fr")])
    answer = client.get(following)
    assert answer.status_code == 200
    assert "ranked again" in answer.text
    assert 'class="rank" aria-label="Result 11"' in answer.text
    profile = client.get("/", params={"q": "prêt", "profile": "former"})
    assert profile.status_code == 200
    assert "“former” no longer exists" in profile.text


def test_a_feed_has_new_ids_for_new_and_changed_documents(client):
    def ids():
        answer = client.get("/feed", params={"q": "tarif des retards"})
        assert answer.headers["content-type"].startswith("application/atom+xml")
        return re.findall(r"<entry><id>(urn:lexfuse:document:\w+)</id>", answer.text)

    before = ids()
    assert ids() == before
    with client.app.state.service.registry.index().writing() as folder:
        folder.add([Document("a2", text="Tarif des retards, modifié.", language="fr")], update=True)
    after = ids()
    assert len(after) == len(before) == 1
    assert after != before


@pytest.mark.parametrize(
    ("format", "words"),
    [
        ("french", "Code du prêt, art. 1 http://127.0.0.1:8080/documents/a1?index=law"),
        ("ecli", "Code du prêt, article 1 http://"),
        ("bibtex", "url = {http://127.0.0.1:8080/documents/a1?index=law}"),
        ("ris", "UR  - http://127.0.0.1:8080/documents/a1?index=law"),
        ("csv", "http://127.0.0.1:8080/documents/a1?index=law"),
    ],
)
def test_exports_have_addresses(client, format, words):
    assert words in client.get("/export", params={"q": "prêt d'un livre", "format": format}).text.replace(r"\_", "_")


@pytest.mark.parametrize("path", ["/", "/help", "/documents/a1", "/browse", "/kept", "/feed?q=loi", "/similar"])
def test_head_is_answered(client, path):
    assert client.head(path).status_code == 200


def test_a_corpus_without_dates_explains_why_no_day_can_be_asked_for(site):
    client = site([Document("a", text="la loi")])
    text = client.get("/", params={"q": "loi"}).text
    assert re.search(r'name="as_of" type="date" disabled', text)
    assert "does not say since when" in text


def test_errors_are_in_the_language_of_the_page(site):
    client = site(LAW, language="fr")
    text = client.get("/documents/nowhere").text
    assert "Ce texte n’est pas dans ce corpus" in text
    assert "<summary>Détail technique" in text
    assert "there is no document" in text or "no document" in text


def test_the_face_of_experts_is_kept_in_a_cookie(client):
    client.cookies.clear()
    assert "/compare" not in client.get("/").text
    kept = client.get("/preferences", params={"expert": "1", "next": "/help"})
    assert (kept.status_code, kept.headers["location"]) == (303, "/help")
    assert "lexfuse_expert=1" in kept.headers["set-cookie"]
    assert client.get("/preferences", params={"expert": "2"}).status_code == 400


def test_the_log_names_the_index_that_a_page_of_results_came_from(client, caplog):
    with caplog.at_level("INFO", logger="lexfuse"):
        client.get("/", params={"q": "loyer"})
    (fields,) = [record.fields for record in caplog.records if getattr(record, "fields", {}).get("route") == "/"]
    assert isinstance(fields["index"], str)
    assert fields["generation"] >= 1


def test_reasons_are_in_plain_words_and_their_tables_for_experts(client):
    expert = client.get("/why/a3", params={"q": "durée du prêt"}).text
    assert "Details of the calculation" not in expert
    client.cookies.set("lexfuse_expert", "0")
    plain = client.get("/why/a3", params={"q": "durée du prêt"}).text
    assert re.search(r"This is result \d+ of the question", plain)
    assert "<li>prêt</li>" in plain
    before, _, details = plain.partition("Details of the calculation")
    assert "bm25" not in before[before.index("<main") :]
    assert "bm25" in details
