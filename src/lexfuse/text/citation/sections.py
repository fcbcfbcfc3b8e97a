"""Sections and articles of laws outside France: ``section 302 of the Indian Penal Code``, ``§ 543 Abs. 2 Nr. 1 BGB``.

A word or sign (``section``, ``ss.``, ``§§``, ``Art.``) begins a list of numbers with subdivisions; the law follows it or precedes
it. The index terms of `lexfuse.text.citation.scanner` do not include these citations, so that an index does not depend on them.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from lexfuse.deadline import check
from lexfuse.text.citation.citation import PRESENT, Citation, CitationSystem
from lexfuse.text.citation.grammar import HYPHEN, plain_number
from lexfuse.text.citation.law_name import LawName, is_division, law_after, law_before
from lexfuse.text.citation.laws import is_known, mean_the_same

_ENGLISH_WORD = r"[Ss]ections?|SECTIONS?|[Ss]ecs?\.|[Ss]ecs?(?=\s)|[Ss]s?\.|[Ss]s?(?=\s)|[Uu]/[Ss]s?\.?"
_CANADIAN_WORD = r"[Ss]ub-?sections?|[Pp]aragraphs?|[Ss]ubparagraphs?|[Cc]lauses?|[Ss]ubclauses?"
_SIGN = r"§\s?§?|[Pp]aragraphen"
_ARTICLE_WORD = r"Art(?:ikel[ns]?|icles?|s?\.|t\.)?|art(?:ikel(?:en|s)?|icles?|s?\.)?|ARTIKEL"
_TRIGGER = re.compile(
    rf"(?<![\w.])(?:(?P<section>{_ENGLISH_WORD})|(?P<sign>{_SIGN})|(?P<article>{_ARTICLE_WORD})|(?P<part>{_CANADIAN_WORD}))\s?$"
)
_LONGEST_TRIGGER = 16
# The first digit of a number behind what may end a trigger: digits are rare, so that this search is fast.
_PLACE_OF_NUMBER = re.compile(r"[0-9](?<![0-9][0-9])(?:(?<=[.§nlstehNSTEL]\s[0-9])|(?<=[.§][0-9]))")
_AGAIN = rf"(?:(?:the\s|des\s)?(?:{_ENGLISH_WORD}|{_SIGN}|{_ARTICLE_WORD}|{_CANADIAN_WORD})\s?)?"
_NUMBER = re.compile(
    rf"[0-9]+(?:(?!ff)[A-Za-z]{{1,3}}(?![A-Za-z]))?(?::[0-9]+[a-z]?)?(?:\.[0-9]+[A-Za-z]?(?![A-Za-z]))*(?:{HYPHEN}[0-9]+[a-z]?(?![\w/]))*"
    rf"(?:\s?{HYPHEN}\s?[A-Z]{{1,2}}(?![\w'’]))?(?:\s[A-HJ-UWYZ](?=\s?[(,;]|\sof\b|\s[A-Z]{{2}}))?"
    r"(?:\s(?:bis|ter|quater|quinquies|sexies)(?!\w|\s[0-9]))?"
)
_BRACKETS = re.compile(r"(?:\s?\((?:[0-9]{1,3}(?:\.[0-9]{1,2})*[A-Za-z]{0,2}|[A-Za-z]{1,2}|[ivxIVX]{2,5})\))+")
_UNIT = (
    r"(?:Abs(?:atz(?:es)?|ätzen?|\.)?|S(?:atz(?:es)?|ätzen?|\.)|Nrn?\.|Nummern?|Ziff(?:er|\.)|(?:Doppel)?[Bb]uchst(?:aben?|\.)|lit\.|"
    r"Halbs(?:atz|\.)|Hs\.|Alt(?:ernative|\.)|UAbs\.|Unterabs(?:atz(?:es)?|\.)|Var\.|al\.|alinéa|let\.|ch\.|lid)"
)
_VALUE = r"(?:[0-9]{1,3}[a-z]?|[a-z]{1,2})(?![\w])"


def _german_places(after: str) -> re.Pattern[str]:
    """Subdivisions of German, Swiss and Dutch laws; ``after`` must not follow a further member of a list."""
    more = rf"(?:\s?,\s?|\s(?:und|oder|bis|et|en|sowie)\s|\s?[-–/]\s?)(?![0-9]{{3}}){_VALUE}(?!\s{_UNIT}{after})"
    return re.compile(
        rf"(?:,?\s?(?:erster|zweiter|1\.|2\.)\s(?:Halbsatz|Alternative|Hs\.|Alt\.)|,?\s?{_UNIT}\s?{_VALUE}(?:{more})*)+"
        r"|\s[IVX]{1,4}(?:\s[0-9]{1,2})?(?=\s?,\s[0-9]|\s[A-ZÄÖÜ][\w]*[A-ZÄÖÜ])"
    )


_PLACES_OF_ONE = _german_places("")
_PLACES_OF_LIST = _german_places(r"|\s[A-ZÄÖÜ]{2}")  # in "§§ 12 Abs. 1, 14 BGB" 14 is a section
_FOLLOWING = re.compile(r"\s?(?:ff?\.?|fortfolgende|et\sseq\.?|et\ss(?:uiv)?\.|e\.v\.|en\svolgende|sqq?\.)(?!\w)")
_PLACE = re.compile(r"\(([0-9a-zA-Z.]+)\)|(?<![\w.])([0-9]{1,3}[a-z]?|[a-z]{1,2}|[IVX]{1,4})(?![\w.])")
_JOIN = re.compile(
    rf"(?:(?P<to>\s?{HYPHEN}\s?|\s(?:to|through|bis|tot|à)\s(?:einschließlich\s)?)"
    r"|\s?,\s?(?:(?:and|or|und|oder|sowie|en|et|ou)\s)?|\s(?:and|or|&|und|oder|sowie|en|et|ou|as\swell\sas)\s|\s?/\s?"
    r"|,?\s(?:read\s(?:with|together\swith|along\swith)|r/w|r\.w\.|i\.?\s?V\.?\s?m\.?|in\sVerbindung\smit|in\sconjunction\swith)\s)"
    rf"(?P<again>{_AGAIN})(?=[0-9])"
)
_PLURAL = re.compile(
    r"(?:[Ss]ections|SECTIONS|[Ss]ecs|[Ss]s\b|§\s?§|Art(?:ikeln|icles|s\.|t\.)|artikelen|articles|arts\.|\w*(?:sections|paragraphs|clauses))"
)
_LIST_END = re.compile(r"\s?(?:[,.;:)\]]|\(|$|\s(?:of|and|or|to|und|oder|bis|der|des|BGB|read)\b|\s[A-Z])")
_NOT_AFTER = re.compile(
    r"[0-9°%]|/(?![0-9]{1,3}[A-Z]{0,2}(?![\w/]))|\.[0-9]"
    r"|\s?(?:€|\$|£|%|(?:kg|km|cm|mm|mg|Uhr|am|pm|Euro|Prozent|percent|per\scent|minutes|hours|days|years|times)\b)"
)
_SUB_BEFORE = re.compile(
    r"(?:(?:[Ss]ub-?sections?|[Cc]lauses?|[Ss]ub-?clauses?|[Pp]aragraphs?)\s\(([0-9a-zA-Z]{1,4})\)(?:\s(?:and|or)\s\([0-9a-zA-Z]{1,4}\))?\s(?:of|to)\s(?:the\s)?)+$"
)
_SUB = re.compile(r"\(([0-9a-zA-Z]{1,4})\)(?:\s(?:and|or)\s\([0-9a-zA-Z]{1,4}\))?\s(?:of|to)")
_GERMAN_WORDS = re.compile(r"\b(?:der|die|das|und|nach|gemäß|nicht|für|ist|wird|werden|dem|den)\b")
_UNDER = re.compile(r"\b(?:under|of|with|by|violat\w+|in|to|see|See|and|Under|that)\s$")
_LOOSE_SIGN = re.compile(r"(?:nach|gemäß|des|der|in|aus|von|zu|i\.\s?S\.\s?d\.|nach\sden|mit|und|oder|Die|Den|der|den)\s$")


def sections(text: str) -> list[Citation]:
    """Sections and articles in text order, those of one list with the same law.

    >>> [(c.key, c.parts, c.code) for c in sections("§ 543 Abs. 2 Nr. 1 BGB and section 3(1) of the Human Rights Act 1998")]
    [('543', ('2', '1'), 'BGB'), ('3', ('1',), 'Human Rights Act 1998')]
    """
    done: list[Citation] = []
    at, last = 0, ""
    for place in _PLACE_OF_NUMBER.finditer(text):
        number = place.start()
        trigger = _TRIGGER.search(text, max(at, number - _LONGEST_TRIGGER), number) if number >= at else None
        if trigger is None:
            continue
        check()
        items, law = _numbers(text, trigger)
        found = _group(text, trigger, items, law, last) if items else []
        done += found
        at = found[-1].end if found else items[-1].end if items else at  # a list is read once, even if it cites nothing
        if found and found[-1].code not in ("", PRESENT):
            last = found[-1].code
    starts = [one.start for one in done]
    numbered = [one for one in _numbered_laws(text) if not _overlaps(one, done, starts)]
    return sorted((*done, *numbered), key=lambda citation: citation.start) if numbered else done


def _overlaps(citation: Citation, others: list[Citation], starts: list[int]) -> bool:
    """Whether one of the others, which are in text order, is at the same place."""
    before = bisect_left(starts, citation.end) - 1
    return before >= 0 and others[before].end > citation.start


def _group(text: str, trigger: re.Match[str], items: list[Citation], law: LawName | None, last: str) -> list[Citation]:
    """The citations of one list; none if the context shows that it cites nothing."""
    kind = str(trigger.lastgroup)
    if kind == "part" and not items[0].parts:
        return []
    if law is None and is_division(text, items[-1].end):
        return []
    name = law.name if law else "" if kind == "part" else law_before(text, trigger.start())
    if name == "" and not _is_alone(text, trigger, items, kind):
        return []
    if kind == "article":
        if not _is_foreign_article(trigger, name, items):
            return []
        items = [_with_point(item, name) for item in items]
    if name in _BARE_NOUNS and name in last:
        name = last  # the Act named before
    if above := _SUB_BEFORE.search(text, max(0, trigger.start() - 100), trigger.start()):
        parts = tuple(reversed([one[1] for one in _SUB.finditer(above.group())]))
        items[0] = replace(items[0], parts=(*parts, *items[0].parts))
    if law:
        items[-1] = replace(items[-1], end=law.end)
    return [_with_law(item, name) for item in items]


_BARE_NOUNS = frozenset(("Act", "Code", "Ordinance", "Gesetzes", "Verordnung", "Law"))


def _with_law(item: Citation, name: str) -> Citation:
    if name.startswith("title "):
        return replace(item, system=CitationSystem.US_CODE, key=f"{name[6:]} U.S.C. § {item.key}")
    return replace(item, code=name)


def _numbers(text: str, trigger: re.Match[str]) -> tuple[list[Citation], LawName | None]:
    """The numbers of a list, and the law that ends it."""
    plural = _PLURAL.match(trigger.group()) is not None
    system = CitationSystem.ARTICLE if trigger["article"] else CitationSystem.SECTION
    continental = trigger["sign"] is not None or trigger["article"] is not None
    items: list[Citation] = []
    at, start, ranges = trigger.end(), trigger.start(), False
    while number := _NUMBER.match(text, at):
        if _NOT_AFTER.match(text, number.end()):
            break
        end, parts = _places(text, number.end(), continental, plural)
        if ranges:
            items[-1] = replace(items[-1], end=end, last=plain_number(number.group()))
        else:
            items.append(_item(start, end, system, number.group(), parts, plural))
        law = law_after(text, end, continental=continental)
        if law:
            return items, law
        join = _JOIN.match(text, end)
        if join is None or not (plural or join["again"] or _ends_list(text, join.end())):
            break
        ranges = join["to"] is not None and not items[-1].last
        start, at = join.start("again") if join["again"] else join.end(), join.end()
    return items, None


def _item(start: int, end: int, system: CitationSystem, written: str, parts: tuple[str, ...], plural: bool) -> Citation:
    """One number; after a plural, 1981-1983 is a range."""
    bounds = re.fullmatch(rf"([0-9]+[a-z]?){HYPHEN}([0-9]+[a-z]?)", written)
    if plural and bounds and int(re.sub(r"\D", "", bounds[1])) < int(re.sub(r"\D", "", bounds[2])):
        return Citation(start, end, system, bounds[1], last=bounds[2], parts=parts)
    return Citation(start, end, system, plain_number(written), parts=parts)


def _ends_list(text: str, at: int) -> bool:
    """Whether the number here is a member of a list whose first word is singular: section 40 and 41."""
    number = _NUMBER.match(text, at)
    return number is not None and _LIST_END.match(text, number.end()) is not None


def _places(text: str, at: int, continental: bool, plural: bool) -> tuple[int, tuple[str, ...]]:
    """The end of the subdivisions, and what they are."""
    end = at
    german = _PLACES_OF_LIST if plural else _PLACES_OF_ONE
    for pattern in (_BRACKETS, german, _FOLLOWING) if continental else (_BRACKETS, _FOLLOWING):
        if found := pattern.match(text, end):
            end = found.end()
    following = _FOLLOWING.search(text, at, end)
    written = text[at : following.start() if following else end]
    return end, tuple(one[1] or _ROMAN.get(one[2], one[2]) for one in _PLACE.finditer(written))


_SUIT = re.compile(r"[A-Z]\.\s$")  # C. S. 479 of 1947 is a civil suit
_SUIT_YEAR = re.compile(r"\sof\s(?:18|19|20)[0-9]{2}(?!\sAct)")
_ROMAN = {roman: str(number) for number, roman in enumerate(("I", "II", "III", "IV", "V"), start=1)}  # § 433 II BGB


def _is_alone(text: str, trigger: re.Match[str], items: list[Citation], kind: str) -> bool:
    """Whether numbers without a law are sections: in English or German prose, or if they are the whole question."""
    if text[: trigger.start()].strip() == "" and text[items[-1].end :].strip(" .?f") == "" and trigger.group().strip() != "S.":
        return kind != "sign" and not trigger.group().lower().startswith(
            ("p", "c")
        )  # a paragraph sign alone may also mean a paragraph of a decision
    word = trigger.group().strip()
    if _SUIT.search(text, max(0, trigger.start() - 3), trigger.start()) or _SUIT_YEAR.match(text, items[-1].end):
        return False
    if kind == "sign":
        german = _is_german(text) and (items[0].parts or text[items[0].end : items[0].end + 1] != ")")
        return bool(german) or (
            _is_english(text) and _UNDER.search(text, max(0, trigger.start() - 16), trigger.start()) is not None
        )
    if kind == "article":
        before = _LOOSE_SIGN.search(text, max(0, trigger.start() - 16), trigger.start())
        return "rtikel" in word and (bool(items[0].parts) or before is not None)
    if not _is_english(text):
        return False
    if kind == "part":
        return len(items[0].parts) > 1 or word.lower().startswith("sub")
    return word not in ("s", "S", "ss", "Ss") or bool(items[0].parts)


def _is_foreign_article(trigger: re.Match[str], name: str, items: list[Citation]) -> bool:
    """Whether an article is not one that the scanner of French and European law reads better."""
    word = trigger.group().lower()
    if "rtikel" in word:
        return True
    if not is_known(name) or name.lower().startswith(("code ", "constitution")):
        return False
    # In the French tax code, capitals after a number are a part of it: article 54-0 BW, article 46 AGG de l'annexe 3.
    if _ANNEX_AFTER.match(trigger.string, trigger.string.find(name, items[-1].start) + len(name)):
        return False
    return len(name) > 2 or "icle" not in word or (name in ("CO", "CC", "GG") and items[-1].key.isdigit())


_ANNEX_AFTER = re.compile(r"\s(?:bis|ter|quater|de\sl['’]annexe)")


def _with_point(item: Citation, name: str) -> Citation:
    """Article 6.1 is paragraph 1 of article 6, but the Belgian civil code has an article 5.69."""
    number, _, point = item.key.partition(".")
    if not point or mean_the_same(name, "Burgerlijk Wetboek"):
        return item
    return replace(item, key=number, parts=(point, *item.parts))


@lru_cache(maxsize=8)  # asked repeatedly for one text
def _is_english(text: str) -> bool:
    return " the " in text or " of " in text or " The " in text


@lru_cache(maxsize=8)
def _is_german(text: str) -> bool:
    return len({word.group() for _, word in zip(range(40), _GERMAN_WORDS.finditer(text), strict=False)}) > 1


_NUMBERED = re.compile(r"[0-9](?<![\w.,/§-][0-9])[0-9]{0,3}[A-Z]{0,2}(?:/[0-9]{1,4}[A-Z]{0,2})*(?=\s(?:of\s(?:the\s)?)?[A-Za-z])")
_RULE = re.compile(r"(?:\b(?:[Rr]ules?|[Oo]rder|O\.|[Rr]\.|[Aa]rt\.|[Aa]rticles?)\s)$")
_FEWEST_LETTERS, _MOST_LETTERS = 3, 6
_QUESTION = 40  # characters of a text in which abbreviations may be lower case


def _numbered_laws(text: str) -> Iterator[Citation]:
    """Numbers directly before a listed abbreviation: 302 IPC, 302/34 I.P.C., 498A of the IPC."""
    for match in _NUMBERED.finditer(text):
        law = law_after(text, match.end(), continental=False)
        if law is None or not _is_abbreviation(law.name, text) or _RULE.search(text, max(0, match.start() - 10), match.start()):
            continue
        at = match.start()
        numbers = match.group().split("/")
        for place, number in enumerate(numbers):
            end = law.end if place == len(numbers) - 1 else at + len(number)
            yield Citation(at, end, CitationSystem.SECTION, plain_number(number), code=law.name)
            at += len(number) + 1


def _is_abbreviation(name: str, text: str) -> bool:
    letters = re.sub(r"[.\s]", "", name)
    if name in _BARE_NOUNS or not (is_known(name) and _FEWEST_LETTERS <= len(letters) <= _MOST_LETTERS):
        return False
    return letters[:2].isupper() or letters in ("CrPC", "StGB", "StPO") or len(text) <= _QUESTION
