"""Encode texts with model folders, on ONNX Runtime and without torch."""
