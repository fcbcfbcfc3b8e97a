"""Akoma Ntoso 3.0 (LegalDocML): acts, bills and judgments. An article or section, or a paragraph of a judgment, is a document.

The id is that of the work with the ``eId`` of the provision: ``/akn/za/act/1998/55#sec_1``.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.legal_xml.law import LANGUAGES, LawFile, law_documents, slug, stated
from lexfuse.data.formats.legal_xml.provisions import Provision, TagSet, provisions
from lexfuse.data.formats.xml_tree import words_of

ROOT = "akomaNtoso"
_INLINE = frozenset({
    "a", "abbr", "affectedDocument", "b", "bold", "change", "concept", "courtType", "date", "def", "del", "docDate",
    "docNumber", "docPurpose", "docTitle", "docType", "em", "entity", "event", "i", "img", "inline", "ins", "italic", "judge",
    "lawyer", "location", "marker", "mmod", "mod", "mref", "neutralCitation", "noteRef", "object", "omissis", "opinion",
    "organization", "party", "person", "placeholder", "process", "quantity", "ref", "relatedDocument", "remark", "rmod",
    "role", "rref", "shortTitle", "signature", "span", "strong", "sub", "sup", "term", "time", "u", "underline", "fillIn",
    "math",
})  # fmt: skip
_LEFT_OUT = frozenset({"meta", "authorialNote", "toc", "eol", "eop", "remark"})
_QUOTED = frozenset({"quotedStructure", "quotedText", "embeddedStructure", "embeddedText", "blockList"})
_UNITS = ("article", "section", "rule", "clause")  # the first of them that a text has
_JUDGED = ("paragraph", "level")


def read_akoma_ntoso(root: Element, base: str) -> list[Document]:
    """The provisions of a file, or the paragraphs of a judgment; ``base`` is the id of a work without a URI."""
    body = next(iter(root), root)
    work, expression = body.find("meta/identification/FRBRWork"), body.find("meta/identification/FRBRExpression")
    judged = body.tag == "judgment"
    uri = _value(work, "FRBRuri") or _value(work, "FRBRthis") or base
    cited = tuple(stated(*(words_of(found) for found in body.iter() if found.tag in ("neutralCitation", "cite"))))
    law = LawFile(
        base=slug_uri(uri),
        title=_title(body, work) or next(iter(cited), base),
        language=_language(expression),
        kind=DocumentKind.DECISION if judged else DocumentKind.STATUTE,
        date=_date(work),
        court=_court(body) if judged else "",
        identifiers=cited,
    )
    parts = [part for part in body if part.tag not in ("meta", "coverPage")]
    text = Element(body.tag)
    text.extend(parts)
    units = _JUDGED if judged else _UNITS
    tag = next((unit for unit in units if _count(text, unit) > 1), units[0])
    words = TagSet(frozenset({tag}), frozenset({"num"}), frozenset({"heading", "subheading"}), _INLINE, _LEFT_OUT, _QUOTED)
    return law_documents(law, provisions(text, words), ids=lambda found: _ids(found, law.base))


def slug_uri(uri: str) -> str:
    """A URI as the beginning of an id."""
    return "".join(uri.split()).removesuffix("/!main").rstrip("/") or slug(uri)


def _ids(found: Provision, base: str) -> Iterator[str]:
    if (eid := found.element.get("eId") or found.element.get("id")) and found.number:
        yield f"{base}#{slug(eid)}"


def _count(element: Element, unit: str) -> int:
    """The units of a text, without those that it quotes."""
    return sum((child.tag == unit) + _count(child, unit) for child in element if child.tag not in _QUOTED)


def _value(part: Element | None, tag: str) -> str:
    found = None if part is None else part.find(tag)
    return "" if found is None else found.get("value", "")


def _title(body: Element, work: Element | None) -> str:
    for tag in ("docTitle", "shortTitle", "longTitle"):
        for front in ("coverPage", "preface", "header"):
            if (part := body.find(front)) is not None and (title := words_of(next(part.iter(tag), None))):
                return title
    return _value(work, "FRBRalias") or _value(work, "FRBRname")


def _date(work: Element | None) -> str:
    found = None if work is None else work.find("FRBRdate")
    return "" if found is None else found.get("date", "")


def _language(expression: Element | None) -> str:
    found = None if expression is None else expression.find("FRBRlanguage")
    code = "" if found is None else found.get("language", "").lower()
    return LANGUAGES.get(code, code if len(code) == 2 else "")


def _court(body: Element) -> str:
    for tag in ("courtType", "court"):
        if text := words_of(next(body.iter(tag), None)):
            return text
    author = body.find("meta/identification/FRBRWork/FRBRauthor")
    about = "" if author is None else author.get("href", "").lstrip("#")
    named = (found.get("showAs", "") for found in body.iter("TLCOrganization") if found.get("eId", found.get("id")) == about)
    return next(named, "")
