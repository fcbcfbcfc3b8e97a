"""``/preferences``: keep a theme and return."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.responses import RedirectResponse

from lexfuse.errors import ConfigError
from lexfuse.web.page_parameters import accepts
from lexfuse.web.preferences import THEME_COOKIE, Theme, own_page, remember

router = APIRouter(include_in_schema=False)


@router.get("/preferences", dependencies=[accepts("theme", "next")])
async def keep_preferences(theme: str, next: str = "/") -> RedirectResponse:
    """Keep the theme in a cookie; nothing else changes, so a link is enough."""
    if theme not in set(Theme):
        raise ConfigError(f"theme must be one of {', '.join(Theme)}; got {theme[:40]!r}")
    response = RedirectResponse(own_page(next), 303)
    remember(response, THEME_COOKIE, theme)
    return response
