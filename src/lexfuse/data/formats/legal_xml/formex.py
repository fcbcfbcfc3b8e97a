"""Formex 4, the XML of EUR-Lex: acts, consolidated acts and judgments.

An article, a recital, an annex or a numbered point is a document. An annex that has articles is divided into them. The CELEX
number begins the ids where the file has one (``62022CJ0303#12``); an act of the Official Journal has none, so the name of the
file does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.legal_xml.law import LawFile, law_documents, slug, stated
from lexfuse.data.formats.legal_xml.provisions import Provision, TagSet, provisions
from lexfuse.data.formats.xml_tree import lines_of, words_of
from lexfuse.errors import EmptyFileError

ROOTS = frozenset({
    "ACT", "ACT.GEN", "ADDITIONAL.DOCS", "ANNEX", "CASE", "COMBINED.FMX", "CONS.ACT", "CONS.ANNEX", "CORR", "DOC", "GENERAL",
    "AGR", "JUDGMENT", "LETTER", "OPINION", "ORDER", "PROT", "PUBLICATION", "REPORT.HEARING",
})  # fmt: skip
_NOTICE = ("BIB.DOC", "PUBLICATION.REF")
_JUDGED = frozenset({"JUDGMENT", "ORDER", "OPINION", "CASE", "REPORT.HEARING"})
_INLINE = frozenset({
    "DATE", "E.MAIL", "FT", "HT", "IE", "KEYWORD", "NO.CASE", "NO.DOC.C", "NO.ECLI", "NOTE.REF", "QUOT.END", "QUOT.START",
    "REF.CASE", "REF.CASE.F1", "REF.DOC", "REF.DOC.ECR", "REF.DOC.OJ", "REF.DOC.SE", "REF.ECR.DOC", "REF.NP.ECR", "REF.NP",
    "REF.ECRDOC", "SUBPARAG", "AUTHOR", "CITATION", "FORMULA.S",
})  # fmt: skip
_LEFT_OUT = frozenset({
    "BIB.INSTANCE", "BIB.JUDGMENT", "BIB.DOC", "BIB.ORDER", "BIB.CASE", "BIB.OPINION", "NOTE", "PROLOG", "TOC", "INCL.ELEMENT",
    "REF.PHYS", "FAM.COMP", "INFO.CONSLEG", "INFO.PROD", "PAGE.HEADER", "REFERENCES.SITE",
})  # fmt: skip
_ACT = TagSet(
    units=frozenset({"ARTICLE", "CONSID"}),
    number=frozenset({"TI.ART", "NO.CONSID"}),
    heading=frozenset({"STI.ART", "TITLE", "TI.CONSID"}),
    inline=_INLINE,
    left_out=_LEFT_OUT,
    quoted=frozenset({"QUOT.S", "QUOT.START"}),
    annexes=frozenset({"ANNEX", "CONS.ANNEX"}),
)
_DECISION = TagSet(
    units=frozenset({"NP.ECR", "NP"}),
    number=frozenset({"NO.P"}),
    heading=frozenset({"TITLE"}),
    inline=_INLINE,
    left_out=_LEFT_OUT,
    quoted=frozenset({"QUOT.S", "LIST", "INDEX"}),
)


_LONGEST_NUMBER = 20  # characters of the title of an annex that is its number


def is_formex(root: Element, raw: bytes) -> bool:
    """Whether a root element is one of Formex: its names are common, so its schema or a part must be of Formex too."""
    parts = ("BIB.INSTANCE", "BIB.JUDGMENT", "BIB.DOC", "ENACTING.TERMS", "BIB.ORDER", "BIB.OPINION", "ACT", "INFO.CONSLEG")
    return root.tag in ROOTS and (b"formex" in raw[:4096].lower() or any(root.find(part) is not None for part in parts))


def read_formex(root: Element, base: str) -> list[Document]:
    """The articles, recitals and annexes of an act, or the points of a decision."""
    if root.tag == "PUBLICATION" or (root.tag == "DOC" and any(root.find(part) is not None for part in _NOTICE)):
        raise EmptyFileError("is the notice of a Formex publication, without its text; import the file that it names", path=base)
    celex = words_of(next(root.iter("NO.CELEX"), None))
    ecli = next((found.get("ECLI", "") or words_of(found) for found in root.iter("NO.ECLI")), "")
    cases = [words_of(found) for found in root.iter("NO.CASE")]
    judged = root.tag in _JUDGED
    date = next((found.get("ISO", "") for found in root.iter("DATE")), "")
    language = words_of(next(root.iter("LG.DOC"), None)).lower()
    law = LawFile(
        base=slug(celex) or base,
        title=_title(root) or celex or base,
        language=language if len(language) == 2 else "",
        kind=DocumentKind.DECISION if judged else DocumentKind.STATUTE,
        date=date,
        court=words_of(next(root.iter("AUTHOR"), None)) if judged else "",
        identifiers=tuple(stated(ecli, celex, *(cases if judged else ()))),
    )
    found = law_documents(law, [_named(one) for one in provisions(root, _DECISION if judged else _ACT)], ids=_ids)
    if not found:
        raise EmptyFileError("is a Formex document with a title and no text", path=base)
    return found


def _named(found: Provision) -> Provision:
    """A recital has its number inside its text, ``(1)``; an annex has it in its title, ``ANNEX I``."""
    if found.element.tag in _ACT.annexes and not found.number and found.title:
        number = words_of(found.element.find("TITLE/TI"))
        return replace(found, number=number if len(number) <= _LONGEST_NUMBER else "")
    if found.element.tag != "CONSID":
        return found
    number = words_of(next(found.element.iter("NO.P"), None))
    return Provision(
        found.element, f"recital {number}" if number else "", f"recital {number}".strip(), found.headings, found.text
    )


def _ids(found: Provision) -> Iterator[str]:
    return iter(())


def _title(root: Element) -> str:
    for place in ("TITLE", "ACT/TITLE", "CONS.DOC/TITLE", "CURR.TITLE", "TITLE/TI"):
        if (found := root.find(place)) is not None and (title := " ".join(lines_of(found, _INLINE, _LEFT_OUT))):
            return title
    return ""
