"""The search page in a real browser: typing, facets, days, order, reasons, keys, languages."""

import re

import pytest
from playwright.sync_api import expect

QUESTION = "rupture conventionnelle"


def titles(page):
    return page.locator("[data-result] .title").all_inner_texts()


def results(page):
    return page.locator("[data-result]")


def asked(path, **values):
    from urllib.parse import urlencode

    return f"{path}?{urlencode(values, doseq=True)}"


def test_results_follow_what_is_typed(visit):
    page = visit(asked("/", q="loyer"))
    expect(results(page).first).to_contain_text("loyer", ignore_case=True)
    field = page.get_by_role("searchbox")
    field.fill("")
    field.press_sequentially("heures supplémentaires")
    expect(results(page).first).to_contain_text("heures supplémentaires", ignore_case=True)
    expect(page).to_have_url(re.compile(r"q=heures\+suppl%C3%A9mentaires"))
    expect(page).to_have_title(re.compile("heures supplémentaires"))
    expect(field).to_be_focused()


def test_an_answer_that_is_late_does_not_replace_a_newer_one(visit):
    page = visit(asked("/", q="bail"))
    held = []
    page.route("**/?q=loyer*", lambda route: held.append(route))
    field = page.get_by_role("searchbox")
    with page.expect_request("**/?q=loyer*"):
        field.fill("loyer")
    field.fill("congés payés")
    expect(results(page).first).to_contain_text("congés", ignore_case=True)
    before = titles(page)
    for route in held:
        route.abort()  # it was cancelled; what comes now comes to nobody
    assert titles(page) == before


def test_the_opening_page_leads_to_results(visit):
    page = visit("/")
    expect(page.locator("h1")).to_be_visible()
    page.get_by_role("searchbox").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(results(page).first).to_be_visible()


def test_words_and_the_best_sentence_are_marked_apart(visit):
    page = visit(asked("/", q="délai de rétractation"))
    expect(page.locator("[data-result] mark").first).to_be_visible()
    assert page.locator("[data-result] .best").count() > 0
    marked = page.locator("[data-result] mark").first.evaluate("each => getComputedStyle(each).backgroundColor")
    best = page.locator("[data-result] .best").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert marked != best


def test_a_citation_finds_its_article_in_every_spelling(visit):
    for spelling in ("L. 1237-13", "article L1237-13", "L.1237\u201113"):
        page = visit(asked("/", q=spelling))
        expect(results(page).first).to_contain_text("Convention et délai de rétractation")


def test_facets_narrow_and_their_counts_are_kept(visit):
    page = visit(asked("/", q=QUESTION))
    facet = page.locator("[data-facet=court] a", has_text="Cour d'appel de Lyon")
    count = int(re.search(r"\d+", facet.locator("[aria-hidden].count, .count [aria-hidden]").first.inner_text())[0])
    facet.click()
    expect(page).to_have_url(re.compile("filter=court"))
    expect(results(page)).to_have_count(min(count, 10))
    for each in results(page).all():
        expect(each).to_contain_text("Cour d'appel de Lyon")
    page.locator("[data-facet=court] a[data-chosen]").click()
    expect(page).not_to_have_url(re.compile("filter="))
    assert len(titles(page)) > count


def test_the_law_as_of_a_day(visit):
    page = visit(asked("/", q="L. 1234-1"))
    assert titles(page).count("Durée du préavis") == 2
    page.locator("[name=as_of]").fill("2000-06-30")
    expect(page).to_have_url(re.compile("as_of=2000-06-30"))
    expect(results(page).first).to_contain_text("six mois et un an")
    assert titles(page).count("Durée du préavis") == 1
    assert "repealed" in results(page).first.inner_text().lower()


def test_newest_first(visit):
    page = visit(asked("/", q=QUESTION, filter="kind=decision"))
    page.locator("[name=sort]").select_option("newest")
    expect(page).to_have_url(re.compile("sort=newest"))
    years = [int(re.search(r"\b(20\d\d)\b", each)[1]) for each in page.locator("[data-result] .path").all_inner_texts()]
    assert years == sorted(years, reverse=True)
    assert len(set(years)) > 1


def test_the_address_holds_the_whole_state(visit):
    page = visit(asked("/", q=QUESTION))
    page.locator("[name=sort]").select_option("oldest")
    expect(page).to_have_url(re.compile("sort=oldest"))
    page.locator("[data-facet=kind] a").first.click()
    expect(page).to_have_url(re.compile("filter="))
    shown = titles(page)
    again = visit(page.url)
    assert titles(again) == shown
    page.go_back()
    expect(page).not_to_have_url(re.compile("filter="))


