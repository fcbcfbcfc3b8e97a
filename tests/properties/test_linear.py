"""What was made linear gives what the plain, slower way gives."""

import re
from bisect import bisect_right
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from lexfuse.data.formats.html_text import _BLOCKS, _UNSEEN, html_text
from lexfuse.text.citation import decisions
from lexfuse.text.citation.citation import DECISIONS, Citation, CitationSystem
from lexfuse.text.citation.decisions import _FARTHEST, _OF_DECISION, _SAME_DECISION, PARAGRAPHS
from lexfuse.text.citation.find import _holds_one, _without
from lexfuse.text.citation.scanner import scan


@given(st.text(",; .:()\n\tx", max_size=20))
@settings(max_examples=150)
def test_what_masking_leaves_is_tidied_as_by_plain_patterns(text):
    joined = re.sub(r"\s+([,.;:)])", r"\1", re.sub(r"[^\S\n]{2,}", " ", text))
    assert _without(text, []) == re.sub(r"\(\s*\)|(?:,\s*)+(?=[,.;)])", "", joined).strip()


@given(st.lists(st.integers(0, 20)).map(sorted), st.integers(0, 20), st.integers(0, 20))
def test_a_place_inside_a_span(places, start, end):
    assert _holds_one((start, end), places) is any(start < at < end for at in places)


PIECES = (
    "C-1/22",
    "EU:C:2022:1",
    ", ",
    " ",
    " (",
    ") ",
    "paragraph 1",
    "points 2 and 3",
    " of case X ",
    " of the judgment in ",
    " (in ",
    "; ",
)


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
@settings(max_examples=150)
def test_decisions_have_the_paragraphs_that_a_search_from_each_paragraph_gives(text):
    items = [item for item in scan(text) if item.system in DECISIONS]
    assert decisions.decisions(text, items) == one_by_one(text, [decisions._decision(text, item) for item in items])


def one_by_one(text, cited):
    alone = []
    for match in PARAGRAPHS.finditer(text):
        numbers = decisions._numbers(match["numbers"])
        place = bisect_right([citation.start for citation in cited], match.start())
        if owners := named_before(text, cited, place, match.start()):
            cited[owners[0]] = replace(cited[owners[0]], end=match.end())
        else:
            owners = named_after(text, cited, place, match.end())
            alone.append(Citation(match.start(), match.end(), CitationSystem.PARAGRAPH, numbers[0], parts=numbers[1:]))
        for owner in owners:
            cited[owner] = replace(cited[owner], parts=numbers)
    return cited, alone


def named_before(text, cited, place, at):
    owners = []
    for index in range(place - 1, -1, -1):
        end = cited[index].end
        if not 0 <= at - end <= _FARTHEST or not _SAME_DECISION.fullmatch(text, end, at):
            break
        owners.append(index)
        at = cited[index].start
    return owners


def named_after(text, cited, place, at):
    if place == len(cited) or not at <= cited[place].start <= at + _FARTHEST:
        return []
    if not _OF_DECISION.fullmatch(text, at, cited[place].start):
        return []
    owners = [place]
    while owners[-1] + 1 < len(cited) and _SAME_DECISION.fullmatch(text, cited[owners[-1]].end, cited[owners[-1] + 1].start):
        owners.append(owners[-1] + 1)
    return owners


TEXT = st.sampled_from(
    ["word", "two words", " x ", "\n", "a &amp; b", "&eacute;", "&lt;p&gt;", "&#233;", "&nbsp;", "1 < 2", "§ 5", ""]
)
UNSEEN = st.sampled_from(
    [
        *("<br>", "<br/>", "<hr>", "<img alt='a\">b'>", "<!-- c <p> -->", "<!-->", "<?php x ?>", "<input value='>'>"),
        *("<script>if (a<b) '</p>'</script>", "<style>p{}</style>", "<button>go<b>x</b></button>", "<textarea><p>x</textarea>"),
        *(
            "<select><option>a<option>b</select>",
            "<svg><g><text>t</text></g></svg>",
            "<svg/>",
            "<template><div>x</div></template>",
        ),
    ]
)


def elements(names, inner):
    return st.builds(
        lambda tag, content: f"<{tag}>{''.join(content)}</{tag.split()[0]}>", st.sampled_from(names), st.lists(inner, max_size=3)
    )


INLINE = st.recursive(TEXT, lambda inner: elements(["b", "a href='x>y'", 'span class="a"', "em"], inner), max_leaves=4)
CLOSED = elements(["p", "h1", "h2", "pre"], INLINE)


def nested(inner):
    def rows(cells, closed):
        end = "</td>" if closed else ""
        lines = ("<tr>" + "".join(f"<td>{cell}{end}" for cell in row) for row in cells)
        return "<table>" + "".join(lines) + "</table>"

    lists = st.lists(inner, max_size=3).map(lambda items: f"<ul>{''.join(f'<li>{item}' for item in items)}</ul>")
    tables = st.builds(rows, st.lists(st.lists(inner, max_size=3), max_size=3), st.booleans())
    return elements(["div", "section", "blockquote", "article", "center"], inner) | lists | tables


PAGES = st.lists(st.recursive(INLINE | CLOSED | UNSEEN, nested, max_leaves=8), max_size=4).map("".join)


@given(PAGES, st.booleans())
@settings(max_examples=75)
def test_a_well_formed_page_shows_what_its_tree_shows(page, whole):
    if whole:
        page = f"<!DOCTYPE html><html><head><title>T &amp; x</title><meta charset=utf-8></head><body>{page}</body></html>"
    assert html_text(page) == text_of_tree(page)


def text_of_tree(page):
    from selectolax.lexbor import LexborHTMLParser

    def pieces(node):
        if node.tag == "-text":
            yield re.sub(r"[ \t\r\n\f]+", " ", node.text_content or "")
        elif node.tag == "br":
            yield "\n"
        elif node.tag not in _UNSEEN | {"head", "script", "style", "textarea", "iframe"}:
            edge = "\n" if node.tag in _BLOCKS else " | " if node.tag in ("td", "th") else ""
            yield edge if edge == "\n" else ""
            for inner in node.iter(include_text=True):
                yield from pieces(inner)
            yield edge

    lines = "".join(pieces(LexborHTMLParser(page).body)).split("\n")
    stripped = (re.sub(r"[ \t\r\n\f]+", " ", line).strip(" |") for line in lines)
    return "\n".join(line for line in stripped if line)
