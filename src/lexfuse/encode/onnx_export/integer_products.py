"""A graph whose matrix products run on bytes: each row of activations has its own scale.

A row x of activations becomes whole numbers of max|x| / 127, a column of weights those of the column's step, so that a product is
a sum of integers. The usual dynamic quantisation has one scale for a whole batch: a vector then depends on the other texts, and
one large activation costs the precision of all rows. Here the bits of a vector depend on its text alone. Weights stored as
int8 are used as they are, so that only activations are rounded.

The last product of a masked-language head has one scale per text: the maximum over the tokens is taken before the scale is
applied, on one block of the vocabulary at a time.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lexfuse.encode.onnx_export.graph import CONTRIB, IR_VERSION, OPSET
from lexfuse.encode.onnx_runtime import CPU, onnx_runtime, open_session

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

LEVELS = 127
ZERO = 128  # the byte of activation 0
TINY = 1e-30  # scale of a row of zeros
SMALLEST = 1024  # numbers in a matrix that is worth it
KEPT = ("head.dense",)  # rounding it costs more quality than it saves time
_STEP, _ZERO, _TINY = "lexfuse.step", "lexfuse.zero", "lexfuse.tiny"
_ATTRIBUTES = {"num_heads", "scale", "mask_filter_value"}  # of an attention that is taken apart


class IntegerProducts:
    """Rewrites the products of one graph.

    >>> from lexfuse.encode.onnx_export.graph import OnnxGraph
    >>> graph, weight = OnnxGraph(), np.ones((64, 64), dtype=np.float32)
    >>> values = graph.input("x", np.float32, ["n", 64])
    >>> graph.output(graph.node("MatMul", [values, graph.constant("w", weight)]), "y", np.float32, ["n", 64])
    >>> [node.op_type for node in IntegerProducts(graph.model()).rewritten().graph.node]
    ['Abs', 'ReduceMax', 'Max', 'Div', 'QuantizeLinear', 'MatMulIntegerToFloat', 'Mul', 'Identity']
    """

    def __init__(self, model: ModelProto, *, integers: bool = True) -> None:
        """Take a graph; without ``integers`` the same rounded numbers are multiplied as 32-bit floats."""
        from onnx import numpy_helper

        self._model, self._integers = model, integers
        self._opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
        self._constants = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self._wide = {node.output[0]: node for node in model.graph.node if self._widens(node)}
        self._made = {node.output[0]: node for node in model.graph.node}
        self._added: dict[str, NDArray[Any]] = {
            _STEP: np.array(1 / LEVELS, dtype=np.float32),
            _ZERO: np.array(ZERO, dtype=np.uint8),
            _TINY: np.array(TINY, dtype=np.float32),
        }
        self._nodes: list[NodeProto] = []
        self._pieces: dict[str, tuple[str, str, int, int]] = {}  # of the vocabulary, by the name of their logits
        self._rows: dict[str, tuple[str, str]] = {}  # bytes and scales, by the values

    def rewritten(self) -> ModelProto:
        """The graph with products on bytes; everything else is as it was."""
        from onnx import helper, numpy_helper

        for node in self._model.graph.node:
            if node.output[0] not in self._wide:
                self._rewrite(node)
        used = {name for node in self._nodes for name in node.input}
        widened = [node for name, node in self._wide.items() if name in used]
        used |= {name for node in widened for name in node.input}
        graph = helper.make_graph([*widened, *self._nodes], "lexfuse", self._model.graph.input, self._model.graph.output)
        every = self._constants | self._added
        graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in every.items() if name in used)
        opsets = {entry.domain: entry for entry in self._model.opset_import} | {CONTRIB: helper.make_opsetid(CONTRIB, 1)}
        version = max(self._model.ir_version, IR_VERSION)
        return helper.make_model(graph, producer_name="lexfuse", opset_imports=list(opsets.values()), ir_version=version)

    def _rewrite(self, node: NodeProto) -> None:
        """Add what computes a node's output."""
        if node.op_type == "MatMul" and self._is_weight(node.input[1]) and node.input[1] not in KEPT:
            self._product(node.input[0], node.input[1], node.output[0])
        elif node.op_type == "Attention" and node.domain == CONTRIB and self._divisible(node):
            self._attention(node)
        elif (piece := self._vocabulary_piece(node)) is not None:
            self._pieces[node.output[0]] = piece
        elif node.op_type == "ReduceMax" and node.input[0] in self._pieces:
            self._largest_logits(node, *self._pieces[node.input[0]])
        elif node.op_type == "SkipLayerNormalization" and len(node.input) == 5 and len(node.output) == 1 and self._opset >= 17:
            self._norm(node)
        else:
            self._nodes.append(node)

    def _product(self, values: str, weight: str, output: str) -> None:
        """Rows times a weight matrix."""
        rounded, scale = self._rounded_rows(values)
        self._node("Mul", [self._multiplied(rounded, weight, output), scale], output)

    def _attention(self, node: NodeProto) -> None:
        """The projection of an attention as one product, and the rest of it."""
        from onnx import helper

        values, weight, bias, mask, _, distances = [*node.input, "", "", ""][:6]
        output = node.output[0]
        self._product(values, weight, f"{output}.projected")
        parts = [f"{output}.{part}" for part in ("query", "key", "value")]
        self._nodes.append(helper.make_node("Split", [f"{output}.projected"], parts, name=f"{output}.split", axis=-1))
        inputs = [*parts, bias, mask, distances]
        while not inputs[-1]:
            inputs.pop()
        whole = helper.make_node("MultiHeadAttention", inputs, [output], name=output, domain=CONTRIB)
        whole.attribute.extend(node.attribute)
        self._nodes.append(whole)

    def _norm(self, node: NodeProto) -> None:
        """A norm with the additions before it kept apart: ONNX Runtime has no vector instructions for all in one."""
        values, before, weight, bias, added = node.input
        output = node.output[0]
        total = self._node("Add", [self._node("Add", [values, added], f"{output}.biased"), before], f"{output}.added")
        epsilon = next(entry.f for entry in node.attribute if entry.name == "epsilon")
        self._node("LayerNormalization", [total, weight, bias], output, axis=-1, epsilon=epsilon)

    def _largest_logits(self, node: NodeProto, states: str, words: str, start: int, end: int) -> None:
        """The largest logits over the tokens of a text, of a piece of the vocabulary; the scale of the text comes last."""
        rounded, scale = self._rounded_texts(states)
        codes, steps = self._bytes(words)
        name = f"{words}.{start}"
        self._added |= {f"{name}.int8": codes[start:end].T.copy(), f"{name}.scale": steps[start:end].copy()}
        logits = self._multiplied(rounded, name, name)
        self._node("Mul", [self._largest(logits, f"{name}.largest", (1,), keep=False), scale], node.output[0])

    def _rounded_rows(self, values: str) -> tuple[str, str]:
        """Activations as bytes, and the scale of every row."""
        if values not in self._rows:
            size = self._largest(self._node("Abs", [values], f"{values}.sizes"), f"{values}.size", (-1,))
            self._rows[values] = self._rounded(values, size)
        return self._rows[values]

    def _rounded_texts(self, states: str) -> tuple[str, str]:
        """The states of tokens as bytes, and the scale of every text."""
        key = f"{states}.texts"
        if key not in self._rows:
            size = self._largest(self._node("Abs", [states], f"{key}.sizes"), f"{key}.size", (1, 2))
            rounded, scale = self._rounded(states, size)
            self._added["lexfuse.column"] = np.array([-1, 1], dtype=np.int64)
            self._rows[key] = rounded, self._node("Reshape", [scale, "lexfuse.column"], f"{key}.scale")
        return self._rows[key]

    def _rounded(self, values: str, size: str) -> tuple[str, str]:
        scale = self._node("Max", [size, _TINY], f"{size}.scale")
        divided = self._node("Div", [values, scale], f"{size}.divided")
        return self._node("QuantizeLinear", [divided, _STEP, _ZERO], f"{size}.bytes"), scale

    def _multiplied(self, rounded: str, weight: str, output: str) -> str:
        """Bytes times a weight matrix."""
        if not self._integers:
            activations = self._node("DequantizeLinear", [rounded, _STEP, _ZERO], f"{output}.activations")
            return self._node("MatMul", [activations, weight], f"{output}.sums")
        if f"{weight}.int8" not in self._constants | self._added:
            codes, steps = self._bytes(weight)
            self._added |= {f"{weight}.int8": codes, f"{weight}.scale": steps}
        return self._node(
            "MatMulIntegerToFloat", [rounded, f"{weight}.int8", _STEP, f"{weight}.scale", _ZERO], f"{output}.sums", CONTRIB
        )

    def _bytes(self, weight: str) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
        """A matrix as whole numbers of steps: as it is stored, else by columns."""
        if weight in self._wide:
            codes, steps = (self._constants[name] for name in self._wide[weight].input[:2])
            return codes, steps
        return rounded_matrix(self._constants[weight], 1)

    def _largest(self, values: str, output: str, axes: tuple[int, ...], *, keep: bool = True) -> str:
        if self._opset < 18:
            return self._node("ReduceMax", [values], output, axes=axes, keepdims=int(keep))
        name = "lexfuse.axes." + ".".join(map(str, axes))
        self._added[name] = np.array(axes, dtype=np.int64)
        return self._node("ReduceMax", [values, name], output, keepdims=int(keep))

    def _node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes))
        return output

    def _widens(self, node: NodeProto) -> bool:
        """Whether a node only widens stored weights."""
        return node.op_type == "DequantizeLinear" and set(node.input) <= set(self._constants)

    def _is_weight(self, name: str) -> bool:
        """Whether a matrix is worth it, and has one scale per column where it is stored as int8."""
        if name in self._wide:
            return next((entry.i for entry in self._wide[name].attribute if entry.name == "axis"), 1) == 1
        values = self._constants.get(name)
        return values is not None and values.dtype == np.float32 and values.ndim == 2 and values.size >= SMALLEST

    def _divisible(self, node: NodeProto) -> bool:
        """Whether a fused attention has only what can be taken apart."""
        plain = {entry.name for entry in node.attribute} <= _ATTRIBUTES and not any(node.input[4:5])
        return plain and self._is_weight(node.input[1]) and self._opset >= 13

    def _vocabulary_piece(self, node: NodeProto) -> tuple[str, str, int, int] | None:
        """States, words, and the first and last word of a product with a piece of the vocabulary, as `heads` writes it."""
        if node.op_type == "Reshape":
            return self._pieces.get(node.input[0])
        piece = self._made.get(node.input[1]) if node.op_type == "Gemm" else None
        flat = self._made.get(node.input[0])
        if not self._integers or piece is None or flat is None or (piece.op_type, flat.op_type) != ("Slice", "Reshape"):
            return None
        words = self._wide.get(piece.input[0])
        if words is None or next(entry.i for entry in words.attribute if entry.name == "axis") != 0:
            return None
        start, end = (int(self._constants[name][0]) for name in piece.input[1:3])
        return flat.input[0], piece.input[0], start, end


