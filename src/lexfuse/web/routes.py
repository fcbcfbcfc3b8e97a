"""The routes of all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.routing import APIRoute

from lexfuse.service.problems import add_problems
from lexfuse.web import preferences, static_files
from lexfuse.web.error_pages import page_or_problem
from lexfuse.web.pages import (
    browse,
    changes,
    compare,
    document,
    experiments,
    explain,
    export,
    feedback,
    help,
    judgement_bench,
    kept,
    search,
    similar,
    suggest,
)

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

ROUTERS: tuple[APIRouter, ...] = (
    search.router, document.router, browse.router, changes.router, explain.router, compare.router, similar.router, kept.router,
    experiments.router, export.router, help.router, feedback.router, judgement_bench.router, suggest.router,
    preferences.router, static_files.router,
)  # fmt: skip


def add_pages(app: FastAPI) -> None:
    """Add the pages and the error pages to an application."""
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute) and route.methods and "GET" in route.methods:
                route.methods.add("HEAD")  # the server leaves out the body
        app.include_router(router)
    add_problems(app, page_or_problem)
