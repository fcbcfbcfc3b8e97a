"""Benchmarks are scripts: what they import from each other is found in their folder."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "bench"))
