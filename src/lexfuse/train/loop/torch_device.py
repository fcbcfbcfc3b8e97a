"""The device of a training: a GPU if torch finds one, else the CPU."""

from __future__ import annotations

from collections.abc import Callable

import torch

from lexfuse.errors import ConfigError
from lexfuse.train.plan import Device


def best_device() -> torch.device:
    """A GPU if there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def chosen_device(device: Device, say: Callable[[str], None]) -> torch.device:
    """The requested device, with a message; `ConfigError` if it is not available.

    >>> chosen_device(Device.CPU, print)
    training on the CPU
    device(type='cpu')
    """
    there = torch.cuda.is_available()
    if device is Device.CUDA and not there:
        raise ConfigError("torch finds no GPU; use --device cpu to train on the CPU, or install a torch that supports your GPU")
    if device is Device.CPU or not there:
        say("training on the CPU" if device is Device.CPU else "no GPU found: training on the CPU")
        return torch.device("cpu")
    say(f"training on {torch.cuda.get_device_name()}")
    return torch.device("cuda")
