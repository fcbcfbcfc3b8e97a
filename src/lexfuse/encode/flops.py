"""Floating point operations of a forward pass, counted from the graph.

Matrix products count 2 per multiplication and addition: those with weights, for every token, and those of attention, for every
pair of tokens. The rest (norms, activations, softmax) is a few per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from lexfuse.encode.encoder import Side

_PRODUCTS = {"MatMul", "Gemm", "MatMulInteger", "QGemm", "DynamicQuantizeMatMul", "MatMulIntegerToFloat", "FusedMatMul"}
_ATTENTION = {"Attention", "MultiHeadAttention", "QAttention"}


def forward_flops(model: Path | bytes, tokens: int) -> int:
    """The operations for one text with this many tokens, including special tokens.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> forward_flops(locate_model("fr-legal-dense") / "model.onnx", tokens=15)
    320578560
    """
    return total_flops(model, [tokens])


def total_flops(model: Path | bytes, lengths: Sequence[int]) -> int:
    """The operations for texts with these numbers of tokens.

    >>> from lexfuse.encode.model_folder.locator import locate_model
    >>> total_flops(locate_model("fr-legal-dense") / "model.onnx", [15, 15])
    641157120
    """
    weights, attention = _counted(model)
    return sum(2 * tokens * weights + 4 * tokens * tokens * attention for tokens in lengths)


def query_flops(encoder: Any, texts: Sequence[str]) -> int:
    """The operations of encoding a query of average length; none for an encoder without a model: word vectors, query tables."""
    tokens = getattr(encoder, "tokens", None)
    if tokens is None:
        return 0
    lengths = [len(row) for row in tokens.ids([encoder.prompts[Side.QUERY] + text for text in texts])]
    return forward_flops(encoder.transformer.graph, round(fmean(lengths)))


def _counted(model: Path | bytes) -> tuple[int, int]:
    """Numbers in the weights of all matrix products, and the summed width of all attentions."""
    import onnx

    loaded = onnx.load_from_string(model) if isinstance(model, bytes) else onnx.load(str(model), load_external_data=False)
    graph = loaded.graph
    sizes = _sizes(graph)
    weights = attention = 0
    for node in graph.node:
        if node.op_type in _PRODUCTS | _ATTENTION:
            found = [sizes[name] for name in node.input if len(sizes.get(name, ())) == 2]
            weights += sum(rows * columns for rows, columns in found[:1])
        if node.op_type in _ATTENTION:
            attention += _width(node, sizes)
        elif node.op_type == "MatMul" and not any(name in sizes for name in node.input):
            attention += _plain_width(graph, sizes)  # one of the two products of an unfused attention
    return weights, attention


def _sizes(graph: Any) -> dict[str, list[int]]:
    """The shapes of all weights, including those that are first unpacked from bytes, transposed or split."""
    from onnx.numpy_helper import to_array

    tensors = {tensor.name: tensor for tensor in graph.initializer}
    sizes = {name: list(tensor.dims) for name, tensor in tensors.items()}
    for node in graph.node:
        dims = sizes.get(node.input[0]) if node.input else None
        if dims is None:
            continue
        if node.op_type in {"DequantizeLinear", "Cast", "Identity"}:
            sizes[node.output[0]] = dims
        elif node.op_type == "Transpose":
            sizes[node.output[0]] = dims[::-1]
        elif node.op_type == "Slice" and all(name in tensors for name in node.input[1:4]) and len(node.input) > 3:
            first, last, axis = (int(to_array(tensors[name]).reshape(-1)[0]) for name in node.input[1:4])
            sizes[node.output[0]] = [min(last, size) - first if at == axis else size for at, size in enumerate(dims)]
    return sizes


def _width(node: Any, sizes: dict[str, list[int]]) -> int:
    """The width of a fused attention: a third of the output of its weight matrix, or of its bias."""
    for name in node.input:
        dims = sizes.get(name, [])
        if len(dims) in (1, 2) and dims[-1] % 3 == 0:
            return dims[-1] // 3
    return 0


def _plain_width(graph: Any, sizes: dict[str, list[int]]) -> int:
    """Half the width of the model, as an attention has two products: the most frequent number of rows of its weights."""
    products = [node for node in graph.node if node.op_type in _PRODUCTS]
    rows = [sizes[name][0] for node in products for name in node.input if len(sizes.get(name, ())) == 2]
    return max(set(rows), key=rows.count, default=0) // 2
