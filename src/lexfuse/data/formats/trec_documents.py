"""TREC document files: ``<DOC><DOCNO>…</DOCNO> … </DOC>``, one after the other in a file.

The tags of a TREC file are not XML: they need not be closed and text may contain ``&`` and ``<``. The text of a document is
all that is outside of ``DOCNO``, title and date, without tags.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lexfuse.data.document import Document
from lexfuse.data.formats.html_text import html_text
from lexfuse.errors import DamagedFileError, DataError

_START = re.compile(rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<ROOT>\s*+)?<DOC>\s*+(?:<[^<>]*+>[^<]*+){0,20}?<DOCNO>", re.IGNORECASE)
_DOCUMENT = re.compile(r"<DOC>(?P<inside>.*?)</DOC>", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(r"<DOC>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>(?P<id>[^<]*+)</DOCNO>", re.IGNORECASE)
_TITLE = re.compile(r"<(?P<tag>TITLE|HEADLINE|HEAD|TI)>(?P<title>.*?)</(?P=tag)>", re.IGNORECASE | re.DOTALL)
_LEFT_OUT = re.compile(
    r"<(?P<tag>DOCNO|DOCID|DATE|DATE_TIME|DOCHDR|URL|FILEID|DOCTYPE|PARENT|LENGTH)>.*?</(?P=tag)>", re.IGNORECASE | re.DOTALL
)


def is_trec(raw: bytes) -> bool:
    r"""Whether a file begins with a TREC document.

    >>> is_trec(b"<DOC>\n<DOCNO> FT911-3 </DOCNO>"), is_trec(b"<DOC><BIB.DOC/></DOC>")
    (True, False)
    """
    return _START.match(raw[:4096]) is not None


def trec_documents(text: str, path: str | Path) -> Iterator[Document]:
    r"""The documents of a file; one without a number, or a file that ends inside one, is an error.

    >>> text = "<DOC>\n<DOCNO> A-1 </DOCNO>\n<TITLE>Lease</TITLE>\n<TEXT>\nRent & costs.\n</TEXT>\n</DOC>"
    >>> [(one.id, one.title, one.text) for one in trec_documents(text, "a")]
    [('A-1', 'Lease', 'Rent & costs.')]
    """
    opened, found = len(_OPEN.findall(text)), list(_DOCUMENT.finditer(text))
    if opened != len(found):
        raise DamagedFileError(
            f"{opened:,} documents begin with <DOC> and {len(found):,} end with </DOC>; check the file", path=path
        )
    for document in found:
        inside = document["inside"]
        line = text.count("\n", 0, document.start()) + 1
        number, title = _DOCNO.search(inside), _TITLE.search(inside)
        id = "" if number is None else number["id"].strip()
        if not id:
            raise DataError("the document has no <DOCNO>", path=path, line=line)
        body = inside if title is None else inside.replace(title[0], "\n", 1)
        body = _LEFT_OUT.sub("\n", body)
        yield Document(id, title="" if title is None else html_text(title["title"]), text=html_text(body))
