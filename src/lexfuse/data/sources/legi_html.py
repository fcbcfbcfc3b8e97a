"""The text and the links of a LEGI article, from its HTML.

LEGI's field ``texte`` has lost the breaks between paragraphs; ``texteHtml`` still has them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

CELLS = " | "

_BLOCKS = frozenset({"p", "div", "center", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tfoot"})
_BLOCKS |= {"tr", "caption", "pre", "hr", "h1", "h2", "h3", "h4", "h5", "h6"}
_UNSEEN = frozenset({"script", "style"})
_SPACE = re.compile(r"[ \t\r\n\f]+")
_ARTICLE = re.compile(r"LEGIARTI\d{12}")


@dataclass(frozen=True, slots=True)
class ArticleLink:
    """A link to another article: the id of the version it names, and the text (code or law) that it states."""

    article: str
    text: str = ""


def text_and_links(html: str) -> tuple[str, tuple[ArticleLink, ...]]:
    r"""One line of text per paragraph, list item or table row, and the links to articles in order.

    >>> text_and_links("<p>Un<br/>deux</p><table><tr><td>a</td><td>b</td></tr></table>")[0]
    'Un\ndeux\na | b'
    >>> text_and_links('<a href="/affichCodeArticle.do?cidTexte=T&idArticle=LEGIARTI000000000001">L. 1</a>')[1]
    (ArticleLink(article='LEGIARTI000000000001', text='T'),)
    """
    if "<" not in html and "&" not in html:
        return _lines([html]), ()
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(html).body
    if body is None:
        return "", ()
    pieces: list[str] = []
    links: list[ArticleLink] = []
    _walk(body, pieces, links)
    return _lines(pieces), tuple(links)


def _walk(node: LexborNode, pieces: list[str], links: list[ArticleLink]) -> None:
    for child in node.iter(include_text=True):
        tag = child.tag
        if tag == "-text":
            pieces.append(_SPACE.sub(" ", child.text_content or ""))
        elif tag == "br":
            pieces.append("\n")
        elif tag == "tr":
            pieces.extend(("\n", CELLS.join(_cells(child, links)), "\n"))
        elif tag in _BLOCKS:
            pieces.append("\n")
            _walk(child, pieces, links)
            pieces.append("\n")
        elif tag not in _UNSEEN:
            if tag == "a":
                links.extend(_link(child.attributes.get("href")))
            _walk(child, pieces, links)


def _cells(row: LexborNode, links: list[ArticleLink]) -> list[str]:
    """A row is one line: paragraphs in a cell are joined by spaces, and an empty cell keeps its place."""
    cells = []
    for cell in row.iter():
        pieces: list[str] = []
        _walk(cell, pieces, links)
        cells.append(_SPACE.sub(" ", "".join(pieces)).strip())
    return cells if any(cells) else []


def _link(href: str | None) -> list[ArticleLink]:
    found = _ARTICLE.search(href or "")
    if not found:
        return []
    return [ArticleLink(found.group(), parse_qs(urlsplit(href or "").query).get("cidTexte", [""])[0])]


def _lines(pieces: list[str]) -> str:
    stripped = (_SPACE.sub(" ", line).strip() for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in stripped if line)
