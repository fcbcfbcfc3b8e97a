"""Judging through the application: what is kept, under which name, who may, and what is made of it."""

import json

import pytest

from lexfuse.data.document import Document
from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels
from lexfuse.service.api_keys import KeyScope, add_key
from lexfuse.service.operations import judgement_bench

DOCUMENTS = [Document(name, title=name, text=text, language="fr") for name, text in (("a", "la loi"), ("b", "la loi du bail"))]
FORM = {"q": "loi", "document": "a", "rank": "1", "profile": "bm25", "index": "law", "next": "/?q=loi"}


@pytest.fixture
def client(site):
    return site(DOCUMENTS, anonymous_judging=True)


def kept(client):
    return [
        (each["query"], each["document"], each["grade"]) for each in client.get("/judgements?format=json").json()["judgements"]
    ]


def test_a_judgement_is_kept_and_the_page_shown_again(client):
    answer = client.post("/judge", data=FORM | {"grade": "1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=loi#result-1")
    assert kept(client) == [("loi", "a", 1)]
    text = client.get("/", params={"q": "loi"}).text
    assert text.count('aria-pressed="true"') == 1
    assert 'aria-pressed="true"' not in client.get("/", params={"q": "lois"}).text  # another question


def test_a_judgement_is_changed_and_taken_back(client):
    client.post("/judge", data=FORM | {"grade": "1"})
    client.post("/judge", data=FORM | {"grade": "0"})
    assert client.get("/judgements").text.endswith(" 0 a 0\n")
    client.post("/judge", data=FORM | {"grade": "remove"})
    assert kept(client) == []
    assert client.get("/judgements").text == ""


def test_a_script_gets_the_buttons_alone(client):
    answer = client.post("/judge", data=FORM | {"grade": "0"}, headers={"X-LexFuse-Part": "judge"})
    assert answer.status_code == 200
    assert "<html" not in answer.text
    assert 'value="remove" aria-pressed="true"><b>0</b> Off topic' in answer.text
    assert 'name="next" value="/?q=loi"' in answer.text


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""])
def test_one_comes_back_to_this_site_alone(client, address):
    location = client.post("/judge", data=FORM | {"grade": "1", "next": address}).headers["location"]
    assert location == "/#result-1"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"grade": "4"}, 400),
        ({"grade": ""}, 400),
        ({"grade": "1", "q": ""}, 400),
        ({"grade": "1", "rank": "first"}, 400),
        ({"grade": "1", "document": "nowhere"}, 404),
        ({"grade": "1", "index": "nowhere"}, 404),
        ({"grade": "1", "q": "x" * 30_000}, 400),
    ],
)
def test_what_is_no_judgement_is_refused(client, change, status):
    assert client.post("/judge", data=FORM | change).status_code == status
    assert kept(client) == []


def test_formats_of_judgements(client):
    client.post("/judge", data=FORM | {"grade": "1"})
    answer = client.get("/judgements", params={"format": "qrels"})
    assert answer.headers["content-disposition"] == 'attachment; filename="judgements.qrels"'
    assert answer.text.endswith(" 0 a 1\n")
    assert client.get("/judgements", params={"format": "xml"}).status_code == 400


def test_unless_anybody_may_judge_a_key_is_needed(site):
    client = site(DOCUMENTS)
    assert client.post("/judge", data=FORM | {"grade": "1"}).status_code == 401
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
    assert client.post("/judge", data=FORM | {"grade": "1"}).status_code == 401
    client.headers["authorization"] = f"Bearer {token}"
    assert client.post("/judge", data=FORM | {"grade": "1"}).status_code == 303
    assert "data-judge" in client.get("/", params={"q": "loi"}).text


def test_another_site_cannot_judge(client):
    answer = client.post("/judge", data=FORM | {"grade": "1"}, headers={"sec-fetch-site": "cross-site"})
    assert answer.status_code == 403
    assert kept(client) == []


def named(client, name):
    return client.post("/judging/name", data={"judge": name, "next": "/judging"})


def test_a_judge_has_a_name_that_is_kept_and_escaped(client):
    client.post("/judge", data=FORM | {"grade": "1"})
    answer = named(client, "  Zoé  d'Arc ")
    assert (answer.status_code, answer.headers["location"]) == (303, "/judging")
    assert "lexfuse_judge=Zo%C3%A9%20d%27Arc; " in answer.headers["set-cookie"]
    text = client.get("/judging").text
    assert 'value="Zoé d&#39;Arc"' in text
    assert 'aria-pressed="true"' not in client.get("/", params={"q": "loi"}).text  # another judge gave it
    client.post("/judge", data=FORM | {"grade": "3"})
    assert "Judging as Zoé d&#39;Arc" in client.get("/", params={"q": "loi"}).text
    assert [(each["judge"], each["grade"]) for each in client.get("/v1/feedback").json()["judgements"]] == [
        ("", 1),
        ("Zoé d'Arc", 3),
    ]
    client.post("/judge", data=FORM | {"grade": "remove"})
    assert kept(client) == [("loi", "a", 1)]  # that of the other judge stays
    assert 'lexfuse_judge=""' in named(client, " ").headers["set-cookie"]


