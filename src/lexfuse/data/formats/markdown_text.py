r"""Markdown: headings with their levels, paragraphs without their marks, and the fields of a front matter.

Only the marks that law repositories use are removed (emphasis, links, images, escapes); any other text is kept as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import unescape

from lexfuse.data.formats.outline import Block

_FRONT = re.compile(r"\A(?:\ufeff)?---[ \t]*\r?\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(?P<name>[\w-]+)[ \t]*:(?:[ \t]+(?P<value>.*\S))?[ \t]*")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))??(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?P<mark>=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_BREAK = re.compile(r" {0,3}(?:(?:\* ?){3,}|(?:_ ?){3,}|(?:- ?){3,})[ \t]*")
_TABLE_RULE = re.compile(r"\|?(?:[ \t]*:?-+:?[ \t]*\|)+[ \t]*(?::?-+:?)?")  # of a line without spaces around it
_ITEM = re.compile(r"[ \t]*(?:[*+-]|\d{1,9}[.)]|[a-z]\))[ \t]+")
_LINK = re.compile(r"!?\[(?P<text>[^\[\]]*)\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:[ \t]+\"[^\"]*\")?\)")
_STRONG = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])|(?<![\w_])(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\3(?![\w_])"
)
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_TAG = re.compile(r"</?(?:br|sup|sub|b|i|em|strong|span|p|a|u|div)\b[^<>]*>", re.IGNORECASE)


def front_matter(text: str) -> tuple[Mapping[str, str], str]:
    r"""The fields at the beginning of a file, by lower-case name, and the text after them; a list keeps its brackets.

    >>> front_matter('---\nTitle: "Code civil"\nrank: code\n---\n# Code civil\n')
    ({'title': 'Code civil', 'rank': 'code'}, '# Code civil\n')
    """
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    fields: dict[str, str] = {}
    last = ""
    for line in found["fields"].splitlines():
        if match := _FIELD.fullmatch(line):
            last = match["name"].lower()
            fields[last] = _unquoted(match["value"] or "")
        elif last and line[:1].isspace() and line.strip():  # a folded value
            fields[last] = f"{fields[last]} {line.strip()}".strip()
        elif line.strip():
            return {}, text  # not a front matter: the lines between two rules
    return fields, text[found.end() :]


def markdown_blocks(text: str) -> Iterator[Block]:
    r"""The headings and paragraphs of a text.

    >>> list(markdown_blocks("# Code\n\n## Art. 1\nThe *lease*\nends ([Art. 2](a.md)).\n\n1. rent\n2. costs"))
    [Block(text='Code', level=1), Block(text='Art. 1', level=2), Block(text='The lease ends (Art. 2).', level=0),
     Block(text='1. rent', level=0), Block(text='2. costs', level=0)]
    """
    open_lines: list[str] = []
    fenced = False

    def paragraph() -> Iterator[Block]:
        if shown := plain(" ".join(open_lines)):
            yield Block(shown)
        open_lines.clear()

    for line in text.replace("\r\n", "\n").split("\n"):
        if _FENCE.match(line):
            yield from paragraph()
            fenced = not fenced
        elif fenced:
            open_lines.append(line)
        elif (heading := _HEADING.fullmatch(line)) is not None:
            yield from paragraph()
            if shown := plain(heading["text"] or ""):
                yield Block(shown, len(heading["marks"]))
        elif open_lines and (underline := _UNDERLINE.fullmatch(line)) and len(open_lines) == 1 and not _ITEM.match(open_lines[0]):
            yield Block(plain(open_lines[0]), 1 if underline["mark"][0] == "=" else 2)
            open_lines.clear()
        elif not line.strip() or _BREAK.fullmatch(line) or _TABLE_RULE.fullmatch(line.strip(" \t")):
            yield from paragraph()
        else:
            if _ITEM.match(line) or line.lstrip().startswith((":", "|", ">")):
                yield from paragraph()
            open_lines.append(line.strip().lstrip(">").strip(" \t|"))
    yield from paragraph()


def plain(text: str) -> str:
    r"""A line without the marks of emphasis, links, escapes and tags.

    >>> plain(r"**Article 12\.** [See](x.md) L.\* 5 *bis*")
    'Article 12. See L.* 5 bis'
    """
    text = _LINK.sub(lambda found: found["text"], _TAG.sub(" ", _without_comments(text)))
    text = _STRONG.sub(lambda found: found[2] or found[4], text)
    return re.sub(r"\s+", " ", unescape(_ESCAPE.sub(r"\1", text))).strip()


def _without_comments(text: str) -> str:
    """A text without comments; one that does not end is kept. A pattern would look for its end from every beginning."""
    parts, at = [], 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        parts += [text[at:start], " "]
        at = end + 3
    return "".join(parts) + text[at:]


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        inner = value[1:-1]
        return inner.replace('\\"', '"').replace("\\\\", "\\") if value[0] == '"' else inner.replace("''", "'")
    return value
