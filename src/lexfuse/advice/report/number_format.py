"""Numbers as the report writes them: true minus signs, no false precision, a dash where there is no number."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from markupsafe import Markup

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


def significant_words(value: float, figures: int) -> str:
    """A score with a number of significant figures."""
    return f"{value:.{figures}g}".replace("-", "−")


def p_words(p: float) -> str:
    """A p-value; below a thousandth only that.

    >>> p_words(0.0312), p_words(1e-9)
    ('0.031', '< 0.001')
    """
    if not math.isfinite(p):
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_sentence(p: float) -> str:
    """The same with its letter: p = 0.031."""
    words = p_words(p)
    return prose(f"p {words}" if words.startswith("<") else f"p = {words}")


def prose(words: str) -> str:
    """Running text on one line, with no-break spaces inside "p = 0.03", "n = 5" and "95 %"; markup stays markup.

    >>> [part.replace(chr(160), "_") for part in prose("p = 0.03, 95 % of all").split(" ")]
    ['p_=_0.03,', '95_%', 'of', 'all']
    """
    text = _LOOSE.sub(lambda found: found[0].replace(" ", "\u00a0"), re.sub(r"[ \n]+", " ", words).strip(" "))
    return markup(text) if isinstance(words, Markup) else text


def markup(text: str) -> Markup:
    """Text that is markup already: a chart, the style sheet, a piece of a template."""
    return Markup(text)  # noqa: S704


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
    return NONE if count is None else _scaled(count, ("kB", "MB", "GB"), " B")


def operation_words(count: int) -> str:
    """Floating-point operations.

    >>> operation_words(2_500_000)
    '2.5 M'
    """
    return _scaled(count, ("k", "M", "G", "T"), "")


def whole_words(count: float) -> str:
    """A whole number with commas between thousands; a dash for NaN."""
    return f"{count:,.0f}" if count == count else NONE


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


def weight_words(weights: Sequence[float]) -> str:
    """Weights without their leading zeros.

    >>> weight_words((0.45, 0.55)), weight_words(())
    ('.45 / .55', '–')
    """
    return " / ".join(f"{weight:.2f}".removeprefix("0") for weight in weights) or NONE


def _scaled(count: int, units: Sequence[str], plain: str) -> str:
    """A number in the largest unit that it reaches; each unit is a thousand times the one before."""
    for power in range(len(units), 0, -1):
        if count >= 1000**power:
            return f"{count / 1000.0**power:,.1f} {units[power - 1]}"
    return f"{count:,}{plain}"
