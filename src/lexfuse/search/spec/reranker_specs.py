"""The rerankers that a search can name, one model for each method; each is checked when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from lexfuse.channels.channel_retriever import PassageRetriever
from lexfuse.channels.registry import open_retriever
from lexfuse.data.validation import Model, Name, Numbers, by_method
from lexfuse.encode.pair_encoder import PairEncoder, WindowAggregate
from lexfuse.errors import ConfigError
from lexfuse.rerank.birch import (
    THIRDS,
    Birch,
    CrossEncoderSentences,
    DenseSentences,
    DocumentScore,
    SentenceMatch,
    SentenceScorer,
    check_birch,
)
from lexfuse.rerank.cross_encoder import CrossEncoder
from lexfuse.rerank.reranker import DEPTH, Reranker, Rescore, check_depth
from lexfuse.rerank.rprs import DEPTH as RPRS_DEPTH
from lexfuse.rerank.rprs import Ablation, Rprs, RprsFormula
from lexfuse.rerank.sdr import DEPTH as SDR_DEPTH
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.structure import DEPTH as STRUCTURE_DEPTH
from lexfuse.rerank.structure import Structure, StructureWeights
from lexfuse.search.similar import SENTENCES
from lexfuse.storage.snapshot import Snapshot


class RerankerSpec(Model):
    """A reranker and how many of the first documents it reranks."""

    if TYPE_CHECKING:  # every reranker declares them, in the order in which they are written
        method: str
        depth: int

    def check(self) -> None:
        """Refuse a depth that leaves nothing to rerank."""
        check_depth(self.depth)

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot, with its model loaded."""
        raise NotImplementedError

    @model_serializer(mode="wrap")
    def _values(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The depth is always written, and the method unless it is the usual one."""
        method = {} if isinstance(self, RescoreSpec) else {"method": self.method}
        return {**method, **handler(self), "depth": self.depth}


class RescoreSpec(RerankerSpec):
    """A channel whose exact scores rerank the first documents.

    >>> RescoreSpec(channel="colbert").depth
    100
    """

    method: Literal["rescore"] = "rescore"
    channel: Name = Field(description="a text, the name of the channel whose scores rerank")
    depth: int = DEPTH

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        return Rescore(open_retriever(snapshot, self.channel), self.depth)


class CrossEncoderSpec(RerankerSpec):
    """A model that reads the query and a document together: a folder, or a hub id.

    >>> CrossEncoderSpec(model="models/monobert").aggregate.value
    'max'
    """

    method: Literal["cross-encoder"] = "cross-encoder"
    model: Name = Field(description="a text, the folder of a cross-encoder or a hub id")
    depth: int = DEPTH
    aggregate: Annotated[WindowAggregate, Field(strict=False)] = WindowAggregate.MAX
    headings: bool = True

    def open(self, snapshot: Snapshot) -> CrossEncoder:
        """The reranker on a snapshot, with its model loaded."""
        return CrossEncoder(snapshot, PairEncoder.load(self.model), self.depth, self.aggregate, self.headings)


class RprsSpec(RerankerSpec):
    """RPRS over a channel of sentences, with frequencies or without.

    >>> RprsSpec(n=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: n must be at least 1, got 0; RPRS takes 1 to 10
    """

    method: Literal["rprs"] = "rprs"
    channel: Name = SENTENCES
    depth: int = RPRS_DEPTH
    n: int = RprsFormula().n
    k1: float = RprsFormula().k1
    b: float = RprsFormula().b
    frequency: bool = True
    ablation: Annotated[Ablation, Field(strict=False)] = Ablation.NOTHING

    def check(self) -> None:
        """Refuse parameters out of their range."""
        check_depth(self.depth)
        RprsFormula(self.n, self.k1, self.b, self.frequency, self.ablation)

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        dense = open_sentence_retriever(snapshot, self.channel)
        return Rprs(dense, self.n, self.k1, self.b, self.frequency, self.ablation, self.depth)


class SdrSpec(RerankerSpec):
    """SDR inference over a channel of sentences."""

    method: Literal["sdr"] = "sdr"
    channel: Name = SENTENCES
    depth: int = SDR_DEPTH

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        return Sdr(open_sentence_retriever(snapshot, self.channel), depth=self.depth)


class BirchSpec(RerankerSpec):
    """Birch, its sentences scored by a cross-encoder (a model) or by a channel of sentences.

    >>> BirchSpec(channel="sentences", model="models/monobert")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: sentences are scored by a model or by a channel, not by both: leave out one of them
    """

    method: Literal["birch"] = "birch"
    channel: str = ""  # `sentences` where there is no model
    model: str = ""
    depth: int = DEPTH
    a: float = 0.5
    weights: Numbers = THIRDS
    document: Annotated[DocumentScore, Field(strict=False)] = DocumentScore.MIN_MAX
    match: Annotated[SentenceMatch, Field(strict=False)] = SentenceMatch.BEST

    def check(self) -> None:
        """Refuse parameters out of their range, and two ways to score sentences."""
        check_depth(self.depth)
        check_birch(self.a, self._weights)
        if self.channel and self.model:
            raise ConfigError("sentences are scored by a model or by a channel, not by both: leave out one of them")
        if self.model and self.match is not SentenceMatch.BEST:
            raise ConfigError("a model reads the whole query; leave out match, which is for channels")

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot, with its model loaded."""
        return Birch(self._scorer(snapshot), self.depth, self.a, self._weights, self.document)

    @property
    def _weights(self) -> tuple[float, ...]:
        return self.weights if isinstance(self.weights, tuple) else (self.weights,)

    def _scorer(self, snapshot: Snapshot) -> SentenceScorer:
        if self.model:
            return CrossEncoderSentences(snapshot, PairEncoder.load(self.model))
        return DenseSentences(open_sentence_retriever(snapshot, self.channel or SENTENCES), self.match)


class StructureSpec(RerankerSpec):
    """Documents with the support of their sections and of the documents that cite them.

    >>> StructureSpec(section=0.6, cited=0.4)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: section and cited add up to 1; they must leave something to a document's own score
    """

    method: Literal["structure"] = "structure"
    depth: int = STRUCTURE_DEPTH
    section: float = StructureWeights().section
    cited: float = StructureWeights().cited

    def check(self) -> None:
        """Refuse parameters out of their range."""
        check_depth(self.depth)
        _ = self._weights

    def open(self, snapshot: Snapshot) -> Structure:
        """The reranker on a snapshot."""
        return Structure(snapshot, self._weights, self.depth)

    @property
    def _weights(self) -> StructureWeights:
        return StructureWeights(self.section, self.cited)


RERANKERS: tuple[type[RerankerSpec], ...] = (RescoreSpec, CrossEncoderSpec, RprsSpec, SdrSpec, BirchSpec, StructureSpec)
RerankerChoice = Annotated[
    RescoreSpec | CrossEncoderSpec | RprsSpec | SdrSpec | BirchSpec | StructureSpec,
    Field(discriminator="method"),
    BeforeValidator(by_method(RERANKERS)),
]


def open_sentence_retriever(snapshot: Snapshot, channel: str) -> PassageRetriever:
    """The retriever of a channel of sentences; a `ConfigError` for one without vectors of passages.

    >>> open_sentence_retriever(snapshot, "bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: channel 'bm25' has no vectors of sentences; make one: lexfuse index INDEX --channels sentences
    """
    dense = open_retriever(snapshot, channel)
    if not isinstance(dense, PassageRetriever):
        raise ConfigError(f"channel {channel!r} has no vectors of sentences; make one: lexfuse index INDEX --channels sentences")
    return dense
