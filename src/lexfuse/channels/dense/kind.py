"""The kind of channels with a vector for each passage of a document."""

from __future__ import annotations

from lexfuse.channels.channel_kind import ChannelKind, SearchOptions
from lexfuse.channels.dense.builder import dense_encoder
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorPart
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.encode.encoder import Side
from lexfuse.storage.snapshot import Snapshot


class DenseOptions(SearchOptions):
    """How dense vectors are searched."""

    pool: PassagePooling = PassagePooling.BEST


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
