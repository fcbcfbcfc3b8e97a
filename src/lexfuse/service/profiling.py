"""Everything that can be searched, and how."""

from __future__ import annotations

import numpy as np

from lexfuse.service.answers.profiles import IndexCard, ProfileCard, Profiles
from lexfuse.service.library import Library, Shelf
from lexfuse.service.opened import Opened
from lexfuse.service.redaction import without_paths


def profiles(library: Library) -> Profiles:
    """The indexes of a library with their profiles.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> from lexfuse.service.library import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Index.create(f"{folder}/law").close()
    ...     with Library.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         [(card.name, card.default_profile) for card in profiles(library).indexes]
    [('law', 'bm25')]
    """
    return Profiles(indexes=[_card(library.shelf(name)) for name in library.names])


def profile_cards(opened: Opened) -> list[ProfileCard]:
    """What a version of an index can be searched by, for those who ask: a reason why not names files without their paths."""
    return [card.model_copy(update={"reason": without_paths(card.reason)}) for card in opened.profiles]


def _card(shelf: Shelf) -> IndexCard:
    with shelf.lease() as opened:
        return IndexCard(
            name=shelf.name,
            title=shelf.title,
            documents=len(opened.snapshot),
            generation=opened.generation,
            languages=opened.cached("languages", lambda: _languages(opened)),
            default_profile=opened.default_profile,
            profiles=profile_cards(opened),
        )


def _languages(opened: Opened) -> dict[str, int]:
    """How many documents are in each language, most first."""
    codes, values = opened.snapshot.coded("language")
    counts = {name or "": int(count) for name, count in zip(values, np.bincount(codes, minlength=len(values)), strict=True)}
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
