"""Reading in a real browser: the question stays with a document, codes are browsed, versions compared, searches kept."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

QUESTION = "délai de rétractation de la convention"
RESULTS = f"/?q={quote(QUESTION)}"
FACES = pytest.mark.parametrize(("width", "script"), [(1280, True), (390, False)], ids=["desktop", "phone without scripts"])


def titles(page):
    return page.locator("[data-result] .title").all_inner_texts()


@FACES
def test_the_question_stays_with_a_document(visit, width, script):
    page = visit(RESULTS, width=width, script=script, expert=False)
    first, second = titles(page)[:2]
    page.locator("[data-result] .title a").first.click()
    expect(page).to_have_url(re.compile(r"/documents/.*rank=1#best$"))
    expect(page.locator("h1")).to_have_text(first)
    expect(page.locator("#best")).to_be_in_viewport()
    marked = " ".join(page.locator(".law mark").all_inner_texts())
    assert "rétractation" in marked
    trail = page.locator(".trail")
    expect(trail.locator("a[rel=prev]")).to_have_count(0)
    trail.locator("a[rel=next]").click()
    expect(page.locator("h1")).to_have_text(second)
    expect(page).to_have_url(re.compile("rank=2"))
    assert trail.locator("p").evaluate("each => each.scrollWidth <= each.clientWidth"), "the number of the article is cut"
    page.locator("#find").fill("conventions")
    page.locator(".within button").click()
    expect(page).to_have_url(re.compile(r"find=conventions#found$"))
    if page.locator(".law mark").count():
        assert set(re.findall(r"\w+", " ".join(page.locator(".law mark").all_inner_texts()).lower())) <= {
            "convention",
            "conventions",
        }
    page.locator(".trail .back").click()
    expect(page).to_have_url(re.compile(r"\?q=.*#result-2$"))
    assert titles(page)[:2] == [first, second]


@pytest.mark.parametrize("width", [1280, 390])
def test_a_short_text_is_opened_with_its_title_and_its_passage_in_view(visit, width):
    page = visit(RESULTS, width=width, expert=False)
    page.locator("[data-result] .title a").first.click()
    expect(page.locator("#best")).to_be_in_viewport()
    bar, title = page.locator(".trail").bounding_box(), page.locator("h1").bounding_box()
    assert bar["y"] + bar["height"] <= title["y"]  # the bar does not cover the title
    below = page.locator("#best").bounding_box()
    assert below["y"] + below["height"] <= page.viewport_size["height"]


def test_a_further_page_is_the_one_to_go_back_to(visit):
    page = visit("/?q=salari%C3%A9")
    page.locator("a[rel=next]").click()
    expect(page.locator("[data-result] .rank").first).to_have_text("11")
    title = titles(page)[0]
    page.locator("[data-result] .title a").first.click()
    expect(page.locator("h1")).to_have_text(title)
    page.locator("body").press("u")
    expect(page.locator("[data-result] .rank").first).to_have_text("11")


@FACES
def test_a_code_is_browsed_down_to_an_article(visit, width, script):
    page = visit("/", width=width, script=script, expert=False)
    page.get_by_role("navigation", name="Sections").get_by_role("link", name="Browse").click()
    page.locator(".tree > li > a", has_text="Code du travail").click()
    expect(page.locator("h1")).to_have_text("Code du travail")
    page.locator(".tree > li > a", has_text="Livre II").click()
    page.get_by_role("link", name="Read all of it on one page").click()
    expect(page.locator(".chapter article").filter(has_text="droit de rétractation")).to_have_count(1)
    page.locator(".chapter h2 a").first.click()
    crumbs = page.get_by_role("navigation", name="Breadcrumb").get_by_role("link")
    assert crumbs.all_inner_texts()[0] == "Code du travail"
    if width > 1000:  # a phone shows the code and the two nearest sections
        assert crumbs.all_inner_texts()[1] == "Livre II : Le contrat de travail"
    assert crumbs.all_inner_texts()[-2] == "Titre III : Rupture du contrat"
    crumbs.first.click()
    expect(page.locator("h1")).to_have_text("Code du travail")


@FACES
def test_versions_are_compared_word_by_word(visit, width, script):
    page = visit("/documents/pret-1?index=lending", width=width, script=script, expert=False)
    expect(page.locator(".timeline li")).to_have_count(2)
    page.get_by_role("link", name="What changed").click()
    expect(page.locator(".law ins").first).to_have_text("vingt et un")
    expect(page.locator(".law del").first).to_have_text("quatorze")
    page.go_back()
    page.locator(".timeline a", has_text="1990").click()
    expect(page.locator(".law")).to_contain_text("quatorze jours")
    page.goto("/documents/L1234-1%402008")
    page.get_by_role("link", name="What changed").click()
    expect(page.locator(".law ins").first).to_have_text("deux")


@FACES
def test_tools_of_experts_are_shown_on_demand(visit, width, script):
    page = visit(RESULTS, width=width, script=script, expert=False)
    tools = "[name=profile]:visible, .judge, a[href*=trec], .sections a[href='/compare'], .timing"
    expect(page.locator(tools)).to_have_count(0)
    shown = titles(page)
    page.locator(".switches .toggle").click()
    expect(page).to_have_url(re.compile("q="))
    assert titles(page) == shown
    for tool in (".judge", "a[href*=trec]", ".sections a[href='/compare']", ".timing"):
        expect(page.locator(tool).first).to_be_attached()
    page.locator(".switches .toggle").click()
    expect(page.locator(tools)).to_have_count(0)


def test_sections_of_a_code_are_a_facet_and_the_focus_stays(visit):
    page = visit(f"{RESULTS}&filter=code%3DCode+du+travail", expert=False)
    section = page.locator("[data-facet=headings] a").nth(1)
    name = section.locator(".value").inner_text()
    section.click()
    expect(page).to_have_url(re.compile(r"filter=headings"))
    expect(page.locator("[data-facet=headings] a[data-chosen]")).to_contain_text(name)
    expect(page.locator("[data-facet=headings] a[data-chosen]")).to_be_focused()
    page.locator("[data-facet=headings] a[data-chosen]").click()
    expect(page).not_to_have_url(re.compile("filter=headings"))


def test_back_leads_to_what_was_there_before_typing(visit):
    page = visit("/?q=loyer")
    before = titles(page)
    field = page.get_by_role("searchbox")
    field.fill("congés")
    expect(page).to_have_url(re.compile("q=cong"))
    field.fill("congés payés")
    expect(page).to_have_url(re.compile("pay"))
    page.go_back()
    expect(page).to_have_url(re.compile("q=loyer"))
    expect(field).to_have_value("loyer")
    expect(page.locator("[data-result] .title").first).to_have_text(before[0])


def test_without_a_connection_the_page_stays(visit):
    page = visit("/?q=loyer", expected=["ERR_INTERNET_DISCONNECTED", "ERR_FAILED"])
    before = titles(page)
    page.context.set_offline(True)
    page.get_by_role("searchbox").fill("congés payés")
    expect(page.locator("[data-offline-note]")).to_contain_text("No connection")
    assert titles(page) == before
    page.locator("a[data-why]").first.click()
    expect(page.locator("[data-live]")).to_contain_text("No connection")
    page.context.set_offline(False)
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("[data-offline-note]")).to_have_count(0)


def test_single_keys_can_be_switched_off(visit):
    page = visit(RESULTS)
    page.locator("body").press("?")
    page.locator("dialog [data-keys-switch]").uncheck()
    page.keyboard.press("Escape")
    page.reload()
    page.locator("body").press("j")
    expect(page.locator("[data-result] .title a").first).not_to_be_focused()
    page.goto("/help#keyboard")
    page.locator("main [data-keys-switch]").check()
    page.goto(RESULTS)
    page.locator("body").press("j")
    expect(page.locator("[data-result] .title a").first).to_be_focused()


def test_searches_are_kept_in_the_browser(visit):
    page = visit(RESULTS, expert=False)
    page.get_by_role("button", name="Save this search").click()
    page.get_by_role("searchbox").fill("loyer")
    page.get_by_role("searchbox").press("Enter")
    expect(page).to_have_url(re.compile("q=loyer"))
    page.goto("/kept")
    saved, history = page.locator("[data-list=saved] li"), page.locator("[data-list=history] li")
    expect(saved).to_have_count(1)
    expect(history.filter(has_text="loyer")).to_have_count(1)
    feed = page.request.get(saved.locator("a.feed").get_attribute("href"))
    assert feed.headers["content-type"].startswith("application/atom+xml")
    assert feed.text().count("<entry>") == 10
    saved.locator(".asked a").click()
    expect(page.get_by_role("searchbox")).to_have_value(QUESTION)
    page.goto("/kept")
    saved.get_by_role("button", name="Remove").click()
    expect(page.locator("[data-empty=saved]")).to_be_visible()
    plain = visit("/kept", script=False)
    expect(plain.get_by_text("Without JavaScript")).to_be_visible()


def test_the_history_tells_searches_apart_and_keeps_long_questions_short(visit):
    page = visit("/?q=loyer&filter=kind%3Ddecision&index=labour", width=390, expert=False)
    page.goto("/?q=loyer&index=labour")
    page.goto(f"/?q={'loyer+' * 300}")
    page.goto("/kept")
    rows = page.locator("[data-list=history] li .asked")
    expect(rows).to_have_count(3)
    line = rows.nth(1).locator("a").bounding_box()["height"]
    assert rows.nth(0).locator("a").bounding_box()["height"] < 2 * line
    narrowed = [each.inner_text() for each in rows.locator("small").all()]
    assert narrowed[2] == f"{narrowed[1]} · Decision"


def test_paper_has_the_address_and_the_day(visit):
    page = visit(RESULTS)
    expect(page.locator(".printed")).to_be_hidden()
    page.emulate_media(media="print")
    expect(page.locator(".printed")).to_contain_text(re.compile(r"http://\S+/\?q=\S+ · \d+\s\w+\s\d{4}"))
    page.emulate_media(media="screen")
    page.locator("[data-result] .title a").first.click()
    expect(page.locator(".trail")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".trail")).to_be_hidden()


def test_cited_texts_have_the_width_of_a_phone(visit):
    page = visit("/documents/soc-2019-exemplaire", width=390)
    assert page.locator(".graph .cites").bounding_box()["width"] > 300
