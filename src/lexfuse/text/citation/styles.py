"""Citations in the styles of lawyers: French abbreviations, and decisions by their ECLI."""

from __future__ import annotations

import re

from lexfuse.text.citation.code_names import code_abbreviation
from lexfuse.text.citation.format import Citable, article_number, format_citation

_COURTS = (
    (
        re.compile(r"cour de cassation(?:,? (?:chambre )?(civile \d|sociale|criminelle|commerciale)\w*)?.*", re.IGNORECASE),
        "Cass.",
    ),
    (re.compile(r"conseil d['’]état.*", re.IGNORECASE), "CE"),
    (re.compile(r"conseil constitutionnel.*", re.IGNORECASE), "Cons. const."),
    (re.compile(r"cour d['’]appel (?:de |d['’])(.+)", re.IGNORECASE), "CA"),
    (re.compile(r"cour administrative d['’]appel (?:de |d['’])(.+)", re.IGNORECASE), "CAA"),
    (re.compile(r"tribunal judiciaire (?:de |d['’])(.+)", re.IGNORECASE), "TJ"),
    (re.compile(r"tribunal administratif (?:de |d['’])(.+)", re.IGNORECASE), "TA"),
    (re.compile(r"cour de justice de l['’]union européenne|cjeu|cjue", re.IGNORECASE), "CJUE"),
)
_CHAMBERS = {"sociale": "soc.", "criminelle": "crim.", "commerciale": "com."}
_MONTHS = ("janv.", "févr.", "mars", "avr.", "mai", "juin", "juill.", "août", "sept.", "oct.", "nov.", "déc.")
_ECLI = re.compile(r"ECLI:[A-Z]{2}:[A-Z0-9]{1,7}:\d{4}:[A-Z0-9.]{1,25}", re.IGNORECASE)


def french_citation(card: Citable) -> str:
    """An article as ``C. trav., art. L. 1237-19``, a decision as ``Cass. soc., 3 juill. 2019, n° 17-14.232``.

    >>> from lexfuse.data.document import Document, DocumentKind
    >>> french_citation(Document("a", kind=DocumentKind.STATUTE, code="Code du travail", number="L1237-19"))
    'C. trav., art. L. 1237-19'
    >>> import datetime
    >>> french_citation(Document("b", kind=DocumentKind.DECISION, court="Cour de cassation, chambre sociale",
    ...     date=datetime.date(2019, 7, 3), identifiers=("17-14.232",)))
    'Cass. soc., 3 juill. 2019, n° 17-14.232'
    """
    if card.kind == "statute" and card.code and card.number:
        return f"{code_abbreviation(card.code)}, art. {_plain(article_number(card.number))}"
    if not card.court and not card.identifiers:
        return format_citation(card)
    day = f"{'1er' if card.date.day == 1 else card.date.day} {_MONTHS[card.date.month - 1]} {card.date.year}" if card.date else ""
    number = next((one for one in card.identifiers if not _ECLI.search(one)), "")
    if number and re.fullmatch(r"[\d./-]+", number):
        number = f"n° {number}"
    elif number and re.fullmatch(r"[CT]-\d+/\d+", number):
        number = f"aff. {number}"
    point = f"pt {card.number}" if card.kind == "paragraph" and card.number else ""
    ecli = "" if number else ecli_of(card)
    title = card.title if not number and not ecli else ""
    return ", ".join(part for part in (_court(card.court), day, number or ecli, point, title) if part)


def ecli_citation(card: Citable) -> str:
    """A decision by its court, day and ECLI; anything without an ECLI as usual.

    >>> from lexfuse.data.document import Document, DocumentKind
    >>> ecli_citation(Document("x", kind=DocumentKind.PARAGRAPH, number="64", court="CJEU", identifiers=("ECLI:EU:C:2017:1000",)))
    'CJEU, ECLI:EU:C:2017:1000, § 64'
    """
    if not (ecli := ecli_of(card)):
        return format_citation(card)
    point = f"§ {card.number}" if card.kind == "paragraph" and card.number else ""
    parts = (card.title, card.court, card.date.isoformat() if card.date else "", ecli, point)
    return ", ".join(dict.fromkeys(part for part in parts if part))


def ecli_of(card: Citable) -> str:
    """The European case law identifier of a decision, from its identifiers or its id; empty if it has none.

    >>> from lexfuse.data.document import Document
    >>> ecli_of(Document("ECLI:EU:C:2017:1000#1"))
    'ECLI:EU:C:2017:1000'
    """
    found = next((match for one in (*card.identifiers, card.id) if (match := _ECLI.search(one))), None)
    return found[0] if found else ""


def _court(name: str) -> str:
    for pattern, short in _COURTS:
        if match := pattern.fullmatch(name.strip()):
            detail = next((group for group in match.groups() if group), "")
            detail = detail.lower().replace("civile", "civ.") if short == "Cass." else detail
            return f"{short} {_CHAMBERS.get(detail, detail)}".strip()
    return name


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u2011", "-")
