"""Results as files, through the application."""

import csv
import io

import pytest

from lexfuse.data.document import Document

DOCUMENTS = [
    Document(f"d{number:03}", title=f"=cmd {number}", text="la loi", language="fr", code=("Code rural", "Code civil")[number % 2])
    for number in range(120)
]


@pytest.fixture
def client(site):
    return site(DOCUMENTS)


def rows(client, **asked):
    text = client.get("/export", params={"format": "csv", "q": "loi"} | asked).text
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


@pytest.mark.parametrize(
    ("format", "kind", "name"),
    [
        ("csv", "text/csv", "results.csv"),
        ("json", "application/json", "results.json"),
        ("trec", "text/plain", "results.trec"),
        ("bibtex", "application/x-bibtex", "results.bib"),
        ("ris", "application/x-research-info-systems", "results.ris"),
    ],
)
def test_formats(client, format, kind, name):
    answer = client.get("/export", params={"q": 'loi "; filename=x\r\nA: b', "format": format})
    assert answer.status_code == 200
    assert answer.headers["content-type"].split(";")[0] == kind
    assert answer.headers["content-disposition"] == f'attachment; filename="{name}"'
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_hundred_unless_more_are_asked_for(client):
    assert [row["rank"] for row in rows(client)] == [str(rank) for rank in range(1, 101)]
    assert len(rows(client, k=1000)) == 120


def test_the_state_of_the_search_counts(client):
    assert {row["code"] for row in rows(client, filter="code=Code civil")} == {"Code civil"}


def test_cells_are_no_formulas(client):
    assert all(row["title"].startswith("'=cmd") for row in rows(client))


WRONG = [{"format": "xls"}, {"k": 0}, {"k": 1001}, {"sort": "dearest"}, {"q": " "}, {"filter": "nonsense"}]


@pytest.mark.parametrize("asked", WRONG)
def test_what_cannot_be_is_refused(client, asked):
    answer = client.get("/export", params={"format": "csv", "q": "loi"} | asked)
    assert answer.status_code == 400
    assert "<html" in answer.text
