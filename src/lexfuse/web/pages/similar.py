"""The page that takes a whole document as the question: pasted, as a file, or from the index.

The text is sent with the form and never stored, so there are no sessions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse

from lexfuse.data.document import DocumentKind
from lexfuse.errors import (
    ConfigError,
    DataError,
    EmptyQuestionError,
    LexFuseError,
    NoTermsError,
    TermWeightError,
    UnknownDocumentError,
)
from lexfuse.service.operations.documents import document_cards
from lexfuse.service.operations.index_list import profile_cards
from lexfuse.service.operations.similar import SimilarParameters, Word, similar
from lexfuse.service.parameters import page_parameters, refuse_unknown
from lexfuse.service.problems import message_of
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.service.schemas.search import ProfileCard, SimilarPage
from lexfuse.text.letters import NO_BREAK_SPACE
from lexfuse.web.locale_format import number
from lexfuse.web.messages import messages_of
from lexfuse.web.renderer import page, reader_of
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

PARTS = {"similar": "similar_part.html"}
SHOWN = 24  # words that are always visible
MAX_WORDS = 10_000  # to edit; a long judgment has fewer
FIELDS = (
    "text", "document", "file", "index", "profile", "kind", "exclude_self", "mask", "before", "before_own", "filter", "action",
    "term", "count", "weight", "use", "add",
)  # fmt: skip
_MAX_FIELDS = 3 * MAX_WORDS + 100  # of a form: three per word


class EditedParameters(SimilarParameters):
    """The parameters of a reader, who may edit more words than a program sends."""

    terms: list[Word] = Field([], max_length=MAX_WORDS)


@dataclass(frozen=True, slots=True)
class EditedTerm:
    """A word of the list to edit."""

    word: str
    count: int  # in the text; 0 for an added word
    weight: str  # as written in its field
    used: bool = True


@dataclass(frozen=True, slots=True)
class SimilarForm:
    """The fields of the form."""

    text: str = ""
    document: str = ""
    file: str = ""  # its name
    index: str = ""
    profile: str = ""
    kind: str = ""
    exclude_self: bool = True
    mask: bool = False
    before: str = ""
    before_own: bool = False
    filters: tuple[str, ...] = ()
    words: tuple[EditedTerm, ...] = ()  # edited words; if empty, the most informative are selected

    @property
    def edited(self) -> bool:
        """Whether the reader has edited the words."""
        return bool(self.words)

    def parameters(self) -> EditedParameters:
        """The same for the operation.

        >>> words = (EditedTerm("lease", 1, "2"), EditedTerm("the", 1, "1", used=False))
        >>> SimilarForm(text="The lease ended.", words=words).parameters().terms
        ['lease=2']
        """
        used = [each for each in self.words if each.used]
        if wrong := next((each for each in used if not _weight(each.weight)), None):
            raise TermWeightError(f"the weight of {wrong.word!r} must be above 0, got {wrong.weight!r}")
        if self.words and not used:
            raise NoTermsError("no word is left to search for; tick one, or add one")
        kinds = (f"kind={self.kind}",) if self.kind in set(DocumentKind) else ()
        same = {name: getattr(self, name) for name in ("document", "index", "profile", "exclude_self", "mask")}
        own = {
            "text": "" if self.document else self.text,
            "terms": [f"{each.word}={each.weight}" for each in used],
            "before": self.before or None,
            "before_own_date": self.before_own and bool(self.document),
            "filters": [*self.filters, *kinds],
        }
        return page_parameters(EditedParameters, same | own)


@dataclass(frozen=True, slots=True)
class FormError:
    """An error in the reader's language, with the detail of errors that have no text."""

    words: str
    detail: str = ""


@router.get("/similar", dependencies=[accepts("document", "index", "filter")])
async def form(request: Request) -> HTMLResponse:
    """An empty form; with ``?document=ID`` documents similar to that document."""
    given = request.query_params
    filters = tuple(each for each in given.getlist("filter") if each.strip())
    asked = SimilarForm(document=given.get("document", ""), index=given.get("index", ""), filters=filters)
    return await _answered(request, asked)


@router.post("/similar", dependencies=[accepts()])
async def posted(request: Request) -> HTMLResponse:
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


