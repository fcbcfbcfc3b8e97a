"""The pages through the application, on a small index."""

import datetime
import html
import re

import pytest
from starlette.testclient import TestClient

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.service.app import create_app
from lexfuse.service.context import ServiceContext
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.service.settings import ServiceSettings
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.web.routes import add_pages
from lexfuse.web.static_files import static_files

HOSTILE = "a/<b>&\"'?#%"
ARTICLES = [
    Document(
        f"art{n}", title=f"Code des jeux, art. L. {n}", text=f"Le joueur lance le dé {n}.\nVoir l'article L. {(n + 1) % 12 + 1}.",
        language="fr", kind=DocumentKind.STATUTE, code="Code des jeux" if n % 2 else "Code des paris", number=f"L{n}",
        headings=("Partie législative", "Livre Ier"), status=DocumentStatus.REPEALED if n == 3 else DocumentStatus.IN_FORCE,
    )
    for n in range(1, 13)
]  # fmt: skip


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("web") / "games.index"
    IndexFolder.create(
        folder, documents=[*ARTICLES, Document(HOSTILE, title="<i>Jeu</i>", text="le dé <b>pipé</b>", language="fr")]
    ).close()
    service = ServiceContext(
        IndexRegistry.open([IndexPlace.of(folder)]), ServiceSettings(requests_per_minute=0, reload_seconds=0)
    )
    app = create_app(service)
    add_pages(app)
    with TestClient(app, headers={"accept": "text/html", "accept-language": "fr"}, raise_server_exceptions=False) as client:
        yield client


def test_the_start_page_says_what_can_be_searched(client):
    text = client.get("/").text
    assert "Trouver le droit" in text
    assert "13 documents" in text
    assert "préavis" in text  # an example in the language of the index


def test_results_have_marks_facets_and_a_next_page(client):
    text = client.get("/", params={"q": "dé joueur"}).text
    assert "<mark>joueur</mark>" in text
    assert "Code des paris" in text
    assert "Abrogé" in text
    following = re.search(r'rel="next" href="([^"]+)"', text)[1].replace("&amp;", "&")
    second = client.get(following).text
    first_ids, second_ids = (re.findall(r'class="title"><a href="([^"]+)"', page) for page in (text, second))
    assert len(first_ids) == 10
    assert second_ids
    assert not set(first_ids) & set(second_ids)


def test_a_part_is_the_part_alone(client):
    part = client.get("/", params={"q": "dé"}, headers={"X-LexFuse-Part": "results"})
    assert "<html" not in part.text
    assert 'class="result"' in part.text
    assert "X-LexFuse-Part" in part.headers["vary"]


def test_an_unknown_part_is_the_whole_page(client):
    assert "<html" in client.get("/", params={"q": "dé"}, headers={"X-LexFuse-Part": "everything"}).text


def test_filters_stay_with_the_form_and_can_be_let_go(client):
    text = client.get("/", params={"q": "dé", "filter": "code=Code des jeux", "as_of": "2024-05-01"}).text
    assert '<input type="hidden" form="search" name="filter" value="code=Code des jeux">' in text
    assert "En vigueur le 1er\u00a0mai\u00a02024" in text
    assert 'href="/?q=d%C3%A9&amp;as_of=2024-05-01"' in text


def test_a_document_has_anchors_links_and_neighbours(client):
    text = client.get("/documents/art2").text
    assert 'id="s1"' in text
    assert 'href="/documents/art4">article L. 4</a>' in text
    assert "article L.\u00a02, code des paris" in text


def test_a_document_whose_id_is_markup(client):
    listed = client.get("/", params={"q": "pipé"}).text
    address = html.unescape(re.search(r'href="(/documents/[^"]+)"', listed)[1])
    text = client.get(address).text
    assert "&lt;i&gt;Jeu&lt;/i&gt;" in text
    assert "le dé &lt;b&gt;<mark>pipé</mark>&lt;/b&gt;" in text


@pytest.mark.parametrize("address", ["/why/art2?q=d%C3%A9", "/why?q=d%C3%A9&cite=L.+3"])
def test_why_and_why_not(client, address):
    text = client.get(address).text
    assert "bm25" in text
    assert "<table" in text
    part = client.get(address, headers={"X-LexFuse-Part": "why"}).text
    assert "<html" not in part
    assert "<h2" not in part  # below a result, whose title is an h3


def test_the_reference_of_the_api_needs_no_other_site(client):
    answer = client.get("/docs", headers={"accept": "text/html"})
    assert answer.status_code == 200
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', answer.text)
    for operation in ("search", "similar", "write_document"):
        assert f'<section id="{operation}">' in answer.text
    problem = client.get("/v1/search", params={"query": "loi", "index": "nowhere"}).json()
    path, _, anchor = problem["type"].partition("#")
    assert (path, problem["code"]) == ("/docs", "unknown-index")
    assert f'<dt id="{anchor}">' in answer.text


