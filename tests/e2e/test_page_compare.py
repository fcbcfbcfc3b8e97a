"""Profiles side by side in a real browser: moves relative to the first column, in signs and in words."""

import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

QUESTION = "préavis du salarié licencié"


def compare(*profiles, question=QUESTION):
    return f"/compare?q={quote(question)}" + "".join(f"&profile={each}" for each in profiles)


def ranks(column):
    """Documents of a column by rank."""
    return {
        row.get_attribute("data-document"): int(row.locator(".rank").inner_text()) for row in column.locator(".places > li").all()
    }


def test_moves_are_those_of_the_ranks(visit):
    page = visit(compare("bm25", "dense", "hybrid"))
    columns = page.locator("section.column").all()
    assert [column.locator("h2").inner_text() for column in columns] == ["bm25", "dense", "hybrid"]
    first = ranks(columns[0])
    signs = set()
    for column in columns[1:]:
        for row in column.locator(".places > li").all():
            document, rank = row.get_attribute("data-document"), int(row.locator(".rank").inner_text())
            told = " ".join(row.locator(".moved").inner_text().split())
            signs.add(told[0])
            if document not in first:
                assert told == "new"
            elif first[document] == rank:
                assert told == "= same place"
            else:
                moved = first[document] - rank
                sign, word = ("▲", "up") if moved > 0 else ("▼", "down")
                places = "place" if abs(moved) == 1 else "places"
                assert told == f"{sign} {abs(moved)} {word} {abs(moved)} {places}"
        lost = {each.get_attribute("data-document") for each in column.locator(".lost li").all()}
        assert lost == set(first) - set(ranks(column))
    assert {"▲", "▼", "n"} <= signs


def test_the_first_column_has_no_marks(visit):
    page = visit(compare("dense", "bm25"))
    expect(page.locator("section.column").first.locator(".moved")).to_have_count(0)
    assert page.locator("section.column").nth(1).locator(".moved").count() == 10


def test_profiles_are_chosen_in_the_form(visit):
    page = visit("/compare")
    page.get_by_role("searchbox").fill(QUESTION)
    page.get_by_label("Profile 1").select_option("bm25")
    page.get_by_label("Profile 2").select_option("dense")
    page.get_by_label("Profile 3").select_option("")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("section.column")).to_have_count(2)
    expect(page).to_have_url(re.compile("profile=bm25&profile=dense"))


def test_the_search_leads_here_with_its_filters(visit):
    page = visit(f"/?q={quote(QUESTION)}&filter=kind%3Ddecision")
    page.get_by_role("link", name="Compare profiles").click()
    expect(page.locator("section.column")).to_have_count(2)
    assert all("@" not in document for document in ranks(page.locator("section.column").first))  # no articles
    expect(page.locator("input[name=filter]")).to_have_value("kind=decision")


def test_the_same_profile_twice_is_told(visit):
    page = visit(compare("bm25", "bm25"))
    expect(page.get_by_role("alert")).to_contain_text("differ")
    expect(page.locator("section.column")).to_have_count(0)


def test_pointing_shows_the_same_document_in_every_column(visit):
    page = visit(compare("bm25", "hybrid"))
    first = page.locator("section.column").first.locator(".places > li").first
    first.hover()
    document = first.get_attribute("data-document")
    expect(page.locator("[data-same]")).to_have_count(page.locator(f'[data-document="{document}"]').count())


@pytest.mark.parametrize(("width", "beside"), [(1440, True), (390, False)])
def test_columns_stand_side_by_side_or_below_each_other(visit, width, beside):
    page = visit(compare("bm25", "dense"), width=width)
    one, two = (column.bounding_box() for column in page.locator("section.column").all())
    assert (two["y"] == one["y"]) is beside
    assert (two["x"] > one["x"] + one["width"] - 1) is beside


def test_why_from_a_column_is_that_of_its_profile(visit):
    page = visit(compare("bm25", "dense"))
    page.locator("section.column").nth(1).locator(".actions a").first.click()
    expect(page).to_have_url(re.compile("/why/.*profile=dense"))
    expect(page.locator(".explanation")).to_contain_text("dense")
