"""The experiments page: summaries of advice reports, and the reports."""

from __future__ import annotations

from pathlib import Path

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.advice.findings import Verdict
from lexfuse.service.context import ServiceContext
from lexfuse.service.routes.responses import service_of
from lexfuse.web.advice_reports import Experiment, experiment_named, experiments_in, served
from lexfuse.web.compression import compress
from lexfuse.web.messages import messages_of
from lexfuse.web.renderer import page, reader_of
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

FOLDER = "advice"  # of an index
_VERDICTS = {
    Verdict.FUSE: "better",
    Verdict.HARM: "worse",
    Verdict.UNPROVEN: "equal",
    Verdict.ALONE: "alone",
    Verdict.TOO_FEW: "too_few",
}


def folders_of(service: ServiceContext) -> list[Path]:
    """The folders of reports: in every index, then those of the settings.

    >>> from lexfuse.service.registry import IndexRegistry
    >>> from lexfuse.service.settings import ServiceSettings
    >>> folders_of(ServiceContext(IndexRegistry([]), ServiceSettings(advice=["reports"])))
    [PosixPath('reports')]
    """
    folders = [service.registry.index(name).source.folder for name in service.registry.names]
    return [*(folder / FOLDER for folder in folders if folder is not None), *service.settings.advice]


def verdict_key(experiment: Experiment) -> str:
    """The key of the short text of a verdict."""
    return _VERDICTS[experiment.verdict]


@router.get("/experiments", dependencies=[accepts()])
async def experiments(request: Request) -> HTMLResponse:
    """All reports, newest first."""
    service = service_of(request)
    found, wrong = await service.run(experiments_in, folders_of(service))
    return await page(request, "experiments.html", experiments=found, wrong=wrong, verdict_key=verdict_key, folder="INDEX")


@router.get("/experiments/{name}", dependencies=[accepts()])
async def experiment(request: Request, name: str) -> HTMLResponse:
    """A report with a link back, under a policy that allows only its own style and script."""
    service = service_of(request)
    found, _ = await service.run(experiments_in, folders_of(service))
    words = messages_of(reader_of(request).language).text("experiments.all")
    report = await service.run(served, experiment_named(found, name), "/experiments", f"← {words}")
    # Browsers refuse a sandboxed page with an opener policy.
    headers = {"Content-Security-Policy": report.policy, "Cross-Origin-Opener-Policy": "unsafe-none"}
    response = HTMLResponse(report.page, headers=headers)
    await service.run(compress, request, response)
    return response
