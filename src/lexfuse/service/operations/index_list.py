"""Everything that can be searched, and how."""

from __future__ import annotations

import numpy as np

from lexfuse.search.index_version import IndexVersion
from lexfuse.search.similar import SENTENCES
from lexfuse.service.problems import without_paths
from lexfuse.service.registry import IndexRegistry, ServedIndex
from lexfuse.service.schemas.search import IndexCard, IndexList, ProfileCard


def index_list(registry: IndexRegistry) -> IndexList:
    """The indexes of a service with their profiles.

    >>> [(card.name, card.default_profile) for card in index_list(registry).indexes]
    [('law', 'words')]
    """
    return IndexList(indexes=[_card(registry.index(name)) for name in registry.names])


def profile_cards(version: IndexVersion) -> list[ProfileCard]:
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
        for one in version.profiles
    ]


def _card(served: ServedIndex) -> IndexCard:
    with served.lease() as version:
        return IndexCard(
            name=served.name,
            title=served.title,
            titles=dict(served.titles),
            examples=list(served.examples),
            documents=len(version.snapshot),
            generation=version.generation,
            languages=version.cached("languages", lambda: _languages(version)),
            default_profile=version.default_profile,
            profiles=profile_cards(version),
            dated=version.cached("dated", lambda: _dated(version)),
            progress=version.cached("channel progress", lambda: channel_progress(version)),
        )


def channel_progress(version: IndexVersion) -> dict[str, float]:
    """The share of documents that each channel holds, for channels that are still being filled and are not searched yet.

    >>> with registry.index().lease() as version:
    ...     channel_progress(version)
    {}
    """
    unfinished = [name for name in version.snapshot.channels if name not in version.specs and not name.startswith(SENTENCES)]
    return {name: float((version.snapshot.channel_numbering(name).raw >= 0).mean()) for name in unfinished}


def _dated(version: IndexVersion) -> bool:
    """Whether a document has a period in which it is in force."""
    return any(value for name in ("valid_from", "valid_to") for value in version.snapshot.coded(name)[1])


def _languages(version: IndexVersion) -> dict[str, int]:
    """How many documents are in each language, most first."""
    codes, values = version.snapshot.coded("language")
    counts = {name or "": int(count) for name, count in zip(values, np.bincount(codes, minlength=len(values)), strict=True)}
    return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))
