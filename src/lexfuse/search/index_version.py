"""One version of an index, opened for searching: the state that `lexfuse.Index` and the service read from."""

from __future__ import annotations

import datetime
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock, RLock
from typing import Any, NamedTuple, TypeVar

from lexfuse.channels.citation import CitationLookup
from lexfuse.channels.lexical.bm25 import with_everyday_words
from lexfuse.channels.lexical.everyday_words import EverydayWords
from lexfuse.channels.registry import open_retriever
from lexfuse.channels.retriever import Mask, Retriever
from lexfuse.data.document import Document
from lexfuse.data.document_history import in_force
from lexfuse.data.queries import Query
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.errors import ConfigError, LexFuseError, UnknownDocumentError, UnknownProfileError
from lexfuse.search.similar import known_day, open_similar
from lexfuse.search.spec.confidence_spec import ConfidenceSpec
from lexfuse.search.spec.defaults import default_specs
from lexfuse.search.spec.lexicon_spec import LexiconSpec
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.filters import Condition, within
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.segments.segment import LEXICAL
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.kli import TermChoice

Made = TypeVar("Made")
KEPT_DAYS = 8  # days of an index with history that stay open: each holds separate statistics
KEPT_EXPANDED = 16  # retrievers with a lexicon
SIMILAR = "similar"  # the name of the pipeline for whole documents where no profile is named


@dataclass(frozen=True, slots=True)
class ProfileState:
    """A profile of an index, and whether it can be opened."""

    name: str
    spec: SearchSpec
    reason: str = ""  # why it cannot be opened

    @property
    def usable(self) -> bool:
        """Whether the index can be searched by it."""
        return not self.reason


class OpenedSearch(NamedTuple):
    """A search that is ready to run: the name of its profile, its retriever, and the documents it may find."""

    version: IndexVersion  # with the versions of documents that are searched
    profile: str
    retriever: Retriever
    within: Mask | None
    filters: tuple[str, ...] = ()  # those of the profile, which a request only adds to
    as_of: datetime.date | None = None
    coverage: DayCoverage | None = None  # what the index knows about that day
    confidence: ConfidenceSpec | None = None  # when the best result is an answer, where the profile says so
    satisfying: Mask | None = None  # what the operators of the question require, also part of `within`

    def by_words(self, question: str | Query) -> bool:
        """Whether it finds documents by words of the question alone.

        >>> IndexVersion(snapshot).search_by().by_words("retard de prêt")
        True
        """
        query = Query("q", question) if isinstance(question, str) else question
        return all(one.marks_words for one in self.retriever.members(query))


