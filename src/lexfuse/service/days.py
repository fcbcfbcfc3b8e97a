"""Days as they are sent: written out. A number, which would be taken for seconds since 1970, is none."""

from __future__ import annotations

import datetime
import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_WRITTEN = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _written(value: Any) -> Any:
    """What may be a day; what is none is told as the words of the error."""
    if isinstance(value, datetime.date) or (isinstance(value, str) and _WRITTEN.fullmatch(value)):
        return value
    raise ValueError("a day is written as 2024-01-31")


Day = Annotated[datetime.date, BeforeValidator(_written)]
