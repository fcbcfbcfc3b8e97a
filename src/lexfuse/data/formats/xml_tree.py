"""XML as a tree, safely: no entity is expanded, nothing outside the file is read, depth and size are limited.

A document type with an internal subset is refused, since only there entities are declared. A mere reference to a DTD is
harmless: it is never read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.entities import html5
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from lexfuse.errors import DamagedFileError, FileEncodingError

DEEPEST = 250  # levels of elements; a file of law has fewer than 40
_SPACE = re.compile(r"\s+")


def parse_xml(raw: bytes, path: str | Path) -> Element:
    """The root element; tags lose their namespace, and attributes their prefix.

    >>> root = parse_xml(b'<a:act xmlns:a="urn:x"><a:num>1</a:num></a:act>', "a.xml")
    >>> root.tag, root[0].text
    ('act', '1')
    >>> parse_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "a.xml")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DamagedFileError: a.xml: the XML declares entities or elements of its own (an internal DTD), ...
    """
    try:
        return _Tree(path).parse(raw)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code] if error.code in expat.errors.messages else str(error)
        if error.code == expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING]:
            raise FileEncodingError("the XML declares an unknown encoding; convert the file to UTF-8 first", path=path) from None
        raise DamagedFileError(
            f"the XML is damaged ({reason}); check that the file is complete", path=path, line=error.lineno
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not have, or that is not of single bytes
        raise FileEncodingError(f"the XML cannot be decoded ({error}); convert the file to UTF-8 first", path=path) from None


class _LocalNames(dict[str, str]):
    """Names without their namespace, each made once: a file has few names and many elements."""

    def __missing__(self, tag: str) -> str:
        self[tag] = found = tag.rpartition("}")[2]
        return found


class _Tree:
    """One parse: a tree builder fed by expat."""

    def __init__(self, path: str | Path) -> None:
        self.path, self.depth, self.builder, self.names = path, 0, TreeBuilder(), _LocalNames()
        self.parser = expat.ParserCreate(namespace_separator="}")
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.builder.data
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.SkippedEntityHandler = self.entity

    def parse(self, raw: bytes) -> Element:
        self.parser.Parse(raw, True)
        return self.builder.close()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise DamagedFileError(f"the XML has more than {DEEPEST} levels of elements; check the file", path=self.path)
        names = self.names
        self.builder.start(names[tag], {names[name]: value for name, value in attributes.items()})

    def end(self, tag: str) -> None:
        self.depth -= 1
        self.builder.end(self.names[tag])

    def doctype(self, name: str, system: str | None, public: str | None, internal: int) -> None:
        if internal:
            reason = "the XML declares entities or elements of its own (an internal DTD), which are not read for safety"
            raise DamagedFileError(f"{reason}; save it without the declarations", path=self.path)

    def entity(self, name: str, is_parameter: int) -> None:
        """An entity of a DTD that is not read: one of HTML is well known, another would lose text."""
        if (character := html5.get(f"{name};")) is None:
            raise DamagedFileError(f"the XML uses the entity &{name}; of a DTD, which is not read; replace it", path=self.path)
        self.builder.data(character)


def spaced(text: str) -> str:
    r"""Text with single spaces.

    >>> spaced(" a\n  b ")
    'a b'
    """
    return _SPACE.sub(" ", text).strip()


def words_of(element: Element | None) -> str:
    r"""All text of an element in one line; ``""`` for ``None``.

    >>> words_of(parse_xml(b"<p>The <i>lease</i>\n ends.</p>", "a.xml"))
    'The lease ends.'
    """
    return "" if element is None else spaced("".join(element.itertext()))


def lines_of(element: Element, inline: frozenset[str], left_out: frozenset[str] = frozenset()) -> list[str]:
    """The text of an element: a new line at every element that is not ``inline``; elements that are ``left_out`` are skipped.

    >>> root = parse_xml(b"<s><num>(a)</num><p>One <b>two</b></p><note>x</note><p>three</p></s>", "a.xml")
    >>> lines_of(root, frozenset({"b", "num"}), frozenset({"note"}))
    ['(a)', 'One two', 'three']
    """
    pieces: list[str] = []
    _collect(element, inline, left_out, pieces)
    return [line for piece in "".join(pieces).split("\x1e") if (line := spaced(piece))]


def _collect(element: Element, inline: frozenset[str], left_out: frozenset[str], pieces: list[str]) -> None:
    if element.text:
        pieces.append(element.text)
    for child in element:
        if child.tag not in left_out:
            breaks = child.tag not in inline
            if breaks:
                pieces.append("\x1e")
            _collect(child, inline, left_out, pieces)
            if breaks:
                pieces.append("\x1e")
        if child.tail:
            pieces.append(child.tail)


def descendants(element: Element, *tags: str) -> Iterator[Element]:
    """Elements with one of these tags, in order of the document."""
    wanted = frozenset(tags)
    return (found for found in element.iter() if found.tag in wanted)
