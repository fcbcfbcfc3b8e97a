"""The indexes of a service, each in its newest version; a newer one replaces it without disturbing readers.

A reader takes a lease on one version, which does not change. Replaced versions are kept for a while, so that the next pages of a
ranking come from the same version as the first.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, RLock
from types import TracebackType

from lexfuse.data.queries import Query
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.errors import ConfigError, GoneError, LexFuseError, UnknownIndexError
from lexfuse.index import Index
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.results import find_documents
from lexfuse.search.spec.defaults import read_profiles
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.words.suggestion import suggester_of
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.index_source import IndexSource, index_source
from lexfuse.storage.postgres.address import PostgresAddress, index_location

WARM_QUESTION = "article 1"  # words, and a citation
KEPT = 8  # versions, the newest included
KEPT_SECONDS = 600.0  # that a replaced version is kept


@dataclass(frozen=True, slots=True)
class IndexPlace:
    """The place of an index, a folder, an address in PostgreSQL or another source, with its name and title.

    >>> IndexPlace.of("data/french-labour-law.index").title
    'French labour law'
    """

    name: str
    folder: Path | PostgresAddress | IndexSource
    title: str
    titles: Mapping[str, str] = field(default_factory=dict)  # by language
    examples: tuple[str, ...] = ()  # questions that the start page proposes

    @classmethod
    def of(cls, folder: str | Path | PostgresAddress) -> IndexPlace:
        """An index with the name of its folder, schema or database."""
        place = index_location(folder)
        name = place.name if isinstance(place, PostgresAddress) else place.resolve().name.removesuffix(".index") or "index"
        title = name.replace("-", " ").replace("_", " ")
        return cls(name, place, title[:1].upper() + title[1:])


class ServedIndex:
    """One index: its newest version, and a few older ones.

    >>> with registry.index().lease() as version:
    ...     len(version.snapshot)
    6
    """

    def __init__(
        self, place: IndexPlace, profiles: Mapping[str, SearchSpec], encoders: SharedEncoders, *, kept: int = KEPT
    ) -> None:
        """Open the newest version."""
        self.name, self.title, self.titles, self.examples = place.name, place.title, place.titles, place.examples
        self.source = _source(place.folder)
        self._profiles, self._encoders, self._kept = profiles, encoders, kept
        self._lock = Lock()  # held for moments
        self._changing = RLock()  # held while a version is written, or looked for: no half of what is written is taken over
        self._versions: list[_OpenVersion] = []
        self._versions.append(_OpenVersion(self._open()))

    @property
    def generation(self) -> int:
        """The number of the newest version that is open."""
        return self._versions[-1].opened.generation

    @contextmanager
    def lease(self, generation: int | None = None) -> Iterator[IndexVersion]:
        """The newest version, or the one of a number, as long as it is needed; `GoneError` if it is no longer kept."""
        with self._lock:
            version = self._version(generation)
            version.leases += 1
        try:
            yield version.opened.on()
        finally:
            with self._lock:
                version.leases -= 1
            self._forget()

    def refresh(self) -> bool:
        """Open a newer version, if there is one; readers of an older one keep it."""
        with self._changing:
            newer = self.source.generation() != self.generation
            if newer:
                version = _OpenVersion(self._open())
                with self._lock:
                    self._versions[-1].replaced = time.monotonic()
                    self._versions[-1].opened.snapshot.forget_impacts()
                    self._versions.append(version)
        self._forget()
        return newer

    def opened(self) -> Index:
        """The index in its newest state, opened for itself, with the models that searches use; its user closes it."""
        place = self.source.folder or self.source.writer().folder  # a source that is only read refuses
        return Index(place, profiles=self._profiles, encoders=self._encoders)

    @contextmanager
    def writing(self) -> Iterator[IndexFolder]:
        """The index, to write to; later reads see what was written."""
        with self._changing, sharing(self._encoders):  # what is written is encoded by the models that search
            with self.source.writer() as index:
                yield index
            self.refresh()

    def close(self) -> None:
        """Close every version."""
        with self._lock:
            for version in self._versions:
                version.opened.close()

    def _open(self) -> IndexVersion:
        former = self._versions[-1].opened if self._versions else None
        snapshot = self.source.snapshot(former.snapshot if former else None)  # they have nearly everything in common
        opened = IndexVersion(snapshot, self._profiles, self._encoders, name=self.name, before=former.specs if former else ())
        try:
            _ = opened.profiles  # opens their pipelines, and one search fills their tables, so that no reader waits for that
            with suppress(LexFuseError):  # a request for what cannot be searched returns the error
                find_documents(opened.pipeline(), Query("q", WARM_QUESTION), 1, citations=opened.citations)
                if former is None:  # later versions complete questions when one is typed; writers do not wait for that
                    for typed in (WARM_QUESTION, WARM_QUESTION[:4]):  # a number, and a word to be completed
                        suggester_of(opened).suggest(typed)
        except BaseException:
            opened.close()
            raise
        return opened

    def _version(self, generation: int | None) -> _OpenVersion:
        if generation is None:
            return self._versions[-1]
        for version in self._versions:
            if version.opened.generation == generation:
                return version
        raise GoneError(f"the index {self.name!r} has changed since the first page; search again from the first page")

    def _forget(self) -> None:
        """Close unused versions that are too many or too old."""
        with self._lock:
            long_ago = time.monotonic() - KEPT_SECONDS
            older, many = self._versions[:-1], len(self._versions) - self._kept
            gone = [one for at, one in enumerate(older) if not one.leases and (at < many or one.replaced < long_ago)]
            self._versions = [one for one in self._versions if one not in gone]
        for version in gone:
            version.opened.close()


def _source(place: Path | PostgresAddress | IndexSource) -> IndexSource:
    if isinstance(place, IndexSource):
        return place
    return index_source(place.absolute() if isinstance(place, Path) else place)


class _OpenVersion:
    """A version, the number of its readers, and the time it was replaced."""

    def __init__(self, opened: IndexVersion) -> None:
        self.opened = opened
        self.leases = 0
        self.replaced = float("inf")


class IndexRegistry:
    """The indexes of a service, by name.

    >>> registry.names, registry.index().title
    (('law',), 'Law')
    """

    def __init__(self, indexes: Sequence[ServedIndex]) -> None:
        """Serve open indexes; the first is the default."""
        self._indexes = {served.name: served for served in indexes}

    @classmethod
    def open(cls, places: Sequence[IndexPlace], profiles: Sequence[Path] = (), *, kept: int = KEPT) -> IndexRegistry:
        """Open indexes; a profile is offered for those that have its channels, and must fit one of them."""
        if not places:
            raise ConfigError("there is no index to serve; name at least one folder")
        names = [place.name for place in places]
        if len(set(names)) < len(names):
            raise ConfigError(f"two indexes have the same name: {', '.join(names)}; give each its own name")
        found, encoders, indexes = read_profiles(list(profiles)), SharedEncoders(), list[ServedIndex]()
        try:
            for place in places:
                indexes.append(ServedIndex(place, found, encoders, kept=kept))
            registry = cls(indexes)
            registry._check(found)
        except BaseException:
            for served in indexes:
                served.close()
            raise
        return registry

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the indexes."""
        return tuple(self._indexes)

    def index(self, name: str = "") -> ServedIndex:
        """An index by its name, or the first one; `UnknownIndexError` lists the names."""
        if not name:
            return next(iter(self._indexes.values()))
        if name not in self._indexes:
            raise UnknownIndexError(f"there is no index {name!r}; there are {', '.join(self._indexes)}")
        return self._indexes[name]

    def refresh(self) -> list[str]:
        """Open newer versions, and return the names of the indexes that have one."""
        return [name for name, served in self._indexes.items() if served.refresh()]

    def close(self) -> None:
        """Close all indexes."""
        for served in self._indexes.values():
            served.close()

    def __enter__(self) -> IndexRegistry:
        """Use as a context that closes."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close."""
        self.close()

    def _check(self, profiles: Mapping[str, SearchSpec]) -> None:
        """Refuse a profile that fits no index."""
        for name in profiles:
            reasons: dict[str, str] = {}
            for served in self._indexes.values():
                with served.lease() as version:
                    card = next(card for card in version.profiles if card.name == name)
                if not card.usable:
                    reasons[served.name] = card.reason
            if len(reasons) == len(self._indexes):
                listed = "; ".join(f"index {index!r}: {reason}" for index, reason in reasons.items())
                raise ConfigError(f"the profile {name!r} fits no index: {listed}")
