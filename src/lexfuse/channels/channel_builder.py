"""Filling a channel: every document that it lacks is encoded, block by block, and goes into the index."""

from __future__ import annotations

from lexfuse.channels.dense.builder import dense_encoder, encode_dense
from lexfuse.channels.late.builder import encode_late, late_encoder
from lexfuse.channels.sparse.builder import encode_sparse, sparse_encoder
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Progress, Side, no_progress
from lexfuse.storage.index_folder import IndexFolder


def fill_channel(
    index: IndexFolder,
    name: str,
    *,
    threads: int | None = None,
    cache: EmbeddingCache | None = None,
    progress: Progress = no_progress,
) -> int:
    """Encode the documents that a channel lacks, and tell how many there were; `progress` is told how many are done.

    It can be stopped at any moment; the next call goes on after the last block that was committed. Dense vectors of texts
    that the cache has are taken from it, and the others go into it.

    >>> import tempfile
    >>> from lexfuse.channels.channel_plan import ChannelPlan
    >>> from lexfuse.channels.registry import plan_channel
    >>> from lexfuse.data.document import Document
    >>> documents = [Document("a", text="Le préavis dure deux mois.", language="fr")]
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i", documents=documents) as index:
    ...     index.channels.make("dense", plan_channel("dense", ChannelPlan("fr-legal-dense")))
    ...     fill_channel(index, "dense")
    1
    """
    settings = index.channels.named(name).settings
    if not len(index.channels.pending(name)):
        return 0  # and a codec cannot be trained on nothing
    if settings.kind == "dense":
        encode = encode_dense(settings, dense_encoder(settings, Side.PASSAGE, threads=threads), cache)
    elif settings.kind == "sparse":
        encode = encode_sparse(settings, sparse_encoder(settings, Side.PASSAGE, threads=threads))
    else:
        encode = encode_late(index, name, settings, late_encoder(settings, Side.PASSAGE, threads=threads))
    return index.channels.fill(name, encode, progress=progress)
