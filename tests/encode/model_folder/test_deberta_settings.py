"""Settings of DeBERTa: what its config.json may say, and what is refused with a way out."""

import json
from pathlib import Path

import pytest

from lexfuse.encode.model_folder.deberta_settings import DebertaSettings
from lexfuse.encode.model_folder.folder import ModelFolder
from lexfuse.errors import DataError

PATH = Path("config.json")
USUAL = {
    "relative_attention": True, "position_buckets": 256, "max_relative_positions": -1, "pos_att_type": "p2c|c2p",
    "share_att_key": True, "norm_rel_ebd": "layer_norm", "position_biased_input": False, "max_position_embeddings": 512,
    "hidden_size": 768, "num_attention_heads": 12,
}  # fmt: skip


def test_version_3():
    found = DebertaSettings.read(PATH, USUAL)
    assert (found.terms, found.span, found.buckets, found.farthest) == (("c2p", "p2c"), 256, 256, 512)
    assert (found.shared, found.normalised, found.absolute, found.convolution) == (True, True, False, 0)


def test_without_buckets_every_distance_has_a_vector():
    found = DebertaSettings.read(PATH, USUAL | {"position_buckets": -1, "max_relative_positions": 128})
    assert (found.span, found.buckets, found.farthest) == (128, 0, 128)


@pytest.mark.parametrize(("given", "terms"), [(None, ()), ([], ()), ("", ()), (["c2p"], ("c2p",)), ("P2C", ("p2c",))])
def test_terms_are_a_list_or_text(given, terms):
    assert DebertaSettings.read(PATH, USUAL | {"pos_att_type": given}).terms == terms


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"pos_att_type": ["p2p"]}, "attention to positions of type 'p2p'; supported are c2p and p2c"),
        ({"pos_att_type": 3}, "attention to positions of type '3'"),
        ({"attention_head_size": 48}, "heads of 48 numbers, expected the hidden size divided by the number of heads"),
        ({"conv_kernel_size": 4}, "a convolution over 4 tokens, expected an odd number"),
        (
            {"conv_kernel_size": 3, "conv_act": "silu"},
            "the convolution has the activation 'silu', supported are tanh, gelu, relu",
        ),
        ({"pooler_hidden_act": "silu"}, "the pooler has the activation 'silu'"),
        ({"position_buckets": "many"}, "a setting of DeBERTa is missing or not a number"),
    ],
)
def test_what_cannot_be_converted_is_refused(values, reason):
    with pytest.raises(DataError, match=reason):
        DebertaSettings.read(PATH, USUAL | values)


def test_a_folder_with_wrong_settings_is_refused_when_it_is_read(tiny, tmp_path):
    folder = tiny.folder(tmp_path / "m", "deberta-v2")
    assert ModelFolder.read(folder).sizes.deberta.span == 16
    values = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(values | {"pos_att_type": ["p2p"]}))
    with pytest.raises(DataError, match=r"config.json: attention to positions of type 'p2p'"):
        ModelFolder.read(folder)
