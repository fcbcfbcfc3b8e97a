"""The text of an ODT file (OpenDocument): paragraphs, headings with their levels, tables row by row."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from lexfuse.data.formats.outline import Block
from lexfuse.data.formats.word.package import Package
from lexfuse.data.formats.xml_tree import parse_xml, spaced, words_of
from lexfuse.errors import FileTypeError, LockedFileError

CONTENT = "content.xml"
_MANIFEST = "META-INF/manifest.xml"
_LEFT_OUT = frozenset({"annotation", "tracked-changes", "ruby-text", "table-of-content", "alphabetical-index", "desc", "forms"})
_MOST_SPACES = 100  # of one element


def odt_blocks(raw: bytes, path: str | Path) -> tuple[str, list[Block]]:
    """Title and blocks of a file; the title is that of its properties, and often empty."""
    package = Package(raw, path)
    if _MANIFEST in package.names and any(
        found.tag == "encryption-data" for found in parse_xml(package.read(_MANIFEST), path).iter()
    ):
        raise LockedFileError("the file has a password; save it without one", path=path)
    text = parse_xml(package.read(CONTENT), path).find("body/text")
    if text is None:
        raise FileTypeError("is an OpenDocument file without text (a sheet or drawing?); save it as ODT, PDF or text", path=path)
    meta = parse_xml(package.read("meta.xml"), path).find("meta/title") if "meta.xml" in package.names else None
    return words_of(meta), list(_blocks(text))


def _blocks(parent: Element) -> Iterator[Block]:
    for child in parent:
        if child.tag == "h":
            level = child.get("outline-level", "1")
            if text := spaced(_paragraph(child)):
                yield Block(text, int(level) if level.isascii() and level.isdigit() and 0 < int(level) < 10 else 1)
        elif child.tag == "p":
            yield from (Block(text) for line in _paragraph(child).split("\n") if (text := spaced(line)))
        elif child.tag == "table-row":
            cells = (spaced(" ".join(block.text for block in _blocks(cell))) for cell in child)
            if texts := [text for text in cells if text]:
                yield Block(" | ".join(texts))
        elif child.tag not in _LEFT_OUT:
            yield from _blocks(child)


def _paragraph(element: Element) -> str:
    pieces: list[str] = []

    def collect(parent: Element) -> None:
        pieces.append(parent.text or "")
        for child in parent:
            if child.tag == "s":
                count = child.get("c", "1")
                pieces.append(" " * min(int(count) if count.isascii() and count.isdigit() else 1, _MOST_SPACES))
            elif child.tag in ("tab", "line-break"):
                pieces.append("\n" if child.tag == "line-break" else "\t")
            elif child.tag not in _LEFT_OUT:
                collect(child)
            pieces.append(child.tail or "")

    collect(element)
    return "".join(pieces)
