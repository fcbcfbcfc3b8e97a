"""The device that models run on: the CPU unless the environment names another one that ONNX Runtime offers."""

import pytest

from lexfuse.encode.dense_encoder import DenseEncoder
from lexfuse.encode.encoder import Side
from lexfuse.encode.onnx_runtime import DEVICE, chosen_device, devices
from lexfuse.errors import ConfigError


@pytest.fixture
def model(tmp_path, tiny, own_cache):
    return tiny.folder(tmp_path / "m")


@pytest.mark.parametrize("device", ["cpu", " CPU ", "", None])
def test_the_cpu_is_the_default_and_gives_the_same_bits_by_its_name(model, tiny, monkeypatch, device):
    monkeypatch.delenv(DEVICE, raising=False)
    usual = DenseEncoder.load(model, threads=1)
    if device is not None:
        monkeypatch.setenv(DEVICE, device)
    assert chosen_device() == "cpu"
    chosen = DenseEncoder.load(model, threads=1)
    assert chosen.transformer.session.get_providers() == ["CPUExecutionProvider"]
    assert chosen.encode(tiny.TEXTS, Side.QUERY).tobytes() == usual.encode(tiny.TEXTS, Side.QUERY).tobytes()
    assert chosen.fingerprint == usual.fingerprint


def test_auto_takes_a_gpu_only_where_one_is_offered(model, tiny, monkeypatch):
    monkeypatch.setenv(DEVICE, "auto")
    assert chosen_device() == ("cuda" if "cuda" in devices() else "cpu")
    assert DenseEncoder.load(model, threads=1).encode(tiny.TEXTS, Side.QUERY).shape[0] == len(tiny.TEXTS)


@pytest.mark.parametrize("device", ["abacus", "azure", "cpu,cuda"])
def test_a_device_that_is_not_offered_is_an_error_with_those_that_are(model, monkeypatch, device):
    """Azure is offered, but would send texts to a service."""
    monkeypatch.setenv(DEVICE, device)
    with pytest.raises(ConfigError, match=f"LEXFUSE_DEVICE is '{device}', but the installed ONNX Runtime offers .*cpu.*auto"):
        DenseEncoder.load(model)
