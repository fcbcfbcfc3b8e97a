"""The text of a DOCX file (Office Open XML): paragraphs with the levels of their headings, tables row by row, footnotes last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from lexfuse.data.formats.outline import Block
from lexfuse.data.formats.word.package import Package
from lexfuse.data.formats.xml_tree import parse_xml, spaced, words_of
from lexfuse.errors import FileTypeError

MAIN = "word/document.xml"
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "delText", "delInstrText", "Fallback"})  # not in the final text
_HEADING_NAME = re.compile(r"(?:heading|titre|überschrift|título|titolo|kop)\s?(\d)", re.IGNORECASE)


def docx_blocks(raw: bytes, path: str | Path) -> tuple[str, list[Block]]:
    """Title and blocks of a file; the title is that of its properties, and often empty."""
    package = Package(raw, path)
    if MAIN not in package.names:
        raise FileTypeError("is an Office file without a text document; save it as DOCX, PDF or text", path=path)
    body = parse_xml(package.read(MAIN), path).find("body")
    if body is None:
        return "", []
    levels = _style_levels(package)
    blocks = list(_blocks(body, levels))
    for notes in ("word/footnotes.xml", "word/endnotes.xml"):
        if notes in package.names:
            found = parse_xml(package.read(notes), path)
            blocks += [
                Block(text)
                for note in found
                if not note.get("type") and (text := spaced(" ".join(b.text for b in _blocks(note, {}))))
            ]
    return _title(package), blocks


def _title(package: Package) -> str:
    core = "docProps/core.xml"
    return words_of(parse_xml(package.read(core), package.path).find("title")) if core in package.names else ""


def _style_levels(package: Package) -> dict[str, int]:
    """The level of every style that is a heading, by its outline level or its name."""
    if "word/styles.xml" not in package.names:
        return {}
    levels = {}
    for style in parse_xml(package.read("word/styles.xml"), package.path).iter("style"):
        outline, name = style.find("pPr/outlineLvl"), style.find("name")
        named = _HEADING_NAME.match(name.get("val", "")) if name is not None else None
        if outline is not None and (value := outline.get("val", "")).isascii() and value.isdigit() and int(value) < 9:
            levels[style.get("styleId", "")] = int(value) + 1
        elif named:
            levels[style.get("styleId", "")] = int(named[1])
        elif name is not None and name.get("val", "").lower() == "title":
            levels[style.get("styleId", "")] = 1
    return levels


def _blocks(parent: Element, levels: dict[str, int]) -> Iterator[Block]:
    """The paragraphs and table rows of a body, a cell or a note, also those inside content controls."""
    for child in parent:
        if child.tag == "p":
            level = _level(child, levels)
            lines = _paragraph(child).split("\n")
            for line in [" ".join(lines)] if level else lines:
                if text := spaced(line):
                    yield Block(text, level)
        elif child.tag == "tbl":
            for row in child.iter("tr"):
                cells = (spaced(" ".join(_paragraph(p) for p in cell.iter("p"))) for cell in row if cell.tag in ("tc", "sdt"))
                if any(texts := list(cells)):
                    yield Block(" | ".join(text for text in texts if text))
        elif child.tag not in _LEFT_OUT:
            yield from _blocks(child, levels)


def _level(paragraph: Element, levels: dict[str, int]) -> int:
    own, style = paragraph.find("pPr/outlineLvl"), paragraph.find("pPr/pStyle")
    if own is not None and (value := own.get("val", "")).isascii() and value.isdigit() and int(value) < 9:
        return int(value) + 1
    return levels.get(style.get("val", ""), 0) if style is not None else 0


def _paragraph(element: Element) -> str:
    """The text of a paragraph as it is after accepted changes; boxes inside it follow its own text."""
    pieces: list[str] = []

    def collect(parent: Element) -> None:
        for child in parent:
            if child.tag == "t":
                pieces.append(child.text or "")
            elif child.tag in _BREAKS:
                pieces.append(_BREAKS[child.tag])
            elif child.tag not in _LEFT_OUT:
                collect(child)

    collect(element)
    return "".join(pieces)
