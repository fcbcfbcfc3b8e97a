"""The text of an HTML page: one line a paragraph, heading, list item or table row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CELL = " | "
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_UNSEEN = frozenset({"head", "script", "style", "template", "noscript", "svg", "button", "select", "textarea", "iframe"})
_CHARSET = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_HEAD = 2048  # bytes in which a page says its encoding


def declared_encoding(raw: bytes) -> str | None:
    """The encoding that a page names at its beginning, in small letters.

    >>> declared_encoding(b'<html><head><meta charset="ISO-8859-1">'), declared_encoding(b"<p>")
    ('iso-8859-1', None)
    """
    found = _CHARSET.search(raw[:_HEAD])
    return found[1].decode("ascii", "replace").lower() if found else None


def html_text(html: str) -> str:
    r"""The text that a page shows, without scripts and form fields.

    >>> html_text("<title>T</title><h1>Judgment</h1><p>It is <b>so</b><br>ordered.</p><table><tr><td>a<td>b</table>")
    'Judgment\nIt is so\nordered.\na | b'
    """
    from selectolax.lexbor import LexborHTMLParser

    body = LexborHTMLParser(html).body
    pieces = list(_pieces(body)) if body is not None else []
    stripped = (_SPACE.sub(" ", line).strip(" |") for line in "".join(pieces).split("\n"))
    return "\n".join(line for line in stripped if line)


def _pieces(body: LexborNode) -> Iterator[str]:
    """Texts and line breaks in their order; a stack in the place of recursion, since pages may be nested without end."""
    waiting: list[LexborNode | str] = [body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            yield node
        elif node.tag == "-text":
            yield _SPACE.sub(" ", node.text_content or "")
        elif node.tag == "br":
            yield "\n"
        elif node.tag not in _UNSEEN:
            edge = "\n" if node.tag in _BLOCKS else _CELL if node.tag in ("td", "th") else ""
            yield edge if edge == "\n" else ""
            waiting.append(edge)
            waiting.extend(reversed(list(node.iter(include_text=True))))
