"""Engines for token vectors behind the same few calls: xtr-warp-rs.

It needs a version of torch that each of its releases names, so it is not among the packages that `make install` installs: use an
environment with `pip install xtr-warp-rs` and what LexFuse depends on.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lexfuse.data.arrays import F32


class Warp:
    """WARP (xtr-warp-rs) on the processor, with residuals of 4 bits; `nprobe` is what it chooses itself, or more."""

    name, package = "xtr-warp-rs", "xtr_warp"
    settings = ("chosen", "16", "32", "64")

    def __init__(self, documents: Sequence[F32], folder: Path) -> None:
        """Write an index and read it."""
        import torch
        from xtr_warp.search import XTRWarp

        self._threads = len(os.sched_getaffinity(0))
        torch.set_num_threads(self._threads)
        self._index: Any = XTRWarp(str(folder / "warp"))
        tables = [torch.from_numpy(np.array(table)) for table in documents]
        self._index.create(tables, device="cpu", nbits=4, show_progress=False)
        self._index.load(device="cpu")

    def search(self, query: F32, k: int, setting: str) -> list[int]:
        """The numbers of the best k documents."""
        import torch

        probes = None if setting == "chosen" else int(setting)
        found = self._index.search(
            torch.from_numpy(query)[None], top_k=k, nprobe=probes, num_threads=self._threads, show_progress=False
        )
        return [number for number, _ in found[0]]


PEERS: tuple[Any, ...] = (Warp,)
