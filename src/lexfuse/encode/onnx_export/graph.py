"""Writing ONNX graphs: nodes and constants put together one by one, nothing but the onnx package needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

OPSET = 17
CONTRIB = "com.microsoft"  # operators that ONNX Runtime adds to the standard: attention and the like in one piece
IR_VERSION = 8


class OnnxGraph:
    """A graph in the making; every method gives the name of what it made.

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
        """Keep numbers in the graph; a name that is there already is not written twice."""
        from onnx import numpy_helper

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(values, order="C"), name)
        return name

    def integers(self, *values: int) -> str:
        """A short list of whole numbers, as shapes and places are given."""
        return self.constant("integers." + ".".join(map(str, values)), np.array(values, dtype=np.int64))

    def node(self, operator: str, inputs: list[str], domain: str = "", **attributes: Any) -> str:
        """Apply an operator; an empty name leaves an optional input out."""
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
