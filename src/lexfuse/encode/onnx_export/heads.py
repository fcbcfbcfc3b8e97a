"""The outputs of a transformer, and the end of the graph that computes each."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lexfuse.encode.model_folder.folder import ModelFamily, ModelFolder, ModelSizes
from lexfuse.encode.model_folder.tensors import TensorFiles
from lexfuse.encode.onnx_export.deberta import DebertaLayers, activation_of
from lexfuse.encode.onnx_export.graph import OnnxGraph
from lexfuse.encode.onnx_export.layers import WORDS, Tensors, activated, encoder, linear, normed
from lexfuse.errors import DataError

if TYPE_CHECKING:
    from onnx import ModelProto


class _MlmNames(NamedTuple):
    """Where the tensors of a masked-language head are."""

    dense: str
    norm: str
    decoder: str
    bias: str  # or that of the decoder


_MLM_NAMES = {
    ModelFamily.BERT: _MlmNames(
        "cls.predictions.transform.dense.",
        "cls.predictions.transform.LayerNorm.",
        "cls.predictions.decoder.",
        "cls.predictions.bias",
    ),
    ModelFamily.ROBERTA: _MlmNames("lm_head.dense.", "lm_head.layer_norm.", "lm_head.decoder.", "lm_head.bias"),
    ModelFamily.ELECTRA: _MlmNames(
        "generator_predictions.dense.", "generator_predictions.LayerNorm.", "generator_lm_head.", "generator_lm_head.bias"
    ),
    ModelFamily.DEBERTA: _MlmNames(  # of version 3; version 2 has that of BERT
        "lm_predictions.lm_head.dense.",
        "lm_predictions.lm_head.LayerNorm.",
        "lm_predictions.lm_head.decoder.",
        "lm_predictions.lm_head.bias",
    ),
}
PIECE = 4096  # vocabulary entries per block of logits: all at once would take gigabytes


class OutputHead(StrEnum):
    """The output of a transformer."""

    HIDDEN = "hidden"  # batch x length x width: the last hidden state
    MLM = "mlm"  # batch x vocabulary: the highest logit of each entry over the tokens of the text
    CLASSES = "classes"  # batch x labels: the logits of a classifier

    @property
    def output(self) -> str:
        """Name of the graph's output."""
        return {"hidden": "last_hidden_state", "mlm": "max_logits", "classes": "logits"}[self.value]


def build_graph(folder: ModelFolder, head: OutputHead) -> ModelProto:
    """The graph of a safetensors folder with a head.

    >>> build_graph(ModelFolder.read("fr-legal-splade"), OutputHead.MLM).graph.output[0].name  # doctest: +SKIP
    'max_logits'
    """
    family, sizes = folder.family, folder.sizes
    if family is None or sizes is None or not folder.weights:
        raise DataError("the folder has no weights to build a graph from", path=folder.path)
    tensors = Tensors(TensorFiles.read(list(folder.weights)), str(folder.transformer))
    graph = OnnxGraph()
    ids, mask = (graph.input(name, np.int64, ["batch", "length"]) for name in ("input_ids", "attention_mask"))
    typed = head is OutputHead.CLASSES and sizes.types > 1
    types = graph.input("token_type_ids", np.int64, ["batch", "length"]) if typed else ""
    if sizes.deberta is not None:
        hidden = DebertaLayers(graph, tensors, sizes.deberta, sizes).encoder(ids, mask, types)
    else:
        hidden = encoder(graph, tensors, family, sizes, ids, mask, types)
    if head is OutputHead.HIDDEN:
        graph.output(hidden, head.output, np.float32, ["batch", "length", sizes.hidden])
    elif head is OutputHead.MLM:
        graph.output(_highest(graph, tensors, family, sizes, hidden, mask), head.output, np.float32, ["batch", sizes.vocabulary])
    else:
        graph.output(_classes(graph, tensors, family, sizes, hidden), head.output, np.float32, ["batch", "labels"])
    return graph.model()


