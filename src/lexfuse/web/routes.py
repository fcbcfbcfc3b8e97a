"""The routes of all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.service.problems import add_problems
from lexfuse.web import preferences, static_files
from lexfuse.web.error_pages import page_or_problem
from lexfuse.web.pages import compare, document, experiments, explain, export, feedback, help, search, similar

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

ROUTERS: tuple[APIRouter, ...] = (
    search.router, document.router, explain.router, compare.router, similar.router, experiments.router, export.router,
    help.router, feedback.router, preferences.router, static_files.router,
)  # fmt: skip


def add_pages(app: FastAPI) -> None:
    """Add the pages and the error pages to an application."""
    for router in ROUTERS:
        app.include_router(router)
    add_problems(app, page_or_problem)
