"""The text of a DOCX file (Office Open XML): paragraphs with their numbers and the levels of headings, tables, footnotes last."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree.ElementTree import Element

from lexfuse.data.formats.outline import Block
from lexfuse.data.formats.word.list_numbers import ListNumbers, list_numbers, whole
from lexfuse.data.formats.word.package import Package
from lexfuse.data.formats.xml_tree import parse_xml, spaced, words_of
from lexfuse.errors import FileTypeError

MAIN = "word/document.xml"
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEFT_OUT = frozenset({"del", "moveFrom", "instrText", "delText", "delInstrText", "Fallback"})  # not in the final text
_HEADING_NAME = re.compile(r"(?:heading|titre|überschrift|título|titolo|kop)\s?(\d)", re.IGNORECASE)


_LONGEST_HEADING = 200  # characters; longer paragraphs in the style of a heading are text
_Place = tuple[str, int]  # a list and a level in it


@dataclass(frozen=True, slots=True)
class _Styles:
    """What the styles of a file say of their paragraphs: the level of a heading, the place in a list."""

    levels: Mapping[str, int] = field(default_factory=dict)
    places: Mapping[str, _Place] = field(default_factory=dict)
    numbers: ListNumbers = field(default_factory=lambda: ListNumbers({}, {}))


def docx_blocks(raw: bytes, path: str | Path) -> tuple[str, list[Block]]:
    """Title and blocks of a file; the title is that of its properties, and often empty."""
    package = Package(raw, path)
    if MAIN not in package.names:
        raise FileTypeError("is an Office file without a text document; save it as DOCX, PDF or text", path=path)
    body = parse_xml(package.read(MAIN), path).find("body")
    if body is None:
        return "", []
    blocks = list(_blocks(body, _styles(package)))
    for notes in ("word/footnotes.xml", "word/endnotes.xml"):
        if (found := _part(package, notes)) is not None:
            texts = (spaced(" ".join(block.text for block in _blocks(note, _Styles()))) for note in found if not note.get("type"))
            blocks += [Block(text) for text in texts if text]
    core = _part(package, "docProps/core.xml")
    return "" if core is None else words_of(core.find("title")), blocks


def _part(package: Package, name: str) -> Element | None:
    return parse_xml(package.read(name), package.path) if name in package.names else None


def _styles(package: Package) -> _Styles:
    """The levels of the styles that are headings, by outline level or name, and their lists; a style inherits from another."""
    numbers = list_numbers(_part(package, "word/numbering.xml"))
    root = _part(package, "word/styles.xml")
    found = {} if root is None else {style.get("styleId", ""): style for style in root.iter("style")}
    levels: dict[str, int] = {}
    places: dict[str, _Place] = {}
    for name in found:
        for style in _inherited(name, found):
            levels.setdefault(name, _style_level(style))
            if name not in places and (place := _place(style.find("pPr"))):
                places[name] = place
    return _Styles(levels, places, numbers)


def _inherited(name: str, found: Mapping[str, Element]) -> Iterator[Element]:
    seen: set[str] = set()
    while name in found and name not in seen:
        seen.add(name)
        yield found[name]
        based = found[name].find("basedOn")
        name = "" if based is None else based.get("val", "")


def _style_level(style: Element) -> int:
    if level := _outline(style.find("pPr")):
        return level
    name = style.find("name")
    text = "" if name is None else name.get("val", "")
    named = _HEADING_NAME.match(text)
    return int(named[1]) if named else int(text.lower() == "title")


def _outline(properties: Element | None) -> int:
    found = None if properties is None else properties.find("outlineLvl")
    level = 9 if found is None else whole(found.get("val", ""), 9)
    return level + 1 if level < 9 else 0


def _place(properties: Element | None) -> _Place | None:
    found = None if properties is None else properties.find("numPr")
    if found is None:
        return None
    number, level = found.find("numId"), found.find("ilvl")
    return ("" if number is None else number.get("val", ""), 0 if level is None else whole(level.get("val", ""), 0))


def _blocks(parent: Element, styles: _Styles) -> Iterator[Block]:
    """The paragraphs and table rows of a body, a cell or a note, also those inside content controls."""
    for child in parent:
        if child.tag == "p":
            yield from _paragraph_blocks(child, styles)
        elif child.tag == "tbl":
            for row in child.iter("tr"):
                cells = (spaced(" ".join(_paragraph(p) for p in cell.iter("p"))) for cell in row if cell.tag in ("tc", "sdt"))
                if any(texts := list(cells)):
                    yield Block(" | ".join(text for text in texts if text))
        elif child.tag not in _LEFT_OUT:
            yield from _blocks(child, styles)


def _paragraph_blocks(paragraph: Element, styles: _Styles) -> Iterator[Block]:
    properties = paragraph.find("pPr")
    named = None if properties is None else properties.find("pStyle")
    style = "" if named is None else named.get("val", "")
    lines = [text for line in _paragraph(paragraph).split("\n") if (text := spaced(line))]
    if not lines:
        return
    own = _place(properties)
    number, depth = own or styles.places.get(style, ("", 0))
    if own and not number:  # the level of the style's list
        number = styles.places.get(style, ("", 0))[0]
    if label := styles.numbers.next(number, depth):
        lines[0] = f"{label} {lines[0]}"
    level = _outline(properties) or styles.levels.get(style, 0)
    if level and sum(map(len, lines)) <= _LONGEST_HEADING:
        yield Block(" ".join(lines), level)
    else:
        yield from map(Block, lines)


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
