"""Paragraphs of a judgment from its lines, where the source has a line for every paragraph or for every printed line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

PRINTED = 90  # characters: longer lines are whole paragraphs
FEW_LONG = 0.02  # share of long lines in a text whose lines are printed ones
ENDING = 50  # a printed line shorter than this that ends a sentence ends its paragraph

_NUMBERED = re.compile(r"(?:\d{1,3}|[IVX]{1,5}|[A-Z])\.\s|\([a-z0-9]{1,3}\)\s|[-–—•]\s|\*+\s")
_JUDGE = re.compile(r"(?:Mr|Mrs|Ms|MM|Mme|Mmes|M|Sir|[A-ZÅÉ])\b\.?[\s-]")
_USUAL = re.compile(
    r"The European Court of|La Cour européenne des|and also of |ainsi que de |Having |Après en avoir |Delivers the |"
    r"Rend l['’]arrêt |Done in |Fait en |Signed: |Signé: |President$|Président$|Registrar$|Greffier$"
)  # beginnings of paragraphs in every judgment
_SIGNED = re.compile(r"Sign(?:ed|é): |President$|Président$")
_NUMBER_SIGN = re.compile(r"\bn o (?=\d)")  # a raised o, which the source has lowered
_BEFORE_COMMA = re.compile(r" +(?=[,.](?:\s|$))")
_NO_NOTE = re.compile(r"\s*\[[^\w\]]?\]")  # a sign that no font has
_ASIDE = re.compile(r"\s*\([^()]*\)")  # "(art. 6)" after an article in capitals
_RULE = re.compile(r"[_\W]*")
_BLANKS = re.compile(r"\s+")


def paragraphs_of(lines: Sequence[str]) -> list[str]:
    """The paragraphs of a judgment; lines that are printed ones are joined.

    >>> paragraphs_of(["1.  The case was referred to the", "", "Court on 19 April 1991.", "", "2. The applicant agreed ."])
    ['1. The case was referred to the Court on 19 April 1991.', '2. The applicant agreed.']
    """
    clean = [line for line in map(_clean, lines) if not _RULE.fullmatch(line)]
    long = sum(len(line) > PRINTED for line in clean)
    begins = _begins if long <= FEW_LONG * len(clean) else _is_no_judge
    return list(_joined(clean, begins))


def _clean(line: str) -> str:
    one = _NO_NOTE.sub("", _BLANKS.sub(" ", line.replace("\ufeff", "")).strip())
    return _BEFORE_COMMA.sub("", _NUMBER_SIGN.sub("n° ", one))


def _joined(lines: Sequence[str], begins: Callable[[str, str], bool]) -> Iterator[str]:
    part: list[str] = []
    for line in lines:
        if part and begins(line, part[-1]):
            yield " ".join(part)
            part = []
        part.append(line)
    if part:
        yield " ".join(part)


def _begins(line: str, before: str) -> bool:
    """Whether a printed line begins a paragraph after another one."""
    if _heading(line) != _heading(before):
        return True
    if _USUAL.match(line) and (before.endswith((",", ".", ";", ":")) or _SIGNED.match(before)):
        return True
    ended = before.endswith((".", ":", ";"))
    if _NUMBERED.match(line):
        return ended or before.endswith((")", '"', "”", "*")) or _heading(before) or len(before) < ENDING
    return before.endswith(":") or (ended and len(before) < ENDING and line[:1].isupper())


def _is_no_judge(line: str, before: str) -> bool:
    """Whether a paragraph is outside the list of judges, which is kept as one paragraph."""
    return not all(_JUDGE.match(one) and one.endswith(",") and len(one) < ENDING for one in (line, before))


def _heading(line: str) -> bool:
    plain = _ASIDE.sub("", line)
    return plain.isupper() and len(plain) > 2
