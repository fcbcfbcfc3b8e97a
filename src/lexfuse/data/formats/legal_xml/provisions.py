"""Provisions in a tree of parts, chapters and sections: what Akoma Ntoso, USLM and Formex have in common.

The tree is walked once. An element with the tag of a unit becomes a provision; an element above provisions adds its number
and heading to their path; text between provisions becomes a provision without a number. Every word is in exactly one of them,
except those of elements that are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from lexfuse.data.formats.xml_tree import lines_of, spaced, words_of

_ENUMERATOR = re.compile(r"[(\[]?\w{1,6}[)\].]{1,2}|[-–—•]")
_NUMBER = re.compile(
    r"^(?:sections?|sec\.|articles?|art\.|artikel|art[íi]culo|artigo|articolo|άρθρο|rule|paragraph|§+)\s*", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TagSet:
    """The tags of one XML vocabulary."""

    units: frozenset[str]
    number: frozenset[str]
    heading: frozenset[str]
    inline: frozenset[str]
    left_out: frozenset[str] = frozenset()  # notes and metadata
    quoted: frozenset[str] = frozenset()  # law inside law: amendments quote provisions that are not of this text
    annexes: frozenset[str] = frozenset()  # units, unless they have units inside


@dataclass(frozen=True, slots=True)
class Provision:
    """One unit of a text, with the element it comes from."""

    element: Element
    number: str
    title: str  # number and heading as written
    headings: tuple[str, ...]
    text: str


@dataclass(slots=True)
class _Walk:
    tags: TagSet
    holders: set[int]
    between: list[str] = field(default_factory=list)

    def provisions(self, element: Element, path: tuple[str, ...]) -> Iterator[Provision]:
        words = self.tags
        self.between.append(spaced(element.text or ""))
        for child in element:
            if child.tag in words.left_out or child.tag in words.number or child.tag in words.heading:
                pass  # but the text after it counts
            elif child.tag in words.units or (child.tag in words.annexes and id(child) not in self.holders):
                yield from self.rest(element, path)
                yield provision(child, path, words)
            elif id(child) in self.holders:
                yield from self.rest(element, path)
                title = label(child, words)
                yield from self.provisions(child, (*path, title) if title else path)
            else:
                self.between += lines_of(child, words.inline, words.left_out) if len(child) else [words_of(child)]
            if child.tail and child.tail.strip():
                self.between.append(spaced(child.tail))
        yield from self.rest(element, path)

    def rest(self, element: Element, path: tuple[str, ...]) -> Iterator[Provision]:
        text = "\n".join(joined([line for line in self.between if line]))
        self.between.clear()
        if any(map(str.isalnum, text)):  # not a full stop alone
            yield Provision(element, "", path[-1] if path else "", path[:-1], text)


def provisions(body: Element, tags: TagSet) -> list[Provision]:
    """The provisions below an element, in order; without any unit, all text is one provision without a number.

    >>> from lexfuse.data.formats.xml_tree import parse_xml
    >>> words = TagSet(frozenset({"section"}), frozenset({"num"}), frozenset({"heading"}), frozenset())
    >>> part = b"<part><num>Part I</num><section><num>s. 1</num><heading>Title</heading><p>Text.</p></section></part>"
    >>> found = provisions(parse_xml(b"<act>" + part + b"</act>", "a"), words)
    >>> [(one.number, one.title, one.headings, one.text) for one in found]
    [('s. 1', 's. 1 Title', ('Part I',), 'Text.')]
    """
    holders: set[int] = set()
    _find_holders(body, tags, holders)
    return list(_Walk(tags, holders).provisions(body, ()))


def provision(element: Element, path: tuple[str, ...], tags: TagSet) -> Provision:
    """A unit as a provision."""
    own = [child for child in element if child.tag in tags.number or child.tag in tags.heading]
    number = next((child for child in own if child.tag in tags.number), None)
    body = Element(element.tag)
    body.text = element.text
    for child in element:
        if child in own:  # the text after it is kept
            (after := Element("after")).tail = child.tail
            body.append(after)
        else:
            body.append(child)
    lines = joined(lines_of(body, tags.inline | {"after"}, tags.left_out))
    return Provision(element, short_number(words_of(number)), label(element, tags), path, "\n".join(lines))


def label(element: Element, tags: TagSet) -> str:
    """Number and heading of an element as written; an editor's note inside them is left out."""
    own = (child for child in element if child.tag in tags.number or child.tag in tags.heading)
    return spaced(" ".join(" ".join(lines_of(child, tags.inline, tags.left_out)) for child in own))


def joined(lines: list[str]) -> list[str]:
    """Lines with every enumerator in the line of its text.

    >>> joined(["The court may", "(a)", "dismiss;", "(b)", "(i)", "allow."])
    ['The court may', '(a) dismiss;', '(b) (i) allow.']
    """
    found: list[str] = []
    waiting: list[str] = []
    for line in lines:
        waiting.append(line)
        if not _ENUMERATOR.fullmatch(line):
            found.append(" ".join(waiting))
            waiting = []
    return [*found, " ".join(waiting)] if waiting else found


def short_number(label: str) -> str:
    """A number without its word and the marks around it.

    >>> short_number("Sec. 101. "), short_number("Article 5 bis"), short_number("§ 447.1"), short_number("12.")
    ('101', '5 bis', '447.1', '12')
    """
    return _NUMBER.sub("", label).strip(' .—–:■\u2003\u2002[]()"“”')


def _find_holders(element: Element, tags: TagSet, holders: set[int]) -> bool:
    """Whether an element is above a unit; all that are, are added. Quoted law does not count."""
    found = False
    for child in element:
        if child.tag in tags.quoted or child.tag in tags.left_out:
            continue
        if child.tag in tags.units:
            found = True
        elif _find_holders(child, tags, holders):
            holders.add(id(child))
            found = True
        elif child.tag in tags.annexes:
            found = True
    return found
