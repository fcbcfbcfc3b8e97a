"""Names of French codes: which code a citation means, whatever way it is written.

The list is data (``french_codes.tsv``: a name, then its usual abbreviations); this file reads it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from lexfuse.text.letters import folded

APOSTROPHES = "'’ʼ‘`´"


@cache
def known_codes() -> dict[str, str]:
    """Every name and abbreviation in folded form, with the full folded name it stands for.

    >>> known_codes()["c. trav."], known_codes()["code du travail"]
    ('code du travail', 'code du travail')
    """
    names: dict[str, str] = {}
    for line in (files("lexfuse.text") / "french_codes.tsv").read_text("utf-8").splitlines():
        full, *short = line.split("\t")
        for name in (full, *short):
            names[code_key(name)] = code_key(full)
    return names


def code_key(name: str) -> str:
    """A code's name in the form that is compared: lower case, no accents, plain apostrophes and spaces.

    >>> code_key("Code de  l’Éducation")
    "code de l'education"
    """
    plain = "".join("'" if letter in APOSTROPHES else letter for letter in folded(name.lower()))
    return " ".join(plain.split())


def full_code(name: str) -> str:
    """The full name behind a name or abbreviation, in compared form; unknown names stay as they are.

    >>> full_code("CSS"), full_code("Code du travail numérique")
    ('code de la securite sociale', 'code du travail numerique')
    """
    key = code_key(name)
    return known_codes().get(key, key)


def matching_codes(cited: str, actual: Iterable[str]) -> frozenset[str]:
    """Which of these codes a citation means: the one of that name, else those whose name it begins.

    >>> sorted(matching_codes("code rural", ["Code rural et de la pêche maritime", "Code du travail"]))
    ['Code rural et de la pêche maritime']
    """
    wanted = full_code(cited)
    keys = {code: full_code(code) for code in actual}
    exact = frozenset(code for code, key in keys.items() if key == wanted)
    return exact or frozenset(code for code, key in keys.items() if key.startswith(wanted + " "))


@cache
def code_pattern() -> str:
    """A regular expression source that matches any known code or abbreviation at a position in real text.

    >>> bool(re.match(code_pattern(), "Code du travail"))
    True
    """
    names = sorted(known_codes(), key=len, reverse=True)
    return "(?:" + "|".join(_spelled(name) for name in names) + r")(?!\w)"


def _spelled(name: str) -> str:
    """One name with every accent, apostrophe, capital and white space that real text has."""
    spelled = "".join(_LETTER_CLASSES.get(letter, re.escape(letter)) for letter in name)
    return spelled if "." in name or not name.isalpha() or len(name) > 5 else spelled.upper()


_LETTER_CLASSES = {
    " ": r"\s+",
    "'": f"[{APOSTROPHES}]\\s?",
    ".": r"\.?",
    "a": "[aàâAÀÂ]",
    "c": "[cçCÇ]",
    "e": "[eéèêëEÉÈÊË]",
    "i": "[iîïIÎÏ]",
    "o": "[oôOÔ]",
    "u": "[uùûüUÙÛÜ]",
} | {letter: f"[{letter}{letter.upper()}]" for letter in "bdfghjklmnpqrstvwxyz"}