def _highest(graph: OnnxGraph, tensors: Tensors, family: ModelFamily, sizes: ModelSizes, hidden: str, mask: str) -> str:
    """The highest logit of every vocabulary entry over the tokens of a text.

    Padding is replaced by the first token, so that the maximum over all positions is that over the text. The vocabulary is
    processed in blocks; the bias is added after the maximum, which is equivalent.
    """
    first = graph.node("Slice", [hidden, *map(graph.integers, (0, 1, 1))])
    real = graph.node("Unsqueeze", [graph.node("Cast", [mask], to=9), graph.integers(2)])
    hidden = graph.node("Where", [real, hidden, first])
    like_bert = family is ModelFamily.BERT or tensors.has(_MLM_NAMES[ModelFamily.BERT].dense + "weight")
    names = _MLM_NAMES[ModelFamily.BERT] if like_bert else _MLM_NAMES.get(family, _MLM_NAMES[ModelFamily.ROBERTA])
    width = sizes.embedding
    changed = linear(graph, hidden, "head.dense", tensors.head(names.dense + "weight", width, sizes.hidden))
    activation = sizes.activation if family in (ModelFamily.BERT, ModelFamily.DEBERTA) else "gelu"
    changed = activated(graph, changed, "head.dense.bias", tensors.head(names.dense + "bias", width), activation)
    scale = (tensors.head(names.norm + "weight", width), tensors.head(names.norm + "bias", width))
    changed = normed(graph, changed, "head.norm", scale, sizes.epsilon)
    if tensors.has(names.decoder + "weight"):
        words = graph.constant("head.words", tensors.head(names.decoder + "weight", sizes.vocabulary, width))
    else:  # tied to the word embeddings
        words = graph.constant(WORDS, tensors.of(WORDS, sizes.vocabulary, width))
    bias = tensors.head(names.bias if tensors.has(names.bias) else names.decoder + "bias", sizes.vocabulary)
    return graph.node("Add", [_pieces(graph, sizes, changed, words), graph.constant("head.bias", bias)])


def _pieces(graph: OnnxGraph, sizes: ModelSizes, values: str, words: str) -> str:
    """The maxima over positions of rows times the vocabulary vectors."""
    flat = graph.node("Reshape", [values, graph.integers(-1, sizes.embedding)])
    shape = graph.node("Slice", [graph.node("Shape", [values]), *map(graph.integers, (0, 2))])
    found = []
    for start in range(0, sizes.vocabulary, PIECE):
        end = min(start + PIECE, sizes.vocabulary)
        some = graph.node("Slice", [words, *map(graph.integers, (start, end, 0))])
        logits = graph.node("Gemm", [flat, some], transB=1)
        by_text = graph.node("Reshape", [logits, graph.node("Concat", [shape, graph.integers(end - start)], axis=0)])
        found.append(graph.node("ReduceMax", [by_text], axes=[1], keepdims=0))
    return graph.node("Concat", found, axis=1) if len(found) > 1 else found[0]


def _classes(graph: OnnxGraph, tensors: Tensors, family: ModelFamily, sizes: ModelSizes, hidden: str) -> str:
    """A classifier on the first token: pooler and classifier (BERT, DeBERTa), or two layers (RoBERTa, ELECTRA)."""
    width = sizes.hidden
    first = graph.node("Gather", [hidden, graph.constant("zero", np.array(0, dtype=np.int64))], axis=1)
    pools = family in (ModelFamily.BERT, ModelFamily.DEBERTA)
    names = ("pooler.dense", "classifier") if pools else ("classifier.dense", "classifier.out_proj")
    pooled = linear(graph, first, "pooler", tensors.head(f"{names[0]}.weight", width, width))
    pooler_bias = tensors.head(f"{names[0]}.bias", width)
    if family is ModelFamily.ELECTRA:
        pooled = activated(graph, pooled, "pooler.bias", pooler_bias, "gelu")
    else:
        pooled = graph.node("Add", [pooled, graph.constant("pooler.bias", pooler_bias)])
        pooled = activation_of(graph, pooled, sizes.deberta.pooler_activation if sizes.deberta is not None else "tanh")
    labels = tensors.labels(f"{names[1]}.bias")
    weight = tensors.head(f"{names[1]}.weight", labels, width)
    bias = graph.constant("labels.bias", tensors.head(f"{names[1]}.bias", labels))
    return graph.node("Add", [linear(graph, pooled, "labels", weight), bias])
