"""The layers of the BERT family as a graph: embeddings, attention, feed-forward (post-norm transformer).

BERT, RoBERTa, CamemBERT and XLM-R differ in the first position and in tensor names; ELECTRA projects its embeddings to another
width; MPNet adds an attention bias by the distance of two tokens. Each layer is six nodes: attention, its output, its norm, and
the two halves and the norm of the feed-forward part; norm and activation include the addition before them.
"""

from __future__ import annotations

import math

import numpy as np

from lexfuse.data.arrays import F32, I64
from lexfuse.encode.model_folder.folder import ModelFamily, ModelSizes
from lexfuse.encode.model_folder.tensors import TensorFiles
from lexfuse.encode.onnx_export.graph import CONTRIB, OnnxGraph
from lexfuse.errors import DataError

WORDS = "embeddings.word_embeddings.weight"
FARTHEST = 128  # distance from which MPNet treats distances alike
_OLDER = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}


class Tensors:
    """The tensors of one model by their usual names, without the prefix in the file.

    >>> Tensors(TensorFiles.read([]), "an empty file")
    Traceback (most recent call last):
    ...
    lexfuse.errors.DataError: an empty file: no tensor embeddings.word_embeddings.weight; the weights are not those of ...
    """

    def __init__(self, weights: TensorFiles, place: str) -> None:
        """Find the prefix of the names ("bert.", "roberta.", nothing)."""
        self._weights, self._place = weights, place
        found = min(weights.ending(WORDS), key=len, default=None)
        if found is None:
            raise DataError(
                f"no tensor {WORDS}; the weights are not those of a BERT, RoBERTa, MPNet, ELECTRA or DeBERTa model", path=place
            )
        self._prefix = found.removesuffix(WORDS)

    def of(self, name: str, *shape: int) -> F32:
        """A tensor of the encoder, with its shape checked."""
        full = self._prefix + name
        for new, old in _OLDER.items():
            if full not in self._weights and name.endswith(new):
                full = self._prefix + name.removesuffix(new) + old
        return self._checked(full, self._prefix + name, shape)

    def has(self, suffix: str) -> bool:
        """Whether a tensor of a head exists."""
        return bool(self._weights.ending(suffix))

    def head(self, suffix: str, *shape: int) -> F32:
        """A tensor of a head, found by the end of its name."""
        found = self._weights.ending(suffix)
        return self._checked(found[0] if found else suffix, suffix, shape)

    def labels(self, suffix: str) -> int:
        """The number of labels of a classifier, from its bias."""
        found = self._weights.ending(suffix)
        return len(self._weights[found[0]]) if found else 0

    def _checked(self, name: str, wanted: str, shape: tuple[int, ...]) -> F32:
        if name not in self._weights:
            raise DataError(f"tensor {wanted!r} is missing; the file is incomplete, or of another architecture", path=self._place)
        values = self._weights[name]
        if values.shape != shape:
            raise DataError(f"tensor {name!r} has the shape {values.shape}, config.json says {shape}", path=self._place)
        return values


class TensorNames:
    """The names of a layer's tensors in one family."""

    def __init__(self, family: ModelFamily) -> None:
        """Take the family."""
        mpnet = family is ModelFamily.MPNET
        self.query, self.key, self.value, self.output = (
            [f"attention.attn.{letter}" for letter in "qkvo"]
            if mpnet
            else ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"]
        )
        self.norm = "attention.LayerNorm" if mpnet else "attention.output.LayerNorm"


def linear(graph: OnnxGraph, values: str, name: str, weight: F32) -> str:
    """Rows times a weight matrix in torch's layout (out x in); the next node adds the bias."""
    return graph.node("MatMul", [values, graph.constant(name, weight.T)])


def activated(graph: OnnxGraph, values: str, name: str, bias: F32, activation: str) -> str:
    """Bias and activation in one node."""
    kept = graph.constant(name, bias)
    if activation == "relu":
        return graph.node("Relu", [graph.node("Add", [values, kept])])
    operator = "BiasGelu" if activation == "gelu" else "FastGelu"
    return graph.node(operator, [values, kept], CONTRIB)


def normed(graph: OnnxGraph, values: str, name: str, tensors: tuple[F32, F32], epsilon: float) -> str:
    """Layer normalisation."""
    weight, bias = (graph.constant(f"{name}.{part}", part_) for part, part_ in zip(("weight", "bias"), tensors, strict=True))
    return graph.node("LayerNormalization", [values, weight, bias], axis=-1, epsilon=epsilon)


def encoder(
    graph: OnnxGraph, tensors: Tensors, family: ModelFamily, sizes: ModelSizes, ids: str, mask: str, types: str = ""
) -> str:
    """The last hidden state of a batch of texts; without ``types`` every token has the first type."""
    hidden = _embeddings(graph, tensors, family, sizes, ids, types)
    kept = graph.node("Cast", [mask], to=6)  # int32, as the attention operator requires
    distances = _distance_bias(graph, tensors, sizes, ids) if family is ModelFamily.MPNET else ""
    for number in range(sizes.layers):
        hidden = _layer(graph, tensors, TensorNames(family), sizes, f"encoder.layer.{number}", hidden, kept, distances)
    return hidden


