"""The documents that a request may find: its filters and its day, as a mask."""

from __future__ import annotations

from collections.abc import Sequence

from lexfuse.channels.retriever_protocol import Mask
from lexfuse.search.similar import known_day
from lexfuse.service.index_version import IndexVersion
from lexfuse.storage.filters import Condition, within

DEPTH = 1000  # results that can be paged through, and that the facets count


def within_of(opened: IndexVersion, filters: Sequence[str], as_of: str) -> Mask | None:
    """The mask of filters as they are written, and of a day.

    >>> import tempfile
    >>> from lexfuse.data.document import Document
    >>> from lexfuse.service.registry import IndexPlace, IndexRegistry
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     IndexFolder.create(f"{folder}/law.index", documents=[Document("a", code="Code civil")]).close()
    ...     with IndexRegistry.open([IndexPlace.of(f"{folder}/law.index")]) as library, library.shelf().lease() as opened:
    ...         within_of(opened, ["code=Code civil"], "").tolist()
    [True]
    """
    return within(opened.snapshot, [Condition.parse(text) for text in filters], as_of=known_day(as_of, "as_of"))
