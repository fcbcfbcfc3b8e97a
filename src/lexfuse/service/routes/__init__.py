"""The endpoints of the API, by what they are about."""

from __future__ import annotations

from fastapi import APIRouter

from lexfuse.service.routes import contents, documents, feedback, health, history, search, similar

ROUTERS: tuple[APIRouter, ...] = (
    search.router, similar.router, search.citations, documents.router, contents.router, history.router, feedback.router,
    health.router,
)  # fmt: skip
