"""Smaller and faster graphs: int8 weights, with or without int8 arithmetic.

`stored_as_int8` stores each matrix as int8 with one scale per row of embeddings or per column of a layer; ONNX Runtime widens
them on loading, so that only the file is smaller and only weights are rounded. `computed_as_int8` multiplies in int8
(`integer_products`), which is faster and rounds activations too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lexfuse.data.files import written_folder
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.encode.onnx_export.heads import OutputHead, build_graph
from lexfuse.encode.onnx_export.integer_products import IntegerProducts, rounded_matrix
from lexfuse.errors import DataError

if TYPE_CHECKING:
    from onnx import ModelProto

SMALLEST = 4096  # numbers in a matrix that is worth quantising
_ROWS = ("embeddings.word_embeddings.weight", "head.words")  # one scale per row: tables that are looked up by row
# Small tables whose rounding costs much: excluding them raised fr-legal-splade's mean cosine from .9974 to .9994.
_KEPT = ("positions", "types", "head.dense")


def stored_as_int8(model: ModelProto) -> ModelProto:
    """A copy of a graph whose matrices are stored in int8 and widened on loading.

    >>> from onnx import load
    >>> stored_as_int8(load("model.onnx")).graph.node[0].op_type  # doctest: +SKIP
    'DequantizeLinear'
    """
    from onnx import ModelProto, helper, numpy_helper

    changed = ModelProto()
    changed.CopyFrom(model)
    constants, nodes = [], []
    for constant in model.graph.initializer:
        values = numpy_helper.to_array(constant)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < SMALLEST or constant.name in _KEPT:
            constants.append(constant)
            continue
        axis = 0 if constant.name in _ROWS else 1
        rounded, scale = rounded_matrix(values, axis)
        names = (f"{constant.name}.int8", f"{constant.name}.scale")
        constants += [numpy_helper.from_array(rounded, names[0]), numpy_helper.from_array(scale, names[1])]
        nodes.append(helper.make_node("DequantizeLinear", names, [constant.name], name=f"{constant.name}.wide", axis=axis))
    del changed.graph.initializer[:], changed.graph.node[:]
    changed.graph.initializer.extend(constants)
    changed.graph.node.extend([*nodes, *model.graph.node])
    return changed


def widened(model: ModelProto) -> ModelProto:
    """The inverse of `stored_as_int8`: the graph with float32 matrices."""
    from onnx import ModelProto, numpy_helper

    changed = ModelProto()
    changed.CopyFrom(model)
    constants = {constant.name: numpy_helper.to_array(constant) for constant in model.graph.initializer}
    nodes = []
    for node in model.graph.node:
        if node.op_type != "DequantizeLinear" or not set(node.input) <= set(constants):
            nodes.append(node)
            continue
        values, scale = constants.pop(node.input[0]), constants.pop(node.input[1])
        shape = (-1, 1) if node.attribute[0].i == 0 else (1, -1)
        constants[node.output[0]] = values.astype(np.float32) * scale.reshape(shape)
    del changed.graph.initializer[:], changed.graph.node[:]
    changed.graph.initializer.extend(numpy_helper.from_array(values, name) for name, values in constants.items())
    changed.graph.node.extend(nodes)
    return changed


def computed_as_int8(source: Path | bytes, model: Path, *, integers: bool = True) -> bytes:
    """A graph that multiplies in int8, from a float32 graph or one from `stored_as_int8`; errors name the model.

    Without ``integers``, for processors that cannot add products of bytes, the same rounded numbers are multiplied as floats.

    >>> from lexfuse.encode.onnx_export.graph import OnnxGraph
    >>> from onnx import load_from_string
    >>> graph, weight = OnnxGraph(), np.ones((64, 64), dtype=np.float32)
    >>> values = graph.input("x", np.float32, ["n", 64])
    >>> graph.output(graph.node("MatMul", [values, graph.constant("w", weight)]), "y", np.float32, ["n", 64])
    >>> small = computed_as_int8(graph.model().SerializeToString(), Path("mine"))
    >>> "MatMulIntegerToFloat" in {node.op_type for node in load_from_string(small).graph.node}
    True
    """
    from onnx import load, load_from_string

    try:
        graph = load_from_string(source) if isinstance(source, bytes) else load(str(source))
    except Exception as error:  # the errors of protocol buffers have no common class
        raise DataError(f"the graph cannot be quantised ({error}); use it without int8", path=model) from None
    content: bytes = IntegerProducts(graph, integers=integers).rewritten().SerializeToString(deterministic=True)
    return content


def write_small_model(folder: ModelFolder, head: OutputHead, target: str | Path) -> None:
    """Write a model folder with about one byte per weight: an ONNX file for one head, the tokenizer and configurations.

    >>> write_small_model(ModelFolder.read("fr-legal-dense"), OutputHead.HIDDEN, "small")  # doctest: +SKIP
    """
    graph = stored_as_int8(build_graph(folder, head)).SerializeToString(deterministic=True)
    with written_folder(target) as place:
        for file in sorted(folder.path.rglob("*")):
            inside = file.relative_to(folder.path)
            of_module = file.suffix == ".safetensors" and file not in folder.weights and file.parent != folder.transformer
            if (
                file.is_file()
                and not any(part.startswith(".") for part in inside.parts)
                and (file.suffix == ".json" or of_module)
            ):
                copy = place / inside
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
        (place / folder.transformer.relative_to(folder.path) / "model.onnx").write_bytes(graph)
