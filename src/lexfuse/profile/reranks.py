"""The choices of rerankers that a profile can name, one class a method; each checked as soon as it is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lexfuse.encode.crossencoder import Aggregate
from lexfuse.errors import ConfigError
from lexfuse.index.snapshot import Snapshot
from lexfuse.rerank.birch import THIRDS, Birch, DocumentScore, check_birch
from lexfuse.rerank.crossencoder import CrossEncoder
from lexfuse.rerank.reranker import Reranker, check_depth
from lexfuse.rerank.rescore import DEPTH, Rescore
from lexfuse.rerank.rprs import DEPTH as RPRS_DEPTH
from lexfuse.rerank.rprs import Rprs, RprsFormula
from lexfuse.rerank.sdr import DEPTH as SDR_DEPTH
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.sentencescores import Match, NearSentences, PairedSentences, SentenceScorer
from lexfuse.retrieve.dense import Dense
from lexfuse.retrieve.opening import open_retriever

SENTENCES = "sentences"  # how the channel of sentences is usually called


@dataclass(frozen=True, slots=True)
class RescoreChoice:
    """A channel whose exact scores rerank the first documents.

    >>> RescoreChoice("colbert").depth
    100
    """

    method: ClassVar[str] = "rescore"
    channel: str
    depth: int = DEPTH

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        if not self.channel:
            raise ConfigError("channel is missing: the name of the channel whose scores rerank")

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        return Rescore(open_retriever(snapshot, self.channel), self.depth)


@dataclass(frozen=True, slots=True)
class CrossEncoderChoice:
    """A model that reads the query and a document together: a folder, or a hub id.

    >>> CrossEncoderChoice("models/monobert").aggregate.value
    'max'
    """

    method: ClassVar[str] = "cross-encoder"
    model: str
    depth: int = DEPTH
    aggregate: Aggregate = Aggregate.MAX
    headings: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        if not self.model:
            raise ConfigError("model is missing: a folder with a cross-encoder, or a hub id")

    def open(self, snapshot: Snapshot) -> CrossEncoder:
        """The reranker on a snapshot, with its model loaded."""
        from lexfuse.encode.crossencoder import PairEncoder

        return CrossEncoder(snapshot, PairEncoder.load(self.model), self.depth, self.aggregate, self.headings)


@dataclass(frozen=True, slots=True)
class RprsChoice:
    """RPRS over a channel of sentences, with frequencies or without.

    >>> RprsChoice(n=0)
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: n must be at least 1, got 0; RPRS takes 1 to 10
    """

    method: ClassVar[str] = "rprs"
    channel: str = SENTENCES
    depth: int = RPRS_DEPTH
    n: int = RprsFormula().n
    k1: float = RprsFormula().k1
    b: float = RprsFormula().b
    frequency: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        RprsFormula(self.n, self.k1, self.b, self.frequency)

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        dense = opened_sentences(snapshot, self.channel)
        return Rprs(dense, n=self.n, k1=self.k1, b=self.b, frequency=self.frequency, depth=self.depth)


@dataclass(frozen=True, slots=True)
class SdrChoice:
    """SDR inference over a channel of sentences.

    >>> SdrChoice().channel
    'sentences'
    """

    method: ClassVar[str] = "sdr"
    channel: str = SENTENCES
    depth: int = SDR_DEPTH

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot."""
        return Sdr(opened_sentences(snapshot, self.channel), depth=self.depth)


@dataclass(frozen=True, slots=True)
class BirchChoice:
    """Birch, its sentences scored by a cross-encoder (a model) or by a channel of sentences.

    >>> BirchChoice(channel="sentences", model="models/monobert")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: sentences are scored by a model or by a channel, not by both: leave out one of them
    """

    method: ClassVar[str] = "birch"
    channel: str = ""  # `sentences` where there is no model
    model: str = ""
    depth: int = DEPTH
    a: float = 0.5
    weights: tuple[float, ...] = THIRDS
    document: DocumentScore = DocumentScore.MIN_MAX
    match: Match = Match.BEST

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        check_birch(self.a, self.weights)
        if self.channel and self.model:
            raise ConfigError("sentences are scored by a model or by a channel, not by both: leave out one of them")
        if self.model and self.match is not Match.BEST:
            raise ConfigError("a model reads the whole query; leave out match, which is for channels")

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot, with its model loaded."""
        return Birch(self._scorer(snapshot), self.depth, self.a, self.weights, self.document)

    def _scorer(self, snapshot: Snapshot) -> SentenceScorer:
        from lexfuse.encode.crossencoder import PairEncoder

        if self.model:
            return PairedSentences(snapshot, PairEncoder.load(self.model))
        return NearSentences(opened_sentences(snapshot, self.channel or SENTENCES), self.match)


RerankChoice = RescoreChoice | CrossEncoderChoice | RprsChoice | SdrChoice | BirchChoice
RERANKS: dict[str, type[RerankChoice]] = {
    kind.method: kind for kind in (RescoreChoice, CrossEncoderChoice, RprsChoice, SdrChoice, BirchChoice)
}


def opened_sentences(snapshot: Snapshot, channel: str) -> Dense:
    """The retriever of a channel of sentences; a `ConfigError` for one without vectors of passages.

    >>> import tempfile
    >>> from lexfuse.index.index import Index
    >>> with tempfile.TemporaryDirectory() as folder, Index.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     opened_sentences(snapshot, "bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: channel 'bm25' has no vectors of sentences; make one: lexfuse index INDEX --channels sentences
    """
    dense = open_retriever(snapshot, channel)
    if not isinstance(dense, Dense):
        raise ConfigError(f"channel {channel!r} has no vectors of sentences; make one: lexfuse index INDEX --channels sentences")
    return dense
