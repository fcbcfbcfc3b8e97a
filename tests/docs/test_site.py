"""The documentation site: every page is in its navigation, its reference is complete, and tasks are found within two clicks."""

import re
from pathlib import Path

import pytest
import yaml

import lexfuse

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FRONT = (DOCS / "README.md").read_text("utf-8")
TASK = re.compile(
    r"^\| (?P<task>[^|]+) \| \[(?P<page>[\w.-]+)\]\((?P=page)\) \| \[.+\]\((?P=page)#(?P<anchor>[\w-]+)\) \| `(?P<sign>.+)` \|$"
)
TASKS = [found for line in FRONT.splitlines() if (found := TASK.match(line))]


def configuration():
    """mkdocs.yml without what its own tags make."""
    text = re.sub(r"!!python/\S+", "", (ROOT / "mkdocs.yml").read_text("utf-8"))
    return yaml.safe_load(text)


def anchor_of(heading):
    """The anchor of a heading, as the site and GitHub make it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def sections(page):
    """The text below each heading of a page, by its anchor; code is no heading."""
    found, anchor, fenced = {}, "", False
    for line in (DOCS / page).read_text("utf-8").splitlines():
        fenced ^= line.startswith("```")
        if not fenced and (heading := re.match(r"#+ (.+)", line)):
            anchor = anchor_of(heading[1])
        found[anchor] = found.get(anchor, "") + line + "\n"
    return found


def test_ten_tasks_are_listed():
    assert len(TASKS) == len({found["task"] for found in TASKS}) == 10


@pytest.mark.parametrize("found", TASKS, ids=lambda found: found["task"])
def test_a_task_is_found_within_two_clicks(found):
    """The first click is a link of the table of pages, the second a heading of the page."""
    table = FRONT.partition("## Ten tasks")[0]
    assert f"]({found['page']})" in table
    section = sections(found["page"]).get(found["anchor"])
    assert section, f"{found['page']} has no heading #{found['anchor']}"
    assert found["sign"] in section
    if found["sign"].startswith(("lexfuse ", "--")):
        assert found["sign"] in "".join(re.findall(r"^```console.*?^```$", section, re.MULTILINE | re.DOTALL))


def pages_of(entries):
    for entry in entries:
        yield from [entry] if isinstance(entry, str) else pages_of(next(iter(entry.values())))


def test_every_page_is_in_the_navigation_and_on_the_front_page():
    settings = configuration()
    assert settings["strict"] is True
    listed = list(pages_of(settings["nav"]))
    outside = {"CHANGELOG.md", "CONTRIBUTING.md", "recipes.md"}  # which scripts/site_hooks.py makes pages of
    assert len(listed) == len(set(listed))
    assert set(listed) - outside == {page.name for page in DOCS.glob("*.md")}
    assert [page for page in set(listed) - outside - {"README.md"} if f"({page}" not in FRONT] == []


def test_the_reference_has_every_name_of_the_package():
    shown = set(re.findall(r"^::: ([\w.]+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE))
    assert shown == {f"{getattr(lexfuse, name).__module__}.{getattr(lexfuse, name).__name__}" for name in lexfuse.__all__}


def test_every_formula_names_code_that_exists():
    named = re.findall(r"`(lexfuse(?:\.\w+)+)`", (DOCS / "formulas.md").read_text("utf-8"))
    assert len(named) > 40
    for name in named:
        module, _, attribute = name.rpartition(".")
        source = ROOT / "src" / Path(*module.split(".")).with_suffix(".py")  # training would import torch
        assert re.search(rf"^(?:class|def) {attribute}\b", source.read_text("utf-8"), re.MULTILINE), name


def test_equations_of_the_formulas_page_are_those_of_the_code():
    """An equation that a docstring names is on the page."""
    page = (DOCS / "formulas.md").read_text("utf-8")
    for paper in ("FUSE", "BRUCH", "BSARD", "CJEU", "RPRS"):
        shown = {number for numbers in re.findall(rf"{paper} eq\. ([\d, toand]+)", page) for number in expanded(numbers)}
        source = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
        named = {
            number
            for text in source
            for numbers in re.findall(rf"{paper} eq\. (\d+(?:-\d+)?)", text)
            for number in expanded(numbers)
        }
        assert named <= shown, paper


def expanded(numbers):
    """The numbers of "6 to 8", "6-8" or "1 and 3"."""
    if found := re.match(r"(\d+)(?: to |-)(\d+)", numbers):
        return list(range(int(found[1]), int(found[2]) + 1))
    return [int(number) for number in re.findall(r"\d+", numbers)]
