"""The kind of channels with a vector for each passage of a document."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.dense.builder import dense_encoder
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.validation import expect, refusing
from lexfuse.encode.encoder import Side
from lexfuse.storage.snapshot import Snapshot

_ALL = "all"


def _pooling(given: Any) -> PassagePooling:
    """Pooling by how many of the best passages of a document count, or all."""
    if isinstance(given, PassagePooling):
        return given
    if given != _ALL and type(given) is not int:
        expect(f"a number of passages or {_ALL!r}")
    return PassagePooling.MEAN if given == _ALL else PassagePooling.top_mean(given)


class DenseOptions(SearchOptions):
    """How dense vectors are searched."""

    pool: Annotated[PassagePooling, BeforeValidator(refusing(_pooling)), PlainSerializer(lambda pool: pool.passages or _ALL)] = (
        PassagePooling.BEST
    )


class DenseKind(ChannelKind):
    """Dense vectors: of a transformer, of static word vectors, or of every sentence."""

    name = "dense"
    channels = ("dense", "static", "sentences")  # sentences are for comparing whole judgments
    part_class = VectorPart
    search_options = DenseOptions

    def open(self, snapshot: Snapshot, channel: str, options: DenseOptions, *, name: str, threads: int | None) -> Retriever:
        """Exact search, unless the channel was made with clusters."""
        settings = snapshot.channel(channel).named.settings
        encoder = dense_encoder(settings, Side.QUERY, threads=threads)
        exact = options.exact or not settings.options.get("approximate")
        return DenseRetriever(snapshot, encoder, channel, options.pool, exact, name=name)
