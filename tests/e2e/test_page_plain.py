"""Every page without JavaScript: links and forms do all of it."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

QUESTION = "rupture conventionnelle"


@pytest.fixture
def plain(visit):
    def opened(path, **options):
        return visit(path, script=False, **options)

    return opened


def test_search_facets_day_and_order(plain):
    page = plain("/")
    page.get_by_role("searchbox").fill(QUESTION)
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("q=rupture"))
    page.locator("[data-facet=court] a", has_text="Cour d'appel de Lyon").click()
    for each in page.locator("[data-result]").all():
        expect(each).to_contain_text("Cour d'appel de Lyon")
    page.goto("/?q=L.+1234-1")
    page.locator("[name=as_of]").fill("2000-06-30")
    page.locator("[name=sort]").select_option("oldest")
    page.get_by_role("button", name="Search").click()
    expect(page).to_have_url(re.compile("as_of=2000-06-30"))
    assert page.locator("[data-result] .title").all_inner_texts().count("Durée du préavis") == 1


def test_further_pages(plain):
    page = plain("/?q=salari%C3%A9")
    page.locator("a[rel=next]").click()
    expect(page.locator("[data-result] .rank").first).to_have_text("11")


def test_why_and_why_not(plain):
    page = plain(f"/?q={quote(QUESTION)}")
    page.locator("[data-result] a[data-why]").first.click()
    expect(page).to_have_url(re.compile("/why/"))
    expect(page.locator(".explanation")).to_contain_text("bm25")
    page.locator("input[name=cite]").fill("article 1728 du code civil")
    page.locator("form:has(input[name=cite]) button").click()
    expect(page.locator("h1")).to_have_text("Obligations du locataire")


def test_document(plain):
    page = plain(f"/?q={quote(QUESTION)}")
    title = page.locator("[data-result] .title a").first
    name = title.inner_text()
    title.click()
    expect(page.locator("h1")).to_have_text(name)


def test_compare(plain):
    page = plain("/compare")
    page.get_by_role("searchbox").fill(QUESTION)
    page.get_by_label("Profile 1").select_option("bm25")
    page.get_by_label("Profile 2").select_option("dense")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("section.column")).to_have_count(2)


def test_similar_by_file_then_other_words(plain, law):
    page = plain("/similar")
    page.locator("input[type=file]").set_input_files(law / "judgment.txt")
    page.get_by_role("button", name="Find similar documents").click()
    expect(page.locator(".likenesses .result").filter(has_text="Vice du consentement")).to_have_count(1)
    page.locator(".likenesses .aligned summary").first.click()
    expect(page.locator(".likenesses .pairs blockquote").first).to_be_visible()
    for box in page.locator(".terms input[type=checkbox]").all():
        box.uncheck()
    page.get_by_label("Add words").fill("loyer")
    page.get_by_role("button", name="Search again with these words").click()
    expect(page.locator(".likenesses")).to_contain_text("Obligations du locataire")


def test_similar_errors(plain):
    page = plain("/similar", expected=["400"])
    page.get_by_role("button", name="Find similar documents").click()
    expect(page.get_by_role("alert")).to_contain_text("both are empty")


def test_judging_comes_back_to_the_page(plain):
    query = "congés payés du salarié malade"
    page = plain(f"/?q={quote(query)}&sort=newest")
    second = page.locator("[data-result]").nth(1)
    second.get_by_role("button", name="2 Relevant").click()
    expect(page).to_have_url(re.compile(r"sort=newest#result-\d+$"))
    expect(second.get_by_role("button", name="2 Relevant")).to_have_attribute("aria-pressed", "true")
    second.get_by_role("button", name="2 Relevant").click()
    expect(second.get_by_role("button", name="2 Relevant")).to_have_attribute("aria-pressed", "false")


def test_export(plain):
    page = plain(f"/?q={quote(QUESTION)}")
    with page.expect_download() as started:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert started.value.path().read_text("utf-8-sig").startswith("rank,id,title")


def test_experiments_and_help(plain):
    page = plain("/experiments")
    page.locator(".experiments h2 a[href$='/first']").click()
    expect(page.locator(".answer")).to_be_visible()
    expect(page.locator("svg.chart").first).to_be_visible()
    page.locator("nav li a").first.click()
    expect(page).to_have_url(re.compile("/experiments$"))
    page.goto("/help#keyboard")
    expect(page.locator("#keyboard")).to_be_visible()


def test_language_and_theme(plain):
    page = plain("/compare", language="fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("link", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.locator("[data-theme-switch]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    page.locator("[data-theme-switch]").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page).to_have_url(re.compile("/compare"))
