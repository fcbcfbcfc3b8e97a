"""A search pipeline as a TOML file.

    version = 1
    name = "labour law"
    depth = 1000                  # candidates of every channel

    [[channel]]
    name = "bm25"
    k1 = 0.9
    b = 0.4
    kli = 0.1                     # for whole judgments: the most informative tenth of the terms

    [[channel]]
    name = "dense"

    [[channel]]                   # if wanted: a cross-encoder as one more source, that ranks the candidates of another channel
    method = "cross-encoder"
    model = "models/monobert"
    over = "bm25"
    depth = 100

    [fusion]                      # tm2c2 if not given
    method = "convex"
    weights = [0.3, 0.4, 0.3]
    normalisers = "theoretical-min-max"

    [[rerank]]                    # if wanted, one after the other
    channel = "colbert"           # by the scores of a channel, or method = "cross-encoder", "rprs", "sdr", "birch"
    depth = 100

    [[rerank]]                    # the options of a method are those of its class in `lexfuse.search.spec.reranker_specs`
    method = "rprs"
    channel = "sentences"
    depth = 50
    n = 4

    [[class.citation.channel]]    # if wanted: other channels, fusion or reranking for a class of queries
    name = "bm25"

    [evidence]                    # what speaks for it: texts and numbers
    measure = "nDCG@10"
    value = 0.43

What a class does not say is as in general; with channels of its own, its fusion is its own too. `rerank = []` switches reranking
off for a class.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lexfuse.channels.retriever_protocol import Retriever
from lexfuse.data.files import decode, read_bytes, written_file
from lexfuse.data.formats.toml_text import to_toml
from lexfuse.errors import ConfigError, DataError, place
from lexfuse.search.pipeline import DEPTH, RoutedRetriever
from lexfuse.search.spec.pipeline_spec import PipelineSpec
from lexfuse.search.spec.spec_reader import spec_fields
from lexfuse.search.spec.spec_writer import spec_values
from lexfuse.storage.snapshot import Snapshot
from lexfuse.text.query_class import QueryClass

Evidence = str | int | float


@dataclass(frozen=True, slots=True)
class SearchSpec:
    """A search pipeline that can be written down, with what speaks for it.

    >>> from lexfuse.search.spec.pipeline_spec import ChannelSpec
    >>> profile = SearchSpec(PipelineSpec((ChannelSpec("bm25", k1=0.9), ChannelSpec("tfidf"))), name="words")
    >>> SearchSpec.parse(profile.text()) == profile
    True
    """

    general: PipelineSpec
    classes: Mapping[QueryClass, PipelineSpec] = field(default_factory=dict)  # for queries of these classes
    name: str = ""
    description: str = ""
    depth: int = DEPTH
    evidence: Mapping[str, Evidence] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a depth and evidence that cannot be."""
        if self.depth < 1:
            raise ConfigError(f"depth must be at least 1, got {self.depth}")
        for key, value in self.evidence.items():
            if not isinstance(value, str | int | float) or (isinstance(value, float) and not math.isfinite(value)):
                raise ConfigError(f"evidence: {key} must be a text or a finite number, got {value!r}")

    def open(self, snapshot: Snapshot, *, name: str | None = None) -> Retriever:
        """The retriever on a snapshot of an index; a channel that it lacks is a `NotFoundError` that lists those it has.

        >>> import tempfile
        >>> from lexfuse.storage.index_folder import IndexFolder
        >>> from lexfuse.search.spec.pipeline_spec import ChannelSpec
        >>> profile = SearchSpec(PipelineSpec((ChannelSpec("bm25"), ChannelSpec("tfidf"))))
        >>> with tempfile.TemporaryDirectory() as folder, IndexFolder.create(f"{folder}/i") as index:
        ...     with index.snapshot() as snapshot:
        ...         profile.open(snapshot).name
        'bm25+tfidf'
        """
        general = self.general.open(snapshot, self.depth, name)
        if not self.classes:
            return general
        routes = {one: pipeline.open(snapshot, self.depth, name) for one, pipeline in self.classes.items()}
        return RoutedRetriever(general, routes, name=name or general.name)

    @classmethod
    def read(cls, path: str | Path) -> SearchSpec:
        """The profile in a file; what is wrong with it is told with the file's name.

        >>> SearchSpec.read("nowhere.toml")
        Traceback (most recent call last):
        ...
        lexfuse.errors.NotFoundError: no file or folder 'nowhere.toml'; check the path
        """
        text = decode(read_bytes(path), path=path)
        try:
            return cls.parse(text)
        except ConfigError as error:
            raise ConfigError(f"{place(path, None)}{error}") from None
        except DataError as error:
            raise DataError(error.reason, path=path) from None

    @classmethod
    def parse(cls, text: str) -> SearchSpec:
        r"""The profile that a TOML text describes; what it cannot say is a `ConfigError` that lists what it can.

        >>> SearchSpec.parse("version = 1\nchanel = 1")
        Traceback (most recent call last):
        ...
        lexfuse.errors.ConfigError: there is no 'chanel'; there are version, name, description, depth, channel, fusion, ...
        """
        try:
            values = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise DataError(f"not valid TOML: {error}") from None
        return cls(**spec_fields(values))

    def text(self) -> str:
        """The profile as TOML; `parse` gives it back.

        >>> from lexfuse.search.spec.pipeline_spec import ChannelSpec
        >>> print(SearchSpec(PipelineSpec((ChannelSpec("bm25"),))).text())
        version = 1
        depth = 1000
        <BLANKLINE>
        [[channel]]
        name = "bm25"
        <BLANKLINE>
        """
        return to_toml(spec_values(self))

    def write(self, path: str | Path) -> None:
        """Write the profile to a file."""
        content = self.text().encode("utf-8")
        with written_file(path) as out:
            out.write(content)
