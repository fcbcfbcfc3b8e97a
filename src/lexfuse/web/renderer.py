"""Rendering of templates: Jinja with autoescaping, undefined names as errors, and no filter that marks text as safe.

All markup is in templates, which escape what they write. A script that requests a part of a page (header ``X-LexFuse-Part``) gets
the template of that part, rendered with the same values.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from lexfuse.deadline import check
from lexfuse.web import locale_format
from lexfuse.web.compression import compress
from lexfuse.web.document_names import localised_citation, name_of, short_name
from lexfuse.web.highlights import excerpt_of, groups_of, mark_groups, shortened
from lexfuse.web.messages import InterfaceLocale, messages_of
from lexfuse.web.preferences import ReaderPreferences, own_page, preferences_of
from lexfuse.web.static_files import static_files

if TYPE_CHECKING:
    from starlette.requests import Request

    from lexfuse.service.context import ServiceContext

TEMPLATES = Path(__file__).parent / "templates"
PART_HEADER = "X-LexFuse-Part"
_REMOVED = ("safe", "xmlattr", "urlize", "tojson")  # filters that return markup


@cache
def environment() -> Environment:
    """The environment of all templates.

    >>> environment().from_string("{{ name }}").render(name="<b>")
    '&lt;b&gt;'
    """
    made = Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, auto_reload=False)  # fmt: skip
    for name in _REMOVED:
        del made.filters[name]
    made.globals.update(
        static=static_files().url,
        excerpt_of=excerpt_of,
        groups_of=groups_of,
        mark_groups=mark_groups,
        shortened=shortened,
        name_of=name_of,
        bar_of=bar_of,
        document_url=document_url,
        similar_url=similar_url,
        browse_url=browse_url,
        languages=list(InterfaceLocale),
    )
    return made


def document_url(document: str, index: str = "", anchor: str = "") -> str:
    """The address of a document.

    >>> document_url("a/b c?", "codes", "p3")
    '/documents/a%2Fb%20c%3F?index=codes#p3'
    """
    query = f"?{urlencode({'index': index})}" if index else ""
    return f"/documents/{quote(document, safe='')}{query}{f'#{quote(anchor)}' if anchor else ''}"


def similar_url(document: str, index: str = "") -> str:
    """The address of documents similar to one of the index.

    >>> similar_url("a b")
    '/similar?document=a+b'
    """
    return f"/similar?{urlencode({'document': document, **({'index': index} if index else {})})}"


def browse_url(path: Sequence[str], index: str = "") -> str:
    """The address of a section of the table of contents.

    >>> browse_url(["Code du travail", "Livre II"], "law")
    '/browse?index=law&path=Code+du+travail&path=Livre+II'
    """
    return f"/browse?{urlencode([*([('index', index)] if index else []), *(('path', part) for part in path)])}".rstrip("?")


@dataclass(frozen=True, slots=True)
class Bar:
    """Start and width of a bar, and the place of zero, in percent of the total width."""

    start: float
    width: float
    zero: float


def bar_of(value: float, values: Iterable[float]) -> Bar:
    """The bar of a value among the values it is shown with; negative values extend to the left of zero.

    >>> bar_of(1.0, [1.0, 2.0]), bar_of(-1.0, [-1.0, 1.0]), bar_of(0.0, [0.0])
    (Bar(start=0.0, width=50.0, zero=0.0), Bar(start=0.0, width=50.0, zero=50.0), Bar(start=0.0, width=0.0, zero=0.0))
    """
    shown = [0.0, value, *values]
    low, high = min(shown), max(shown)
    if low == high:
        return Bar(0.0, 0.0, 0.0)
    unit = 100 / (high - low)
    zero = round(abs(low) * unit, 2)
    width = round(abs(value) * unit, 2)
    return Bar(zero if value >= 0 else round(zero - width, 2), width, zero)


def words_for(preferences: ReaderPreferences) -> dict[str, Any]:
    """Names that depend on the language: `t` for texts, and formats of numbers, days and times.

    >>> words_for(ReaderPreferences(InterfaceLocale.FRENCH))["number"](0.5)
    '0,500'
    """
    language = preferences.language.value
    messages = messages_of(preferences.language)
    return {
        "language": language,
        "theme": preferences.theme,
        "expert": preferences.expert,
        "judge_name": preferences.judge,
        "title_of": lambda card: card.titles.get(language) or card.title or card.name,
        "printed": lambda: locale_format.day(datetime.date.today(), language),
        "t": messages.text,
        "said": messages.said,
        "has_text": messages.has,
        "number": lambda value, digits=None: locale_format.number(value, language, digits),
        "day": partial(locale_format.day, language=language),
        "milliseconds": partial(locale_format.milliseconds, language=language),
        "citation_of": partial(localised_citation, messages=messages),
        "short_name": partial(short_name, messages=messages),
    }


def rendered(template: str, preferences: ReaderPreferences, values: Mapping[str, Any]) -> str:
    """A template as text."""
    pieces = []
    for piece in environment().get_template(template).generate(**words_for(preferences), **values):
        check()  # a long page may exceed the time of its request
        pieces.append(piece)
    return "".join(pieces)


def reader_of(request: Request) -> ReaderPreferences:
    """The preferences of the reader; the default language is that of the settings."""
    service = getattr(request.app.state, "service", None)
    return preferences_of(request, InterfaceLocale(service.settings.language.value) if service else InterfaceLocale.ENGLISH)


def site_of(request: Request) -> str:
    """The address of the service as the browser knows it, for links that leave the page: exports, feeds, paper.

    >>> from starlette.requests import Request
    >>> site_of(Request({"type": "http", "scheme": "https", "server": ("law.example", 443), "path": "/", "headers": []}))
    'https://law.example'
    """
    return f"{request.url.scheme}://{request.url.netloc}"


async def page(
    request: Request, template: str, *, parts: Mapping[str, str] | None = None, status: int = 200, **values: Any
) -> HTMLResponse:
    """The response to a request for a page, or for one of its `parts` (names to templates).

    It is rendered on a search thread, because a long document takes seconds.
    """
    service: ServiceContext = request.app.state.service
    return await service.run(small_page, request, template, parts=parts, status=status, **values)


def small_page(
    request: Request, template: str, *, parts: Mapping[str, str] | None = None, status: int = 200, **values: Any
) -> HTMLResponse:
    """The same on the current thread: for errors, which are short, and must be shown even if no thread is free."""
    preferences = reader_of(request)
    wanted = request.headers.get(PART_HEADER, "")
    part = (parts or {}).get(wanted) if wanted else None
    here = own_page(request.url.path + (f"?{request.url.query}" if request.url.query else ""))
    known = {"path": own_page(request.url.path), "here": here, "site": site_of(request), **values}
    response = HTMLResponse(rendered(part or template, preferences, known), status)
    response.headers["Vary"] = f"Cookie, Accept-Language, {PART_HEADER}"
    response.headers["Content-Language"] = preferences.language.value
    preferences.keep(response)
    compress(request, response)
    return response
