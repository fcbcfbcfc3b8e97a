"""The words of questions in a real browser: suggestions, corrections with a way back, everyday words, and the answer."""

import re
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

# A calibration by hand: a question whose words the best result has is answered, one of unknown words is not.
PROFILE = """version = 1

[[channel]]
name = "bm25"

[confidence]
features = ["coverage"]
centre = [0.5]
scale = [0.1]
answer = [0.0, 1.0]
topic = [0.0, 1.0]
threshold = 0.5
shown = 0.6
"""
ANSWERED, UNANSWERED = (
    "délai de rétractation de la rupture conventionnelle",
    "un délai pour la pizza, les licornes et les dragons",
)


@pytest.fixture(scope="module")
def site(collection, tmp_path_factory, serve):
    """A service whose index has words alone, frequent questions, and a profile with a calibration."""
    folder = tmp_path_factory.mktemp("words") / "labour.index"
    collection.write(folder.parent)
    serve.lexfuse("index", folder.parent / "corpus.jsonl", folder)
    (folder / "profiles").mkdir()
    (folder / "profiles" / "words.toml").write_text(PROFILE, "utf-8")
    (folder / "questions.txt").write_text("Quel est le délai de rétractation ?\n", "utf-8")
    with serve.served(folder) as address:
        yield address


SIZE = "(each) => getComputedStyle(each).fontSize"


def results(page):
    return page.locator("[data-result]")


@pytest.mark.parametrize("width", [1280, 390])
def test_suggestions_are_chosen_by_keys_and_by_pointer(visit, width):
    page = visit("/", width=width)
    field, options = page.get_by_role("searchbox"), page.locator("#suggestions [role=option]")
    field.press_sequentially("rupture conv")
    expect(options.first).to_be_visible()
    expect(options.first).to_have_text(re.compile("Rupture conventionnelle"))
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    assert not [one["id"] for one in Axe().run(page).response["violations"]]
    field.press("Escape")
    expect(options.first).to_be_hidden()
    expect(field).to_be_focused()
    field.fill("")
    field.press_sequentially("quel est le dél")
    page.locator("#suggestions [role=option]", has_text="Quel est le délai de rétractation").click()
    expect(field).to_have_value("Quel est le délai de rétractation ?")
    expect(results(page).first).to_contain_text("rétractation")
    expect(page.locator("#suggestions")).to_be_hidden()
    page.go_back()  # typing for a suggestion adds no step to the history
    expect(page.locator("[data-opening]")).to_be_visible()
    sideways = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert sideways <= 0


@pytest.mark.parametrize("script", [True, False])
def test_a_misspelt_question_is_corrected_with_a_way_back(visit, script):
    page = visit(f"/?q={quote('retractaton conventionelle')}", script=script)
    expect(page.locator("[data-meant]")).to_contain_text("rétractation conventionnelle")
    expect(results(page).first).to_contain_text("rétractation")
    page.locator("[data-meant] a").click()
    expect(page).to_have_url(re.compile("spelling=off"))
    expect(page.locator("[data-meant]")).to_have_count(0)
    page.goto(f"/?q={quote('délai de retractaton')}")
    page.locator("[data-meant] a").click()
    expect(page).to_have_url(re.compile("r%C3%A9tractation"))


@pytest.mark.parametrize("script", [True, False])
def test_everyday_words_are_shown_as_the_law_writes_them(visit, script):
    page = visit(f"/?q={quote('mes heures sup')}", script=script)
    expect(page.locator("[data-expanded]")).to_contain_text("heures supplémentaires")
    expect(results(page).first).to_contain_text("heures supplémentaires", ignore_case=True)
    page.locator("[data-result] a[data-why]").first.click()
    expect(page.locator("table", has_text="added for").first).to_be_visible()
    page.goto(f"/?q={quote('mes heures sup')}")
    page.locator("[data-expanded] a").click()
    expect(page).to_have_url(re.compile("everyday=off"))
    expect(page.locator("[data-expanded]")).to_have_count(0)


@pytest.mark.parametrize("width", [1280, 390])
def test_the_answer_comes_first_and_its_passage_is_copied(visit, width):
    page = visit(f"/?q={quote(ANSWERED)}", width=width)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    card = page.locator("[data-answer]")
    expect(card).to_contain_text("rétractation")
    assert not [one["id"] for one in Axe().run(page).response["violations"]]
    card.locator("[data-copies]").click()
    expect(card.locator("[data-copies]")).to_have_text("Copied")
    assert "rétractation" in page.evaluate("navigator.clipboard.readText()")
    shown = card.locator(".passage").inner_text()
    assert shown[0].isupper()  # the passage begins with its sentence
    assert re.search(r"[.;]( …)?$", shown)  # and ends with one
    titles = results(page).locator(".title").all_inner_texts()
    assert len(titles) == len(set(titles))  # the answer is the first result, and not listed twice
    expect(results(page).first).to_have_attribute("data-answer", "")
    page.keyboard.press("k")  # the focus was on the button of the first result
    expect(card.locator(".title a")).to_be_focused()
    page.keyboard.press("w")
    expect(card.locator(".verdict")).to_be_visible()
    title = card.locator(".title a").inner_text()
    card.get_by_role("link", name="Open the article").click()
    expect(page.locator("h1")).to_have_text(title)
    expect(page.locator("#best")).to_be_in_viewport()
    expect(page.locator(".trail a[rel=next]")).to_be_visible()  # the question stays


def test_what_nothing_answers_is_said_with_the_nearest_results_and_without_a_script(visit):
    page = visit(f"/?q={quote(UNANSWERED)}", script=False)
    expect(page.locator("[data-unanswered]")).to_be_visible()
    expect(page.locator("[data-answer]")).to_have_count(0)
    expect(results(page).first).to_be_visible()
    sizes = [results(page).nth(at).locator(".title").evaluate(SIZE) for at in (0, 1)]
    assert sizes[0] == sizes[1]  # what answers nothing is not in large type
    page.goto(f"/?q={quote(ANSWERED)}")
    expect(page.locator("[data-answer]")).to_be_visible()
    expect(page.locator("[data-answer] [data-copies]")).to_be_hidden()  # it needs a script
    page.goto("/?q=L.+1237-13")  # the question names the document that it wants
    expect(page.locator("[data-answer], [data-unanswered]")).to_have_count(0)


def test_only_the_cited_article_is_marked(visit):
    page = visit("/?q=L.+1237-13")
    for question in ("L.+1237-13", "article+L.+1237-13+du+code+du+travail"):
        page.goto(f"/?q={question}")
        marks = page.locator("[data-result] mark").all_inner_texts()
        assert marks
        assert all(re.sub(r"[\s.\u2011-]", "", mark) == "L123713" for mark in marks), marks
    page.locator("[data-result] .title a").first.click()
    expect(page.locator("h1")).to_have_text("Convention et délai de rétractation")
    assert set(page.locator(".law mark").all_inner_texts()) <= {"L. 1237-13"}
