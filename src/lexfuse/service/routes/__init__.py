"""The endpoints of the API, one module each."""

from __future__ import annotations

from fastapi import APIRouter

from lexfuse.service.routes import changes, cite, compare, documents, explain, feedback, health, profiles, search, similar

ROUTERS: tuple[APIRouter, ...] = tuple(
    one.router for one in (search, similar, explain, compare, cite, documents, changes, feedback, profiles, health)
)
