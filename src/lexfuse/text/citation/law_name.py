"""The name of a law at a place in a text: listed names and abbreviations, and the grammar of those that are not listed.

A name ends where the name ends: after its noun (``… Act``, ``…gesetzes``), its year and its chapter.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lexfuse.text.citation.citation import PRESENT
from lexfuse.text.citation.laws import is_known, law_of, may_begin_law

_LONGEST_ABBREVIATION = 8  # letters
_SHORT_TEXT = 80  # characters of a question; abbreviations may be lower case there
_LONGEST_NAME = 14  # words
_LONGEST_BEFORE = 160  # characters
_WORD = r"(?:[A-Z][\w'’&.-]*|[0-9]{4}(?=\s[A-Z])|\([A-Z][\w\s'’,&-]{1,60}\))"
_SMALL = r"(?:of|and|the|for|to|in|on|with|by|from|against|or|respecting|relating)"
_NOUN = (
    r"(?:Acts?|Code|Ordinance|Rules?|Regulations?|Order|Laws?|Charter|Constitution|Statutes?|Bill|Sanhita|Adhiniyam|Convention|"
    r"Treaty|Agreement|Decree|Proclamation|Measure|By-?laws?|Scheme)"
)
_OF_NOUN = r"(?:Code|Constitution|Rules|Charter|Bill|Statute|Laws?|Convention)"
_YEAR = r"(?:,?\s(?:of\s)?(?:1[2-9]|20)[0-9]{2}(?![0-9]))"
_STATE = r"(?:\s\((?:Cth|NSW|Vic|Qld|WA|SA|Tas|ACT|NT|UK|NI|Imp)\))"
_CHAPTER = (
    r"(?:,\s(?:R\.?\s?S\.?|S\.?)\s?[A-Z]\.?(?:\s?[A-Z]\.?)?,?\s[0-9]{4},?\s(?:c(?:h?\.|hap(?:ter|\.)))\s[A-Z]?[\w.-]*\w"
    r"(?:\s\([0-9]\w+\sSupp\.\))?)"
)
_ACT_NUMBER = r"(?:\s\(?(?:Act\s)?(?:No\.?\s)?(?:[0-9]+|[IVXLC]+)\sof\s(?:1[2-9]|20)[0-9]{2}\)?)"
_TAIL = rf"{_YEAR}?(?:{_STATE}|{_CHAPTER}|{_ACT_NUMBER})?"
_ENGLISH = re.compile(
    rf"(?!(?:Sections?|Articles?|Rules?|Order)\s[0-9IVX]|(?:Divisions?|Parts?|Chapters?|Schedules?|Appendix|Annex)\b|[0-9])"
    rf"(?P<name>(?:{_WORD}(?:,?\s(?:{_WORD}|{_SMALL})){{0,14}}?\s)?"
    rf"(?:{_OF_NOUN}\sof\s(?:the\s)?[A-Z][\w'’-]*(?:\s(?:and|of)\s(?:the\s)?[A-Z][\w'’-]*|\s[A-Z][\w'’-]*)*|{_NOUN}(?![\w'’-]))"
    rf"(?:\s\([A-Z][\w\s'’-]{{2,40}}\)(?=\s{_NOUN})\s{_NOUN})?{_TAIL})"
)
_DATED = re.compile(rf"(?:(?:1[2-9]|20)[0-9]{{2}}\s{_NOUN}(?!\w)|[A-Z]{{2,6}},?\s(?:1[2-9]|20)[0-9]{{2}}(?![0-9]))")
_NUMBERED_LAW = re.compile(
    r"(?:Law|Decree(?:-Law)?|Act|Order|Regulation)\s(?:No\.?\s[\w/.-]*\w(?:\sof\s[0-9]{4}|/[0-9]+)?|on\s(?:the\s)?[A-Z][\w-]*)"
)
_LOWER_LAW = re.compile(r"(?:[a-z][\w'’-]*\s){1,8}?(?:act|code|ordinance|constitution)(?:,?\s(?:1[2-9]|20)[0-9]{2})?(?!\w)")
_LOWER_NOUN = re.compile(r"[a-z][\w-]*")
_LOWER_LAW_NOUNS = frozenset(
    ("act", "acts", "code", "ordinance", "rules", "regulations", "law", "statute", "constitution", "principal", "amending")
)
_OTHER_DIVISION = re.compile(
    r",?\s(?:of|in|du|de\sla)\s(?:the\s|this\s|that\s|its\s)?(?:[Cc]hapter|[Pp]art|[Tt]itle|[Aa]nnex|[Ss]chedule|[Dd]ivision|[Ff]orm|"
    r"[Rr]eport|[Ll]ease|[Cc]ontract|[Aa]greement\b|[Pp]olicy|[Ll]and|[Gg]uid|[Mm]anual|livre|titre|chapitre)"
)
_ENGLISH_LINK = re.compile(
    r"(?:\s?,)?\s\(?(?:(?P<of>of|under|in|to|from)\s)?(?:(?P<own>this|these|present)\s|(?:the|that|those|said|same|aforesaid|former)\s)*\[?"
)
_CONTINENTAL_LINK = re.compile(
    r"\s\(?(?:(?P<of>des|der|dem|den|vom|zum|zur|van\s(?:het|de|den)|du|de\sla|de\sl['’])\s?)?(?P<own>dieses|dieser|diesem|deze|dit)?\s?"
)
_OWN = re.compile(
    r"(?:Act|Code|Ordinance|Rules?|Regulations?|Order|Law|Constitution|Gesetz(?:es|buche?s)?|Verordnung|wet|wetboek)(?!\w)"
)
_TITLE = re.compile(r",?\s(?:of\s)?[Tt]itle\s(?P<title>[0-9]{1,2})(?![\w-])")
_EU_ACT = re.compile(
    r"(?P<kind>Verordnung|Richtlinie|Durchführungsverordnung|Delegierten?\sVerordnung|[Vv]erordening|[Rr]ichtlijn)\s(?:\((?:EU|EG|EWG|Euratom|"
    r"EU,\sEuratom|EEG)\)\s)?(?:[Nn]r\.\s)?(?P<number>[0-9]{1,4}/[0-9]{1,4})(?:/[A-Z]+)?"
)
_COMPOUND = r"[A-ZÄÖÜ][\wäöüß-]*"
_GERMAN = re.compile(
    rf"(?:(?:Ersten|Zweiten|Dritten|Vierten|Fünften|Allgemeinen|Bürgerlichen)\s)?(?:{_COMPOUND}-(?:,\s{_COMPOUND}-)*\s(?:und|oder)\s)?"
    r"[A-ZÄÖÜ][\wäöüß-]*(?:gesetz(?:e?s|buch(?:e?s)?)?|-Gesetz(?:e?s)?|[oO]rdnung|verfassung|übereinkommens?|konvention|staatsvertrag(?:e?s)?|"
    r"vertrage?s|wet|wetboek|decreet|besluit|statute?s)(?!\w)"
)
_GERMAN_PHRASE = re.compile(
    r"(?:Gesetze?s|Verordnung|Vertrage?s|Übereinkommens|Abkommens|Einführungsgesetze?s)\s(?:über|gegen|zur|zum|betreffend|für|zu|von)"
    rf"(?:\s(?:die|das|den|der|dem))?(?:\s[a-zäöüß][\wäöüß-]*){{0,4}}\s{_COMPOUND}"
)
_GERMAN_DATED = re.compile(r"(?:Gesetze?s|Verordnung)(?:\svom\s[0-9]{1,2}\.\s\w+\s[0-9]{4})?(?!\w)")
_ABBREVIATION = re.compile(r"(?=[\wäöüÄÖÜß-]*[A-ZÄÖÜ][\wäöüß-]*[A-ZÄÖÜ])[A-ZÄÖÜ][A-Za-zÄÖÜäöüß-]{1,15}(?![\w/])")
_NOT_LAWS = frozenset(("USA", "EUR", "DM", "II", "III", "IV", "VI", "VII", "VIII", "IX", "XI", "NR", "ABS", "BGBL"))
_PIECE = re.compile(r"[^\s,;:()\[\]]+|\([A-Z][^()]{1,60}\)|,(?=\s[A-Z0-9])")
_LOWER_WORDS = frozenset(
    ("or", "co", "so", "as", "am", "an", "pace", "era", "ca", "la", "pa", "ia", "sa", "ag", "kg", "bv", "ao", "sg", "be", "da")
)


class LawName(NamedTuple):
    """A law named in a text."""

    name: str  # as written; `PRESENT` for "this Act"; "title 42" of the United States Code
    end: int


def law_after(text: str, at: int, *, continental: bool) -> LawName | None:
    """The law named after the number that ends here; ``continental``: by German, Swiss, Belgian and Dutch custom.

    >>> law_after("section 302 of the Indian Penal Code is clear", 11, continental=False)
    LawName(name='Indian Penal Code', end=36)
    >>> law_after("§ 1 des Bürgerlichen Gesetzbuchs gilt", 3, continental=True).name
    'Bürgerlichen Gesetzbuchs'
    """
    return (_continental_law(text, at) if continental else None) or _english_law(text, at)


def is_division(text: str, at: int) -> bool:
    """Whether the number belongs to a part of a document that is not a law: section 2 of Chapter III, of the lease.

    >>> is_division("Section 2 of Chapter III", 9)
    True
    """
    if _TITLE.match(text, at):
        return False
    link = _ENGLISH_LINK.match(text, at)
    noun = _LOWER_NOUN.match(text, link.end()) if link and link["of"] in ("of", "in") and text[link.end() - 1].isspace() else None
    return _OTHER_DIVISION.match(text, at) is not None or bool(noun and noun.group() not in _LOWER_LAW_NOUNS)


def _english_law(text: str, at: int) -> LawName | None:
    if title := _TITLE.match(text, at):
        return LawName(f"title {title['title']}", title.end())
    link = _ENGLISH_LINK.match(text, at)
    if link is None:
        return None
    if link["own"]:
        own = _OWN.match(text, link.end())
        return LawName(PRESENT, own.end()) if own else None
    if listed := _listed(text, link.end()):
        return listed
    named = (
        _DATED.match(text, link.end())
        or (link["of"] and _NUMBERED_LAW.match(text, link.end()))
        or _ENGLISH.match(text, link.end())
    )
    if not named and link["of"] and len(text) <= _SHORT_TEXT:
        named = _LOWER_LAW.match(text, link.end())
    if not named or (not link["of"] and " " not in named.group().strip()):
        return None
    return LawName(" ".join(named.group().split()), named.end())


def _continental_law(text: str, at: int) -> LawName | None:
    link = _CONTINENTAL_LINK.match(text, at)
    if link is None:
        return None
    begin = link.end()
    if link["own"]:
        own = _OWN.match(text, begin)
        return LawName(PRESENT, own.end()) if own else None
    if act := _EU_ACT.match(text, begin):
        kind = "directive" if act["kind"].lower().startswith("richt") else "regulation"
        return LawName(f"{kind} {act['number']}", act.end())
    if listed := _listed(text, begin):
        return listed
    if link["of"]:
        named = _GERMAN_PHRASE.match(text, begin) or _GERMAN_DATED.match(text, begin) or _GERMAN.match(text, begin)
        return LawName(" ".join(named.group().split()), named.end()) if named else None
    short = _ABBREVIATION.match(text, begin)
    return LawName(short.group(), short.end()) if short and short.group().upper() not in _NOT_LAWS else None


def _listed(text: str, at: int) -> LawName | None:
    """The longest listed name that begins here."""
    ends: list[int] = []
    place = at
    for _ in range(_LONGEST_NAME):
        piece = _PIECE.match(text, place)
        if piece is None or not _NAME_PIECE.search(piece.group()) or (piece.group() == "," and _CHAPTER_NEXT.match(text, place)):
            break
        if not ends and not may_begin_law(piece.group().rstrip(".")):
            return None
        ends.append(piece.end())
        place = piece.end()
        while text[place : place + 1].isspace():
            place += 1
    for end in reversed(ends):
        final = text[end - 1] == "."  # a full stop belongs to "I.P.C." and "Cst.", but not to "BGB."
        for stop in (end - 1, end) if final and "." not in text[at : end - 1] else (end, end - 1) if final else (end,):
            name = text[at:stop]
            if is_known(name) and _is_written_as_name(text, name):
                return LawName(" ".join(name.split()), _with_tail(text, name, stop))
    return None


_KNOWN_TAIL = re.compile(_TAIL)
_CHAPTER_NEXT = re.compile(_CHAPTER)
_NAME_PIECE = re.compile(r"[^\W_]|[,&]")


def _with_tail(text: str, name: str, end: int) -> int:
    """The end of a name with its year and chapter."""
    tail = _KNOWN_TAIL.match(text, end)
    return tail.end() if tail and tail.group() and re.search(r"[a-z]{3}", name) else end


def _is_written_as_name(text: str, name: str) -> bool:
    """Lower case is a name if it is long or, in a question, if it is no common word."""
    if len(law_of(name).name) > _LONGEST_ABBREVIATION:
        return True
    if all(word[0].isupper() or word[0].isdigit() or word in ("&", "oud", "ancien") for word in name.split()):
        return True
    return len(text) <= _SHORT_TEXT and " " not in name and name.rstrip(".") not in _LOWER_WORDS


_BEFORE = re.compile(
    rf"(?P<name>{_WORD}(?:,?\s(?:{_WORD}|{_SMALL}))*?\s{_NOUN}{_YEAR}?{_STATE}?)(?:\s\([^()]*\))?\s?[,:]?\s?$"
    r"|(?P<short>(?<![\w.])(?:[A-Z][\w.]*\s)?[A-ZÄÖÜ][\w.äöüß]*(?:\s(?:[IVX]{1,4}|[0-9]{1,2}|(?:19|20)[0-9]{2}))?)\s?[,:]?\s?$"
)
_LEADING = re.compile(
    r"^(?:(?:Under|The|In|See|Of|By|And|To|For|With|But|As|On|From|Whether|If|When|Where|That|Since|While|Although|However)\s"
    r"(?:the\s|of\s|by\s|to\s)*)+"
)


def law_before(text: str, start: int) -> str:
    """The law named directly before a section: Human Rights Act 1998, s 3; BGB § 543.

    >>> law_before("see Human Rights Act 1998, s 3", 27), law_before("BGB § 543", 4)
    ('Human Rights Act 1998', 'BGB')
    """
    begin = max(0, start - _LONGEST_BEFORE)
    window = text[begin:start]
    for place in _capitals(window):
        found = _BEFORE.match(window, place)
        if found is None:
            continue
        if found["name"]:
            return " ".join(_LEADING.sub("", found["name"]).split())
        words = found["short"].split()
        for count in range(len(words)):
            name = " ".join(words[count:])
            if is_known(name) and name[0].isupper() and len(name) > 1 and law_of(name).name not in _NOUNS:
                return name
    return ""


_NOUNS = frozenset(("act", "code", "charter", "constitution", "lot", "ca", "ia"))
_CAPITAL = re.compile(r"(?<![\w'’.-])[A-ZÄÖÜ]")


def _capitals(window: str) -> list[int]:
    """Where a name before the end of the window may begin, the longest first, within the last sentence."""
    last = 0
    for end in re.finditer(r"[;\n]|[a-z]{4}\.\s+(?=[A-Z])", window):
        last = end.end()
    return [place.start() for place in _CAPITAL.finditer(window, last)]
