"""The page that takes a whole document as the question: pasted, as a file, or from the index.

The text is sent with the form and never stored, so there are no sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from lexfuse.data.document import DocumentKind
from lexfuse.errors import (
    ConfigError,
    DataError,
    EmptyQuestionError,
    LexFuseError,
    UnknownDocumentError,
)
from lexfuse.service.operations.documents import document_cards
from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.operations.index_list import index_list, profile_cards
from lexfuse.service.operations.similar import SentenceCoverage, sentence_coverage, similar
from lexfuse.service.parameters import RequestParameters, page_parameters, refuse_unknown
from lexfuse.service.problems import message_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.responses import download, service_of
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import ProfileCard, SearchPage
from lexfuse.service.schemas.similar import SimilarPage
from lexfuse.web.locale_format import number
from lexfuse.web.messages import messages_of
from lexfuse.web.pages.feedback import judged_here
from lexfuse.web.renderer import page, reader_of, site_of
from lexfuse.web.search_state import accepts
from lexfuse.web.similar_form import ADDRESS, FIELDS, MAX_WORDS, SHARED_TEXT, SimilarForm, asked_by, asked_of, words_of

router = APIRouter(include_in_schema=False)

PARTS = {"similar": "similar_part.html"}
SHOWN = 24  # words that are always visible
_MAX_FIELDS = 5 * MAX_WORDS + 100  # of a form: five per word


class ExportFormat(RequestParameters):
    """The format of a file."""

    format: ResultFormat


_SHARED = ("index", "generation", "profile", "results", "timing")  # of similar documents and of results of a question
_FILE = "document"  # what the question of an export is called: the text itself is kept nowhere


@dataclass(frozen=True, slots=True)
class FormError:
    """An error in the reader's language, with the detail of errors that have no text."""

    words: str
    detail: str = ""


@router.get("/similar", dependencies=[accepts(*ADDRESS)])
async def form(request: Request) -> Response:
    """An empty form; with ``?document=ID`` documents similar to that document; or what a shared address says."""
    return await _answered(request, asked_by(request.query_params))


@router.post("/similar", dependencies=[accepts()])
async def posted(request: Request) -> Response:
    """Documents similar to the text, file or document of the form."""
    async with request.form(max_fields=_MAX_FIELDS, max_part_size=_limit(request)) as data:
        refuse_unknown(data, FIELDS)
        asked = asked_of(data)
        upload = data.get("file")
        raw = await upload.read() if isinstance(upload, UploadFile) and upload.filename else None
        name = upload.filename or "" if isinstance(upload, UploadFile) else ""
    if raw is None:
        return await _answered(request, asked)
    try:
        text = (await service_of(request).read_upload(raw, name)).text
    except DataError as error:
        return await _answered(request, asked, error)
    return await _answered(request, replace(asked, text=text, file=name, words=()))


async def _answered(request: Request, asked: SimilarForm, error: LexFuseError | None = None) -> Response:
    """The page, with the results or an error, or the results as a file."""
    service, known = service_of(request), error
    found: SimilarPage | None = None
    indexes = (await service.run(index_list, service.registry)).indexes
    index, cards, coverage, document, text = await service.run(_around, service.registry, asked)
    asked = replace(asked, index=index)
    if known is None and (asked.document or asked.text.strip() or request.method == "POST"):
        try:
            if not asked.document and not asked.text.strip():
                raise EmptyQuestionError("give a text, a file or a document")
            parameters = (replace(asked, text=text) if asked.document else asked).parameters()
            found = await service.run(similar, service.registry, parameters, asked.file)
        except (ConfigError, DataError) as wrong:
            known = wrong
    if found is not None and asked.export:
        named = SearchPage(**{name: getattr(found, name) for name in _SHARED}, query=asked.document or _FILE)
        wanted = page_parameters(ExportFormat, {"format": asked.export}).format
        return download(await service.run(export_results, named, wanted, site_of(request)))
    values = _values(request, asked, cards, document, found) | {"indexes": indexes, "coverage": coverage}
    values |= (
        await judged_here(request, asked.document, asked.target or index)
        if asked.document
        else {"judging": False, "judged": {}, "grades": ()}
    )
    message = _error_message(request, known) if known is not None else None
    status = known.status if known is not None else 200
    return await page(request, "similar.html", parts=PARTS, status=status, error=message, **values)


def _values(
    request: Request, asked: SimilarForm, cards: Sequence[ProfileCard], document: DocumentCard | None, found: SimilarPage | None
) -> dict[str, Any]:
    messages = messages_of(reader_of(request).language)
    limit = _limit(request)
    kinds = [
        (kind.value, messages.text(f"similar.kinds.{kind.value}")) for kind in DocumentKind if kind is not DocumentKind.OTHER
    ]
    return {
        "asked": asked,
        "document": document,
        "found": found,
        "words": words_of(asked, found),
        "shown": SHOWN,
        "kinds": kinds,
        "profiles": [(card.name, card.name, card.usable) for card in cards],
        "limit": limit,
        "megabytes": limit // 1_000_000,
        "notes": found.notes if found else [],
        "share": asked.address(found) if found else "",
        "shared_words": bool(found) and not asked.document and len(asked.text) > SHARED_TEXT,
        "alone": False,
        "percent": lambda value: f"{number(100 * value, messages.language.value, 0)}{messages.text('why.percent')}",
    }


def _around(
    registry: IndexRegistry, asked: SimilarForm
) -> tuple[str, list[ProfileCard], SentenceCoverage, DocumentCard | None, str]:
    """The index, the profiles and sentences of the one that is searched, and the document of the question with its text."""
    served = registry.index(asked.index or ("" if asked.document or asked.target else _comparable(registry)))
    with registry.index(asked.target or served.name).lease() as version:
        profiles, coverage = profile_cards(version), sentence_coverage(version)
    with served.lease() as version:
        document = document_cards(version, [asked.document]).get(asked.document) if asked.document else None
        if asked.document and document is None:
            raise UnknownDocumentError(f"there is no document {asked.document[:80]!r} in the index {served.name!r}")
        text = version.snapshot.document(asked.document).text if asked.document else ""
        return served.name, profiles, coverage, document, text


def _comparable(registry: IndexRegistry) -> str:
    """The first index whose paragraphs can be compared, which an empty form proposes; none for the usual one."""
    for name in registry.names:
        with registry.index(name).lease() as version:
            if sentence_coverage(version).complete:
                return name
    return ""


def _error_message(request: Request, error: LexFuseError) -> FormError:
    """An error in the reader's language, if the page has a text for its code."""
    messages = messages_of(reader_of(request).language)
    if messages.has(key := f"similar.error.{error.code}"):
        return FormError(messages.text(key))
    return FormError(messages.text("similar.error.other"), message_of(error)[:500])


def _limit(request: Request) -> int:
    return service_of(request).settings.max_body_bytes
