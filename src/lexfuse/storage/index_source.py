"""Where an index is stored: a folder, which is read and written, or a database, which is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path

from lexfuse.errors import ConfigError
from lexfuse.storage.catalog import Catalog
from lexfuse.storage.folder_snapshot import open_snapshot
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.postgres.address import PostgresAddress, index_location
from lexfuse.storage.snapshot import Snapshot


class IndexSource(ABC):
    """Opens the states of an index; `index_source` finds the one of a place."""

    name: str  # of the index
    folder: Path | None  # what belongs to the index in addition to its documents is in it

    @abstractmethod
    def snapshot(self, former: Snapshot | None = None) -> Snapshot:
        """The newest state, which may share parts with a former one."""

    @abstractmethod
    def generation(self) -> int:
        """The number of the newest state."""

    @abstractmethod
    def writer(self) -> IndexFolder:
        """The index, to be changed; `ConfigError` if it can only be read."""

    @abstractmethod
    def __str__(self) -> str:
        """The place, for messages; never a password."""


class FolderSource(IndexSource):
    """An index folder.

    >>> FolderSource(Path("law.index")).name
    'law.index'
    """

    def __init__(self, folder: Path) -> None:
        """Open nothing yet."""
        self.folder: Path = folder
        self.name = folder.name

    def snapshot(self, former: Snapshot | None = None) -> Snapshot:
        """The newest state of the folder."""
        return open_snapshot(self.folder, former)

    def generation(self) -> int:
        """The number of the newest state, read from the catalog."""
        catalog = Catalog.open(self.folder)
        try:
            return int(catalog.meta("generation"))
        finally:
            catalog.close()

    def writer(self) -> IndexFolder:
        """The folder, opened."""
        return IndexFolder(self.folder)

    def __str__(self) -> str:
        """The path."""
        return str(self.folder)


class PostgresSource(IndexSource):
    """An index that ``lexfuse export postgres`` wrote.

    >>> str(PostgresSource(PostgresAddress.parse("postgresql://reader:secret@db/law")))
    'postgresql://reader@db/law?schema=lexfuse'
    """

    folder = None

    def __init__(self, address: PostgresAddress) -> None:
        """Connect to nothing yet."""
        self.address = address
        self.name = address.name

    def snapshot(self, former: Snapshot | None = None) -> Snapshot:
        """The state that is exported now."""
        from lexfuse.storage.postgres.snapshot import PostgresSnapshot

        return PostgresSnapshot(self.address)

    def generation(self) -> int:
        """The number of the export."""
        from lexfuse.storage.postgres.database import Database
        from lexfuse.storage.postgres.tables import read_generation

        database = Database(self.address)
        try:
            return read_generation(database)
        finally:
            database.close()

    def writer(self) -> IndexFolder:
        """Refused."""
        advice = "change the index folder that it was exported from, and export it again with lexfuse export postgres"
        raise ConfigError(f"an index in PostgreSQL is only read ({self}); {advice}")

    def __str__(self) -> str:
        """The address without its password."""
        return str(self.address)


def index_source(place: str | Path | PostgresAddress) -> IndexSource:
    """The source of a place: a folder, or an address like postgresql://USER@HOST/DATABASE?schema=NAME.

    >>> index_source("law.index").folder
    PosixPath('law.index')
    """
    location = index_location(place)
    return FolderSource(location) if isinstance(location, Path) else PostgresSource(location)
