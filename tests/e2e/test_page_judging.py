"""Judging results under a name, agreement, advice, and taking files home, in a real browser."""

import csv
import io
import json
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from lexfuse.data.formats.file_format import read_queries
from lexfuse.data.formats.trec_qrels import read_qrels

WIDER = "() => [...document.querySelectorAll('.scrolled')].some((each) => each.scrollWidth > each.clientWidth)"


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
    relevant = results(page).first.get_by_role("button", name="2 Relevant")
    other = results(page).first.get_by_role("button", name="0 Off topic")
    relevant.click()
    expect(relevant).to_have_attribute("aria-pressed", "true")
    expect(relevant).to_be_focused()
    assert page.url == address
    assert list(judgements(page, query).values()) == [2]
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
    results(page).nth(1).get_by_role("button", name="2 Relevant").click()
    expect(results(page).nth(1).get_by_role("button", name="2 Relevant")).to_have_attribute("aria-pressed", "true")
    kept = [each for each in page.request.get("/judgements?format=json").json()["judgements"] if each["query"] == query]
    assert [(each["rank"], each["profile"]) for each in kept] == [(2, "bm25")]
    lines = page.request.get("/judgements?format=qrels").text().splitlines()
    assert f"{kept[0]['query_id']} 0 {kept[0]['document']} 2" in lines


def test_a_refused_judgement_is_shown_as_a_page(visit):
    page = visit("/?q=bail", expected=["404"])
    results(page).first.locator("input[name=document]").evaluate("field => field.value = 'nowhere'")
    results(page).first.get_by_role("button", name="2 Relevant").click()
    expect(page.locator(".problem")).to_be_visible()
    expect(page.locator(".problem")).to_contain_text("nowhere")


ASKED = {"rupture annulée pour vice": ("3 Full answer", "0 Off topic"), "résiliation du bail": ("1 Related", "0 Off topic")}
IN_FRENCH = {"3 Full answer": "3 Réponse complète", "0 Off topic": "0 Hors sujet", "1 Related": "1 Voisin"}


def name_oneself(page, name, label, button):
    page.goto("/judging")
    page.get_by_label(label).fill(name)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_label(label)).to_have_value(name)


def grade(page, asked, says):
    """Grade the first two results of every question."""
    for query, grades in asked.items():
        page.goto(f"/?q={quote(query)}&profile=bm25")
        for at, words in enumerate(grades):
            button = results(page).nth(at).get_by_role("button", name=says(words))
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")


def test_two_judges_grade_agree_export_and_are_advised(visit, shoot, tmp_path):
    """One at a desk, in English; one without JavaScript on a phone, in French, who gives one other grade."""
    page = visit("/judging", width=1366)
    name_oneself(page, "Anna d'Arc", "Your name as a judge", "Use this name")
    grade(page, ASKED, lambda words: words)
    expect(page.get_by_role("link", name="Judging as Anna d'Arc")).to_be_visible()

    phone = visit("/judging", width=390, script=False, language="fr")
    name_oneself(phone, "Benoît", "Votre nom d’évaluateur", "Prendre ce nom")
    other = ASKED | {"résiliation du bail": ("0 Off topic", "0 Off topic")}
    grade(phone, other, lambda words: IN_FRENCH[words])

    page.get_by_role("link", name="Judging as Anna d'Arc").click()
    expect(page.get_by_role("row", name="Anna d'Arc · Benoît").locator("td")).to_have_text(["4", "75%", "0.56", "0.92"])
    name, text = fetched(page, page.get_by_role("link", name="Questions (JSONL), Anna d'Arc"))
    (tmp_path / name).write_text(text, "utf-8")
    name, text = fetched(page, page.get_by_role("link", name="Grades (qrels), Anna d'Arc"))
    (tmp_path / name).write_text(text, "utf-8")
    queries = read_queries(tmp_path / "queries.jsonl")
    assert set(queries.text) == set(ASKED)
    qrels = read_qrels(tmp_path / "judgements.qrels", queries=queries.ids)
    assert sorted(grade for each in qrels.as_dict().values() for grade in each.values()) == [0, 0, 1, 3]
    shoot(page, "bench-1366.png")
    phone.goto("/judging")
    assert not phone.evaluate(WIDER)  # tables are stacked, so that nothing scrolls sideways
    expect(phone.locator("td[data-label='Résultats']").first).to_be_visible()

    name_oneself(page, "Anna d'Arc", "Your name as a judge", "Use this name")
    grade(
        page, {"rupture annulée pour vice": ("2 Relevant",), "repos quotidien minimal": ("3 Full answer",)}, lambda words: words
    )
    page.goto("/judging")
    page.get_by_role("button", name="Run the advice").click()
    expect(page).to_have_url(re.compile("/experiments#judgements$"))
    expect(page.locator("#judgements h2")).to_have_text("Too few questions to tell")
    page.locator("#judgements h2 a").click()
    expect(page.locator(".answer")).to_contain_text("Too few questions to tell")


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
