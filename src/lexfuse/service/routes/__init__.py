"""The endpoints of the API, by what they are about."""

from __future__ import annotations

from fastapi import APIRouter

from lexfuse.service.routes import documents, feedback, health, search, similar

ROUTERS: tuple[APIRouter, ...] = (
    search.router, similar.router, search.citations, documents.router, feedback.router, health.router,
)  # fmt: skip
