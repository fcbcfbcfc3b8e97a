"""RPRS, table 10: as table 3, on COLIEE 2022."""

from __future__ import annotations

from reproduce.rprs.table_3 import measure

__all__ = ["measure"]
