"""Akoma Ntoso 3.0 (LegalDocML): acts, bills and judgments.

An article, section or recital, or a paragraph of a judgment, is a document. Its id is that of the work with the ``eId`` of the
provision: ``/akn/za/act/1998/55#sec_1``. A collection is read with all its components.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.legal_xml.law import LANGUAGES, LawFile, law_documents, slug, stated
from lexfuse.data.formats.legal_xml.provisions import Provision, TagSet, provisions
from lexfuse.data.formats.xml_tree import lines_of, words_of

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
_RECITAL = "recital"
_LONGEST_TITLE = 400  # characters of a preface that is a title


def read_akoma_ntoso(root: Element, base: str) -> list[Document]:
    """The provisions of a file, or the paragraphs of a judgment; ``base`` is the id of a work without a URI."""
    main = next(iter(root), root)
    bodies = [main, *(body for found in root.iter("component") for body in found if body.find("meta") is not None)]
    taken: set[str] = set()
    return [document for body in bodies for document in _documents(body, base, taken)]


def _documents(body: Element, base: str, taken: set[str]) -> list[Document]:
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
    parts = [part for part in body if part.tag not in ("meta", "coverPage", "components")]
    text = Element(body.tag)
    text.extend(parts)
    units = _JUDGED if judged else _UNITS
    tag = next((unit for unit in units if _count(text, unit) > 1), units[0])
    tags = frozenset({tag} if judged else {tag, _RECITAL})
    words = TagSet(tags, frozenset({"num"}), frozenset({"heading", "subheading"}), _INLINE, _LEFT_OUT, _QUOTED)
    found = [_named(one) for one in provisions(text, words)]
    return law_documents(law, found, ids=lambda one: _ids(one, law.base), taken=taken)


def _named(found: Provision) -> Provision:
    """A recital is not the article of its number."""
    if found.element.tag != _RECITAL or not found.number:
        return found
    number, written = f"recital ({found.number})", found.title
    return replace(found, number=number, title=number, text=f"{written} {found.text}".strip())


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
    """The short title, else the long one, else the name of the work or a preface that is short; a bare number comes last."""
    for tag in ("shortTitle", "docTitle", "longTitle"):
        for front in ("coverPage", "preface", "header"):
            if (part := body.find(front)) is not None and (title := words_of(next(part.iter(tag), None))):
                return title
    names = [name for name in (_value(work, "FRBRalias"), _value(work, "FRBRname")) if name]
    preface = body.find("preface")
    lines = [] if preface is None else lines_of(preface, _INLINE, _LEFT_OUT)
    written = [text for text in (" ".join(lines),) if 0 < len(text) <= _LONGEST_TITLE]
    return next(iter([*(name for name in names if " " in name), *written, *names]), "")


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
