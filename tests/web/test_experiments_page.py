"""The experiments page through the application."""

import pytest

from lexfuse.advice.report.page import report_of
from lexfuse.advice.report.report_folder import advice_json
from lexfuse.data.document import Document

DOCUMENTS = [Document("a", text="la loi", language="fr")]


@pytest.fixture
def client(site, tmp_path, small_advice):
    import orjson

    client = site(DOCUMENTS, advice=[tmp_path / "more"])
    places = {"labour": tmp_path / "law.index" / "advice" / "first", "<b>leases</b>": tmp_path / "more" / "second"}
    for name, folder in places.items():
        advice = small_advice(collection=name)
        folder.mkdir(parents=True)
        (folder / "report.html").write_text(report_of(advice), encoding="utf-8")
        (folder / "advice.json").write_bytes(orjson.dumps(advice_json(advice)))
    return client


def test_reports_of_the_index_and_of_the_settings(client):
    text = client.get("/experiments").text
    assert 'href="/experiments/first"' in text
    assert 'href="/experiments/second"' in text
    assert "&lt;b&gt;leases&lt;/b&gt;" in text
    assert "Fuse bm25 and dense: +0.050, p = 0.010." in text
    assert "0.500" in text


def test_the_verdict_in_the_language_of_the_reader(client):
    assert "Fusionner" in client.get("/experiments", params={"lang": "fr"}).text


def test_a_report_under_its_own_policy(client):
    answer = client.get("/experiments/first")
    policy = answer.headers["content-security-policy"]
    assert policy.count("'sha256-") == 2
    assert "unsafe" not in policy
    assert "sandbox allow-scripts" in policy
    assert answer.headers["cross-origin-opener-policy"] == "unsafe-none"
    assert 'href="/experiments">← All experiments</a>' in answer.text


@pytest.mark.parametrize("name", ["nowhere", "%2e%2e%2ffirst", "..%2F..%2Fcatalog.sqlite", "first%00", "first%2Freport.html"])
def test_nothing_else_is_read(client, name):
    answer = client.get(f"/experiments/{name}")
    assert answer.status_code == 404
    assert "SQLite" not in answer.text


def test_without_reports_the_command_is_told(site):
    assert "lexfuse advise" in site(DOCUMENTS).get("/experiments").text


def test_a_report_that_is_broken_is_told_and_the_others_stay(client, tmp_path):
    (tmp_path / "more" / "second" / "advice.json").write_text("{}")
    text = client.get("/experiments").text
    assert 'href="/experiments/first"' in text
    assert "second: advice.json is not what lexfuse advise writes" in text
