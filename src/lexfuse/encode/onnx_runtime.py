"""The only module that imports ONNX Runtime: it switches telemetry off first, and chooses the device that models run on.

ONNX Runtime 1.31 sends usage events to its vendor from the moment of import, and keeps a device id in the user's cache folder. It
reads the environment once, during import; `disable_telemetry_events` alone comes too late.

``LEXFUSE_DEVICE`` names the device: ``cpu`` (the default), ``cuda`` or another one that the installed ONNX Runtime offers, or
``auto`` for a GPU if it offers one. Vectors of a GPU differ from those of a CPU in their last bits only, so documents may be
encoded on one and queries on the other.
"""

from __future__ import annotations

import os
from typing import Any

from lexfuse.errors import ConfigError

TELEMETRY_OFF = "ORT_DISABLE_TELEMETRY"
DEVICE = "LEXFUSE_DEVICE"
CPU, CUDA, AUTO = "cpu", "cuda", "auto"
_SUFFIX = "ExecutionProvider"
_REMOTE = "azure"  # sends texts to a service
# 32-bit products, as on a CPU: the shorter numbers of some GPUs would change the third digit of a score.
_OPTIONS = {CUDA: {"use_tf32": "0"}}


def onnx_runtime() -> Any:
    """The package onnxruntime, without network access and device id."""
    os.environ[TELEMETRY_OFF] = "1"  # also for child processes
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # in case another library imported it before
    return onnxruntime


def devices() -> dict[str, str]:
    """The devices that the installed ONNX Runtime offers, with the names of their providers.

    >>> devices()["cpu"]
    'CPUExecutionProvider'
    """
    offered = {provider.removesuffix(_SUFFIX).lower(): provider for provider in onnx_runtime().get_available_providers()}
    return {device: provider for device, provider in offered.items() if device != _REMOTE}


def chosen_device() -> str:
    """The device of ``LEXFUSE_DEVICE``; `ConfigError` lists those that are offered."""
    offered = devices()
    wanted = os.environ.get(DEVICE, "").strip().lower() or CPU
    if wanted == AUTO:
        return CUDA if CUDA in offered else CPU
    if wanted not in offered:
        known = ", ".join(sorted(offered))
        raise ConfigError(
            f"{DEVICE} is {wanted!r}, but the installed ONNX Runtime offers {known}; choose one of these or {AUTO}, or install "
            "the package of ONNX Runtime for the device (onnxruntime-gpu for cuda) in place of onnxruntime"
        )
    return wanted


def open_session(graph: str | bytes, options: Any, device: str, *, unfused: bool = False) -> Any:
    """A session on a device; what the device cannot compute runs on the CPU.

    ``unfused`` keeps additions before a norm apart, which is faster on a CPU: the operator of both has no vector instructions.

    ONNX Runtime falls back to the CPU without an error if the libraries of a device do not load; that is a `ConfigError` here.
    """
    provider, last = devices()[device], devices()[CPU]
    providers = [last] if device == CPU else [(provider, _OPTIONS.get(device, {})), last]
    disabled = ["SkipLayerNormFusion"] if unfused else []
    session = onnx_runtime().InferenceSession(
        graph, options, providers=providers, enable_fallback=0, disabled_optimizers=disabled
    )
    if provider not in session.get_providers():
        raise ConfigError(
            f"{DEVICE} is {device!r}, but ONNX Runtime could not start {provider}; check the driver and the libraries that it "
            f"needs, or set {DEVICE}={CPU}"
        )
    return session
