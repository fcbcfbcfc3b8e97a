"""USLM, the XML of the United States: Code, public laws, bills, statute compilations, regulations. A section is a document.

A section that states its ``identifier`` has it as its id (``/us/cfr/t27/s447.1``). Bills do not: all versions of a bill
state the same identifiers.
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.legal_xml.law import LawFile, law_documents
from lexfuse.data.formats.legal_xml.provisions import Provision, TagSet, provisions
from lexfuse.data.formats.xml_tree import words_of

NAMESPACE = b"http://schemas.gpo.gov/xml/uslm"
_USC_NAMESPACE = b"http://xml.house.gov/schemas/uslm/1.0"
ROOTS = frozenset({
    "uscDoc", "pLaw", "bill", "resolution", "statuteCompilation", "cfrDoc", "frDoc", "engrossedAmendment", "lawDoc",
    "statutesAtLarge", "amendment",
})  # fmt: skip
_DRAFTS = frozenset({"bill", "resolution", "engrossedAmendment", "amendment"})
TAGS = TagSet(
    units=frozenset({"section", "courtRule"}),
    number=frozenset({"num"}),
    heading=frozenset({"heading"}),
    inline=frozenset({
        "inline", "ref", "i", "b", "sup", "sub", "span", "date", "term", "shortTitle", "quotedText", "entity", "a", "u", "em",
        "strong", "committee", "sponsor", "cosponsor", "headingText", "amendingAction", "addedText", "deletedText", "fillIn",
        "checkBox", "img", "marker", "ins", "del", "citableAs", "approvedDate",
    }),
    left_out=frozenset({"meta", "toc", "sidenote", "footnote", "page", "endnote", "notes", "sourceCredit", "ear"}),
    quoted=frozenset({"quotedContent", "quotedText"}),
)  # fmt: skip


def is_uslm(raw: bytes) -> bool:
    """Whether the bytes name a namespace of USLM near their beginning."""
    return NAMESPACE in raw[:4096] or _USC_NAMESPACE in raw[:4096]


def read_uslm(root: Element, base: str) -> list[Document]:
    """The sections of a USLM file; ``base`` is the id of what states none."""
    meta = root.find("meta")
    fields = {} if meta is None else {child.tag: words_of(child) for child in reversed(meta)}
    cited = () if meta is None else tuple(dict.fromkeys(words_of(one) for one in meta.iter("citableAs")))
    body = next((found for tag in ("main", "body") if (found := root.find(tag)) is not None), root)
    law = LawFile(
        base=base,
        title=fields.get("citableAsShortTitle") or fields.get("title") or base,
        language="en",
        kind=DocumentKind.STATUTE,
        date=fields.get("approvedDate", ""),
        identifiers=cited,
        extra={
            name: fields[key]
            for key, name in (("type", "type"), ("docStage", "stage"), ("congress", "congress"))
            if fields.get(key)
        },
    )
    return law_documents(law, provisions(body, TAGS), ids=_no_ids if root.tag in _DRAFTS else _ids)


def _no_ids(found: Provision) -> Iterator[str]:
    return iter(())


def _ids(found: Provision) -> Iterator[str]:
    if (identifier := found.element.get("identifier", "")) and found.number:
        yield identifier
