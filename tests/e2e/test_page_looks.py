"""How every page looks: rules of axe-core, weight, nothing to scroll sideways, room for a finger, ink on paper; screenshots."""

import os
import re
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

QUESTION = quote("rupture conventionnelle vice du consentement")
PAGES = {
    "start": "/",
    "results": f"/?q={QUESTION}",
    "narrowed": f"/?q={QUESTION}&filter=kind%3Dstatute&as_of=2012-01-01&sort=newest",
    "nothing": "/?q=xyzzy&profile=bm25",
    "document": "/documents/soc-2019-exemplaire",
    "article": "/documents/L1237-19%402008",
    "reading": f"/documents/L1237-14%402008?q={QUESTION}&rank=3&find=convention",
    "versions": "/documents/pret-1?index=lending",
    "changes": "/changes/pret-1?index=lending&before=2000-01-01&after=2020-01-01",
    "browse": "/browse",
    "chapter": "/browse?index=lending&path=Code+du+pr%C3%AAt&whole=1",
    "kept": "/kept",
    "why": f"/why/lyon-2021-vice?q={QUESTION}",
    "compare": f"/compare?q={QUESTION}&profile=bm25&profile=dense&profile=hybrid",
    "similar": "/similar",
    "similar-found": "/similar?document=lyon-2021-vice",
    "experiments": "/experiments",
    "report": "/experiments/first",
    "judging": "/judging",
    "help": "/help",
    "reference": "/docs",
    "missing": "/documents/nowhere",
}
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
RULES = {"resultTypes": ["violations", "incomplete"], "runOnly": {"type": "tag", "values": TAGS}}  # what passes is only counted
WEIGHT = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.encodedBodySize, 0)"""
HEAVIEST = 60_000  # bytes of a page as it is sent, with its style and scripts
SCHEMES = {1440: "light", 390: "dark"}
OTHERS = {1440: (1024,), 390: (320, 768)}  # widths at which nothing scrolls sideways either
TOUCHED = (
    "results",
    "compare",
    "similar",
    "similar-found",
    "reading",
    "chapter",
    "judging",
)  # whose targets have room for a finger
SMALL = """() => [...document.querySelectorAll("main button, main select, main input:not([type=hidden]), main summary, nav a")]
  .filter((each) => each.checkVisibility() && !each.closest("details:not([open])"))
  .map((each) => [each.closest("label") ?? each, each])
  .filter(([target]) => target.getBoundingClientRect().height < 43.5)
  .map(([, each]) => each.outerHTML.slice(0, 80))"""


def settled(page, name):
    """Open what is folded, so that it is looked at too; and have two judges, who do not agree."""
    page.evaluate("document.querySelectorAll('details.fold').forEach((each) => each.open = true)")
    if name == "judging":
        for judge, grade in (("Zoé Martin", "3"), ("Max", "1")):
            page.request.post("/judging/name", form={"judge": judge})
            for document, given in (("L1237-14@2008", grade), ("lyon-2021-vice", "2"), ("civil-1728", "0")):
                fields = {"q": "rupture conventionnelle", "document": document, "grade": given}
                assert page.request.post("/judge", form=fields).ok
        page.reload()
    if name == "results":
        page.locator("[data-result] a[data-why]").first.click()
        expect(page.locator("[data-result] [data-part=why] svg.bar").first).to_be_visible()
    if name == "similar-found":
        page.locator(".aligned summary").first.click()
        expect(page.locator(".pairs blockquote").first).to_be_visible()


def broken(results, name):
    """Rules that are broken, or of which axe-core cannot tell (contrast over an image, for example), with where.

    It cannot tell the contrast of words in charts, which the report consists of.
    """
    found = [*results["violations"], *(results["incomplete"] if name != "report" else ())]
    nodes = [(each["id"], node) for each in found for node in each["nodes"]]
    return [f"{rule}: {node['target']} {node.get('failureSummary')}" for rule, node in nodes if not excused(node)]


def excused(node):
    """Whether a check is undecided for a sign that is no text, or for a cell of a table that scrolls on a narrow screen.

    The wide screen decides such a cell.
    """
    why = {check["data"].get("messageKey") for check in node["any"] if isinstance(check.get("data"), dict)}
    return bool(why & {"nonBmp", "shortTextContent", "elmPartiallyObscured"})


@pytest.mark.parametrize("width", SCHEMES)
@pytest.mark.parametrize("name", PAGES)
def test_no_rule_is_broken(visit, shoot, name, width):
    """All rules: wide in the light, narrow in the dark. No colour changes with the width, and no shape with the light.

    The same page then fits into other widths, and a finger can hit what it has.
    """
    from axe_playwright_python.sync_playwright import Axe

    language = "fr" if width == 1440 else "en"
    expert = width == 1440 or name in ("compare", "experiments", "report", "judging")
    page = visit(PAGES[name], width=width, scheme=SCHEMES[width], language=language, expected=["404"], expert=expert)
    assert page.evaluate(WEIGHT) <= HEAVIEST
    settled(page, name)
    for scheme in ("light", "dark") if os.environ.get("LEXFUSE_SHOTS") else (SCHEMES[width],):
        page.emulate_media(color_scheme=scheme)
        shoot(page, f"{name}-{width}-{scheme}-{language}.png")
    assert broken(Axe().run(page, options=RULES).response, name) == []
    for other in (width, *(() if name == "report" else OTHERS[width])):  # a report may be wider than a phone
        page.set_viewport_size({"width": other, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= other, other
    if width == 1440 and name in TOUCHED:
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate(SMALL) == []


@pytest.mark.parametrize("name", ["results", "document", "compare", "similar-found", "experiments"])
def test_it_prints_on_white(visit, name):
    page = visit(PAGES[name], scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    ink, paper = page.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    assert sum(map(int, re.findall(r"\d+", ink)[:3])) < 200
    assert sum(map(int, re.findall(r"\d+", paper)[:3])) > 700 or paper == "rgba(0, 0, 0, 0)"
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_report_is_shown_with_its_own_style_and_script(visit):
    page = visit("/experiments")
    page.locator(".experiments h2 a[href$='/first']").click()
    expect(page.locator("svg.chart").first).to_be_visible()
    assert page.locator("h1").evaluate("each => getComputedStyle(each).fontWeight") == "600"
    page.locator("#figures summary").click()
    page.locator("#figures th:nth-child(2) button").click()  # made by the script
    expect(page.locator("#figures th:nth-child(2)")).to_have_attribute("aria-sort", re.compile("ending"))
    page.locator("nav li a").first.click()
    expect(page.locator("h1")).to_have_text("Experiments")


EDGES = """() => [".searchbar", ".summary", ".result", ".options .fields"]
  .map((name) => Math.round(document.querySelector(name).getBoundingClientRect().right))"""
ARROWS = """() => [...document.querySelectorAll(".options .field:has(> select)")]
  .map((each) => Math.round(each.getBoundingClientRect().bottom - each.querySelector("select").getBoundingClientRect().bottom))"""


@pytest.mark.parametrize("width", [390, 1366, 1920])
@pytest.mark.parametrize("index", ["labour", "lending"])
def test_everything_ends_at_one_right_edge(visit, width, index):
    page = visit(f"/?q=pr%C3%AAt+rupture&index={index}", width=width, expert=False)
    page.evaluate("document.querySelectorAll('details.fold').forEach((each) => each.open = true)")
    assert len(set(page.evaluate(EDGES))) == 1
    assert set(page.evaluate(ARROWS)) == {0}  # the arrow of a choice is placed from the bottom of its field


@pytest.mark.parametrize("script", [True, False])
def test_an_error_and_an_empty_answer_lead_on(visit, script):
    page = visit("/documents/nowhere", script=script, expected=("404",), expert=False)
    page.get_by_role("searchbox").fill("rupture conventionnelle")
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("[data-result]").first).to_be_visible()
    page.goto("/?q=xyzzy&profile=bm25")
    page.locator(".nothing").get_by_role("link", name="Lending").click()
    expect(page).to_have_url(re.compile("index=lending"))


def test_french_is_french(visit):
    page = visit(f"/compare?q={QUESTION}&profile=bm25&profile=dense", language="fr")
    expect(page.locator("section.column").nth(1)).to_contain_text(re.compile("monte de|descend de|même rang"))
    ends = page.evaluate("[document.querySelector('.sections li:last-child'), document.querySelector('.switches')]"
                         ".map((each) => each.getBoundingClientRect()).map((box) => [box.left, box.right])")  # fmt: skip
    assert ends[0][1] <= ends[1][0]  # the longest words of the head have room
    page.goto("/experiments")
    expect(page.locator(".experiments")).to_contain_text("Trop peu de questions pour conclure")
