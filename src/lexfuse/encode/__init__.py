"""Model folders become vectors, on ONNX Runtime and without torch.

>>> from lexfuse.encode import Side
>>> Side.QUERY.value
'query'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.lazy import lazy

if TYPE_CHECKING:
    from lexfuse.encode.cache import CachedEncoder, EmbeddingCache
    from lexfuse.encode.dense import DenseEncoder, TwoTowers
    from lexfuse.encode.encoder import Encoder
    from lexfuse.encode.folder import Family, ModelFolder
    from lexfuse.encode.locate import locate
    from lexfuse.encode.modules import Pooling
    from lexfuse.encode.passages import PassagePlan, Scheme
    from lexfuse.encode.sides import Side
    from lexfuse.encode.tokens import Tokens
    from lexfuse.encode.transformer import Head, Transformer

_HOMES = {
    "CachedEncoder": "lexfuse.encode.cache",
    "EmbeddingCache": "lexfuse.encode.cache",
    "DenseEncoder": "lexfuse.encode.dense",
    "TwoTowers": "lexfuse.encode.dense",
    "Encoder": "lexfuse.encode.encoder",
    "Family": "lexfuse.encode.folder",
    "ModelFolder": "lexfuse.encode.folder",
    "locate": "lexfuse.encode.locate",
    "Pooling": "lexfuse.encode.modules",
    "PassagePlan": "lexfuse.encode.passages",
    "Scheme": "lexfuse.encode.passages",
    "Side": "lexfuse.encode.sides",
    "Tokens": "lexfuse.encode.tokens",
    "Head": "lexfuse.encode.transformer",
    "Transformer": "lexfuse.encode.transformer",
}
__all__ = [
    "CachedEncoder",
    "DenseEncoder",
    "EmbeddingCache",
    "Encoder",
    "Family",
    "Head",
    "ModelFolder",
    "PassagePlan",
    "Pooling",
    "Scheme",
    "Side",
    "Tokens",
    "Transformer",
    "TwoTowers",
    "locate",
]
__getattr__ = lazy("lexfuse.encode", _HOMES)
