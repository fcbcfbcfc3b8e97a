"""A search of one index with its options, which the components of all frameworks share, and the metadata of its hits."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lexfuse.data.formats.fields import document_record
from lexfuse.errors import ConfigError
from lexfuse.search.hits import Hits
from lexfuse.search.index_reader import IndexReader
from lexfuse.search.results import SearchHit
from lexfuse.search.spec.spec import SearchSpec

RANKING_KEYS = (
    "rank",
    "score",
    "found",
    "profile",
    "sources",
    "snippet",
)  # metadata that belongs to the search, not to the document


@dataclass(frozen=True, slots=True)
class BoundSearch:
    """An index and how it is searched; `options` are further options of `Index.search`, such as ``channels`` and ``fusion``.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     search = BoundSearch(index, k=2, profile="bm25")
    ...     [hit.id for hit in search.hits("retard de prêt")], [hit.id for hit in search.hits("retard de prêt", k=1)]
    (['lib-4', 'lib-3'], ['lib-4'])
    """

    index: IndexReader
    k: int = 10
    profile: str | SearchSpec = ""
    filters: Sequence[str] = ()
    as_of: str | datetime.date | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse values that no search can have."""
        if not isinstance(self.index, IndexReader):
            kind = type(self.index).__name__
            raise ConfigError(f"index must be an open index, got {kind}; open it with lexfuse.Index.open")
        if self.k < 1:
            raise ConfigError(f"k must be at least 1, got {self.k}")
        if repeated := sorted(self.options.keys() & {"k", "profile", "filters", "as_of"}):
            raise ConfigError(f"options must not repeat {', '.join(repeated)}; give it as an argument")
        check_filters(self.filters)

    def hits(self, question: str, **changed: Any) -> Hits:
        """The answer of `Index.search`; options of this call replace those of the search."""
        options = {"k": self.k, "profile": self.profile, "filters": self.filters, "as_of": self.as_of, **self.options, **changed}
        check_filters(options["filters"])
        return self.index.search(question, **options)


def check_filters(filters: Sequence[str]) -> None:
    """Refuse one filter where a list of filters is expected.

    >>> check_filters("code=Code civil")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: filters must be a list of texts like ["code=Code civil"], got 'code=Code civil'
    """
    if isinstance(filters, str | Mapping) or not all(isinstance(one, str) for one in filters):
        raise ConfigError(f'filters must be a list of texts like ["code=Code civil"], got {filters!r}')


def hit_metadata(hit: SearchHit, profile: str) -> dict[str, Any]:
    """The metadata of a hit as JSON values: fields of the document, its rank and scores, and the fields that only its corpus has.

    A field of the corpus with the name of another key has the key ``metadata.NAME``.

    >>> import lexfuse
    >>> with lexfuse.Index.build(folder / "law.index", lexfuse.read_corpus("examples/articles.csv")) as index:
    ...     hits = index.search("retard de prêt", k=1)
    ...     found = hit_metadata(hits[0], hits.profile)
    >>> found["id"], found["valid_from"], found["rank"], found["profile"]
    ('lib-4', '2021-09-01', 1, 'words')
    """
    own = document_record(hit.document)
    own.pop("text")
    own.pop("extra", None)
    sources = {name: float(score) for name, score in hit.sources.items()}
    ranking = (hit.rank, float(hit.score), hit.found, profile, sources, hit.snippet.text)
    own |= dict(zip(RANKING_KEYS, ranking, strict=True))
    return own | {f"metadata.{name}" if name in own or name == "text" else name: value for name, value in hit.metadata.items()}
