"""From provisions to documents: ids, titles and the fields that all provisions of a text share."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.legal_xml.provisions import Provision
from lexfuse.errors import DataError

# The three-letter codes of languages that law is published in.
LANGUAGES = {
    "bul": "bg", "ces": "cs", "cze": "cs", "dan": "da", "deu": "de", "ger": "de", "ell": "el", "gre": "el", "gr": "el",
    "eng": "en", "est": "et", "fin": "fi", "fra": "fr", "fre": "fr", "gle": "ga", "hrv": "hr", "hun": "hu", "ita": "it",
    "lav": "lv", "lit": "lt", "mlt": "mt", "nld": "nl", "dut": "nl", "pol": "pl", "por": "pt", "ron": "ro", "rum": "ro",
    "slk": "sk", "slv": "sl", "spa": "es", "swe": "sv",
}  # fmt: skip
_UNKNOWN_YEAR = 1000  # 1000-01-01 means that the day is not known


@dataclass(frozen=True, slots=True)
class LawFile:
    """What a file says of the whole text; ``base`` begins the ids of its provisions."""

    base: str
    title: str
    language: str = ""
    kind: DocumentKind = DocumentKind.STATUTE
    date: str = ""
    court: str = ""
    identifiers: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


def law_documents(
    law: LawFile, found: Sequence[Provision], *, ids: Callable[[Provision], Iterable[str]], taken: set[str] | None = None
) -> list[Document]:
    """A document for every provision; ``ids`` gives its own id if the file states one, ``taken`` are those of the file so far."""
    taken = set() if taken is None else taken
    unit = DocumentKind.PARAGRAPH if law.kind is DocumentKind.DECISION else law.kind
    documents = []
    for one in found:
        if not one.text and not one.number:
            continue
        if one.number and law.kind is DocumentKind.DECISION:
            title = f"{law.title}, {one.number}"
        else:
            title = one.title if one.title in ("", law.title) else f"{law.title}, {one.title}"
        documents.append(
            Document(
                unique_id(next(iter(ids(one)), f"{law.base}#{slug(one.number or one.title) or 'text'}"), taken),
                title=title or law.title,
                text=one.text,
                language=law.language,
                kind=unit if one.number else law.kind,
                code="" if law.kind is DocumentKind.DECISION else law.title,
                number=one.number,
                headings=one.headings,
                court=law.court,
                date=day(law.date),
                identifiers=law.identifiers,
                extra=dict(law.extra),
            )
        )
    return documents


def unique_id(wanted: str, taken: set[str]) -> str:
    """An id that is not taken yet: the second ``a`` of a file is ``a~2``.

    >>> taken = {"a"}
    >>> unique_id("a", taken), unique_id("a", taken)
    ('a~2', 'a~3')
    """
    id, copy = wanted, 1
    while id in taken:
        copy += 1
        id = f"{wanted}~{copy}"
    taken.add(id)
    return id


def slug(text: str) -> str:
    """A number or heading as part of an id, without white space.

    >>> slug("L. 111-1"), slug("5 bis"), slug("Recital (3)")
    ('L.111-1', '5bis', 'Recital(3)')
    """
    words = text.split()
    return "".join(words)[:40] if any(character.isdigit() for character in text) else "-".join(words)[:40].lower()


def day(text: str) -> datetime.date | None:
    """The day of a file's metadata; ``None`` where it states none, or something else."""
    digits = re.match(r"\d{4}-\d{2}-\d{2}|\d{8}", text.strip())
    try:
        found = parse_date(digits[0]) if digits else None
    except DataError:
        return None
    return found if found and found.year > _UNKNOWN_YEAR else None


def stated(*texts: str) -> Iterator[str]:
    """The texts that are not empty, without repeats."""
    yield from dict.fromkeys(text for text in texts if text)