def rounded_matrix(values: NDArray[Any], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Integers from -127 to 127, and the scale of every row (axis 0) or column (axis 1).

    >>> [part.tolist() for part in rounded_matrix(np.array([[127.0, 4.0], [-254.0, 0.0]]), 0)]
    [[[127, 4], [-127, 0]], [1.0, 2.0]]
    """
    scale = (np.abs(values).max(axis=1 - axis, initial=0) / np.float32(LEVELS)).astype(np.float32)
    scale[scale == 0] = 1
    return np.rint(values / np.expand_dims(scale, 1 - axis)).astype(np.int8), scale


@cache
def multiplies_bytes() -> bool:
    """Whether the processor adds products of bytes without overflow (VNNI, AMX, the dot product of ARM).

    Others add two products in 16 bits, which can overflow. A product of the largest bytes shows it.
    """
    from onnx import TensorProto, helper, numpy_helper

    weights, values = np.full((64, 64), LEVELS, dtype=np.int8), np.full((8, 64), 255, dtype=np.uint8)
    node = helper.make_node("MatMulInteger", ["values", "weights"], ["sums"])
    given = helper.make_tensor_value_info("values", TensorProto.UINT8, [8, 64])
    found = helper.make_tensor_value_info("sums", TensorProto.INT32, [8, 64])
    graph = helper.make_graph([node], "lexfuse", [given], [found], [numpy_helper.from_array(weights, "weights")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    options = onnx_runtime().SessionOptions()
    options.intra_op_num_threads = 1
    sums = open_session(model.SerializeToString(), options, CPU).run(None, {"values": values})[0]
    return bool((sums == 255 * LEVELS * 64).all())
