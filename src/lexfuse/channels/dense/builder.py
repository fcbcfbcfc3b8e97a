"""Documents, and queries that are as long as documents, in the pieces that a dense channel has vectors of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.data.arrays import offsets_of
from lexfuse.data.document import Document
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.embedding_cache import CachedEncoder, EmbeddingCache
from lexfuse.encode.encoder import Encoder, Side
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme, WordUnits
from lexfuse.encode.shared_encoders import unshared
from lexfuse.encode.vector_file import VectorFile
from lexfuse.storage.channel_store import Encode, EncodedBlock
from lexfuse.storage.stored_channel import ChannelSettings
from lexfuse.text.passages import Passage

Divide = Callable[[Document], list[tuple[str, Passage]]]  # texts to encode, with the piece that each is made of


def passage_plan(settings: ChannelSettings) -> PassagePlan:
    """How the documents of a dense channel were divided, and long queries are to be."""
    options = settings.options
    scheme, headings = PassageScheme(str(options["scheme"])), bool(options["headings"])
    return PassagePlan(scheme, int(options["size"]), int(options["overlap"]), headings=headings)


def divider(settings: ChannelSettings, encoder: Encoder, side: Side) -> Divide:
    """How a text of one side is divided, by the plan of the channel.

    >>> from lexfuse.channels.registry import channel_kind, plan_channel
    >>> settings = plan_channel("sentences", language="fr")
    >>> divide = divider(settings, channel_kind("sentences").encoder(settings, Side.QUERY), Side.QUERY)
    >>> [text for text, _ in divide(Document("q", text="Le bail est nul. Il y a appel.", language="fr"))]
    ['Le bail est nul.', 'Il y a appel.']
    """
    plan = passage_plan(settings)
    own = unshared(encoder.encoder if isinstance(encoder, CachedEncoder) else encoder)
    if isinstance(own, DenseEncoder) and own.folder.chunks is not None and plan.scheme is PassageScheme.WHOLE:
        return lambda document: plan.of(document, WordUnits())  # the model divides it, and gives one vector for all
    if isinstance(own, DenseEncoder):
        tokens, reserved = own.tokens, own.tokens.count(own.prompts[side])
        return lambda document: plan.of(document, tokens, reserved)
    return lambda document: plan.of(document, WordUnits())


def encode_dense(settings: ChannelSettings, encoder: Encoder, cache: EmbeddingCache | None) -> Encode:
    """What encodes a block of documents: their passages, cached if a cache is given."""
    divide, storage = divider(settings, encoder, Side.PASSAGE), VectorStorage(settings.options["storage"])
    reader = encoder if cache is None else CachedEncoder(encoder, cache)

    def encode(documents: Sequence[Document]) -> EncodedBlock:
        passages = [divide(document) for document in documents]
        every = list(chain.from_iterable(passages))
        vectors = reader.encode([text for text, _ in every], Side.PASSAGE)
        starts = offsets_of(np.array([len(some) for some in passages], dtype=np.int64))
        spans = np.array([(passage.start, passage.end) for _, passage in every], dtype=np.int32)
        last = [some[-1][1].end for some in passages]
        cut = sum(document.text[end:].strip() != "" for document, end in zip(documents, last, strict=True))
        return EncodedBlock(VectorPart.of(vectors, starts, spans, storage), len(every), cut)

    return encode


def encode_stored(settings: ChannelSettings, stored: VectorFile) -> Encode:
    """What takes the vectors of a block of documents from a file; where a passage is in the text is not known."""
    storage = VectorStorage(settings.options["storage"])

    def encode(documents: Sequence[Document]) -> EncodedBlock:
        vectors, starts = stored.of_documents([document.id for document in documents])
        ends = np.repeat([len(document.text) for document in documents], np.diff(starts))
        spans = np.stack([np.zeros_like(ends), ends], axis=1).astype(np.int32)
        return EncodedBlock(VectorPart.of(vectors, starts, spans, storage), len(vectors))

    return encode
