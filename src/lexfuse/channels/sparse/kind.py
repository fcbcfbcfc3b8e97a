"""The kind of channels with a weight for each term of a learned vocabulary."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from lexfuse.channels.channel_kind import ChannelPlan, SearchOptions
from lexfuse.channels.encoded_kind import EncodedKind, EncoderOptions
from lexfuse.channels.sparse.passage_retriever import PassageSparseRetriever
from lexfuse.channels.sparse.retriever import SparseRetriever
from lexfuse.channels.sparse.stored_part import SparsePart
from lexfuse.data.arrays import offsets_of
from lexfuse.data.document import Document
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Side
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme, whole_text
from lexfuse.encode.query_table import QueryTable, is_query_table
from lexfuse.encode.shared_encoders import unshared
from lexfuse.encode.sparse_encoder import SparseEncoder
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_store import Encode, EncodedBlock
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings, Option


class SparseOptions(SearchOptions):
    """How learned sparse vectors are compared."""

    cosine: bool | None = None  # else by their dot product; None compares them as their model was trained


class SparseBuildOptions(EncoderOptions):
    """How learned sparse vectors are made."""

    stored_names: ClassVar = {"passages": "scheme"}

    terms: int = 0  # of a vector at most, 0 for all
    approximate: bool = False  # whether a search looks for candidates among the heaviest postings
    passages: Annotated[PassageScheme | None, Field(strict=False)] = (
        None  # what gets a vector; else a document, over all its windows
    )
    size: int | None = None  # tokens of a window, words of a sentence; the usual number if not given
    overlap: int | None = None  # tokens that a window shares with the one before; the usual number if not given

    def passage_plan(self) -> PassagePlan | None:
        """How documents are divided; None if each has one vector."""
        if self.passages is None:
            if (self.size, self.overlap) != (None, None):
                raise ConfigError("size and overlap are those of passages; say which: --passages windows")
            return None
        return PassagePlan.usual(self.passages, self.size, self.overlap, headings=self.headings)

    def stored(self, channel: str) -> dict[str, Option]:
        """The options; those that channels did not always have are left out if they are as before."""
        plan = self.passage_plan()
        if plan is not None and self.approximate:
            raise ConfigError("a channel with a vector for each passage is searched exactly; leave out approximate or passages")
        found = self.model_dump(
            mode="json", exclude={"passages", "size", "overlap"} | (set() if self.approximate else {"approximate"})
        )
        return found if plan is None else found | {"scheme": plan.scheme.value, "size": plan.size, "overlap": plan.overlap}


class SparseKind(EncodedKind[SparseEncoder | QueryTable, SparseBuildOptions]):
    """Learned sparse vectors (SPLADE); queries may have a table instead of a model."""

    name = "sparse"
    channels = ("splade",)
    hybrid_places: ClassVar = {"splade": 1}
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
        encoder, options = self.encoder(settings, Side.PASSAGE, threads=threads), self.options(settings)
        plan, own = options.passage_plan(), unshared(encoder)

        def encode(documents: Sequence[Document]) -> EncodedBlock:
            rows = encoder.encode([whole_text(document, options.headings) for document in documents], Side.PASSAGE)
            return EncodedBlock(SparsePart.of(rows, encoder.terms), len(documents))

        def encode_passages(documents: Sequence[Document]) -> EncodedBlock:
            if plan is None or not isinstance(own, SparseEncoder):
                return encode(documents)
            reserved = own.tokens.count(own.prompts[Side.PASSAGE])
            passages = [plan.of(document, own.tokens, reserved) for document in documents]
            rows = encoder.encode([text for some in passages for text, _ in some], Side.PASSAGE)
            starts = offsets_of(np.array([len(some) for some in passages], dtype=np.int64))
            ends = [some[-1][1].end for some in passages]
            cut = sum(document.text[end:].strip() != "" for document, end in zip(documents, ends, strict=True))
            return EncodedBlock(SparsePart.of(rows, encoder.terms, starts), len(rows), cut)

        return encode_passages

    def open(
        self, snapshot: Snapshot, channel: str, options: SparseOptions, *, name: str, threads: int | None = None
    ) -> SparseRetriever:
        """Search over the posting lists of the channel."""
        settings = snapshot.channel(channel).named.settings
        encoder = self.encoder(settings, Side.QUERY, threads=threads)
        cosine = encoder.cosine if options.cosine is None else options.cosine
        built = self.options(settings)
        approximate = built.approximate and not options.exact
        kind = SparseRetriever if built.passages is None else PassageSparseRetriever
        return kind(snapshot, encoder=encoder, channel=channel, cosine=cosine, name=name, approximate=approximate)
