"""The choices of rerankers that a profile can name, one class a method; each checked as soon as it is made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.registry import builtin_channels, open_retriever
from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.encode.pair_encoder import WindowAggregate
from lexfuse.errors import ConfigError
from lexfuse.rerank.birch import THIRDS, Birch, DocumentScore, check_birch
from lexfuse.rerank.cross_encoder import CrossEncoder, CrossEncoderRetriever
from lexfuse.rerank.reranker import Reranker, check_depth
from lexfuse.rerank.rescore import DEPTH, Rescore
from lexfuse.rerank.rprs import DEPTH as RPRS_DEPTH
from lexfuse.rerank.rprs import Rprs, RprsFormula
from lexfuse.rerank.sdr import DEPTH as SDR_DEPTH
from lexfuse.rerank.sdr import Sdr
from lexfuse.rerank.sentence_scores import CrossEncoderSentences, DenseSentences, SentenceMatch, SentenceScorer
from lexfuse.storage.snapshot import Snapshot

SENTENCES = "sentences"  # how the channel of sentences is usually called


@dataclass(frozen=True, slots=True)
class RescoreSpec:
    """A channel whose exact scores rerank the first documents.

    >>> RescoreSpec("colbert").depth
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
class CrossEncoderSpec:
    """A model that reads the query and a document together: a folder, or a hub id.

    >>> CrossEncoderSpec("models/monobert").aggregate.value
    'max'
    """

    method: ClassVar[str] = "cross-encoder"
    model: str
    depth: int = DEPTH
    aggregate: WindowAggregate = WindowAggregate.MAX
    headings: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        if not self.model:
            raise ConfigError("model is missing: a folder with a cross-encoder, or a hub id")

    def open(self, snapshot: Snapshot) -> CrossEncoder:
        """The reranker on a snapshot, with its model loaded."""
        from lexfuse.encode.pair_encoder import PairEncoder

        return CrossEncoder(snapshot, PairEncoder.load(self.model), self.depth, self.aggregate, self.headings)


@dataclass(frozen=True, slots=True)
class RprsSpec:
    """RPRS over a channel of sentences, with frequencies or without.

    >>> RprsSpec(n=0)
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
        dense = open_sentence_retriever(snapshot, self.channel)
        return Rprs(dense, n=self.n, k1=self.k1, b=self.b, frequency=self.frequency, depth=self.depth)


@dataclass(frozen=True, slots=True)
class SdrSpec:
    """SDR inference over a channel of sentences.

    >>> SdrSpec().channel
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
        return Sdr(open_sentence_retriever(snapshot, self.channel), depth=self.depth)


@dataclass(frozen=True, slots=True)
class BirchSpec:
    """Birch, its sentences scored by a cross-encoder (a model) or by a channel of sentences.

    >>> BirchSpec(channel="sentences", model="models/monobert")
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
    match: SentenceMatch = SentenceMatch.BEST

    def __post_init__(self) -> None:
        """Refuse what cannot rerank."""
        check_depth(self.depth)
        check_birch(self.a, self.weights)
        if self.channel and self.model:
            raise ConfigError("sentences are scored by a model or by a channel, not by both: leave out one of them")
        if self.model and self.match is not SentenceMatch.BEST:
            raise ConfigError("a model reads the whole query; leave out match, which is for channels")

    def open(self, snapshot: Snapshot) -> Reranker:
        """The reranker on a snapshot, with its model loaded."""
        return Birch(self._scorer(snapshot), self.depth, self.a, self.weights, self.document)

    def _scorer(self, snapshot: Snapshot) -> SentenceScorer:
        from lexfuse.encode.pair_encoder import PairEncoder

        if self.model:
            return CrossEncoderSentences(snapshot, PairEncoder.load(self.model))
        return DenseSentences(open_sentence_retriever(snapshot, self.channel or SENTENCES), self.match)


RerankChoice = RescoreSpec | CrossEncoderSpec | RprsSpec | SdrSpec | BirchSpec
RERANKS: dict[str, type[RerankChoice]] = {
    kind.method: kind for kind in (RescoreSpec, CrossEncoderSpec, RprsSpec, SdrSpec, BirchSpec)
}


def open_sentence_retriever(snapshot: Snapshot, channel: str) -> DenseRetriever:
    """The retriever of a channel of sentences; a `ConfigError` for one without vectors of passages.

    >>> import tempfile
    >>> from lexfuse.storage.index_folder import IndexFolder
    >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i") as index, index.snapshot() as snapshot:
    ...     open_sentence_retriever(snapshot, "bm25")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: channel 'bm25' has no vectors of sentences; make one: lexfuse index INDEX --channels sentences
    """
    dense = open_retriever(snapshot, channel)
    if not isinstance(dense, DenseRetriever):
        raise ConfigError(f"channel {channel!r} has no vectors of sentences; make one: lexfuse index INDEX --channels sentences")
    return dense


@dataclass(frozen=True, slots=True)
class CrossEncoderSourceSpec:
    """A cross-encoder (a folder, or a hub id) as one more source: it ranks the first `depth` documents of another channel.

    >>> CrossEncoderSourceSpec("models/monobert", over="bm25").name
    'cross-encoder'
    >>> CrossEncoderSourceSpec("models/monobert", over="bm25", name="tfidf")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: every index has a channel 'tfidf'; give the cross-encoder another name
    """

    method: ClassVar[str] = CrossEncoderSpec.method
    model: str
    over: str  # the channel of the same pipeline whose candidates it ranks
    depth: int = DEPTH
    aggregate: WindowAggregate = WindowAggregate.MAX
    headings: bool = True
    name: str = CrossEncoderSpec.method

    def __post_init__(self) -> None:
        """Refuse what cannot be a source."""
        _ = self.reader
        if not self.over:
            raise ConfigError("over is missing: the name of the channel whose candidates the cross-encoder ranks")
        if not self.name:
            raise ConfigError(f"name must be a text, got {self.name!r}; leave it out for {CrossEncoderSpec.method!r}")
        if self.name in builtin_channels():
            raise ConfigError(f"every index has a channel {self.name!r}; give the cross-encoder another name")

    @property
    def reader(self) -> CrossEncoderSpec:
        """The same model as a reranker."""
        return CrossEncoderSpec(self.model, self.depth, self.aggregate, self.headings)

    def open(self, snapshot: Snapshot, candidates: Retriever) -> Retriever:
        """The retriever over that of its candidates, with its model loaded."""
        return CrossEncoderRetriever(candidates, replace(self.reader.open(snapshot), name=self.name))
