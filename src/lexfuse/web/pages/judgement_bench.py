"""The evaluator's bench: the name of the judge, progress, agreement, files, and the advice from the judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse

from lexfuse.advice.inputs import LEAST_QUESTIONS
from lexfuse.data.judgements import NAME_LENGTH, judge_name
from lexfuse.service.middleware.api_key import require_feedback_scope
from lexfuse.service.operations.index_list import index_list
from lexfuse.service.operations.judgement_bench import REPORT_FOLDER, advise_on_judgements, judging_summary
from lexfuse.service.parameters import refuse_unknown
from lexfuse.service.routes.responses import service_of
from lexfuse.web.advice_reports import experiments_in
from lexfuse.web.pages.experiments import folders_of
from lexfuse.web.pages.feedback import GRADES
from lexfuse.web.pages.search import chosen_index
from lexfuse.web.preferences import JUDGE_COOKIE, own_page, remember
from lexfuse.web.renderer import page
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

SHOWN = 100  # questions on the page; the files have all
COMMAND = f"lexfuse advise INDEX --judgements --scores-of candidates -o INDEX/{REPORT_FOLDER.as_posix()}"


@router.get("/judging", dependencies=[accepts("index")])
async def judging_page(request: Request, index: str = "") -> HTMLResponse:
    """What is judged, by whom, and what to do with it."""
    require_feedback_scope(request)
    service = service_of(request)
    indexes = (await service.run(index_list, service.registry)).indexes
    indexes = [each for each in indexes if service.registry.index(each.name).source.folder is not None or each.name == index]
    chosen = chosen_index(indexes, index)
    values: dict[str, Any] = {
        "indexes": indexes,
        "index": chosen,
        "summary": await service.run(judging_summary, service.registry, chosen.name),
        "grades": GRADES,
        "shown": SHOWN,
        "least": LEAST_QUESTIONS,
        "name_length": NAME_LENGTH,
        "command": COMMAND,
    }
    return await page(request, "judging.html", **values)


@router.post("/judging/name", dependencies=[accepts()])
async def keep_name(request: Request) -> RedirectResponse:
    """Keep the name of the judge in a cookie; without a name, forget it."""
    require_feedback_scope(request)
    fields = await _fields(request, "judge", "next")
    name = judge_name(fields.get("judge", ""))
    response = RedirectResponse(own_page(fields.get("next", "/judging")), 303)
    if name:
        remember(response, JUDGE_COOKIE, quote(name, safe=""))
    else:
        response.delete_cookie(JUDGE_COOKIE, path="/", samesite="lax")
    return response


@router.post("/judging/advise", dependencies=[accepts()])
async def advise_page(request: Request) -> RedirectResponse:
    """Run the advice on the judged questions, then show its report among the experiments."""
    require_feedback_scope(request)
    service = service_of(request)
    fields = await _fields(request, "index")
    folder = await service.run(advise_on_judgements, service.registry, fields.get("index", ""))
    found, _ = await service.run(experiments_in, folders_of(service))
    name = next((each.name for each in found if _same(each.folder, folder)), "")
    return RedirectResponse(f"/experiments#{quote(name)}", 303)


async def _fields(request: Request, *names: str) -> dict[str, str]:
    async with request.form(max_files=0, max_fields=20) as data:
        refuse_unknown(data, names)
        return {name: value for name, value in data.items() if isinstance(value, str)}


def _same(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve()
