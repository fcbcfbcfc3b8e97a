"""The layers of DeBERTa versions 2 and 3 as a graph: attention that treats content and distance apart.

The score of two tokens is the sum of up to three products (He et al. 2021, eq. 4): content with content, content with the
distance (c2p), and distance with content (p2c), divided by the root of the head's width times the number of products. Both terms
of a distance depend on ``query place - key place`` alone. So the projected vectors of the distances in use are looked up once per
layer, each row is multiplied with all of them, and a shift of the rows puts every product at its pair of tokens.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from lexfuse.data.arrays import F32, I64
from lexfuse.encode.model_folder.deberta_settings import DebertaSettings
from lexfuse.encode.model_folder.folder import ModelSizes
from lexfuse.encode.onnx_export.graph import CONTRIB, OnnxGraph
from lexfuse.encode.onnx_export.layers import WORDS, Tensors, added_and_normed, feed_forward, linear, normed

NEVER = -1e9  # added to the score of padding: its share becomes 0
_PROJECTIONS = {"c2p": ("key_proj", "pos_key_proj"), "p2c": ("query_proj", "pos_query_proj")}  # shared, or for distances alone


@dataclass(frozen=True, slots=True, eq=False)
class DebertaLayers:
    """The layers of one model, added to a graph."""

    graph: OnnxGraph
    tensors: Tensors
    settings: DebertaSettings
    sizes: ModelSizes

    def encoder(self, ids: str, mask: str, types: str = "") -> str:
        """The last hidden state of a batch of texts; without ``types`` every token has the first type."""
        graph, sizes = self.graph, self.sizes
        real = graph.node("Cast", [mask], to=1)
        kept = graph.node("Unsqueeze", [real, graph.integers(2)])  # batch x length x 1
        lacking = graph.node("Sub", [graph.constant("one.float", np.array(1, dtype=np.float32)), real])
        padding = graph.node("Mul", [lacking, graph.constant("never", np.array(NEVER, dtype=np.float32))])
        padding = graph.node("Unsqueeze", [padding, graph.integers(1, 2)])  # batch x 1 x 1 x length
        hidden = first = graph.node("Mul", [self._embeddings(ids, types), kept])
        rows, vectors = (self._distance_rows(ids), self._distance_vectors()) if self.settings.relative else ({}, None)
        for number in range(sizes.layers):
            place = f"encoder.layer.{number}"
            attended = self._attended(place, hidden, padding, rows, vectors)
            output = self.tensors.of(f"{place}.attention.output.dense.weight", sizes.hidden, sizes.hidden)
            attended = linear(graph, attended, f"{place}.output", output)
            names = ("attention.output.dense", "attention.output.LayerNorm")
            middle = added_and_normed(graph, self.tensors, attended, hidden, place, *names, sizes.epsilon, sizes.hidden)
            hidden = feed_forward(graph, self.tensors, sizes, place, middle)
            if number == 0 and self.settings.convolution:
                hidden = self._convolved(first, hidden, kept)
        return hidden

    @property
    def _scale(self) -> float:
        return 1 / math.sqrt(self.sizes.hidden // self.sizes.heads * (1 + len(self.settings.terms)))

    def _embeddings(self, ids: str, types: str) -> str:
        graph, tensors, width = self.graph, self.tensors, self.sizes.embedding
        words = graph.node("Gather", [graph.constant(WORDS, tensors.of(WORDS, self.sizes.vocabulary, width)), ids])
        if self.settings.absolute:
            positions = tensors.of("embeddings.position_embeddings.weight", self.sizes.positions, width)
            length = graph.node("Slice", [graph.node("Shape", [ids]), *map(graph.integers, (1, 2))])
            bounds = [graph.integers(0), length, graph.integers(0)]
            words = graph.node("Add", [words, graph.node("Slice", [graph.constant("positions", positions), *bounds])])
        if self.sizes.types:
            kinds = tensors.of("embeddings.token_type_embeddings.weight", self.sizes.types, width)
            kind = graph.node("Gather", [graph.constant("types", kinds), types]) if types else graph.constant("type", kinds[0])
            words = graph.node("Add", [words, kind])
        if width != self.sizes.hidden:
            words = linear(graph, words, "project", tensors.of("embeddings.embed_proj.weight", self.sizes.hidden, width))
        return self._normed(words, "embeddings.LayerNorm")

    def _distance_vectors(self) -> F32:
        """The vectors of distances, normalised where the model does so."""
        width = self.sizes.hidden
        vectors = self.tensors.of("encoder.rel_embeddings.weight", 2 * self.settings.span, width)
        if not self.settings.normalised:
            return vectors
        scale, shift = (self.tensors.of(f"encoder.LayerNorm.{part}", width) for part in ("weight", "bias"))
        return layer_norm(vectors, scale, shift, self.sizes.epsilon)

    def _distance_rows(self, ids: str) -> dict[str, str]:
        """By term, the vectors that a batch of this length needs, in the order of `shifted`: falling for c2p, rising for p2c."""
        graph, reach = self.graph, self.sizes.positions - 1
        rising = distance_rows(np.arange(-reach, reach + 1), self.settings)
        length = graph.node("Slice", [graph.node("Shape", [ids]), *map(graph.integers, (1, 2))])
        whole = graph.integers(self.sizes.positions)
        bounds = [graph.node("Sub", [whole, length]), graph.node("Sub", [graph.node("Add", [whole, length]), graph.integers(1)])]
        return {
            term: graph.node("Slice", [graph.constant(f"distances.{term}", values), *bounds, graph.integers(0)])
            for term, values in (("c2p", rising[::-1]), ("p2c", rising))
            if term in self.settings.terms
        }

    def _attended(self, place: str, hidden: str, padding: str, rows: dict[str, str], vectors: F32 | None) -> str:
        """Disentangled attention, before its output layer."""
        graph = self.graph
        query = self._headed(f"{place}.attention.self.query_proj", hidden, self._scale)
        key, value = (self._headed(f"{place}.attention.self.{name}_proj", hidden) for name in ("key", "value"))
        scores = graph.node("MatMul", [query, graph.node("Transpose", [key], perm=[0, 1, 3, 2])])
        if vectors is not None:
            for term, chosen in rows.items():
                scores = graph.node("Add", [scores, self._distance_term(place, term, query, key, chosen, vectors)])
        shares = graph.node("Softmax", [graph.node("Add", [scores, padding])], axis=-1)
        mixed = graph.node("Transpose", [graph.node("MatMul", [shares, value])], perm=[0, 2, 1, 3])
        return graph.node("Reshape", [mixed, graph.integers(0, 0, self.sizes.hidden)])

    def _distance_term(self, place: str, term: str, query: str, key: str, rows: str, vectors: F32) -> str:
        """One term of the scores, batch x heads x queries x keys; queries are scaled already, keys are not."""
        graph, width = self.graph, self.sizes.hidden
        name = f"{place}.attention.self.{_PROJECTIONS[term][0 if self.settings.shared else 1]}"
        projected = vectors @ self.tensors.of(f"{name}.weight", width, width).T + self.tensors.of(f"{name}.bias", width)
        table = projected.reshape(len(vectors), self.sizes.heads, -1).transpose(1, 2, 0)  # heads x width of a head x distances
        table = np.ascontiguousarray(table * np.float32(1.0 if term == "c2p" else self._scale))
        needed = graph.node("Gather", [graph.constant(f"{place}.{term}", table), rows], axis=2)
        found = shifted(graph, graph.node("MatMul", [query if term == "c2p" else key, needed]))
        return found if term == "c2p" else graph.node("Transpose", [found], perm=[0, 1, 3, 2])

    def _headed(self, name: str, hidden: str, scale: float = 1.0) -> str:
        """A projection, batch x heads x length x width of a head."""
        graph, width, heads = self.graph, self.sizes.hidden, self.sizes.heads
        weight, bias = self.tensors.of(f"{name}.weight", width, width), self.tensors.of(f"{name}.bias", width)
        projected = linear(graph, hidden, name, weight * np.float32(scale))
        added = graph.node("Add", [projected, graph.constant(f"{name}.bias", bias * np.float32(scale))])
        split = graph.node("Reshape", [added, graph.integers(0, 0, heads, width // heads)])
        return graph.node("Transpose", [split], perm=[0, 2, 1, 3])

    def _convolved(self, first: str, hidden: str, kept: str) -> str:
        """The convolution over the embeddings, which is added to the output of the first layer."""
        graph, width, size, groups = self.graph, self.sizes.hidden, self.settings.convolution, self.settings.groups
        inputs = [
            graph.node("Transpose", [first], perm=[0, 2, 1]),
            graph.constant("convolution", self.tensors.of("encoder.conv.conv.weight", width, width // groups, size)),
            graph.constant("convolution.bias", self.tensors.of("encoder.conv.conv.bias", width)),
        ]
        found = graph.node("Conv", inputs, kernel_shape=[size], pads=[(size - 1) // 2] * 2, group=groups)
        found = graph.node("Mul", [graph.node("Transpose", [found], perm=[0, 2, 1]), kept])
        found = activation_of(graph, found, self.settings.convolution_activation)
        return graph.node("Mul", [self._normed(graph.node("Add", [hidden, found]), "encoder.conv.LayerNorm"), kept])

    def _normed(self, values: str, name: str) -> str:
        width = self.sizes.hidden
        scale = (self.tensors.of(f"{name}.weight", width), self.tensors.of(f"{name}.bias", width))
        return normed(self.graph, values, name, scale, self.sizes.epsilon)


def shifted(graph: OnnxGraph, values: str) -> str:
    """From rows over 2n - 1 distances to rows over n places: row i, column j is what was in column n - 1 - i + j.

    A column is added on the left, and the last two axes are read again in rows of n: each row then starts one place further left.
    """
    shape = graph.node("Shape", [values])
    batch, length = (graph.node("Slice", [shape, *map(graph.integers, bounds)]) for bounds in ((0, 2), (2, 3)))
    wider = graph.node("Pad", [values, graph.integers(0, 0, 0, 1, 0, 0, 0, 0)])
    folded = graph.node("Reshape", [wider, graph.node("Concat", [batch, graph.integers(-1), length], axis=0)])
    rest = graph.node("Slice", [folded, *map(graph.integers, (1, 2**31 - 1, 2))])
    again = graph.node("Reshape", [rest, shape])
    return graph.node("Slice", [again, graph.integers(0), length, graph.integers(3)])


def activation_of(graph: OnnxGraph, values: str, name: str) -> str:
    """tanh, relu or gelu of values that have their bias."""
    return graph.node("Gelu", [values], CONTRIB) if name == "gelu" else graph.node(name.capitalize(), [values])


def distance_rows(distance: I64, settings: DebertaSettings) -> I64:
    """The row of the table of vectors for distances (query minus key): exact when near, logarithmic when far.

    >>> settings = DebertaSettings.read("config.json", {"relative_attention": True, "position_buckets": 8,
    ...     "max_position_embeddings": 64, "pos_att_type": "c2p"})
    >>> distance_rows(np.array([-63, -4, -1, 0, 1, 4, 5, 63]), settings).tolist()
    [1, 4, 7, 8, 9, 12, 13, 15]
    """
    bucket = distance
    if settings.buckets:
        middle = settings.buckets // 2
        away = np.where(np.abs(distance) < middle, middle - 1, np.abs(distance))
        whole = np.log(np.float32((settings.farthest - 1) / middle))
        scaled = np.log((away / middle).astype(np.float32)) / whole * np.float32(middle - 1)
        far = (np.ceil(scaled) + middle) * np.sign(distance)
        bucket = np.where(away <= middle, distance, far).astype(np.int64)
    found: I64 = np.clip(bucket + settings.span, 0, 2 * settings.span - 1)
    return found


def layer_norm(values: F32, scale: F32, shift: F32, epsilon: float) -> F32:
    """Layer normalisation of rows that are the same for every text.

    >>> layer_norm(np.array([[1.0, 3.0]], np.float32), np.ones(2, np.float32), np.zeros(2, np.float32), 0.0).tolist()
    [[-1.0, 1.0]]
    """
    exact = values.astype(np.float64)
    centred = exact - exact.mean(axis=1, keepdims=True)
    found: F32 = (centred / np.sqrt(exact.var(axis=1, keepdims=True) + epsilon) * scale + shift).astype(np.float32)
    return found
