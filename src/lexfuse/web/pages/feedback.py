"""Judgements on pages: relevant, not relevant, removed; and all judgements as a file.

The same callers may judge as in the API: those with a key of the scope write, or all if `anonymous_judging` is on.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from lexfuse.errors import ConfigError
from lexfuse.service.middleware.api_key import may_judge, require_feedback_scope
from lexfuse.service.operations.documents import document_cards
from lexfuse.service.operations.export import JudgementFormat, exported_judgements
from lexfuse.service.operations.feedback import JudgementBody, add_feedback, judged, judgements, remove_feedback
from lexfuse.service.parameters import page_parameters, refuse_unknown
from lexfuse.service.routes.responses import download, service_of
from lexfuse.service.schemas.document import DocumentCard
from lexfuse.web.preferences import own_page
from lexfuse.web.renderer import PART_HEADER, page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

REMOVE = "remove"
FIELDS = ("q", "document", "relevant", "rank", "profile", "index", "next")
_NUMBERS = {"0": 0, "1": 1}


@router.post("/judge", dependencies=[accepts()])
async def judge_page(request: Request) -> Response:
    """Add or remove a judgement, then return to the page, or for a script render the buttons."""
    require_feedback_scope(request)
    service = service_of(request)
    async with request.form(max_files=0, max_fields=20) as data:
        refuse_unknown(data, FIELDS)
        fields = {name: value for name, value in data.items() if isinstance(value, str)}
    relevant, query = fields.get("relevant", ""), fields.get("q", "")
    if relevant == REMOVE:
        index = fields.get("index", "")
        await service.write(index, remove_feedback, service.registry, query, fields.get("document", ""), index)
    else:
        judgement = judgement_of(fields)
        await service.write(judgement.index, add_feedback, service.registry, judgement)
    back = own_page(fields.get("next", "/"))
    if request.headers.get(PART_HEADER) != "judge":
        rank = fields.get("rank", "")
        return RedirectResponse(f"{back}#result-{rank}" if rank.isdecimal() and "#" not in back else back, 303)
    return await _buttons(request, fields, back)


@router.get("/judgements", dependencies=[accepts("format", "index")])
async def judgements_page(request: Request, format: str = "qrels", index: str = "") -> Response:
    """Every judgement on an index as a file."""
    require_feedback_scope(request)
    if format not in set(JudgementFormat):
        raise ConfigError(f"format must be one of {', '.join(JudgementFormat)}; got {format[:40]!r}")
    service = service_of(request)
    found = await service.run(judgements, service.registry, index)
    return download(await service.run(exported_judgements, found, JudgementFormat(format)))


async def judged_here(request: Request, query: str, index: str) -> dict[str, Any]:
    """Whether the reader may judge, and the judgements of documents for a question."""
    service = service_of(request)
    allowed = may_judge(request) and service.registry.index(index).source.folder is not None  # where judgements are kept
    grades = await service.run(judged, service.registry, query, index) if allowed and query.strip() else {}
    return {"judging": allowed, "judged": {document: grade > 0 for document, grade in grades.items()}}


def judgement_of(fields: dict[str, str]) -> JudgementBody:
    """The judgement of a form; `ConfigError` if it is invalid.

    >>> judgement_of({"q": "préavis", "document": "a", "relevant": "1", "rank": "3"}).rank
    3
    >>> judgement_of({"q": "préavis", "document": "a", "relevant": "perhaps"})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: relevant must be 1, 0 or remove, got 'perhaps'
    """
    relevant = fields.get("relevant", "")
    if relevant not in _NUMBERS:
        raise ConfigError(f"relevant must be 1, 0 or {REMOVE}, got {relevant[:40]!r}")
    own = {name: fields[name] for name in ("document", "rank", "profile", "index") if fields.get(name)}
    return page_parameters(JudgementBody, {**own, "query": fields.get("q", ""), "grade": _NUMBERS[relevant]})


async def _buttons(request: Request, fields: dict[str, str], back: str) -> HTMLResponse:
    service = service_of(request)
    index = fields.get("index", "")

    def document() -> DocumentCard:
        with service.registry.index(index).lease() as version:
            name = fields.get("document", "")
            return document_cards(version, [name]).get(name, DocumentCard(id=name))

    relevant = fields.get("relevant", "")
    values: dict[str, Any] = {
        "fields": fields,
        "index_name": index,
        "document": await service.run(document),
        "judged": None if relevant == REMOVE else relevant == "1",
    }
    return await page(request, "judge_part.html", here=back, **values)
