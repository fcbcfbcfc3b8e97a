"""Values that are made of the documents of a snapshot, and kept as long as a snapshot has the same documents."""

from __future__ import annotations

from collections.abc import Callable
from threading import RLock
from typing import Any, TypeVar

Made = TypeVar("Made")


class DerivedValues:
    """Values by name, each made when it is first asked for; safe for many threads.

    >>> values = DerivedValues()
    >>> values.get("length", lambda: len("loi")), values.get("length", lambda: 0)
    (3, 3)
    """

    def __init__(self) -> None:
        """Nothing is made yet."""
        self._lock = RLock()  # one value may be made of others
        self._made: dict[str, Any] = {}

    def get(self, name: str, make: Callable[[], Made]) -> Made:
        """The value of a name."""
        if name not in self._made:
            with self._lock:
                if name not in self._made:
                    self._made[name] = make()
        made: Made = self._made[name]
        return made
