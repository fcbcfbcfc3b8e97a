"""Preferences of a reader: the language, the theme, whether the tools of experts are shown, and the name to judge under.

The language comes from the parameter ``lang``, the cookie, Accept-Language or the settings of the service, in this order.
The theme comes from a cookie; without one the page follows the system.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import unquote

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from lexfuse.data.judgements import judge_name
from lexfuse.errors import ConfigError
from lexfuse.web.messages import InterfaceLocale
from lexfuse.web.search_state import accepts

router = APIRouter(include_in_schema=False)

LANGUAGE_COOKIE = "lexfuse_language"
THEME_COOKIE = "lexfuse_theme"
EXPERT_COOKIE = "lexfuse_expert"
JUDGE_COOKIE = "lexfuse_judge"  # percent-encoded
YEAR = 365 * 24 * 3600


class Theme(StrEnum):
    """Light, dark, or that of the system.

    >>> Theme.SYSTEM.following, Theme.DARK.following
    (<Theme.LIGHT: 'light'>, <Theme.SYSTEM: 'system'>)
    """

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"

    @property
    def following(self) -> Theme:
        """The next theme of the switch."""
        order = list(Theme)
        return order[(order.index(self) + 1) % len(order)]


@dataclass(frozen=True, slots=True)
class ReaderPreferences:
    """Language, theme and face of one request."""

    language: InterfaceLocale = InterfaceLocale.ENGLISH
    theme: Theme = Theme.SYSTEM
    expert: bool = False  # whether profiles, judging, comparisons and experiments are shown
    judge: str = ""  # the name that judgements are kept under
    asked: bool = False  # whether the address names the language, which is then kept

    def keep(self, response: Response) -> None:
        """Keep a language that the address names."""
        if self.asked:
            remember(response, LANGUAGE_COOKIE, self.language.value)


@router.get("/preferences", dependencies=[accepts("theme", "expert", "next")])
async def keep_preferences(theme: str = "", expert: str = "", next: str = "/") -> RedirectResponse:
    """Keep the theme or the face in a cookie; nothing else changes, so a link is enough."""
    if (theme or not expert) and theme not in set(Theme):
        raise ConfigError(f"theme must be one of {', '.join(Theme)}; got {theme[:40]!r}")
    if expert not in ("", "0", "1"):
        raise ConfigError(f"expert must be 0 or 1; got {expert[:40]!r}")
    response = RedirectResponse(own_page(next), 303)
    for name, value in ((THEME_COOKIE, theme), (EXPERT_COOKIE, expert)):
        if value:
            remember(response, name, value)
    return response


def preferences_of(request: Request, usual: InterfaceLocale = InterfaceLocale.ENGLISH) -> ReaderPreferences:
    """The preferences of a request; unknown values are skipped.

    >>> headers = [(b"accept-language", b"de, fr-BE;q=0.8, en;q=0.7")]
    >>> preferences_of(Request({"type": "http", "headers": headers, "query_string": b"lang=xx"})).language
    <InterfaceLocale.FRENCH: 'fr'>
    """
    asked = _language(request.query_params.get("lang", ""))
    language = asked or _language(request.cookies.get(LANGUAGE_COOKIE, ""))
    theme = request.cookies.get(THEME_COOKIE, "")
    return ReaderPreferences(
        language=language or accepted(request.headers.get("accept-language", ""), usual),
        theme=Theme(theme) if theme in set(Theme) else Theme.SYSTEM,
        expert=request.cookies.get(EXPERT_COOKIE) == "1",
        judge=_judge(request.cookies.get(JUDGE_COOKIE, "")),
        asked=asked is not None,
    )


def accepted(header: str, usual: InterfaceLocale = InterfaceLocale.ENGLISH) -> InterfaceLocale:
    """The language with the highest quality in Accept-Language, or the usual one.

    >>> accepted("en;q=0.3, fr;q=0.9"), accepted(""), accepted("fr;q=0, *")
    (<InterfaceLocale.FRENCH: 'fr'>, <InterfaceLocale.ENGLISH: 'en'>, <InterfaceLocale.ENGLISH: 'en'>)
    """
    best, most = usual, 0.0
    for entry in header[:1000].split(","):
        name, _, rest = entry.partition(";")
        language = _language(name.strip().split("-")[0].lower())
        liking = _quality(rest)
        if language is not None and liking > most:
            best, most = language, liking
    return best


def remember(response: Response, name: str, value: str) -> None:
    """Keep a preference for a year, in a cookie that the script of the page may change."""
    response.set_cookie(name, value, max_age=YEAR, path="/", samesite="lax")


def own_page(address: str) -> str:
    r"""An address of this site to return to; the start page instead of any other address.

    >>> own_page("/?q=loi"), own_page("//elsewhere.example/"), own_page("/\\elsewhere.example")
    ('/?q=loi', '/', '/')
    """
    fine = address.startswith("/") and address[1:2] not in ("/", "\\") and address.isprintable()
    return address if fine and len(address) <= 8000 else "/"


def _language(name: str) -> InterfaceLocale | None:
    return InterfaceLocale(name) if name in set(InterfaceLocale) else None


def _judge(cookie: str) -> str:
    """The name of the judge; none if the cookie is invalid."""
    try:
        return judge_name(unquote(cookie, errors="strict"))
    except (ConfigError, UnicodeDecodeError):
        return ""


def _quality(text: str) -> float:
    """The q of an entry of Accept-Language; 1 if it has none, 0 if it is not a number."""
    name, _, value = text.partition("=")
    if not text.strip():
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