def _embeddings(graph: OnnxGraph, tensors: Tensors, family: ModelFamily, sizes: ModelSizes, ids: str, types: str) -> str:
    width = sizes.embedding
    words = graph.node("Gather", [graph.constant(WORDS, tensors.of(WORDS, sizes.vocabulary, width)), ids])
    first = sizes.padding + 1 if family.offsets_positions else 0
    positions = tensors.of("embeddings.position_embeddings.weight", sizes.positions, width)[first:]
    if sizes.types and family is not ModelFamily.MPNET:
        kinds = tensors.of("embeddings.token_type_embeddings.weight", sizes.types, width)
        if types:
            words = graph.node("Add", [words, graph.node("Gather", [graph.constant("types", kinds), types])])
        else:
            positions = positions + kinds[0]
    length = graph.node("Slice", [graph.node("Shape", [ids]), *map(graph.integers, (1, 2))])
    table = graph.constant("positions", positions)
    added = graph.node("Add", [words, graph.node("Slice", [table, graph.integers(0), length, graph.integers(0)])])
    norm = (tensors.of("embeddings.LayerNorm.weight", width), tensors.of("embeddings.LayerNorm.bias", width))
    embedded = normed(graph, added, "embeddings.norm", norm, sizes.epsilon)
    if width == sizes.hidden:
        return embedded
    projected = linear(graph, embedded, "project", tensors.of("embeddings_project.weight", sizes.hidden, width))
    return graph.node("Add", [projected, graph.constant("project.bias", tensors.of("embeddings_project.bias", sizes.hidden))])


def _layer(
    graph: OnnxGraph, tensors: Tensors, names: TensorNames, sizes: ModelSizes, place: str, hidden: str, mask: str, distances: str
) -> str:
    width, epsilon = sizes.hidden, sizes.epsilon
    three = [f"{place}.{name}" for name in (names.query, names.key, names.value)]
    weight = np.concatenate([tensors.of(f"{name}.weight", width, width) for name in three]).T
    bias = np.concatenate([tensors.of(f"{name}.bias", width) for name in three])
    inputs = [hidden, graph.constant(f"{place}.attention", weight), graph.constant(f"{place}.attention.bias", bias), mask]
    inputs += ["", distances] if distances else []
    attended = graph.node("Attention", inputs, CONTRIB, num_heads=sizes.heads)
    output = tensors.of(f"{place}.{names.output}.weight", width, width)
    attended = linear(graph, attended, f"{place}.output", output)
    hidden = added_and_normed(graph, tensors, attended, hidden, place, names.output, names.norm, epsilon, width)
    return feed_forward(graph, tensors, sizes, place, hidden)


def feed_forward(graph: OnnxGraph, tensors: Tensors, sizes: ModelSizes, place: str, hidden: str) -> str:
    """The second half of a layer."""
    width = sizes.hidden
    inner = linear(graph, hidden, f"{place}.up", tensors.of(f"{place}.intermediate.dense.weight", sizes.inner, width))
    inner_bias = tensors.of(f"{place}.intermediate.dense.bias", sizes.inner)
    inner = activated(graph, inner, f"{place}.up.bias", inner_bias, sizes.activation)
    inner = linear(graph, inner, f"{place}.down", tensors.of(f"{place}.output.dense.weight", width, sizes.inner))
    return added_and_normed(graph, tensors, inner, hidden, place, "output.dense", "output.LayerNorm", sizes.epsilon, width)


def added_and_normed(
    graph: OnnxGraph, tensors: Tensors, values: str, before: str, place: str, dense: str, norm: str, epsilon: float, width: int
) -> str:
    """The end of a half layer: bias, residual and layer normalisation in one operator."""
    names = [f"{place}.{norm}.weight", f"{place}.{norm}.bias", f"{place}.{dense}.bias"]
    kept = [graph.constant(name, tensors.of(name, width)) for name in names]
    return graph.node("SkipLayerNormalization", [values, before, *kept], CONTRIB, epsilon=epsilon)


def _distance_bias(graph: OnnxGraph, tensors: Tensors, sizes: ModelSizes, ids: str) -> str:
    """MPNet's attention bias by distance, 1 x heads x length x length, looked up in a table."""
    table = tensors.of("encoder.relative_attention_bias.weight", sizes.buckets, sizes.heads)
    reach = sizes.positions - 1
    by_distance = table[distance_buckets(np.arange(-reach, reach + 1), sizes.buckets)].T  # heads x distances
    length = graph.node("Gather", [graph.node("Shape", [ids]), graph.constant("one", np.array(1, dtype=np.int64))])
    zero, one = (graph.constant(name, np.array(value, dtype=np.int64)) for name, value in (("zero", 0), ("one", 1)))
    places = graph.node("Range", [zero, length, one])
    rows = graph.node("Unsqueeze", [places, graph.integers(1)])
    away = graph.node("Add", [graph.node("Sub", [places, rows]), graph.integers(reach)])
    bias = graph.node("Gather", [graph.constant("distances", by_distance), away], axis=1)
    return graph.node("Unsqueeze", [bias, graph.integers(0)])


def distance_buckets(distance: I64, buckets: int) -> I64:
    """Buckets of distances (key minus query): exact when near, logarithmic when far, half of them per direction.

    >>> distance_buckets(np.array([-1, 0, 1, 500]), 32).tolist()
    [1, 0, 17, 31]
    """
    half = buckets // 2
    exact = half // 2
    away = np.abs(distance)
    scaled = np.log(np.maximum(away, 1).astype(np.float32) / np.float32(exact)) / math.log(FARTHEST / exact) * (half - exact)
    far = np.minimum(exact + scaled.astype(np.int64), half - 1)
    found: I64 = np.where(away < exact, away, far) + np.where(distance > 0, half, 0)
    return found
