"""The compare page: one question, two or three profiles side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

from lexfuse.service.operations.compare import MAX_PROFILES, CompareParameters, compare
from lexfuse.service.operations.index_list import profile_cards
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.routes.responses import service_of
from lexfuse.service.schemas.search import ProfileCard, ProfileComparison
from lexfuse.web.renderer import page
from lexfuse.web.search_state import SEARCH, SearchState, accepts

router = APIRouter(include_in_schema=False)

PARTS = {"compare": "compare_part.html"}


@router.get("/compare", dependencies=[accepts(*SEARCH)])
async def compared(request: Request) -> HTMLResponse:
    """The form, and the rankings of a question."""
    service, state = service_of(request), SearchState.of(request.query_params)
    index, cards = await service.run(_cards, service.registry, state.index)
    wanted = [name for name in request.query_params.getlist("profile") if name]
    profiles = chosen_of(wanted, cards)
    twice = len(set(wanted)) < len(wanted)
    comparison: ProfileComparison | None = None
    if state.query.strip() and len(profiles) > 1 and not twice:
        comparison = await service.answer(compare, state.request(CompareParameters, profiles=profiles, index=index))
    values: dict[str, Any] = {
        "q": state.query,
        "index": index,
        "cards": cards,
        "chosen": [*(wanted if twice else profiles), "", "", ""],
        "filters": list(state.filters),
        "as_of": state.as_of,
        "twice": twice,
        "comparison": comparison,
        "why_url": lambda document, profile: state.but(profile=profile, index=index).page_of("/why", document),
    }
    return await page(request, "compare.html", parts=PARTS, **values)


def chosen_of(wanted: Sequence[str], cards: Sequence[ProfileCard]) -> list[str]:
    """The profiles to compare: those wanted, three at most; where fewer than two are, the next that can be used.

    >>> cards = [ProfileCard(name=name, channels=[]) for name in ("hybrid", "bm25", "dense")]
    >>> chosen_of([], cards), chosen_of(["bm25"], cards), chosen_of(["dense", "bm25"], cards)
    (['hybrid', 'bm25'], ['bm25', 'hybrid'], ['dense', 'bm25'])
    """
    chosen = list(wanted[:MAX_PROFILES])
    usable = [card.name for card in cards if card.usable and card.name not in chosen]
    return chosen + usable[: max(2 - len(chosen), 0)]


def _cards(registry: IndexRegistry, index: str) -> tuple[str, list[ProfileCard]]:
    """The name of the index, and its profiles."""
    served = registry.index(index)
    with served.lease() as version:
        return served.name, profile_cards(version)
