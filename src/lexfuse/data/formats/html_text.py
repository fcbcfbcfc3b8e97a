"""The text of an HTML page: one line per paragraph, heading, list item or table row.

The page is read tag by tag, without building a tree. Building one takes quadratic time on pages that leave elements open: a
parser searches all open elements at each tag and copies unclosed ``<font>`` elements into each paragraph. Here time and memory
are proportional to the length of any page.
"""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from itertools import pairwise

from lexfuse.data.formats.outline import Block

_CELL = " | "
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav",
    "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
})  # fmt: skip
_UNSEEN = frozenset({"template", "noscript", "svg", "button", "select"})
_RAW = frozenset({"script", "style", "textarea", "iframe", "title", "noembed", "noframes"})  # not shown, and without tags inside
_ROWS = frozenset({"tr", "tbody", "thead", "tfoot", "caption"})
# Tags that end an unclosed drawing, as listed in the HTML standard.
_NOT_DRAWN = frozenset({
    "b", "big", "blockquote", "body", "br", "center", "code", "dd", "div", "dl", "dt", "em", "embed", "h1", "h2", "h3", "h4",
    "h5", "h6", "head", "hr", "i", "img", "li", "listing", "menu", "meta", "nobr", "ol", "p", "pre", "ruby", "s", "small",
    "span", "strong", "strike", "sub", "sup", "table", "tt", "u", "ul", "var",
})  # fmt: skip
_CHARSET = re.compile(rb"""<(?:meta|\?xml)\b[^>]{0,200}?(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_HEAD = 2048  # bytes in which a page declares its encoding
_SPACE = re.compile(r"[ \t\r\n\f]+")
# Comments, tags with attributes, and bogus comments. A match that begins always ends, at the latest at the end of the page, and
# the quantifiers are possessive, so that no character is read twice.
_TAG = re.compile(
    r"""<!--(?:-?>|.*?(?:--!?>|\Z))
      | <(?P<close>/?)(?P<name>[a-zA-Z][^ \t\r\n\f/>]*+)
        (?: [ \t\r\n\f/]++
          | [^ \t\r\n\f/>][^ \t\r\n\f/>=]*+
            (?:[ \t\r\n\f]*+=[ \t\r\n\f]*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z)|[^ \t\r\n\f>"'][^ \t\r\n\f>]*+)?+)?+
        )*+(?:>|\Z)
      | <[!?/][^>]*+(?:>|\Z)""",
    re.VERBOSE | re.DOTALL,
)
_RAW_END = re.compile(rf"</({'|'.join(sorted(_RAW))})(?=[ \t\r\n\f/>])", re.IGNORECASE)
_TITLE = re.compile(r"<title\b[^<>]*+>([^<]*+)</title", re.IGNORECASE)
_HEAD_TEXT = 1 << 17  # characters in which a page has its title
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NUMBERED = re.compile(r"&#([0-9]++);?")
_LARGEST = 7  # digits of a character reference


def declared_encoding(raw: bytes) -> str | None:
    """The encoding that a page declares at its beginning, in lower case.

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
    stripped = (_SPACE.sub(" ", line).strip(" |") for line in "".join(_shown(html).pieces).split("\n"))
    return "\n".join(line for line in stripped if line)


def html_blocks(html: str) -> list[Block]:
    """The lines of `html_text`, with the levels of headings; a heading is one line.

    >>> html_blocks("<h2>Held</h2><p>Dismissed.")
    [Block(text='Held', level=2), Block(text='Dismissed.', level=0)]
    """
    return _shown(html).blocks()


def _shown(html: str) -> _Shown:
    shown, at = _Shown(), 0
    while tag := _TAG.search(html, at):
        shown.text(html[at : tag.start()])
        at = tag.end()
        name = (tag["name"] or "").lower()
        if tag["close"]:
            shown.end(name)
        elif name in _RAW:
            at = _after_raw(html, at, name)
        elif name and not (name == "svg" and tag.group().endswith("/>")):
            shown.start(name)
    shown.text(html[at:])
    return shown


def html_title(html: str) -> str:
    """The title of a page, ``""`` if it has none.

    >>> html_title("<head><title>C‑60/22 &amp; others</title>")
    'C‑60/22 & others'
    """
    found = _TITLE.search(html, 0, _HEAD_TEXT)
    return _SPACE.sub(" ", _unescaped(found[1])).strip() if found else ""


def _after_raw(html: str, at: int, name: str) -> int:
    """Where a script or another element without inner tags ends: at its end tag, or with the page."""
    while end := _RAW_END.search(html, at):
        at = end.end()
        if end[1].lower() == name:
            return end.start()
    return len(html)


class _Shown:
    """The text shown so far, and the open elements."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self._open: Counter[str] = Counter()
        self._hidden = ""  # the open element that is not shown
        self._inside: Counter[str] = Counter()  # elements open inside it
        self._in_cell: list[bool] = []  # for each open table
        self._levels: list[tuple[int, int]] = []  # the level from a piece on; 0 ends a heading

    def blocks(self) -> list[Block]:
        """The lines so far, without blank ones."""
        found = []
        for (start, level), (end, _) in pairwise([(0, 0), *self._levels, (len(self.pieces), 0)]):
            text = "".join(self.pieces[start:end])
            lines = [text.replace("\n", " ")] if level else text.split("\n")
            found += [Block(shown, level) for line in lines if (shown := _SPACE.sub(" ", line).strip(" |"))]
        return found

    def text(self, text: str) -> None:
        if text and not self._hidden:
            self.pieces.append(_SPACE.sub(" ", _unescaped(text)))

    def start(self, name: str) -> None:
        if self._hidden:
            if self._hidden != "svg" or name not in _NOT_DRAWN or self._inside["foreignobject"]:
                if name != self._hidden or name in ("svg", "template"):  # others do not nest
                    self._inside[name] += 1
                return
            self._show()
        self._open[name] += 1
        if name in _UNSEEN:
            self._hidden = name
        elif name in ("td", "th"):
            self._end_cell()
            if self._in_cell:
                self._in_cell[-1] = True
        elif name == "br" or name in _BLOCKS:
            self.pieces.append("\n")
            if name != "br":  # also an unclosed heading ends here
                self._levels.append((len(self.pieces), _HEADINGS.get(name, 0)))
            if name == "table":
                self._in_cell.append(False)
            elif name in _ROWS and self._in_cell:
                self._in_cell[-1] = False

    def end(self, name: str) -> None:
        """Closing an element also closes a hidden element inside it, or the rest of the page would be lost."""
        if self._hidden and not self._ends_hidden(name):
            return
        if name in ("br", "p"):
            self.pieces.append("\n")
        if not self._open[name]:
            return
        self._open[name] -= 1
        if name in ("td", "th"):
            self._end_cell()
        elif name in _BLOCKS:
            self.pieces.append("\n")
            self._levels.append((len(self.pieces), 0))
            if name == "table" and self._in_cell:
                self._in_cell.pop()

    def _ends_hidden(self, name: str) -> bool:
        if self._inside[name]:
            self._inside[name] -= 1
            return False
        if name != self._hidden and (not self._open[name] or self._hidden == "template"):
            return False
        self._show()
        return True

    def _show(self) -> None:
        self._open[self._hidden] -= 1
        self._hidden = ""
        self._inside.clear()

    def _end_cell(self) -> None:
        if self._in_cell and self._in_cell[-1]:
            self.pieces.append(_CELL)
            self._in_cell[-1] = False


def _unescaped(text: str) -> str:
    """Resolve character references; Python refuses numbers of thousands of digits, which are no characters."""
    return unescape(_NUMBERED.sub(_numbered, text) if "&#" in text else text)


def _numbered(reference: re.Match[str]) -> str:
    digits = reference[1].lstrip("0") or "0"
    return f"&#{digits};" if len(digits) <= _LARGEST else "\ufffd"
