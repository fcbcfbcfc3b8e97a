"""Build ONNX graphs from nodes and constants, with the onnx package only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET = 17
CONTRIB = "com.microsoft"  # ONNX Runtime's additional operators, such as fused attention
IR_VERSION = 8


class OnnxGraph:
    """A graph under construction; every method returns the name of its result.

    >>> graph = OnnxGraph()
    >>> graph.input("x", np.int64, ["n"])
    'x'
    >>> graph.output(graph.node("Abs", ["x"]), "y", np.int64, ["n"])
    >>> graph.model().graph.node[0].op_type
    'Abs'
    """

    def __init__(self) -> None:
        """Start empty."""
        self._nodes: list[NodeProto] = []
        self._constants: dict[str, TensorProto] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, kind: type[np.generic], shape: list[str | int]) -> str:
        """Declare an input."""
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape))
        return name

    def output(self, value: str, name: str, kind: type[np.generic], shape: list[str | int]) -> None:
        """Declare a value as an output under a name."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [value], [name], name=name))
        self._outputs.append(helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(kind)), shape))

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add numbers to the graph; an existing name is not added twice."""
        from onnx import numpy_helper

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def integers(self, *values: int) -> str:
        """A short list of integers, for shapes and indices."""
        return self.constant("integers." + ".".join(map(str, values)), np.array(values, dtype=np.int64))

    def node(self, operator: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        """Apply an operator; an empty name omits an optional input."""
        from onnx import helper

        name = f"{operator}.{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def model(self) -> ModelProto:
        """The whole graph as a model."""
        from onnx import helper

        graph = helper.make_graph(self._nodes, "lexfuse", self._inputs, self._outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, producer_name="lexfuse", opset_imports=opsets, ir_version=IR_VERSION)
