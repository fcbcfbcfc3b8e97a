"""How a DeBERTa model relates positions, from its ``config.json`` (type ``deberta-v2``: versions 2 and 3, and CamemBERTa)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lexfuse.errors import DataError

TERMS = ("c2p", "p2c")  # attention of content to position, and of position to content
CONVOLUTION_ACTIVATIONS = ("tanh", "gelu", "relu")


@dataclass(frozen=True, slots=True)
class DebertaSettings:
    """The parts of disentangled attention that differ between DeBERTa models."""

    terms: tuple[str, ...]  # of `TERMS`, in use
    relative: bool  # whether distances have vectors at all
    span: int  # half of the vectors of distances
    buckets: int  # that distances are put into; 0: each distance has its own vector
    farthest: int  # distance that the last bucket reaches
    shared: bool  # whether distances use the projections of the content
    normalised: bool  # whether the vectors of distances pass a layer normalisation
    absolute: bool  # whether absolute positions are added to the input
    convolution: int  # width of the convolution after the first layer; 0 without one
    groups: int  # of the convolution
    convolution_activation: str
    pooler_activation: str

    @classmethod
    def read(cls, path: Path, values: Mapping[str, Any]) -> DebertaSettings:
        """From the values of ``config.json``; `DataError` for what cannot be converted.

        >>> DebertaSettings.read(Path("config.json"), {"relative_attention": True, "pos_att_type": "p2c|c2p",
        ...     "position_buckets": 256, "max_position_embeddings": 512}).span
        256
        """
        try:
            farthest = int(values.get("max_relative_positions", -1))
            farthest = farthest if farthest >= 1 else int(values["max_position_embeddings"])
            buckets = max(0, int(values.get("position_buckets", -1)))
            convolution, groups = int(values.get("conv_kernel_size", 0)), int(values.get("conv_groups", 1))
            own = values.get("attention_head_size")
            usual = own is None or int(own) * int(values["num_attention_heads"]) == int(values["hidden_size"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"a setting of DeBERTa is missing or not a number ({error}); fetch the model again", path=path
            ) from None
        terms = _terms(path, values.get("pos_att_type"))
        activation, pooler = str(values.get("conv_act", "tanh")), str(values.get("pooler_hidden_act", "gelu"))
        refused = [
            (not usual, f"heads of {own} numbers, expected the hidden size divided by the number of heads"),
            (convolution % 2 == 0 and convolution > 0, f"a convolution over {convolution} tokens, expected an odd number"),
            (
                convolution > 0 and activation not in CONVOLUTION_ACTIVATIONS,
                f"the convolution has the activation {activation!r}, supported are {', '.join(CONVOLUTION_ACTIVATIONS)}",
            ),
            (pooler not in ("gelu", "tanh", "relu"), f"the pooler has the activation {pooler!r}, supported are gelu, tanh, relu"),
        ]
        for wrong, reason in refused:
            if wrong:
                raise DataError(f"{reason}; export the model to ONNX and put model.onnx into the folder", path=path)
        return cls(
            terms=terms,
            relative=bool(values.get("relative_attention", False)),
            span=buckets or farthest,
            buckets=buckets,
            farthest=farthest,
            shared=bool(values.get("share_att_key", False)),
            normalised="layer_norm" in str(values.get("norm_rel_ebd", "none")).lower(),
            absolute=bool(values.get("position_biased_input", True)),
            convolution=max(0, convolution),
            groups=groups,
            convolution_activation=activation,
            pooler_activation=pooler,
        )


def _terms(path: Path, value: object) -> tuple[str, ...]:
    """The terms in use, given as a list or as text such as ``p2c|c2p``."""
    given = value.lower().split("|") if isinstance(value, str) else value or []
    names = {str(one).strip() for one in given} - {""} if isinstance(given, list) else {repr(value)}
    if unknown := sorted(names - set(TERMS)):
        raise DataError(f"attention to positions of type {unknown[0]!r}; supported are {' and '.join(TERMS)}", path=path)
    return tuple(term for term in TERMS if term in names)
