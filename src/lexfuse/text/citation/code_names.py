"""Names of codes and treaties: which text a citation means, in any spelling.

The lists are data files (``french_codes.tsv``, ``treaties.tsv``: a name, then its other names and abbreviations).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files

from lexfuse.text.citation.citation import CitationSystem
from lexfuse.text.citation.laws import mean_the_same
from lexfuse.text.citation.scanner import scan
from lexfuse.text.letters import fold
from lexfuse.text.short_text_cache import cached_if_short

APOSTROPHES = "'’ʼ‘`´"
EUROPEAN_CONVENTION = "european convention on human rights"


@cache
def known_codes() -> dict[str, str]:
    """Every name and abbreviation in comparison form, with its full name.

    >>> known_codes()["c. trav."], known_codes()["code du travail"], known_codes()["tfue"]
    ('code du travail', 'code du travail', 'treaty on the functioning of the european union')
    """
    return {code_key(name): code_key(names[0]) for names in _names() for name in names}


def code_abbreviation(name: str) -> str:
    """How lawyers abbreviate a French code, as they write it; a name without an abbreviation stays unchanged.

    >>> code_abbreviation("Code du travail"), code_abbreviation("Code de la sécurité sociale"), code_abbreviation("Code du prêt")
    ('C. trav.', 'CSS', 'Code du prêt')
    """
    short = _abbreviations().get(code_key(name), "")
    return name if not short else short[:1].upper() + short[1:] if "." in short or " " in short else short.upper()


@cache
def _abbreviations() -> dict[str, str]:
    """The first abbreviation of every code that has one."""
    return {code_key(names[0]): names[1] for names in _names() if len(names) > 1 and names[0].startswith(("code ", "livre "))}


def _names() -> list[list[str]]:
    """The lines of the lists: a name, then its other names."""
    lists = ((files("lexfuse.text.citation") / file).read_text("utf-8") for file in ("french_codes.tsv", "treaties.tsv"))
    return [line.split("\t") for text in lists for line in text.splitlines()]


def code_key(name: str) -> str:
    """The comparison form of a name: lower case, no accents, plain apostrophes and spaces.

    >>> code_key("Code de  l’Éducation")
    "code de l'education"
    """
    plain = "".join("'" if letter in APOSTROPHES else letter for letter in fold(name.lower()))
    return " ".join(plain.split())


@cached_if_short
def full_code(name: str) -> str:
    """The full name of a name or abbreviation, in comparison form; unknown names stay unchanged.

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
    act = next((item for item in scan(name) if item.system is CitationSystem.EU_ACT), None)
    return f"{act.kind} {act.key}" if act else key


_PROTOCOL = re.compile(r"protocole?\s(?:additionnel\s)?(?:no\.?\s?|n[°º]\s?|n\s?)?([0-9]+)")


@cache
def _by_letters() -> dict[str, str]:
    return {_letters(name): full for name, full in known_codes().items()}


def _letters(key: str) -> str:
    return re.sub(r"[.\s]", "", key)


def matching_codes(cited: str, actual: Iterable[str]) -> frozenset[str]:
    """The codes that a citation means: the one with this name, else those whose name begins with it.

    >>> sorted(matching_codes("code rural", ["Code rural et de la pêche maritime", "Code du travail"]))
    ['Code rural et de la pêche maritime']
    >>> matching_codes("I.P.C.", ["Indian Penal Code, 1860"]), matching_codes("BGB", ["Bürgerliches Gesetzbuch"])
    (frozenset({'Indian Penal Code, 1860'}), frozenset({'Bürgerliches Gesetzbuch'}))
    """
    wanted = full_code(cited)
    keys = {code: full_code(code) for code in actual}
    exact = frozenset(code for code, key in keys.items() if key == wanted)
    return (
        exact
        or frozenset(code for code in keys if mean_the_same(cited, code))
        or frozenset(code for code, key in keys.items() if key.startswith(wanted + " "))
    )


@cache
def code_pattern() -> str:
    """A regular expression source for any known code or abbreviation in `plain_text`, in any case.

    >>> pattern = re.compile(code_pattern(), re.IGNORECASE)
    >>> bool(pattern.match("Code du travail")), bool(pattern.match("CP")), bool(pattern.match("cp"))
    (True, True, False)
    """
    names = sorted((name for names in _names() for name in names), key=len, reverse=True)
    return "(?:" + "|".join(_spelled(name) for name in names) + r")(?!\w)"


def _spelled(name: str) -> str:
    """One name with the white space of real text.

    Abbreviations without dots must be upper case (CPC); otherwise many short words would be codes.
    """
    if name in ("Charter", "Charte"):
        return f"(?-i:{name})"
    if name.isalpha() and len(name) <= _LONGEST_ABBREVIATION:
        return f"(?-i:{name.upper()})"
    source = plain_pattern(re.escape(name)).replace("'", r"'\s?")
    return source.replace(r"\.\ ", r"\.?\s*").replace(r"\.", r"\.?").replace(r"\ ", r"\s+")


_LONGEST_ABBREVIATION = 6
_ACCENTED = "àâäçéèêëîïôöùûü"
_PLAIN_LETTERS = str.maketrans(
    {letter: fold(letter) for letter in _ACCENTED + _ACCENTED.upper()} | dict.fromkeys(APOSTROPHES, "'")
)


@lru_cache(maxsize=8)  # asked repeatedly for one text, by several threads
def plain_text(text: str) -> str:
    """The text with plain letters and apostrophes; every character keeps its place.

    >>> plain_text("Présent code de l’État")
    "Present code de l'Etat"
    """
    return text.translate(_PLAIN_LETTERS)


def plain_pattern(pattern: str) -> str:
    r"""A pattern for plain text; decomposed text may keep an accent as a separate character.

    >>> bool(re.fullmatch(plain_pattern("été"), "ete")), bool(re.fullmatch(plain_pattern("été"), "e\u0301te\u0301"))
    (True, True)
    """
    return re.sub(f"[{_ACCENTED}]", lambda letter: f"{fold(letter[0])}[\u0300-\u036f]?", pattern.replace("['’]", "'"))
