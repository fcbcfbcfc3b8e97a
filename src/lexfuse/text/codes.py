"""Names of codes and treaties: which text a citation means, whatever way its name is written.

The lists are data (``french_codes.tsv``, ``treaties.tsv``: a name, then its other names and abbreviations); this
file reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from lexfuse.text.citation import System
from lexfuse.text.letters import folded
from lexfuse.text.scan import scan

APOSTROPHES = "'’ʼ‘`´"
EUROPEAN_CONVENTION = "european convention on human rights"


@cache
def known_codes() -> dict[str, str]:
    """Every name and abbreviation in compared form, with the full name it stands for.

    >>> known_codes()["c. trav."], known_codes()["code du travail"], known_codes()["tfue"]
    ('code du travail', 'code du travail', 'treaty on the functioning of the european union')
    """
    names: dict[str, str] = {}
    for file in ("french_codes.tsv", "treaties.tsv"):
        for line in (files("lexfuse.text") / file).read_text("utf-8").splitlines():
            full, *others = line.split("\t")
            names |= {code_key(name): code_key(full) for name in (full, *others)}
    return names


def code_key(name: str) -> str:
    """A name in the form that is compared: lower case, no accents, plain apostrophes and spaces.

    >>> code_key("Code de  l’Éducation")
    "code de l'education"
    """
    plain = "".join("'" if letter in APOSTROPHES else letter for letter in folded(name.lower()))
    return " ".join(plain.split())


@cache
def full_code(name: str) -> str:
    """The full name behind a name or abbreviation, in compared form; unknown names stay as they are.

    >>> full_code("CSS"), full_code("C.trav"), full_code("Code du travail numérique")
    ('code de la securite sociale', 'code du travail', 'code du travail numerique')
    >>> full_code("Regulation (EU) 2016/679"), full_code("Protocol No. 1 to the Convention")
    ('regulation 2016/679', 'protocol 1')
    """
    key = code_key(name)
    known = known_codes().get(key) or _by_letters().get(_letters(key))
    if known:
        return known
    if protocol := _PROTOCOL.match(key):
        return f"protocol {protocol[1]}"
    act = next((item for item in scan(name) if item.system is System.EU_ACT), None)
    return f"{act.kind} {act.key}" if act else key


_PROTOCOL = re.compile(r"protocole?\s(?:additionnel\s)?(?:no\.?\s?|n[°º]\s?|n\s?)?([0-9]+)")


@cache
def _by_letters() -> dict[str, str]:
    return {_letters(name): full for name, full in known_codes().items()}


def _letters(key: str) -> str:
    return re.sub(r"[.\s]", "", key)


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

    >>> bool(re.match(code_pattern(), "Code du travail")), bool(re.match(code_pattern(), "cp"))
    (True, False)
    """
    names = sorted(known_codes(), key=len, reverse=True)
    return "(?:" + "|".join(_spelled(name) for name in names) + r")(?!\w)"


def _spelled(name: str) -> str:
    """One name with every accent, apostrophe, capital and white space that real text has.

    Abbreviations without dots are capitals (CPC), or else many small words would be codes.
    """
    if name in ("charter", "charte"):
        return f"(?-i:{name.capitalize()})"
    if name.isalpha() and len(name) <= _LONGEST_ABBREVIATION:
        return f"(?-i:{name.upper()})"
    return re.sub(r"\\\.\?\\s\+", r"\.?\\s*", "".join(_LETTER_CLASSES.get(letter, re.escape(letter)) for letter in name))


_LONGEST_ABBREVIATION = 6
_ACCENT = "[\u0300-\u036f]?"  # in decomposed text the accent is a character of its own
_LETTER_CLASSES = {
    " ": r"\s+",
    "'": f"[{APOSTROPHES}]\\s?",
    ".": r"\.?",
    "a": f"[aàâAÀÂ]{_ACCENT}",
    "c": f"[cçCÇ]{_ACCENT}",
    "e": f"[eéèêëEÉÈÊË]{_ACCENT}",
    "i": f"[iîïIÎÏ]{_ACCENT}",
    "o": f"[oôOÔ]{_ACCENT}",
    "u": f"[uùûüUÙÛÜ]{_ACCENT}",
} | {letter: f"[{letter}{letter.upper()}]" for letter in "bdfghjklmnpqrstvwxyz"}
