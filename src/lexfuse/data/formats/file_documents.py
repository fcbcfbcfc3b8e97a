"""The documents of one file: its provisions where it has an outline, else the file as a whole.

The id of a whole file is its name in the folder, without white space; that of a provision adds its number:
``acts/lease.docx#12``. XML of law and TREC files state ids of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.fields import STATES
from lexfuse.data.formats.legal_xml.law import day, slug, unique_id
from lexfuse.data.formats.legal_xml.vocabularies import legal_documents
from lexfuse.data.formats.outline import Block, units
from lexfuse.data.formats.pdf_text import PDF_LIMITS, PdfLimits
from lexfuse.data.formats.text_file import FileContent, FileType, content_of, decoded, file_type, xml_blocks
from lexfuse.data.formats.trec_documents import is_trec, trec_documents
from lexfuse.data.formats.xml_tree import parse_xml
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import EmptyFileError

# Of the countries whose law repositories state a country and no language.
_LANGUAGES = {
    "fr": "fr",
    "es": "es",
    "nl": "nl",
    "de": "de",
    "at": "de",
    "it": "it",
    "pt": "pt",
    "se": "sv",
    "pl": "pl",
    "gb": "en",
}
_KNOWN = frozenset(
    {"title", "identifier", "publication_date", "status", "country", "language", "layout", "origslug", "slug", "jurabk"}
)
_STATES = {"in_force": "in force", "repealed": "repealed", "vigente": "in force", "derogada": "repealed"}


def documents_of(
    raw: bytes, name: str, report: ReadReport | None = None, *, divided: bool = True, limits: PdfLimits = PDF_LIMITS
) -> list[Document]:
    r"""The documents of a file given as bytes; ``name`` is its path in the folder. `UnreadableFileError` if it has no text.

    Without ``divided``, a file that is no XML of law and no TREC file is one document.

    >>> law = b"# Lease Act\n\n## Article 1\nA lease is written.\n\n## Article 2\nIt ends with the year.\n"
    >>> [(one.id, one.title, one.code, one.text) for one in documents_of(law, "acts/lease act.md")]
    [('acts/lease_act.md#1', 'Lease Act, Article 1', 'Lease Act', 'A lease is written.'),
     ('acts/lease_act.md#2', 'Lease Act, Article 2', 'Lease Act', 'It ends with the year.')]
    """
    base, path = "_".join(name.split()), Path(name)
    if is_trec(raw):
        kind, found = "trec", list(trec_documents(decoded(raw, path), path))
    else:
        kind = file_type(raw, path).value
        law = _law(raw, base, path) if kind == FileType.XML else None
        found = _documents(content_of(raw, name, report, limits=limits), base, path, divided) if law is None else law
    if not any(one.text.strip() for one in found):
        raise EmptyFileError("the file shows no text; give one that does", path=path)
    return [replace(one, extra={**one.extra, "file": name, "format": kind}) for one in found]


def _law(raw: bytes, base: str, path: Path) -> list[Document] | None:
    root = parse_xml(raw, path)
    found = legal_documents(root, raw, base)
    return (
        found
        if found or found is None
        else _documents(FileContent(FileType.XML, "", xml_blocks(root)), base, path, divided=False)
    )


def _documents(content: FileContent, base: str, path: Path, divided: bool) -> list[Document]:
    first = next((block.text for block in content.blocks if block.level == 1), "")
    title = content.title or first or re.sub(r"[\s_]+", " ", PurePosixPath(path.name).stem).strip()
    whole = Document(base, title=title, **_stated(content.fields))
    found = units(_without_title(content.blocks, title)) if divided else []
    if not found:
        return [replace(whole, text="\n".join(block.text for block in content.blocks))]
    taken: set[str] = set()
    short = content.fields.get("jurabk", "")
    return [
        replace(
            whole,
            id=unique_id(f"{base}#{slug(unit.number or unit.title) or 'preamble'}", taken),
            title=f"{title}, {unit.title}" if unit.title else title,
            text=unit.text,
            kind=DocumentKind.STATUTE,
            code=title,
            number=unit.number,
            headings=unit.headings,
            identifiers=(f"{_sign(unit.title)} {unit.number} {short}",) if short and unit.number else whole.identifiers,
        )
        for unit in found
    ]


def _without_title(blocks: Iterable[Block], title: str) -> list[Block]:
    """The blocks without a first heading that only repeats the title; it would be above every provision."""
    kept = list(blocks)
    if kept and kept[0].level == 1 and (kept[0].text == title or kept[0].text.startswith(title)):
        return kept[1:]
    return kept


def _sign(title: str) -> str:
    return "§" if title.startswith("§") else "Art."


def _stated(fields: Mapping[str, str]) -> dict[str, Any]:
    """The fields of a front matter that documents have; the others are extra."""
    state = fields.get("status", "").casefold()
    language = fields.get("language", "") or _LANGUAGES.get(fields.get("country", "").casefold(), "")
    identifier = fields.get("identifier", "")
    extra = {name: value for name, value in fields.items() if name not in _KNOWN and value}
    if identifier:
        extra["identifier"] = identifier
    if fields.get("jurabk"):
        extra["abbreviation"] = fields["jurabk"]
        language = language or "de"
    stated: dict[str, Any] = {"language": language, "date": day(fields.get("publication_date", "")), "extra": extra}
    if identifier:
        stated["identifiers"] = (identifier,)
    if status := STATES.get(_STATES.get(state, state)):
        stated["status"] = status
    elif state:
        extra["status"] = state
    return {name: value for name, value in stated.items() if value}
