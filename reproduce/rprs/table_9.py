"""RPRS, table 9: as table 3, on COLIEE 2020."""

from __future__ import annotations

from reproduce.rprs.table_3 import measure

__all__ = ["measure"]