PATHS = ["/", "/help", "/docs", "/compare", "/similar", "/why/art2", "/documents/art2", "/export", "/experiments"]


@pytest.mark.parametrize("path", PATHS)
def test_unknown_parameters_of_pages_are_refused(client, path):
    refused = client.get(path, params={"colour": "red"}, headers={"accept": "text/html"})
    assert refused.status_code == 422
    assert "colour" in refused.text
    assert client.get("/help", params={"utm_source": "mail", "lang": "fr"}).status_code == 200


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/documents/nothing", 404, "Introuvable"),
        ("/no/such/page", 404, "Introuvable"),
        ("/?q=x&sort=dearest", 400, "Cela ne peut pas être demandé"),
        ("/?q=x&filter=nonsense", 400, "nonsense"),
        ("/?q=x&index=%3Cscript%3E", 404, "&lt;script&gt;"),
        ("/?q=x&cursor=%3Cscript%3E", 400, "Cela ne peut pas être demandé"),
        ("/?q=x&as_of=tomorrow", 400, "tomorrow"),
        ("/?q=%3F%21.", 400, "La question ne contient aucun mot"),
        ("/?q=-bail", 400, "Les opérateurs de la question ne peuvent pas être suivis"),
        ("/why/art2", 400, "Cela ne peut pas être demandé"),
        ("/?q=" + "x" * 30_000, 413, "Trop volumineux"),
        ("/preferences?theme=pink", 400, "pink"),
    ],
)
def test_errors_are_pages_in_the_readers_language(client, address, status, words):
    answer = client.get(address)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert words in answer.text
    assert "<script>" not in answer.text


def test_programs_get_problems(client):
    assert client.get("/v1/search").headers["content-type"] == "application/problem+json"
    assert client.get("/documents/x", headers={"accept": "*/*"}).headers["content-type"] == "application/problem+json"


def test_the_language_of_the_address_is_kept(client):
    answer = client.get("/?lang=en")
    assert '<html lang="en"' in answer.text
    assert "lexfuse_language=en" in answer.headers["set-cookie"]
    client.cookies.clear()


def test_the_theme_is_kept_and_one_comes_back(client):
    answer = client.get("/preferences", params={"theme": "dark", "next": "/?q=x"}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=x")
    assert 'data-theme="dark"' in client.get("/").text
    away = client.get("/preferences", params={"theme": "light", "next": "//x.example"}, follow_redirects=False)
    assert away.headers["location"] == "/"
    client.cookies.clear()


@pytest.mark.parametrize("name", sorted(static_files().contents))
def test_files_have_their_types_and_may_be_kept(client, name):
    answer = client.get(static_files().url(name))
    assert answer.content == static_files().contents[name]
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].split(";")[0] in ("text/css", "text/javascript", "image/svg+xml")


@pytest.mark.parametrize("address", ["/static/old/style.css", "/static/{}/..%2Frendering.py", "/static/{}/%2Fetc%2Fpasswd"])
def test_no_other_file_is_given(client, address):
    assert client.get(address.format(static_files().version)).status_code == 404


def test_scripts_make_no_markup_and_ask_no_other_site():
    for name, content in static_files().contents.items():
        if name.endswith((".js", ".css")):
            text = content.decode()
            assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", text), name
            assert not re.search(r"(?<!w3\.org/2000/svg')https?://(?!www\.w3\.org/2000/svg)|@import|@font-face", text), name


@pytest.mark.parametrize(
    ("language", "words"), [("en", "1 of 2 documents was not searched"), ("fr", "1 document sur 2 n’a pas été")]
)
def test_the_page_says_what_the_index_does_not_know_about_a_day(site, language, words):
    documents = [Document(str(year), text="la loi", valid_from=datetime.date(year, 1, 1)) for year in (1990, 2020)]
    client = site(documents, language=language)
    assert words in client.get("/", params={"q": "loi", "as_of": "2010-06-01"}).text
    assert words not in client.get("/", params={"q": "loi", "as_of": "2021-06-01"}).text


def test_an_error_page_keeps_the_question(client):
    assert 'value="x &#34;y&#34;"' in client.get("/", params={"q": 'x "y"', "as_of": "2023-02-31"}).text
    assert 'value=""' in client.get("/", params={"q": "x" * 1001, "as_of": "2023-02-31"}).text


def test_the_day_of_the_options_is_in_words(client):
    text = client.get("/", params={"q": "dé", "as_of": "2024-05-01"}).text
    assert text.count("· 1er\u00a0mai\u00a02024") == 2  # in the form, and for the form with the results