class IndexVersion:
    """A snapshot of an index with its profiles and everything derived from it once; safe for many threads.

    >>> version = IndexVersion(snapshot)
    >>> version.default_profile, version.pipeline().name
    ('words', 'words')
    """

    def __init__(
        self,
        snapshot: Snapshot,
        profiles: Mapping[str, SearchSpec] | None = None,
        encoders: SharedEncoders | None = None,
        *,
        name: str = "",
        before: Collection[str] = (),
    ) -> None:
        """Open nothing but the snapshot yet; `profiles` come before those that every index offers, see `default_specs`."""
        self.name = name
        self.snapshot = snapshot
        self.generation = snapshot.generation
        self._encoders = encoders or SharedEncoders()
        self._lock = RLock()
        self._made: dict[str, Any] = {}
        self._expanded: dict[tuple[int, LexiconSpec], tuple[Retriever, Retriever]] = {}
        self._last_spec: tuple[tuple[str | None, str] | None, Retriever | None] = (None, None)
        self.specs = default_specs(snapshot, profiles or {}, before=before)
        self._days_lock = Lock()
        # Versions of the law on several days by their epochs, shared by all of them; the last used is the last.
        self._days: OrderedDict[int, IndexVersion] = OrderedDict()
        if snapshot.has_history:
            self._days[snapshot.epoch(snapshot.day)] = self

    def on(self, day: str | datetime.date | None = None) -> IndexVersion:
        """The index with the versions in force on a day, today by default; itself where documents have no versions.

        It has the profiles of this version, whatever its documents are.

        >>> version = IndexVersion(snapshot)
        >>> version.on("1804-03-21") is version
        True
        """
        if not self.snapshot.has_history:
            return self
        wanted = known_day(day, "as_of") or datetime.date.today()
        epoch = self.snapshot.epoch(wanted)
        with self._days_lock:
            if epoch not in self._days:
                shown = self.snapshot.on(wanted)
                other = IndexVersion(shown, self.specs, self._encoders, name=self.name)
                other._days, other._days_lock = self._days, self._days_lock
                self._days[epoch] = other
                if len(self._days) > KEPT_DAYS:
                    self._days.popitem(last=False)
            self._days.move_to_end(epoch)
            return self._days[epoch]

    @property
    def default_profile(self) -> str:
        """The profile that is used where none is named: the first that can be opened."""
        return next((one.name for one in self.profiles if one.usable), next(iter(self.specs)))

    @cached_property
    def profiles(self) -> list[ProfileState]:
        """Every profile, the default first; their pipelines are opened."""
        return [self._state(name, spec) for name, spec in self.specs.items()]

    @cached_property
    def citations(self) -> CitationLookup:
        """Finds the documents that a text cites."""
        return CitationLookup(self.snapshot)

    @cached_property
    def words(self) -> Retriever:
        """Finds the matching words of results whose profile compares vectors alone."""
        return open_retriever(self.snapshot, LEXICAL)

    def pipeline(self, profile: str = "") -> Retriever:
        """The retriever of a profile, opened once; `UnknownProfileError` lists the profiles there are."""
        name = profile or self.default_profile
        spec = self._spec(name)
        return self.cached(f"pipeline {name}", lambda: self._shared(lambda: spec.open(self.snapshot, name=name)))

    def _spec(self, name: str) -> SearchSpec:
        if name not in self.specs:
            raise UnknownProfileError(f"there is no profile {name!r}; there are {', '.join(self.specs)}")
        return self.specs[name]

    def similar_pipeline(self, terms: TermChoice | None = None, *, k1: float, b: float) -> Retriever:
        """The usual pipeline for whole documents, with a choice of terms."""
        return self._shared(lambda: open_similar(self.snapshot, terms, k1=k1, b=b))

    def search_by(
        self,
        profile: str | SearchSpec = "",
        *,
        filters: Sequence[str] = (),
        as_of: str | datetime.date | None = None,
        name: str | None = None,
        everyday: bool | None = None,
        **options: Any,
    ) -> OpenedSearch:
        """The search of a profile (a name, or a spec), or of options that make a spec (see `SearchSpec.of`).

        With `everyday`, a search that says nothing about a lexicon has the usual one; with False, none has one.

        Filters are added to those of the profile; a day takes the place of its day. Where documents have versions, those in force
        on the day are searched, today by default.

        >>> IndexVersion(snapshot).search_by(channels=["bm25", "tfidf"]).retriever.name
        'bm25+tfidf'
        """
        if profile and options:
            raise ConfigError(f"a profile says how to rank, and so does {', '.join(options)}; give one of both")
        given = SearchSpec.of(**options) if options else profile if isinstance(profile, SearchSpec) else None
        called = "" if given else str(profile) or self.default_profile
        spec = given or self._spec(called)
        day = known_day(as_of, "as_of") or spec.as_of
        version = self.on(day)
        retriever = version._opened(given, name) if given else version.pipeline(called)
        lexicon = spec.lexicon or (LexiconSpec() if everyday else None)
        if lexicon is not None and lexicon.weight > 0 and everyday is not False:
            retriever = version._with_lexicon(retriever, lexicon)
        mask = version.within((*spec.filters, *filters), day)
        if version.snapshot.has_history:
            day = day or datetime.date.today()
        name = called or retriever.name
        return OpenedSearch(version, name, retriever, mask, spec.filters, day, version.coverage(day), spec.confidence)

    def coverage(self, day: datetime.date | None) -> DayCoverage | None:
        """How many documents are in force on a day, and how many are known only later; None without a day.

        >>> IndexVersion(snapshot).coverage(datetime.date(2019, 12, 31)).unknown
        6
        """
        return None if day is None else self.snapshot.coverage(day)

    def within(self, filters: Sequence[str], as_of: str | datetime.date | None = None) -> Mask | None:
        """The documents that filters, as they are written, and a day allow.

        >>> int(IndexVersion(snapshot).within(["number=L4"]).sum())
        1
        """
        return within(self.snapshot, [Condition.parse(text) for text in filters], as_of=known_day(as_of, "as_of"))

    def read(self, id: str, as_of: str | datetime.date | None = None) -> Document:
        """A document in its version of a day, or else in that of this index, or else in its newest.

        A day on which it is not in force is an `UnknownDocumentError`.

        >>> IndexVersion(snapshot).read("lib-4", "2019-12-31")
        Traceback (most recent call last):
        ...
        lexfuse.errors.UnknownDocumentError: document 'lib-4' is not in force on 2019-12-31; its versions: [2021-09-01, …)
        """
        day = known_day(as_of, "as_of")
        if day is None:
            return self.snapshot.document(id)
        versions = self.snapshot.history(id)
        found = next((one for one in versions if in_force(one, day)), None)
        if found is None:
            periods = ", ".join(f"[{one.valid_from or '…'}, {one.valid_to or '…'})" for one in versions)
            raise UnknownDocumentError(f"document {id!r} is not in force on {day}; its versions: {periods}")
        return found

    def holding(self, found: Document, as_of: str | datetime.date | None = None) -> IndexVersion:
        """The index on the day that a version was read for, or else on one on which it is in force; itself if it has it."""
        if as_of is not None:
            return self.on(as_of)
        if not self.snapshot.has_history or in_force(found, self.snapshot.day):
            return self
        return self.on(found.valid_from or datetime.date.min)

    def meant(self, name: str) -> str:
        """The id of the document that a name means: its id, or a citation; of several that it cites, the first.

        >>> IndexVersion(snapshot).meant("article L. 4")
        'lib-4'
        """
        if name in self.snapshot.ids:
            return name
        found = next((int(numbers[0]) for _, numbers in self.citations.cited(name) if len(numbers)), None)
        if found is None:
            raise UnknownDocumentError(
                f"the index has no document {name!r}, and none that it cites; check the id or the citation"
            )
        return self.snapshot.ids[found]

    def cached(self, key: str, make: Callable[[], Made]) -> Made:
        """A value that is derived from this version once, and kept with it."""
        if key not in self._made:
            with self._lock:
                if key not in self._made:
                    self._made[key] = make()
        made: Made = self._made[key]
        return made

    def close(self) -> None:
        """Close the snapshot."""
        self.snapshot.close()

    def _opened(self, spec: SearchSpec, name: str | None) -> Retriever:
        """The retriever of a spec, which is kept until another one is asked for."""
        key = (name, spec.text())
        with self._lock:
            last, retriever = self._last_spec
            if last != key or retriever is None:
                retriever = self._shared(lambda: spec.open(self.snapshot, name=name))
                self._last_spec = (key, retriever)
            return retriever

    def _with_lexicon(self, retriever: Retriever, lexicon: LexiconSpec) -> Retriever:
        """The retriever with everyday words; those used last are kept, each with the one that it was made of."""
        with self._lock:
            key = (id(retriever), lexicon)
            if key not in self._expanded:
                if len(self._expanded) >= KEPT_EXPANDED:
                    self._expanded.pop(next(iter(self._expanded)))
                words = self.everyday_words(lexicon)
                self._expanded[key] = (retriever, with_everyday_words(retriever, words))
            return self._expanded[key][1]

    def everyday_words(self, lexicon: LexiconSpec | None = None) -> EverydayWords:
        """The lexicon of a search, the usual one by default, on this version.

        >>> [one.law for one in IndexVersion(snapshot).everyday_words().expansions("mon patron", "fr")]
        [('employeur',)]
        """
        chosen = lexicon or LexiconSpec()
        return self.cached(f"everyday words {chosen!r}", lambda: chosen.open(self.snapshot))

    def _shared(self, make: Callable[[], Made]) -> Made:
        with sharing(self._encoders):
            return make()

    def _state(self, name: str, spec: SearchSpec) -> ProfileState:
        try:
            self.pipeline(name)
        except LexFuseError as error:
            return ProfileState(name, spec, str(error))
        return ProfileState(name, spec)
