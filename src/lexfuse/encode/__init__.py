"""Model folders become vectors, on ONNX Runtime and without torch.

>>> from lexfuse.encode.encoder import Side
>>> Side.QUERY.value
'query'
"""
