"""The XML of Canada's Justice Laws: consolidated acts and regulations. A section or schedule is a document.

Headings are siblings of the sections below them and have a level. A section states the day from which its wording is in force.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document
from lexfuse.data.formats.legal_xml.law import LawFile, day, law_documents, slug, stated
from lexfuse.data.formats.legal_xml.provisions import Provision, TagSet, joined, provision
from lexfuse.data.formats.xml_tree import lines_of, words_of

ROOTS = frozenset({"Statute", "Regulation"})
_INLINE = frozenset({
    "DefinedTermEn", "DefinedTermFr", "DefinitionRef", "Emphasis", "Fraction", "FootnoteRef", "Language", "Leader", "MathML",
    "Repealed", "Sup", "Sub", "Superscript", "Subscript", "TitleText", "XRefExternal", "XRefInternal", "Ins", "Del",
    "LineBreak", "AmendedText",
})  # fmt: skip
_WORDS = TagSet(
    units=frozenset({"Section"}),
    number=frozenset({"Label"}),
    heading=frozenset({"MarginalNote"}),
    inline=_INLINE,
    left_out=frozenset({"HistoricalNote", "Footnote", "FormHeading", "PageBreak"}),
)
_FROM = "inforce-start-date"


def is_justice_laws(root: Element) -> bool:
    """Whether a root element is one of Justice Laws."""
    return root.tag in ROOTS and root.find("Identification") is not None


def read_justice_laws(root: Element, base: str) -> list[Document]:
    """The sections and schedules of an act or regulation."""
    about = root.find("Identification")
    head: dict[str, str] = {} if about is None else {found.tag: words_of(found) for found in about.iter()}
    number = head.get("ConsolidatedNumber") or head.get("InstrumentNumber") or head.get("AnnualStatuteNumber") or ""
    law = LawFile(
        base=f"{slug(number)}-{root.get('lang', 'en')}" if number else base,
        title=head.get("ShortTitle") or head.get("LongTitle") or number or base,
        language=root.get("lang", ""),
        identifiers=tuple(stated(number)),
    )
    found = [one for one in _provisions(root) if one.text or one.number]
    documents = law_documents(law, found, ids=lambda one: ())
    return [replace(document, valid_from=day(one.element.get(_FROM, ""))) for document, one in zip(documents, found, strict=True)]


def _provisions(root: Element) -> Iterator[Provision]:
    above: list[tuple[int, str]] = []
    for part in root:
        if part.tag in ("Identification", "RecentAmendments"):
            continue
        if part.tag == "Schedule":
            heading = part.find("ScheduleFormHeading")
            title = "Schedule" if heading is None else " ".join(lines_of(heading, _INLINE))
            yield _whole(part, title, (), frozenset({"ScheduleFormHeading"}))
            continue
        for child in part if part.tag == "Body" else [part]:
            if child.tag == "Heading":
                level = child.get("level", "1")
                depth = int(level) if level.isascii() and level.isdigit() else 1
                above = [one for one in above if one[0] < depth]
                above.append((depth, " ".join(lines_of(child, _INLINE))))
            elif child.tag == "Section":
                yield provision(child, tuple(text for _, text in above), _WORDS)
            else:
                yield _whole(child, child.tag, tuple(text for _, text in above), frozenset())


def _whole(element: Element, title: str, path: tuple[str, ...], left_out: frozenset[str]) -> Provision:
    lines = joined(lines_of(element, _INLINE, _WORDS.left_out | left_out))
    return Provision(element, "", title, path, "\n".join(lines))
