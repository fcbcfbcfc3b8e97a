"""`Index`, the engine: everything that the command line, the service and a program do with an index goes through it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any

from lexfuse.channels.channel_build import (
    ChannelFilled,
    Channels,
    complete_channel,
    make_channel,
    plans_by_name,
)
from lexfuse.channels.channel_kind import ChannelPlan
from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document
from lexfuse.data.document_history import is_absence
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.queries import Queries
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.shared_encoders import SharedEncoders, sharing
from lexfuse.errors import ConfigError
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.storage.index_folder import ChangeCounts, IndexFolder
from lexfuse.storage.index_settings import IndexSettings
from lexfuse.storage.index_source import index_source
from lexfuse.storage.postgres.address import PostgresAddress
from lexfuse.text.annotation import with_languages


class Index(IndexReader):
    """An index, opened: it is searched, explained, changed and checked.

    It is a folder, or in PostgreSQL (``postgresql://…``, see docs/postgres.md), where it is only searched and explained.
    One process writes at a time, any number may read. An `Index` sees its own changes at once, and those of other
    processes after `refresh`.

    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as built:
    ...     [hit.id for hit in built.search("retard de prêt", k=2)]
    ['lib-4', 'lib-3']
    """

    def __init__(
        self,
        folder: str | Path | PostgresAddress,
        *,
        profiles: Mapping[str, SearchSpec] | None = None,
        encoders: SharedEncoders | None = None,
    ) -> None:
        """Open an index that is there; `build` makes a new one. `profiles` are offered before those that every index has."""
        self.source = index_source(folder)
        self._writer = None if self.source.folder is None else self.source.writer()
        self._profiles = dict(profiles or {})
        self._encoders = encoders or SharedEncoders()
        self._lock = Lock()
        self._version: IndexVersion | None = None  # a damaged index is verified and rebuilt without it
        self._closed = False

    @classmethod
    def open(cls, folder: str | Path | PostgresAddress, **options: Any) -> Index:
        """Open an index that is there; the same as ``Index(folder)``.

        >>> with lexfuse.Index.open(index.folder) as same:
        ...     len(same)
        6
        """
        return cls(folder, **options)

    @classmethod
    def build(
        cls,
        folder: str | Path,
        corpus: Iterable[Document],
        *,
        channels: Channels = (),
        settings: IndexSettings | None = None,
        language: str = "",
        replace: bool = False,
        progress: ProgressBar = no_progress_bar,
    ) -> Index:
        """Build a new index of a corpus; `replace` allows it to replace an existing one.

        Words and citations are always indexed, completely or not at all. `channels` names others, or maps their names to
        models; `add_channels` resumes them after an interruption. `language` is that of every document; by default each
        document has its own, detected if it is not given.

        >>> corpus = lexfuse.read_corpus("examples/articles.csv")
        >>> with lexfuse.Index.build(folder / "law.index", corpus, channels=["dense"]) as built:
        ...     built.channels, list(built.specs)
        (('dense',), ['hybrid', 'words', 'bm25', 'dense'])
        """
        plans, documents = plans_by_name(channels), detect_languages(corpus, language)
        with progress("indexing", _texts(documents)) as done:
            IndexFolder.create(folder, settings, documents=documents, replace=replace, progress=done).close()
        index = cls(folder)
        try:
            if plans:
                index.add_channels(plans, progress=progress)
        except BaseException:
            index.close()
            raise
        return index

    @property
    def version(self) -> IndexVersion:
        """The state that is searched, with its profiles."""
        with self._lock:
            if self._closed:
                raise ConfigError(f"the index {str(self.source)!r} is closed; open it again")
            if self._version is None:
                self._version = IndexVersion(self.source.snapshot(), self._profiles, self._encoders, name=self.source.name)
            return self._version.on()

    @property
    def folder(self) -> Path:
        """The folder; a `ConfigError` if the index is in PostgreSQL."""
        return self._files.folder

    @property
    def _files(self) -> IndexFolder:
        """The folder, to be changed; a source that is only read refuses."""
        return self._writer or self.source.writer()

    # Changing

    def add(
        self,
        documents: Iterable[Document],
        *,
        update: bool = False,
        language: str = "",
        progress: ProgressBar = no_progress_bar,
    ) -> ChangeCounts:
        """Add documents; an existing id is a `DataError`, or is replaced with `update`.

        `language` is that of every document; without it, missing languages are detected. `add_channels` encodes the
        documents for the channels of the index.

        >>> index.add([lexfuse.Document("lib-7", text="Le silence est de règle.")]).added
        1
        """
        corpus = detect_languages(documents, language)
        with self._changing(), progress("indexing", _texts(corpus)) as done:
            return self._files.add(corpus, update=update, progress=done)

    def update(self, documents: Iterable[Document], *, progress: ProgressBar = no_progress_bar) -> ChangeCounts:
        """Add documents and replace those of the same id.

        >>> changed = index.update([lexfuse.Document("lib-5", text="Les horaires changent."), lexfuse.Document("lib-8")])
        >>> changed.added, changed.updated
        (1, 1)
        """
        return self.add(documents, update=True, progress=progress)

    def delete(self, ids: Sequence[str]) -> ChangeCounts:
        """Delete documents; the counts name ids that are not there.

        >>> index.delete(["lib-6", "lib-9"])
        ChangeCounts(added=0, updated=0, deleted=1, missing=('lib-9',))
        """
        with self._changing():
            return self._files.delete(ids)

    def add_channels(
        self,
        channels: Channels = (),
        *,
        threads: int | None = None,
        cache: EmbeddingCache | None = None,
        progress: ProgressBar = no_progress_bar,
    ) -> dict[str, ChannelFilled]:
        """Make channels, and encode the documents that they and the existing ones lack.

        A model that is not at hand is fetched. A call that was interrupted is resumed by the next.

        >>> index.add_channels({"dense": "fr-legal-dense"})["dense"].encoded
        6
        """
        plans = plans_by_name(channels)
        with self._changing(), sharing(SharedEncoders()):  # a model that is planned with is the one that encodes
            for name, plan in plans.items():
                if plan != ChannelPlan() or name not in self._files.channels.names:
                    make_channel(self._files, name, plan, self.language, threads=threads)
            every = dict.fromkeys((*plans, *self._files.channels.names))
            return {name: complete_channel(self._files, name, threads=threads, cache=cache, progress=progress) for name in every}

    def drop_channels(self, names: Sequence[str]) -> None:
        """Drop channels with everything that is stored for them.

        >>> _ = index.add_channels("dense")
        >>> index.drop_channels(["dense"])
        >>> index.channels
        ()
        """
        with self._changing():
            for name in names:
                self._files.channels.drop(name)

    def estimate_distributions(
        self, queries: Queries | None = None, *, progress: ProgressBar = no_progress_bar, **options: Any
    ) -> dict[str, dict[str, Any]]:
        """Estimate and keep how the scores of every channel are distributed, for percentile normalisation.

        Without queries, the first words of documents are searched for. Each channel takes the search options that it has.

        >>> [kept["channel"] for kept in index.estimate_distributions(k1=0.9).values()]
        ['bm25', 'tfidf', 'citation']
        """
        kept = self.score_distributions(queries, progress=progress, **options)
        with self._changing():
            self._files.keep_distributions(kept)
        return kept

    def merge(self) -> None:
        """Make one segment of all, without deleted documents, and give their space back to the file system.

        >>> _ = index.delete(["lib-6"])
        >>> index.merge()
        >>> len(index)
        5
        """
        with self._changing():
            self._files.compact()

    def rebuild(self) -> None:
        """Write damaged segments again from the documents in the catalog.

        >>> index.rebuild()
        >>> index.verify()
        []
        """
        with self._changing():
            self._files.rebuild()

    def verify(self) -> list[str]:
        """Every damage found, one line each; empty when all is well.

        >>> index.verify()
        []
        """
        return self._files.verify()

    @property
    def has_digests(self) -> bool:
        """Whether the catalog has check sums: an older LexFuse kept none, and the next change adds them."""
        return self._files.has_digests

    def refresh(self) -> None:
        """Search the newest state from now on, which another process may have written.

        >>> with lexfuse.Index(index.folder) as other:
        ...     _ = other.delete(["lib-1"])
        >>> index.refresh()
        >>> "lib-1" in index
        False
        """
        with self._lock:
            if self._version is not None:
                self._version.close()
            self._version = None

    def close(self) -> None:
        """Close the files."""
        self.refresh()
        self._closed = True
        if self._writer is not None:
            self._writer.close()

    def __enter__(self) -> Index:
        """Use as a context that closes."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Close."""
        self.close()

    @contextmanager
    def _changing(self) -> Iterator[None]:
        try:
            yield
        finally:
            self.refresh()


def detect_languages(documents: Iterable[Document], language: str = "") -> Corpus:
    """Documents as a corpus in one language, or in which every language that is not given is detected."""
    return with_languages(documents if isinstance(documents, Corpus) else Corpus.of(documents), language)


def _texts(corpus: Corpus) -> int:
    """How many texts are indexed: documents and their other versions."""
    return len(corpus) + sum(not is_absence(version) for versions in corpus.history for version in versions)