@pytest.mark.parametrize("name", ["<b>Zoé</b>", "a" * 61, "a\nb", "a;b=c", "\u202eZoé", '"', "a" * 10_000])
def test_other_names_are_refused(client, name):
    assert named(client, name).status_code == 400
    given = {"query": "loi", "document": "a", "grade": 1, "judge": name}
    assert client.post("/v1/feedback", json=given).status_code == 422
    client.cookies.set("lexfuse_judge", "%3Cb%3E%FF")  # nor is a cookie believed
    assert client.post("/judge", data=FORM | {"grade": "1"}).status_code == 303
    assert client.get("/v1/feedback").json()["judgements"][0]["judge"] == ""


def judge_all(client):
    """Two judges, two questions; the grades of both for one result differ."""
    for name, grades in (("Zoé", {"loi": (3, 0), "bail": (0, 2)}), ("Max", {"loi": (1, 0)})):
        named(client, name)
        for query, both in grades.items():
            for document, grade in zip("ab", both, strict=True):
                data = FORM | {"q": query, "document": document, "grade": str(grade)}
                assert client.post("/judge", data=data).status_code == 303


def test_questions_and_grades_are_files_that_match(client, tmp_path):
    judge_all(client)
    found = {}
    for judge in ("", "Zoé", "Max"):
        for format in ("queries", "qrels"):
            answer = client.get("/judgements", params={"format": format, "judge": judge})
            name = answer.headers["content-disposition"].split('"')[1]
            (tmp_path / name).write_bytes(answer.content)
        queries = read_queries(tmp_path / "queries.jsonl")
        qrels = read_qrels(tmp_path / "judgements.qrels", queries=queries.ids)
        assert set(qrels.queries) == set(queries.ids)
        found[judge] = {queries.query(id).text: grades for id, grades in qrels.as_dict().items()}
    assert found == {
        "": {"loi": {"a": 1, "b": 0}, "bail": {"a": 0, "b": 2}},  # of 3 and 1 the lower
        "Zoé": {"loi": {"a": 3, "b": 0}, "bail": {"a": 0, "b": 2}},
        "Max": {"loi": {"a": 1, "b": 0}},
    }
    assert client.get("/judgements", params={"judge": "Eva"}).status_code == 404


def test_progress_and_agreement_are_shown(client):
    assert "Nothing is judged yet" in client.get("/judging").text
    judge_all(client)
    summary = client.get("/v1/feedback/summary").json()
    assert [summary[name] for name in ("questions", "results", "usable", "needed", "shared")] == [2, 4, 2, 59, 2]
    assert [(each["judge"], each["questions"], each["results"]) for each in summary["judges"]] == [("Zoé", 2, 4), ("Max", 1, 2)]
    assert [(each["query"], each["relevant"], each["judges"]) for each in summary["progress"]] == [("loi", 1, 2), ("bail", 1, 1)]
    (pair,) = summary["pairs"]
    assert (pair["results"], pair["equal"], pair["kappa"]) == (2, 0.5, pytest.approx(1 / 3))
    text = client.get("/judging").text
    assert "2 of 59 for a verdict" in text
    assert "Max · Zoé" in text
    assert f'data-label="Cohen’s kappa">{pair["kappa"]:.2f}</td>' in text
    french = client.get("/judging", headers={"accept-language": "fr"}).text
    assert "2 sur 59 pour un verdict" in french


def test_advice_from_judgements_is_an_experiment(client, tmp_path):
    refused = client.post("/judging/advise", data={"index": "law"})
    assert (refused.status_code, "at least 2 questions with a relevant result" in refused.text) == (400, True)
    judge_all(client)
    answer = client.post("/judging/advise", data={"index": "law"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/experiments#judgements")
    text = client.get("/experiments").text
    assert '<li id="judgements">' in text
    assert "Too few questions to tell" in text
    written = json.loads((tmp_path / "law.index" / "advice" / "judgements" / "advice.json").read_bytes())
    assert (written["queries"], written["verdict"]) == (2, "Too few questions to tell")


def test_one_advice_is_computed_at_a_time(client):
    judge_all(client)
    with judgement_bench._running:
        answer = client.post("/judging/advise", data={"index": "law"})
    assert (answer.status_code, "another advice is being computed" in answer.text) == (503, True)


def test_the_bench_needs_what_judging_needs(site):
    client = site(DOCUMENTS)
    assert [client.get("/judging").status_code, named(client, "Zoé").status_code] == [401, 401]
    assert client.post("/judging/advise", data={}).status_code == 401
    assert client.get("/v1/feedback/summary").status_code == 401