async def _answered(request: Request, asked: SimilarForm, error: LexFuseError | None = None) -> HTMLResponse:
    """The page, with the results or an error."""
    service, known = service_of(request), error
    found: SimilarPage | None = None
    index, cards, document = await service.run(_around, service.registry, asked)
    posted = request.method == "POST"
    if known is None and (asked.document or posted):
        try:
            if not asked.document and not asked.text.strip():
                raise EmptyQuestionError("give a text, a file or a document")
            found = await service.run(similar, service.registry, asked.parameters(), asked.file)
        except (ConfigError, DataError) as wrong:
            known = wrong
    values = _values(request, replace(asked, index=index), cards, document, found)
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
        "percent": lambda value: f"{number(100 * value, messages.language.value, 0)}{NO_BREAK_SPACE}%",
    }


def words_of(asked: SimilarForm, found: SimilarPage | None) -> list[EditedTerm]:
    """The list to edit: the words that were searched for, then those that the reader deselected.

    >>> words_of(SimilarForm(words=(EditedTerm("lease", 2, "1", used=False), EditedTerm("rent", 1, "2"))), None)[1].word
    'lease'
    """
    if found is None:
        return sorted(asked.words, key=lambda each: not each.used)
    counts = {each.word: each.count for each in asked.words}
    searched = [EditedTerm(term.word, term.count or counts.get(term.word, 0), f"{term.weight:g}") for term in found.terms]
    there = {each.word for each in searched}
    return searched + [each for each in asked.words if not each.used and each.word not in there]


def asked_of(data: FormData) -> SimilarForm:
    """The fields of a form; edited words only if the reader searches again with them.

    >>> asked_of(FormData([("action", "again"), ("term", "rent"), ("weight", "2"), ("use", "rent"), ("add", "lease=3")])).words
    (EditedTerm(word='rent', count=0, weight='2', used=True), EditedTerm(word='lease', count=0, weight='3', used=True))
    """

    def text(name: str) -> str:
        value = data.get(name, "")
        return value if isinstance(value, str) else ""

    return SimilarForm(
        text=text("text").replace("\r\n", "\n"),
        document=text("document"),
        index=text("index"),
        profile=text("profile"),
        kind=text("kind"),
        exclude_self=bool(text("exclude_self")),
        mask=bool(text("mask")),
        before=text("before").strip(),
        before_own=bool(text("before_own")),
        filters=tuple(value for value in data.getlist("filter") if isinstance(value, str) and value.strip()),
        words=_words(data) if text("action") == "again" else (),
    )


def _words(data: FormData) -> tuple[EditedTerm, ...]:
    """The edited words: names, counts and weights in the same order, ticks for those in use; then added words."""

    def texts(name: str) -> list[str]:
        return [value for value in data.getlist(name) if isinstance(value, str)]

    names, counts, weights, used = texts("term"), texts("count"), texts("weight"), set(texts("use"))
    given = texts("add")
    if len(names) + sum(one.count(",") + 1 for one in given) > MAX_WORDS:
        raise ConfigError(f"at most {MAX_WORDS:,} words can be searched for; leave some out")
    counts += ["0"] * (len(names) - len(counts))
    weights += ["1"] * (len(names) - len(weights))
    rows = zip(names, counts, weights, strict=False)
    words = [EditedTerm(name, _count(count), weight.strip() or "1", name in used) for name, count, weight in rows]
    added = dict[str, EditedTerm]()  # the last entry of a word counts
    for part in (part.strip() for one in given for part in one.split(",")):
        name, equals, weight = part.rpartition("=")
        word = EditedTerm(name.strip(), 0, weight.strip()) if equals and name.strip() else EditedTerm(part, 0, "1")
        added.pop(word.word, None)
        added[word.word] = word
    return (*(each for each in words if each.word not in added), *(each for each in added.values() if each.word))


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _around(registry: IndexRegistry, asked: SimilarForm) -> tuple[str, list[ProfileCard], DocumentCard | None]:
    """The index, its profiles, and the document of the question."""
    served = registry.index(asked.index)
    with served.lease() as version:
        document = document_cards(version, [asked.document]).get(asked.document) if asked.document else None
        if asked.document and document is None:
            raise UnknownDocumentError(f"there is no document {asked.document[:80]!r} in the index {served.name!r}")
        return served.name, profile_cards(version), document


def _error_message(request: Request, error: LexFuseError) -> FormError:
    """An error in the reader's language, if the page has a text for its code."""
    messages = messages_of(reader_of(request).language)
    if messages.has(key := f"similar.error.{error.code}"):
        return FormError(messages.text(key))
    return FormError(messages.text("similar.error.other"), message_of(error)[:500])


def _weight(text: str) -> bool:
    try:
        return 0 < float(text) < math.inf
    except ValueError:
        return False


def _limit(request: Request) -> int:
    return service_of(request).settings.max_body_bytes