def test_further_pages_go_on(visit):
    page = visit(asked("/", q="salarié"))
    first = titles(page)
    page.locator("a[rel=next]").click()
    expect(page).to_have_url(re.compile("cursor="))
    expect(page.locator("[data-result] .rank").first).to_have_text("11")
    assert not set(first) & set(titles(page)) or len(first) == 10


def test_why_this_result(visit):
    page = visit(asked("/", q=QUESTION))
    link = results(page).first.locator("a[data-why]")
    link.click()
    panel = results(page).first.locator("[data-part=why]")
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("bm25")
    expect(panel).to_contain_text("dense")
    expect(panel.locator("svg.bar").first).to_be_visible()
    expect(link).to_have_attribute("aria-expanded", "true")
    link.click()
    expect(panel).to_be_hidden()


def test_why_not_by_citation(visit):
    page = visit(asked("/", q=QUESTION))
    results(page).first.locator("a[data-why]").click()
    panel = results(page).first.locator("[data-part=why]")
    form = panel.locator("form[data-why-not]")
    expect(form).to_be_visible()
    form.locator("input[name=cite]").fill("article 1728 du code civil")
    form.locator("button").click()
    expect(panel).to_contain_text("Obligations du locataire")


def test_a_document_of_the_collection(visit):
    page = visit("/documents/soc-2019-exemplaire")
    expect(page.locator("h1")).to_have_text("Remise d'un exemplaire de la convention")
    expect(page.locator(".law p")).to_have_count(3)
    page.locator(".law a", has_text="L. 1237-11").first.click()
    expect(page.locator("h1")).to_have_text("Principe de la rupture conventionnelle")
    expect(page.locator(".network .cited_by")).to_contain_text("Remise d'un exemplaire de la convention")


def test_versions_of_an_article(visit):
    page = visit("/documents/L1234-1%402008")
    expect(page.locator(".side")).to_contain_text("Repealed")
    page.locator(".timeline a[href^='/documents'][href*='1995']").click()
    expect(page).to_have_url(re.compile("1995"))


def test_keys(visit):
    page = visit(asked("/", q=QUESTION))
    page.locator("body").press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).not_to_be_focused()
    page.keyboard.press("j")
    expect(results(page).nth(0).locator(".title a")).to_be_focused()
    page.keyboard.press("j")
    expect(results(page).nth(1).locator(".title a")).to_be_focused()
    page.keyboard.press("k")
    expect(results(page).nth(0).locator(".title a")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("dialog#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("dialog#keys")).to_be_hidden()
    title = titles(page)[0]
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(title)


def test_letters_that_are_typed_are_no_keys(visit):
    page = visit(asked("/", q="bail"))
    field = page.get_by_role("searchbox")
    field.fill("")
    field.press_sequentially("jk?/")
    expect(field).to_have_value("jk?/")
    expect(page.locator("dialog#keys")).to_be_hidden()


def test_french_and_english(visit):
    page = visit("/", language="fr")
    expect(page.locator("html")).to_have_attribute("lang", "fr")
    page.get_by_role("link", name="English").click()
    expect(page.locator("html")).to_have_attribute("lang", "en")
    page.goto("/help")
    expect(page.locator("html")).to_have_attribute("lang", "en")  # kept


def test_dark_and_light(visit):
    def brightness(page):
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert brightness(visit("/", scheme="light")) > 600
    page = visit("/", scheme="dark")
    assert brightness(page) < 200
    switch = page.locator("[data-theme-switch]")
    switch.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert brightness(page) > 600
    page.goto("/help")
    assert brightness(page) > 600  # kept


@pytest.mark.parametrize(
    "hostile", ['"><img src=x onerror=alert(1)>', "<script>alert(1)</script>", "{{ 7*7 }}", "'; DROP TABLE x;--"]
)
def test_hostile_questions_stay_text(visit, hostile):
    page = visit(asked("/", q=hostile))
    expect(page.get_by_role("searchbox")).to_have_value(hostile)
    assert page.locator("img").count() == 0
    assert hostile in page.title()


def test_the_line_of_options_follows_the_day(visit):
    page = visit("/?q=rupture&as_of=2012-01-01", width=390)
    line = page.locator("form [data-options]")
    expect(line).to_contain_text("1 January 2012")
    page.locator("details.options summary").click()
    page.locator("[name=as_of]").fill("2019-05-04")
    expect(line).to_contain_text("4 May 2019")


def test_a_title_hangs_from_its_rank_on_phones(visit):
    page = visit("/?q=rupture+conventionnelle", width=390)
    rank, title = (page.locator(f"[data-result] {each}").first.bounding_box() for each in (".rank", ".title"))
    assert title["x"] >= rank["x"] + rank["width"]
