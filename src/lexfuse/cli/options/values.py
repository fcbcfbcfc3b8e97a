"""Values of flags that hold several, with commas between."""

from __future__ import annotations

from lexfuse.errors import ConfigError


def names_in(text: str) -> list[str]:
    """The names in a value, each once.

    >>> names_in("bm25, dense,bm25")
    ['bm25', 'dense']
    """
    return list(dict.fromkeys(name for part in text.split(",") if (name := part.strip())))


def numbers_in(text: str, flag: str) -> list[float]:
    """The numbers in a value; none if it is empty."""
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise ConfigError(f"{flag} takes numbers with commas between, got {text!r}") from None


def whole_numbers_in(text: str, flag: str) -> list[int]:
    """The whole numbers in a value; none if it is empty."""
    numbers = numbers_in(text, flag)
    if any(number != int(number) for number in numbers):
        raise ConfigError(f"{flag} takes whole numbers with commas between, got {text!r}")
    return [int(number) for number in numbers]
