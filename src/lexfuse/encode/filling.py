"""Filling a channel: every document that it lacks is encoded, block by block, and goes into the index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.arrays import F32, offsets_of
from lexfuse.data.document import Document
from lexfuse.encode.cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.channels import dense_encoder, late_encoder, sparse_encoder
from lexfuse.encode.dividing import divider
from lexfuse.encode.encoder import Encoder, Progress, unseen
from lexfuse.encode.passages import whole_text
from lexfuse.encode.sides import Side
from lexfuse.index.channel import ChannelKind, ChannelSettings
from lexfuse.index.channels import Encoded
from lexfuse.index.codec import Codec
from lexfuse.index.impacts import SparsePart
from lexfuse.index.index import Index
from lexfuse.index.tokenvectors import TokenPart
from lexfuse.index.vectors import Storage, VectorPart

if TYPE_CHECKING:
    from lexfuse.encode.colbert import ColbertEncoder
    from lexfuse.encode.splade import SparseEncoder

SAMPLE = 2000  # documents whose token vectors the codec of late interaction is trained on

Encode = Callable[[Sequence[Document]], Encoded]


def fill(
    index: Index,
    name: str,
    *,
    threads: int | None = None,
    cache: EmbeddingCache | None = None,
    progress: Progress = unseen,
) -> int:
    """Encode the documents that a channel lacks, and tell how many there were; `progress` is told how many are done.

    It can be stopped at any moment; the next call goes on after the last block that was committed. Dense vectors of texts
    that the cache has are taken from it, and the others go into it.

    >>> import tempfile
    >>> from lexfuse.encode.channels import ChannelPlan, planned
    >>> documents = [Document("a", text="Le préavis dure deux mois.", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i", documents=documents) as index:
    ...     index.channels.make("dense", planned("dense", ChannelPlan("fr-legal-dense")))
    ...     fill(index, "dense")
    1
    """
    settings = index.channels.named(name).settings
    if not len(index.channels.pending(name)):
        return 0  # and a codec cannot be trained on nothing
    if settings.kind is ChannelKind.DENSE:
        encode = _dense(settings, dense_encoder(settings, Side.PASSAGE, threads=threads), cache)
    elif settings.kind is ChannelKind.SPARSE:
        encode = _sparse(settings, sparse_encoder(settings, Side.PASSAGE, threads=threads))
    else:
        encode = _late(index, name, settings, late_encoder(settings, Side.PASSAGE, threads=threads))
    return index.channels.fill(name, encode, progress=progress)


def _dense(settings: ChannelSettings, encoder: Encoder, cache: EmbeddingCache | None) -> Encode:
    divide, storage = divider(settings, encoder, Side.PASSAGE), Storage(settings.options["storage"])
    reader = encoder if cache is None else CachedEncoder(encoder, cache)

    def encode(documents: Sequence[Document]) -> Encoded:
        passages = [divide(document) for document in documents]
        every = list(chain.from_iterable(passages))
        vectors = reader.encode([text for text, _ in every], Side.PASSAGE)
        starts = offsets_of(np.array([len(some) for some in passages], dtype=np.int64))
        spans = np.array([(passage.start, passage.end) for _, passage in every], dtype=np.int32)
        last = [some[-1][1].end for some in passages]
        cut = sum(document.text[end:].strip() != "" for document, end in zip(documents, last, strict=True))
        return Encoded(VectorPart.of(vectors, starts, spans, storage), len(every), cut)

    return encode


def _sparse(settings: ChannelSettings, encoder: SparseEncoder) -> Encode:
    headings = bool(settings.options["headings"])

    def encode(documents: Sequence[Document]) -> Encoded:
        rows = encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)
        return Encoded(SparsePart.of(rows, encoder.terms), len(documents))

    return encode


def _late(index: Index, name: str, settings: ChannelSettings, encoder: ColbertEncoder) -> Encode:
    headings = bool(settings.options["headings"])

    def vectors(documents: Sequence[Document]) -> list[F32]:
        return encoder.encode([whole_text(document, headings) for document in documents], Side.PASSAGE)

    codec = _codec(index, name, int(settings.options["bits"]), vectors)

    def encode(documents: Sequence[Document]) -> Encoded:
        return Encoded(TokenPart.of(vectors(documents), codec), len(documents))

    return encode


def _codec(index: Index, name: str, bits: int, vectors: Callable[[Sequence[Document]], list[F32]]) -> Codec:
    """The codec that the channel has, or a new one trained on documents drawn from all."""
    for part in index.channels.parts(name):
        if isinstance(part.content, TokenPart):
            return part.content.codec
    pending = index.channels.pending(name)
    drawn = np.sort(np.random.default_rng(0).permutation(pending)[:SAMPLE])
    sample = np.concatenate(vectors(index.channels.documents(drawn)))
    return Codec.trained(sample, bits=bits, tokens=len(sample) * len(pending) // len(drawn))
