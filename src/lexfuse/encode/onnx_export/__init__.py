"""Models written as ONNX graphs, without torch."""
