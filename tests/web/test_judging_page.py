"""Judging through the application: what is kept, who may, and where one comes back to."""

import pytest

from lexfuse.data.document import Document
from lexfuse.service.api_keys import KeyScope, add_key

DOCUMENTS = [Document(name, title=name, text="la loi", language="fr") for name in ("a", "b")]
FORM = {"q": "loi", "document": "a", "rank": "1", "profile": "bm25", "index": "law", "next": "/?q=loi"}


@pytest.fixture
def client(site):
    return site(DOCUMENTS, anonymous_judging=True)


def kept(client):
    return [
        (each["query"], each["document"], each["grade"]) for each in client.get("/judgements?format=json").json()["judgements"]
    ]


def test_a_judgement_is_kept_and_the_page_shown_again(client):
    answer = client.post("/judge", data=FORM | {"relevant": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=loi#result-1")
    assert kept(client) == [("loi", "a", 1)]
    text = client.get("/", params={"q": "loi"}).text
    assert text.count('aria-pressed="true"') == 1
    assert 'aria-pressed="true"' not in client.get("/", params={"q": "lois"}).text  # another question


def test_a_judgement_is_changed_and_taken_back(client):
    client.post("/judge", data=FORM | {"relevant": "1"})
    client.post("/judge", data=FORM | {"relevant": "0"})
    assert client.get("/judgements").text.endswith(" 0 a 0\n")
    client.post("/judge", data=FORM | {"relevant": "remove"})
    assert kept(client) == []
    assert client.get("/judgements").text == ""


def test_a_script_gets_the_buttons_alone(client):
    answer = client.post("/judge", data=FORM | {"relevant": "0"}, headers={"X-LexFuse-Part": "judge"})
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert 'value="remove" aria-pressed="true">Not relevant' in answer.text
    assert 'name="next" value="/?q=loi"' in answer.text


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""])
def test_one_comes_back_to_this_site_alone(client, address):
    location = client.post("/judge", data=FORM | {"relevant": "1", "next": address}).headers["location"]
    assert location == "/#result-1"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"relevant": "2"}, 400),
        ({"relevant": ""}, 400),
        ({"relevant": "1", "q": ""}, 400),
        ({"relevant": "1", "rank": "first"}, 400),
        ({"relevant": "1", "document": "nowhere"}, 404),
        ({"relevant": "1", "index": "nowhere"}, 404),
        ({"relevant": "1", "q": "x" * 30_000}, 400),
    ],
)
def test_what_is_no_judgement_is_refused(client, change, status):
    assert client.post("/judge", data=FORM | change).status_code == status
    assert kept(client) == []


def test_formats_of_judgements(client):
    client.post("/judge", data=FORM | {"relevant": "1"})
    answer = client.get("/judgements", params={"format": "qrels"})
    assert answer.headers["content-disposition"] == 'attachment; filename="judgements.qrels"'
    assert answer.text.endswith(" 0 a 1\n")
    assert client.get("/judgements", params={"format": "xml"}).status_code == 400


def test_unless_anybody_may_judge_a_key_is_needed(site):
    client = site(DOCUMENTS)
    assert client.post("/judge", data=FORM | {"relevant": "1"}).status_code == 401
    assert client.get("/judgements").status_code == 401
    assert client.get("/v1/feedback").status_code == 401
    assert "data-judge" not in client.get("/", params={"q": "loi"}).text  # nor is it offered


def test_anybody_may_judge_by_the_interface_too_where_that_is_set(client):
    given = {"query": "loi", "document": "a", "grade": 1}
    assert client.post("/v1/feedback", json=given).status_code == 201
    assert [each["document"] for each in client.get("/v1/feedback").json()["judgements"]] == ["a"]


def test_with_a_key_one_may_judge(site, tmp_path):
    token = add_key(tmp_path / "keys.toml", "editors", KeyScope.WRITE)
    client = site(DOCUMENTS, address="http://law.example", keys=tmp_path / "keys.toml")
    assert client.post("/judge", data=FORM | {"relevant": "1"}).status_code == 401
    client.headers["authorization"] = f"Bearer {token}"
    assert client.post("/judge", data=FORM | {"relevant": "1"}).status_code == 303
    assert "data-judge" in client.get("/", params={"q": "loi"}).text


def test_another_site_cannot_judge(client):
    answer = client.post("/judge", data=FORM | {"relevant": "1"}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert kept(client) == []
