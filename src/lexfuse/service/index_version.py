"""One version of an index, opened for searching by every profile that it offers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from threading import RLock
from typing import Any, TypeVar

from lexfuse.channels.citation.lookup import CitationLookup
from lexfuse.channels.lexical.bm25 import BM25
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.errors import LexFuseError, UnknownProfileError
from lexfuse.search.similar import open_similar
from lexfuse.search.spec.defaults import default_specs
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.service.schemas.index_list import ProfileCard
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice

Made = TypeVar("Made")


class IndexVersion:
    """A version of an index, its pipelines, and what is derived from it once; safe for many threads.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     opened = IndexVersion("law", snapshot, {}, SharedEncoders())
    ...     opened.default_profile, opened.pipeline().name
    ('bm25', 'bm25')
    """

    def __init__(
        self,
        name: str,
        snapshot: Snapshot,
        profiles: Mapping[str, SearchSpec],
        encoders: SharedEncoders,
        *,
        before: Collection[str] = (),
    ) -> None:
        """Open nothing yet but the snapshot; `profiles` come before those that every index offers, see `default_specs`."""
        self.name = name
        self.snapshot = snapshot
        self.generation = snapshot.generation
        self._encoders = encoders
        self._lock = RLock()
        self._made: dict[str, Any] = {}
        self._choices = default_specs(snapshot, profiles, before=before)

    @property
    def default_profile(self) -> str:
        """The one that is searched by where none is named: the first that can be opened."""
        return next((card.name for card in self.profiles if card.usable), next(iter(self._choices)))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the profiles."""
        return tuple(self._choices)

    @cached_property
    def profiles(self) -> list[ProfileCard]:
        """Everything that it can be searched by, the default first."""
        return [self._card(name, profile) for name, profile in self._choices.items()]

    @cached_property
    def citations(self) -> CitationLookup:
        """Finds the documents that a text names."""
        return CitationLookup(self.snapshot)

    @cached_property
    def words(self) -> BM25:
        """Reads the words of questions and documents, to show those that match where a profile compares vectors alone."""
        return BM25(self.snapshot)

    def pipeline(self, profile: str = "") -> Retriever:
        """The retriever of a profile, opened once; `NotFoundError` lists the profiles there are."""
        name = profile or self.default_profile
        if name not in self._choices:
            raise UnknownProfileError(f"there is no profile {name!r}; there are {', '.join(self._choices)}")
        return self.cached(f"pipeline {name}", lambda: self._shared(lambda: self._choices[name].open(self.snapshot, name=name)))

    def similar_pipeline(self, profile: str = "", terms: TermChoice | None = None) -> Retriever:
        """What finds documents like a whole one: that of a profile, or the usual one for these terms."""
        return self.pipeline(profile) if profile else self._shared(lambda: open_similar(self.snapshot, terms))

    def cached(self, key: str, make: Callable[[], Made]) -> Made:
        """Something that is derived from this version once, and kept with it."""
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    self._made[key] = make()
        made: Made = self._made[key]
        return made

    def close(self) -> None:
        """Let go of the snapshot."""
        self.snapshot.close()

    def _shared(self, make: Callable[[], Made]) -> Made:
        with sharing(self._encoders):
            return make()

    def _card(self, name: str, profile: SearchSpec) -> ProfileCard:
        channels = [channel.name for channel in profile.general.channels]
        facts = ProfileCard(name=name, description=profile.description, channels=channels, evidence=dict(profile.evidence))
        try:
            self.pipeline(name)
        except LexFuseError as error:
            return facts.model_copy(update={"usable": False, "reason": str(error)})
        return facts
