"""The reader of an XML file of law, by its root element and its namespace."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from lexfuse.data.document import Document
from lexfuse.data.formats.legal_xml import akoma_ntoso, formex, justice_laws, legi_article, uslm


def legal_documents(root: Element, raw: bytes, base: str) -> list[Document] | None:
    """The documents of a file of law; ``None`` for XML of another kind. ``base`` is its id where it states none.

    >>> from lexfuse.data.formats.xml_tree import parse_xml
    >>> raw = b'<Statute lang="en"><Identification><ShortTitle>Seed Act</ShortTitle></Identification><Body><Section>'
    >>> raw += b"<Label>1</Label><Text>No one shall sell bad seed.</Text></Section></Body></Statute>"
    >>> [(one.id, one.title, one.text) for one in legal_documents(parse_xml(raw, "a"), raw, "seed.xml")]
    [('seed.xml#1', 'Seed Act, 1', 'No one shall sell bad seed.')]
    """
    if root.tag == akoma_ntoso.ROOT:
        return akoma_ntoso.read_akoma_ntoso(root, base)
    if root.tag in uslm.ROOTS and uslm.is_uslm(raw):
        return uslm.read_uslm(root, base)
    if justice_laws.is_justice_laws(root):
        return justice_laws.read_justice_laws(root, base)
    if legi_article.is_legi(root):
        return legi_article.read_legi_article(root, base)
    return formex.read_formex(root, base) if formex.is_formex(root, raw) else None
