"""The order of sections by the numbers in their headings: Livre Ier, Titre II, Chapitre 3 bis, Première partie, Part IV."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from lexfuse.text.letters import fold

_KINDS = (
    "sous-paragraphe|paragraphe|sous-section|section|sous-chapitre|chapitre|sous-titre|titre|livre|partie|annexe|"
    "book|title|part|subpart|chapter|subchapter|division|subdivision|schedule|appendix|"
    "buch|teil|titel|kapitel|abschnitt|unterabschnitt|anlage"
)
_ORDINALS = {
    name: number
    for number, names in enumerate(
        (
            "preliminaire preliminary", "premier premiere ier 1er 1re unique first", "deuxieme second seconde 2e",
            "troisieme third 3e", "quatrieme fourth 4e", "cinquieme fifth 5e", "sixieme sixth 6e", "septieme seventh 7e",
            "huitieme eighth 8e", "neuvieme ninth 9e", "dixieme tenth 10e",
        )
    )
    for name in names.split()
}  # fmt: skip
_NUMERAL = r"c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})(?<=[ivxlc])"
_NUMBER = rf"(?:\d{{1,4}}|{_NUMERAL}|{'|'.join(_ORDINALS)})"
_SUFFIX = r"(?:\s(bis|ter|quater|quinquies|sexies|septies|[a-z](?=\s?[:.–-]|$)))?"
_KIND_FIRST = re.compile(rf"({_KINDS})\s({_NUMBER})\b{_SUFFIX}")
_NUMBER_FIRST = re.compile(rf"({'|'.join(_ORDINALS)})\s({_KINDS})\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_LATIN = ("", "bis", "ter", "quater", "quinquies", "sexies", "septies")

# The parts of French codes have names, not numbers.
_PARTS = (
    "partie legislative", "partie reglementaire - decrets en conseil d'etat", "partie reglementaire - decrets simples",
    "partie reglementaire - arretes", "partie reglementaire", "partie legislative ancienne", "partie reglementaire ancienne",
    "annexes",
)  # fmt: skip


class HeadingNumber(NamedTuple):
    """The number of a heading among its siblings of the same kind."""

    kind: str
    number: int
    suffix: tuple[int, str] = (0, "")


def heading_number(title: str) -> HeadingNumber | None:
    """The number in a heading; None if it has none.

    >>> heading_number("Livre Ier : Dispositions préliminaires"), heading_number("Première partie : Les relations")
    (HeadingNumber(kind='livre', number=1, suffix=(0, '')), HeadingNumber(kind='partie', number=1, suffix=(0, '')))
    >>> heading_number("Chapitre IV bis").suffix, heading_number("Dispositions communes") is None
    ((1, 'bis'), True)
    """
    folded = " ".join(fold(title[:120]).casefold().replace("’", "'").split())
    if named := [part for part in _PARTS if folded.startswith(part)]:
        return HeadingNumber("named part", _PARTS.index(max(named, key=len)))
    if found := _KIND_FIRST.match(folded):
        suffix = found[3] or ""
        return HeadingNumber(found[1], _value(found[2]), (_LATIN.index(suffix) if suffix in _LATIN else 0, suffix))
    if found := _NUMBER_FIRST.match(folded):
        return HeadingNumber(found[2], _value(found[1]))
    return None


def in_order(titles: Sequence[str]) -> list[str]:
    """Titles of sibling sections with those of one kind in the order of their numbers; those without a number keep their places.

    >>> in_order(["Dispositions préliminaires", "Titre III", "Titre Ier", "Titre II bis", "Titre II"])
    ['Dispositions préliminaires', 'Titre Ier', 'Titre II', 'Titre II bis', 'Titre III']
    """
    places = defaultdict[str, list[tuple[HeadingNumber, int]]](list)
    for at, title in enumerate(titles):
        if number := heading_number(title):
            places[number.kind].append((number, at))
    ordered = list(titles)
    for numbered in places.values():
        for at, (_, source) in zip(sorted(at for _, at in numbered), sorted(numbered), strict=True):
            ordered[at] = titles[source]
    return ordered


def _value(number: str) -> int:
    """The value of an ordinal, a number or a roman numeral."""
    if number in _ORDINALS:
        return _ORDINALS[number]
    if number.isdecimal():
        return int(number)
    values = [_ROMAN[letter] for letter in number]
    return sum(-one if one < following else one for one, following in zip(values, [*values[1:], 0], strict=True))
