"""Numbers as the report says them: true minus signs, no false precision, a dash where there is no number."""

from __future__ import annotations

import math
import re

NONE = "–"
_LOOSE = re.compile(r"\b[pnt] (?:[=<]|&lt;) (?=[\d−+-])|(?<=\d) (?=%|ms\b|[kMG]?B\b)")


def value_words(value: float | None) -> str:
    """A mean of a measure.

    >>> value_words(0.61249), value_words(math.nan)
    ('0.612', '–')
    """
    return NONE if value is None or not math.isfinite(value) else f"{value:.3f}".replace("-", "−")


def signed_words(value: float, decimals: int = 3) -> str:
    """A difference, always with its sign.

    >>> signed_words(0.0412), signed_words(-0.2)
    ('+0.041', '−0.200')
    """
    return f"{value:+.{decimals}f}".replace("-", "−") if math.isfinite(value) else NONE


def p_words(p: float) -> str:
    """The value of a test; what is smaller than a thousandth is not spelt out.

    >>> p_words(0.0312), p_words(1e-9)
    ('0.031', '< 0.001')
    """
    if not math.isfinite(p):
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_sentence(p: float) -> str:
    """The same with its letter.

    >>> p_sentence(0.0312).split()
    ['p', '=', '0.031']
    """
    said = p_words(p)
    return unbroken(f"p {said}" if said.startswith("<") else f"p = {said}")


def unbroken(words: str) -> str:
    """The same words, with spaces that no line breaks at inside of "p = 0.03", "n = 5" and "95 %".

    >>> [part.replace(chr(160), "_") for part in unbroken("p = 0.03, 95 % of all").split(" ")]
    ['p_=_0.03,', '95_%', 'of', 'all']
    """
    return _LOOSE.sub(lambda found: found[0].replace(" ", "\u00a0"), words)


def time_words(milliseconds: float | None) -> str:
    """Milliseconds with about three figures.

    >>> time_words(1.234), time_words(45.6), time_words(1234.0)
    ('1.23 ms', '45.6 ms', '1,234 ms')
    """
    if milliseconds is None or not math.isfinite(milliseconds):
        return NONE
    decimals = 2 if milliseconds < 10 else 1 if milliseconds < 100 else 0
    return f"{milliseconds:,.{decimals}f} ms"


def size_words(count: int | None) -> str:
    """Bytes in the unit that suits them.

    >>> size_words(512), size_words(1_500_000)
    ('512 B', '1.5 MB')
    """
    if count is None:
        return NONE
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:,.1f} {unit}"
    return f"{count:,} B"


def count_words(count: int, one: str, many: str) -> str:
    """A number with the word it counts.

    >>> count_words(1, "query", "queries"), count_words(1500, "query", "queries")
    ('1 query', '1,500 queries')
    """
    return f"{count:,} {one if count == 1 else many}"


def share_words(part: int, whole: int) -> str:
    """A share in per cent.

    >>> share_words(72, 88), share_words(0, 0)
    ('82 %', '–')
    """
    return f"{100 * part / whole:.0f} %" if whole else NONE


def weight_words(weights: tuple[float, ...]) -> str:
    """Weights as short as they can be said.

    >>> weight_words((0.45, 0.55)), weight_words(())
    ('.45 / .55', '–')
    """
    return " / ".join(f"{weight:.2f}".removeprefix("0") for weight in weights) or NONE
