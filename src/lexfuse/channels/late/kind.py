"""The kind of channels with a vector for each token of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from lexfuse.channels.channel_kind import DrawnDocuments, SearchOptions
from lexfuse.channels.encoded_kind import EncodedKind, EncoderOptions, check_same_dimension
from lexfuse.channels.late.codec import BITS, TokenCodec
from lexfuse.channels.late.late_search import LateMode
from lexfuse.channels.late.retriever import LateRetriever
from lexfuse.channels.late.stored_part import TokenPart
from lexfuse.data.arrays import F32, I64
from lexfuse.data.document import Document
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.late_encoder import LateEncoder
from lexfuse.encode.passage_plan import whole_text
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_store import Encode, EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings

SAMPLE = 2000  # documents whose token vectors the codec is trained on


class LateBuildOptions(EncoderOptions):
    """How token vectors are stored."""

    bits: int = 4  # of a residual, for each dimension

    def check(self) -> None:
        """Refuse numbers of bits that no codec has."""
        if self.bits not in BITS:
            raise ConfigError(f"residuals have {BITS[0]} to {BITS[-1]} bits a dimension; got {self.bits}")


class LateKind(EncodedKind[LateEncoder, LateBuildOptions]):
    """Token vectors for late interaction (ColBERT)."""

    name = "late"
    channels = ("colbert",)
    shares = True
    hybrid_places: ClassVar = {"colbert": 2}
    part_class = TokenPart
    build_options = LateBuildOptions

    def load_encoder(self, model: str, options: LateBuildOptions, threads: int | None) -> LateEncoder:
        """The model."""
        return LateEncoder.load(model, int8=options.int8, threads=threads)

    def check_towers(self, queries: LateEncoder, passages: LateEncoder) -> None:
        """Vectors must have the same length."""
        check_same_dimension(queries.dimension, passages.dimension)

    def encoding(
        self, index: IndexFolder, channel: str, *, threads: int | None = None, cache: EmbeddingCache | None = None
    ) -> Encode:
        """Documents as token vectors, compressed by the codec of the channel."""
        settings = index.channels.named(channel).settings
        vectors, pending = self._vectors(settings, threads), index.channels.pending(channel)
        held = [part.content for part in index.channels.parts(channel)]
        found = [part.codec for part in held if isinstance(part, TokenPart)]
        codec = (
            found[0]
            if found
            else self._trained(settings, len(pending), lambda at: index.channels.documents(pending[at]), vectors)
        )

        def encode(documents: Sequence[Document]) -> EncodedBlock:
            return EncodedBlock(TokenPart.of(vectors(documents), codec), len(documents))

        return encode

    def shared_part(
        self, settings: ChannelSettings, documents: int, drawn: DrawnDocuments, *, threads: int | None = None
    ) -> TokenPart:
        """A part with the codec, by which the vectors of all indexes are compressed."""
        vectors = self._vectors(settings, threads)
        return TokenPart.of([], self._trained(settings, documents, lambda at: drawn(at.tolist()), vectors))

    def _vectors(self, settings: ChannelSettings, threads: int | None) -> Callable[[Sequence[Document]], list[F32]]:
        encoder, headings = self.encoder(settings, Side.PASSAGE, threads=threads), self.options(settings).headings
        return lambda documents: encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)

    def _trained(
        self,
        settings: ChannelSettings,
        documents: int,
        drawn: Callable[[I64], Sequence[Document]],
        vectors: Callable[[Sequence[Document]], list[F32]],
    ) -> TokenCodec:
        """A codec trained on some of the documents, drawn from all by their places."""
        places = np.sort(np.random.default_rng(0).permutation(documents)[:SAMPLE])
        sample = np.concatenate(vectors(drawn(places)))
        bits = self.options(settings).bits
        return TokenCodec.trained(sample, bits=bits, tokens=len(sample) * documents // len(places))

    def open(
        self, snapshot: Snapshot, channel: str, options: SearchOptions, *, name: str, threads: int | None = None
    ) -> LateRetriever:
        """Search by centroids, or with ``exact`` over every document."""
        encoder = self.encoder(snapshot.channel(channel).named.settings, Side.QUERY, threads=threads)
        mode = LateMode.BRUTE_FORCE if options.exact else LateMode.PLAID
        return LateRetriever(snapshot, encoder, channel, mode, name=name)
