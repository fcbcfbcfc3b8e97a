"""Judgements on pages: graded, removed; and all judgements as a file.

A judgement has the name that the reader judges under; a reader sees and removes only judgements under this name. The same callers
may judge as in the API: those with a key of the scope write, or all if `anonymous_judging` is on.
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
from lexfuse.web.renderer import PART_HEADER, page, reader_of
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

REMOVE = "remove"
GRADES = (0, 1, 2, 3)  # off topic, related, relevant, a full answer
FIELDS = ("q", "document", "grade", "rank", "profile", "index", "next")


@router.post("/judge", dependencies=[accepts()])
async def judge_page(request: Request) -> Response:
    """Add or remove a judgement, then return to the page, or for a script render the buttons."""
    require_feedback_scope(request)
    service = service_of(request)
    async with request.form(max_files=0, max_fields=20) as data:
        refuse_unknown(data, FIELDS)
        fields = {name: value for name, value in data.items() if isinstance(value, str)}
    judge = reader_of(request).judge
    if fields.get("grade") == REMOVE:
        query, document, index = (fields.get(name, "") for name in ("q", "document", "index"))
        await service.write(index, remove_feedback, service.registry, query, document, index, judge)
    else:
        judgement = judgement_of(fields, judge)
        await service.write(judgement.index, add_feedback, service.registry, judgement)
    back = own_page(fields.get("next", "/"))
    if request.headers.get(PART_HEADER) != "judge":
        rank = fields.get("rank", "")
        return RedirectResponse(f"{back}#result-{rank}" if rank.isdecimal() and "#" not in back else back, 303)
    return await _buttons(request, fields, back)


@router.get("/judgements", dependencies=[accepts("format", "index", "judge")])
async def judgements_page(request: Request, format: str = "qrels", index: str = "", judge: str = "") -> Response:
    """Every judgement on an index, or those of a judge, as a file."""
    require_feedback_scope(request)
    if format not in set(JudgementFormat):
        raise ConfigError(f"format must be one of {', '.join(JudgementFormat)}; got {format[:40]!r}")
    service = service_of(request)
    found = await service.run(judgements, service.registry, index, judge)
    return download(await service.run(exported_judgements, found, JudgementFormat(format)))


async def judged_here(request: Request, query: str, index: str) -> dict[str, Any]:
    """Whether the reader may judge, and the grades that the reader gave to documents for a question."""
    service = service_of(request)
    allowed = may_judge(request) and service.registry.index(index).source.folder is not None  # where judgements are kept
    asked = allowed and query.strip()
    grades = await service.run(judged, service.registry, query, index, reader_of(request).judge) if asked else {}
    return {"judging": allowed, "judged": grades, "grades": GRADES}


def judgement_of(fields: dict[str, str], judge: str = "") -> JudgementBody:
    """The judgement of a form; `ConfigError` if it is invalid.

    >>> judgement_of({"q": "préavis", "document": "a", "grade": "2", "rank": "3"}, "Zoé").rank
    3
    >>> judgement_of({"q": "préavis", "document": "a", "grade": "perhaps"})
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: grade must be 0, 1, 2, 3 or remove, got 'perhaps'
    """
    grade = fields.get("grade", "")
    if grade not in map(str, GRADES):
        raise ConfigError(f"grade must be {', '.join(map(str, GRADES))} or {REMOVE}, got {grade[:40]!r}")
    own = {name: fields[name] for name in ("document", "rank", "profile", "index") if fields.get(name)}
    return page_parameters(JudgementBody, {**own, "query": fields.get("q", ""), "grade": int(grade), "judge": judge})


async def _buttons(request: Request, fields: dict[str, str], back: str) -> HTMLResponse:
    service = service_of(request)
    index = fields.get("index", "")

    def document() -> DocumentCard:
        with service.registry.index(index).lease() as version:
            name = fields.get("document", "")
            return document_cards(version, [name]).get(name, DocumentCard(id=name))

    grade = fields.get("grade", "")
    values: dict[str, Any] = {
        "fields": fields,
        "index_name": index,
        "document": await service.run(document),
        "judged": None if grade == REMOVE else int(grade),
        "grades": GRADES,
    }
    return await page(request, "judge_part.html", here=back, **values)
