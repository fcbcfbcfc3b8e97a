"""The addresses of the search page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.web.failing import add_error_pages
from lexfuse.web.pages import compare, document, experiments, exporting, files, help, judging, preferring, search, similar, why

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

ROUTERS: tuple[APIRouter, ...] = (
    search.router, document.router, why.router, compare.router, similar.router, experiments.router, exporting.router,
    help.router, judging.router, preferring.router, files.router,
)  # fmt: skip


def add_pages(app: FastAPI) -> None:
    """Give an application the pages, and errors as pages.

    >>> from fastapi import FastAPI
    >>> app = FastAPI()
    >>> add_pages(app)
    >>> str(app.url_path_for("search_page"))
    '/'
    """
    for router in ROUTERS:
        app.include_router(router)
    add_error_pages(app)
