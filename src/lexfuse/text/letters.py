"""Normalise letters: Unicode forms, accents and ligatures."""

from __future__ import annotations

import re
import unicodedata

_ACCENTS = re.compile("[\u0300-\u036f]+")
_LIGATURES = str.maketrans({"œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE", "ß": "ss", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"})


def fold(text: str) -> str:
    """Remove accents and split ligatures.

    >>> fold("cœur d'employé")
    "coeur d'employe"
    """
    if text.isascii():
        return text
    bare = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.translate(_LIGATURES)))
    # Marks of other alphabets stay.
    return bare if bare.isascii() else "".join(letter for letter in bare if not unicodedata.combining(letter))


def compose(word: str) -> str:
    r"""Compose letters (NFKC) and remove soft hyphens.

    >>> compose("e\u0301t\u00ade\u0301") == "été"
    True
    """
    return word if word.isascii() else unicodedata.normalize("NFKC", word.replace("\u00ad", ""))


NARROW_SPACE = "\u202f"
NO_BREAK_SPACE = "\u00a0"
