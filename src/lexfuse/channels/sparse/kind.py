"""The kind of channels with a weight for each term of a learned vocabulary."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import ClassVar

from lexfuse.channels.channel_kind import ChannelPlan, SearchOptions
from lexfuse.channels.encoded_kind import EncodedKind, EncoderOptions
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.document import Document
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import whole_text
from lexfuse.encode.query_table import QueryTable, is_query_table
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_store import Encode, EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings


class SparseOptions(SearchOptions):
    """How learned sparse vectors are compared."""

    cosine: bool | None = None  # else by their dot product; None compares them as their model was trained


class SparseBuildOptions(EncoderOptions):
    """How learned sparse vectors are made."""

    terms: int = 0  # of a vector at most, 0 for all
    approximate: bool = False  # whether a search looks for candidates among the heaviest postings


class SparseKind(EncodedKind[SparseEncoder | QueryTable, SparseBuildOptions]):
    """Learned sparse vectors (SPLADE); queries may have a table instead of a model."""

    name = "sparse"
    channels = ("splade",)
    hybrid_places: ClassVar = {"splade": 2}
    part_class = SparsePart
    search_options = SparseOptions
    build_options = SparseBuildOptions
    default_models: ClassVar = {("splade", "fr"): "fr-legal-splade"}

    def settings(self, channel: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
        """As for every encoder; a table can only read queries."""
        if is_query_table(plan.model):
            reason = f"{plan.model!r} is a query table, which encodes no documents"
            raise ConfigError(f"{reason}; name it with --query-model, and the model of its passages with --model")
        return super().settings(channel, plan, threads=threads)

    def load_encoder(self, model: str, options: SparseBuildOptions, threads: int | None) -> SparseEncoder | QueryTable:
        """The model or table, limited to the number of terms that the channel keeps of a text."""
        if is_query_table(model):
            return QueryTable.load(model, most_terms=options.terms or None)
        return SparseEncoder.load(model, int8=options.int8, threads=threads, most_terms=options.terms or None)

    def encoder_key(self, options: SparseBuildOptions) -> tuple[Hashable, ...]:
        """Vectors also depend on the number of terms."""
        return options.int8, options.terms

    def check_towers(self, queries: SparseEncoder | QueryTable, passages: SparseEncoder | QueryTable) -> None:
        """Any two can be compared: terms are compared by how they are spelled."""

    def encoding(
        self, index: IndexFolder, channel: str, *, threads: int | None = None, cache: EmbeddingCache | None = None
    ) -> Encode:
        """Documents as weighted terms."""
        settings = index.channels.named(channel).settings
        encoder, headings = self.encoder(settings, Side.PASSAGE, threads=threads), self.options(settings).headings

        def encode(documents: Sequence[Document]) -> EncodedBlock:
            rows = encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)
            return EncodedBlock(SparsePart.of(rows, encoder.terms), len(documents))

        return encode

    def open(
        self, snapshot: Snapshot, channel: str, options: SparseOptions, *, name: str, threads: int | None = None
    ) -> SparseRetriever:
        """Search over the posting lists of the channel."""
        settings = snapshot.channel(channel).named.settings
        encoder = self.encoder(settings, Side.QUERY, threads=threads)
        cosine = encoder.cosine if options.cosine is None else options.cosine
        approximate = self.options(settings).approximate and not options.exact
        return SparseRetriever(snapshot, encoder=encoder, channel=channel, cosine=cosine, name=name, approximate=approximate)
