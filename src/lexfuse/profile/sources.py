"""What a fusion takes beside channels of the index: a cross-encoder, which ranks the candidates of another channel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lexfuse.encode.crossencoder import Aggregate
from lexfuse.errors import ConfigError
from lexfuse.index.channel import WORDS
from lexfuse.index.snapshot import Snapshot
from lexfuse.profile.reranks import CrossEncoderChoice
from lexfuse.rerank.crossencoder import CrossEncoded
from lexfuse.rerank.rescore import DEPTH
from lexfuse.retrieve.retriever import Retriever


@dataclass(frozen=True, slots=True)
class CrossEncodedChoice:
    """A cross-encoder (a folder, or a hub id) as one more source: it ranks the first `depth` documents of another channel.

    >>> CrossEncodedChoice("models/monobert", over="bm25").name
    'cross-encoder'
    >>> CrossEncodedChoice("models/monobert", over="bm25", name="tfidf")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: every index has a channel 'tfidf'; give the cross-encoder another name
    """

    method: ClassVar[str] = CrossEncoderChoice.method
    model: str
    over: str  # the channel of the same pipeline whose candidates it ranks
    depth: int = DEPTH
    aggregate: Aggregate = Aggregate.MAX
    headings: bool = True
    name: str = CrossEncoderChoice.method

    def __post_init__(self) -> None:
        """Refuse what cannot be a source."""
        _ = self.reader
        if not self.over:
            raise ConfigError("over is missing: the name of the channel whose candidates the cross-encoder ranks")
        if not self.name:
            raise ConfigError(f"name must be a text, got {self.name!r}; leave it out for {CrossEncoderChoice.method!r}")
        if self.name in WORDS:
            raise ConfigError(f"every index has a channel {self.name!r}; give the cross-encoder another name")

    @property
    def reader(self) -> CrossEncoderChoice:
        """The same model as a reranker."""
        return CrossEncoderChoice(self.model, self.depth, self.aggregate, self.headings)

    def open(self, snapshot: Snapshot, candidates: Retriever) -> Retriever:
        """The retriever over that of its candidates, with its model loaded."""
        return CrossEncoded(candidates, replace(self.reader.open(snapshot), name=self.name))
