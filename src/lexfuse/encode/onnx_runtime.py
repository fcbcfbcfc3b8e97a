"""The only module that imports ONNX Runtime: it switches telemetry off first.

ONNX Runtime 1.31 sends usage events to its vendor from the moment of import, and keeps a device id in the user's cache folder. It
reads the environment once, during import; `disable_telemetry_events` alone comes too late.
"""

from __future__ import annotations

import os
from typing import Any

TELEMETRY_OFF = "ORT_DISABLE_TELEMETRY"


def onnx_runtime() -> Any:
    """The package onnxruntime, without network access and device id."""
    os.environ[TELEMETRY_OFF] = "1"  # also for child processes
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # in case another library imported it before
    return onnxruntime


def quantization() -> Any:
    """The quantisation tools of ONNX Runtime."""
    onnx_runtime()
    import onnxruntime.quantization

    return onnxruntime.quantization
