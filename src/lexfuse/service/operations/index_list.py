"""Everything that can be searched, and how."""

from __future__ import annotations

import numpy as np

from lexfuse.search.index_version import IndexVersion
from lexfuse.service.redaction import without_paths
from lexfuse.service.registry import IndexRegistry, ServedIndex
from lexfuse.service.schemas.index_list import IndexCard, IndexList, ProfileCard


def index_list(library: IndexRegistry) -> IndexList:
    """The indexes of a library with their profiles.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> from lexfuse.service.registry import IndexPlace
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law").close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law")]) as library:
    ...         [(card.name, card.default_profile) for card in index_list(library).indexes]
    [('law', 'bm25')]
    """
    return IndexList(indexes=[_card(library.shelf(name)) for name in library.names])


def profile_cards(opened: IndexVersion) -> list[ProfileCard]:
    """What a version of an index can be searched by; a reason why it cannot names files without their paths."""
    return [
        ProfileCard(
            name=one.name,
            description=one.spec.description,
            channels=[channel.name for channel in one.spec.channels],
            evidence=dict(one.spec.evidence),
            usable=one.usable,
            reason=without_paths(one.reason),
        )
        for one in opened.profiles
    ]


def _card(shelf: ServedIndex) -> IndexCard:
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


def _languages(opened: IndexVersion) -> dict[str, int]:
    """How many documents are in each language, most first."""
    codes, values = opened.snapshot.coded("language")
    counts = {name or "": int(count) for name, count in zip(values, np.bincount(codes, minlength=len(values)), strict=True)}
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
