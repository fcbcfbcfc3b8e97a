"""Judging results and taking files home, in a real browser."""

import csv
import io
import json
from urllib.parse import quote

import pytest
from playwright.sync_api import expect


def results(page):
    return page.locator("[data-result]")


def fetched(page, link):
    with page.expect_download() as started:
        link.click()
    return started.value.suggested_filename, started.value.path().read_bytes().decode("utf-8")


def judgements(page, query):
    """Documents and grades of a question, as the service hands them out."""
    told = page.request.get("/judgements?format=json").json()
    return {each["document"]: each["grade"] for each in told["judgements"] if each["query"] == query}


def test_a_result_is_judged_and_the_judgement_taken_back(visit):
    query = "indemnité de licenciement"
    page = visit(f"/?q={quote(query)}")
    address = page.url
    relevant = results(page).first.get_by_role("button", name="Relevant", exact=True)
    other = results(page).first.get_by_role("button", name="Not relevant")
    relevant.click()
    expect(relevant).to_have_attribute("aria-pressed", "true")
    expect(relevant).to_be_focused()
    assert page.url == address
    assert list(judgements(page, query).values()) == [1]
    page.reload()
    expect(relevant).to_have_attribute("aria-pressed", "true")
    other.click()
    expect(other).to_have_attribute("aria-pressed", "true")
    expect(relevant).to_have_attribute("aria-pressed", "false")
    assert list(judgements(page, query).values()) == [0]
    other.click()
    expect(other).to_have_attribute("aria-pressed", "false")
    assert judgements(page, query) == {}


def test_a_judgement_keeps_where_it_stood(visit):
    query = "repos quotidien"
    page = visit(f"/?q={quote(query)}&profile=bm25")
    results(page).nth(1).get_by_role("button", name="Relevant", exact=True).click()
    expect(results(page).nth(1).get_by_role("button", name="Relevant", exact=True)).to_have_attribute("aria-pressed", "true")
    kept = [each for each in page.request.get("/judgements?format=json").json()["judgements"] if each["query"] == query]
    assert [(each["rank"], each["profile"]) for each in kept] == [(2, "bm25")]
    lines = page.request.get("/judgements?format=qrels").text().splitlines()
    assert f"{kept[0]['query_id']} 0 {kept[0]['document']} 1" in lines


def test_a_refused_judgement_is_shown_as_a_page(visit):
    page = visit("/?q=bail", expected=["404"])
    results(page).first.locator("input[name=document]").evaluate("field => field.value = 'nowhere'")
    results(page).first.get_by_role("button", name="Relevant", exact=True).click()
    expect(page.locator(".problem")).to_be_visible()
    expect(page.locator(".problem")).to_contain_text("nowhere")


ENDS = {"CSV": "csv", "JSON": "json", "TREC": "trec", "BibTeX": "bib", "RIS": "ris"}
QUESTION = "/?q=rupture+conventionnelle&filter=kind%3Ddecision"


@pytest.mark.parametrize("format", ENDS)
def test_results_are_taken_home(visit, format):
    page = visit(QUESTION)
    shown = [each.get_attribute("value") for each in page.locator("[data-result] input[name=document]").all()]
    name, text = fetched(page, page.get_by_role("link", name=format, exact=True))
    assert (
        name
        == {"CSV": "results.csv", "JSON": "results.json", "TREC": "results.trec", "BibTeX": "results.bib", "RIS": "results.ris"}[
            format
        ]
    )
    if format == "CSV":
        got = [row["id"] for row in csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))]
    elif format == "JSON":
        got = [each["id"] for each in json.loads(text)["results"]]
    elif format == "TREC":
        got = [line.split()[2] for line in text.splitlines()]
    elif format == "BibTeX":
        got = [line.removeprefix("@misc{").removesuffix(",") for line in text.splitlines() if line.startswith("@misc{")]
    else:
        got = [line.removeprefix("AN  - ") for line in text.splitlines() if line.startswith("AN  - ")]
    assert got[: len(shown)] == shown
    assert len(got) > len(shown)  # all of them, not the page alone
