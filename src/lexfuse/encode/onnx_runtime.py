"""The one place that imports ONNX Runtime: its telemetry is switched off first.

ONNX Runtime 1.31 sends usage events to its vendor from the moment it is imported, and keeps a device id in the user's cache
folder. It reads the environment once, while it is imported; `disable_telemetry_events` alone comes too late.
"""

from __future__ import annotations

import os
from typing import Any

TELEMETRY_OFF = "ORT_DISABLE_TELEMETRY"


def onnx_runtime() -> Any:
    """The package onnxruntime, which looks up no host and writes no device id.

    >>> onnx_runtime().__name__, os.environ[TELEMETRY_OFF]
    ('onnxruntime', '1')
    """
    os.environ[TELEMETRY_OFF] = "1"  # whatever it was, and for child processes too
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # where another library has imported it before
    return onnxruntime


def quantization() -> Any:
    """The quantisation tools of ONNX Runtime.

    >>> quantization().__name__
    'onnxruntime.quantization'
    """
    onnx_runtime()
    import onnxruntime.quantization

    return onnxruntime.quantization
