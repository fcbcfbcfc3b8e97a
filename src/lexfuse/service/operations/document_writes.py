"""Writing documents: one is put or deleted, and is found, or not, by the next question.

A document that is put is searchable by its words at once, and by every channel of the index whose model is at hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from lexfuse.channels.registry import fill_channel
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.errors import ConfigError, ConflictError, DataError, LexFuseError, NotFoundError, UnknownDocumentError
from lexfuse.service.operations.documents import etag_of
from lexfuse.service.parameters import Day, RequestParameters
from lexfuse.service.problems import message_of
from lexfuse.service.registry import IndexRegistry, ServedIndex
from lexfuse.service.schemas.document import DocumentChange, DocumentWritten
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.text.analysis.languages import detect_language

MAX_ID = 500  # characters
FEW = 64  # documents that a channel lacks and that are encoded while the writer waits

_ANY = "*"
_TAGS = re.compile(r'\s*(?:(?:W/)?"[^"]*"\s*(?:,\s*|$))+')
_TAG = re.compile(r'(W/)?"([^"]*)"')

Line = Annotated[str, Field(max_length=2000)]


class DocumentBody(RequestParameters):
    """A document to write; its id is part of the address."""

    title: Line = Field("", examples=["Article L1237-19"])
    text: str = Field("", examples=["L'employeur et le salarié peuvent convenir en commun des conditions de la rupture."])
    language: str = Field("", pattern=r"^([a-z]{2,3})?$", description="ISO 639 code; detected if not given.", examples=["fr"])
    kind: DocumentKind = Field(DocumentKind.OTHER, examples=["statute"])
    code: Line = Field("", examples=["Code du travail"])
    number: Line = Field("", description="Of the article or paragraph.", examples=["L1237-19"])
    headings: list[Line] = Field([], max_length=50, description="Path from the root of the code to the section.")
    court: Line = ""
    date: Day | None = Field(None, description="Of the decision or publication.")
    valid_from: Day | None = Field(None, description="First day in force.")
    valid_to: Day | None = Field(None, description="First day no longer in force.")
    status: DocumentStatus = DocumentStatus.UNKNOWN
    identifiers: list[Line] = Field([], max_length=100, description="ECLI, CELEX, case numbers.")
    citations: list[Line] = Field(
        [], max_length=10_000, description="Ids of documents that it cites; those that its text cites are added."
    )
    extra: dict[str, Any] = Field({}, description="Whatever else is to be kept with it.")

    def document(self, id: str) -> Document:
        """The document of an id.

        >>> DocumentBody(title="Article 1").document("a").title
        'Article 1'
        """
        values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in dict(self).items()}
        return Document(id, **values)


@dataclass(frozen=True, slots=True)
class Precondition:
    """What must hold for a change to be made: etags that a document must have, or must not have (RFC 9110, 13.1).

    None for no condition, ``*`` for any document.

    >>> Precondition(match=("a1",)).check("b2")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConflictError: the document has changed since it was read (its etag is "b2" now); read it again, and ...
    """

    match: tuple[str, ...] | None = None
    none_match: tuple[str, ...] | None = None

    @classmethod
    def parse(cls, if_match: str | None, if_none_match: str | None) -> Precondition:
        """The precondition of two headers as they are sent.

        >>> Precondition.parse('"a1", "b2"', None).match
        ('a1', 'b2')
        >>> Precondition.parse(None, "*").none_match
        ('*',)
        """
        # A weak etag is never the same as a strong one, and ours are strong.
        return cls(_tags(if_match, "If-Match", weak=False), _tags(if_none_match, "If-None-Match", weak=True))

    def check(self, etag: str | None) -> None:
        """Refuse a change to a document that has this etag now, or that is not there (None)."""
        if self.match is not None and (etag is None or not {etag, _ANY}.intersection(self.match)):
            now = "it no longer exists" if etag is None else f'its etag is "{etag}" now'
            raise ConflictError(f"the document has changed since it was read ({now}); read it again, and then change it")
        if self.none_match is not None and etag is not None and {etag, _ANY}.intersection(self.none_match):
            raise ConflictError(f'the document already exists (its etag is "{etag}"); send If-Match to replace it')


def put_document(
    registry: IndexRegistry, id: str, given: DocumentBody, *, index: str = "", precondition: Precondition | None = None
) -> DocumentWritten:
    """Create or replace one document; `ConflictError` if the precondition does not hold, and then nothing is changed.

    >>> [put_document(registry, "a", DocumentBody(text=text)).change.value for text in ("la loi", "la loi", "le droit")]
    ['created', 'unchanged', 'replaced']
    """
    served, notes = registry.index(index), list[str]()
    document = _completed(served, _checked(id), given)
    etag = etag_of(document)
    with served.writing() as folder:
        held = _held(folder, id)
        (precondition or Precondition()).check(held)
        if held != etag:
            former = _former_versions(folder, id) if held else 0
            folder.add([document], update=True)
            notes = [f"{former:,} former version{'s' if former > 1 else ''} removed with the document"] if former else []
            notes += _encoded(folder)
    change = DocumentChange.CREATED if held is None else DocumentChange.UNCHANGED if held == etag else DocumentChange.REPLACED
    return DocumentWritten(index=served.name, generation=served.generation, id=id, change=change, etag=etag, notes=notes)


def delete_document(
    registry: IndexRegistry, id: str, *, index: str = "", precondition: Precondition | None = None
) -> DocumentWritten:
    """Delete one document; `NotFoundError` if it is not there.

    >>> delete_document(registry, "lib-4").change.value
    'deleted'
    """
    served = registry.index(index)
    with served.writing() as folder:
        held = _held(folder, id)
        (precondition or Precondition()).check(held)
        if held is None:
            raise UnknownDocumentError(f"the index has no document {id!r}")
        folder.delete([id])
    return DocumentWritten(index=served.name, generation=served.generation, id=id, change=DocumentChange.DELETED)


def _checked(id: str) -> str:
    if not id.strip() or len(id) > MAX_ID or not id.isprintable():
        raise DataError(f"the id of a document has 1 to {MAX_ID} printable characters; got {id[:80]!r}")
    return id


def _completed(served: ServedIndex, id: str, given: DocumentBody) -> Document:
    """The document with its language, and with what its text cites in the index."""
    language = given.language or detect_language(f"{given.title} {given.text}")
    with served.lease() as version:
        found: dict[int, None] = {}
        for _, numbers in version.citations.cited(given.text, own_code=given.code):
            found |= dict.fromkeys(numbers.tolist())
        cited = [name for name in map(version.snapshot.ids.__getitem__, found) if name != id]
    citations = list(dict.fromkeys((*given.citations, *cited)))
    return given.model_copy(update={"language": language, "citations": citations}).document(id)


def _held(folder: IndexFolder, id: str) -> str | None:
    """The etag of a document as it is in the newest version, which another process may have written; None if it is not there."""
    with folder.snapshot() as snapshot:
        try:
            return etag_of(snapshot.document(id))
        except NotFoundError:
            return None


def _former_versions(folder: IndexFolder, id: str) -> int:
    """How many versions a document has besides the newest."""
    with folder.snapshot() as snapshot:
        return len(snapshot.history(id)) - 1


def _encoded(folder: IndexFolder) -> list[str]:
    """Encode for every channel what it lacks, if that is little; returns what is left to do."""
    notes = []
    for name in folder.channels.names:
        lacking = len(folder.channels.pending(name))
        if lacking > FEW:
            notes.append(f"the channel {name} lacks {lacking:,} documents, this one among them; fill it by lexfuse index")
            continue
        cut = folder.channels.named(name).cut
        try:
            fill_channel(folder, name)
        except LexFuseError as error:
            notes.append(f"the channel {name} does not hold the document, it is found by the others: {message_of(error)}")
            continue
        if folder.channels.named(name).cut > cut:
            notes.append(f"the end of the document is beyond what the channel {name} reads, and is found by words only")
    return notes


def _tags(header: str | None, name: str, *, weak: bool) -> tuple[str, ...] | None:
    if header is None:
        return None
    if header.strip() == _ANY:
        return (_ANY,)
    if not _TAGS.fullmatch(header):
        raise ConfigError(f'{name} takes * or etags in quotation marks, "a1b2"; got {header[:100]!r}')
    return tuple(tag for mark, tag in _TAG.findall(header) if weak or not mark)
