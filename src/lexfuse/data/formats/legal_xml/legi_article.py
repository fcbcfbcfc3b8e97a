"""LEGI XML, the official files of French law: one file for each version of an article.

A file has the id and the period of its version, and lists the ids of the other versions. Titles of the text and of the sections
above the article have periods too: a version has those of its last day. Files that only list sections (``SECTION_TA``,
``TEXTELR``) add nothing. `legi_versions` joins the versions of an article to one document.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.fields import STATES
from lexfuse.data.formats.legal_xml.law import day
from lexfuse.data.formats.xml_tree import lines_of, words_of
from lexfuse.errors import DataError, EmptyFileError

ARTICLE_ID = "LEGIARTI"  # how the id of a version in force begins; that of a text as it was published begins with JORFARTI
ROOTS = frozenset({"ARTICLE", "SECTION_TA", "TEXTELR", "TEXTE_VERSION"})
_CREATION = frozenset({("CREATION", "source"), ("CREE", "cible")})  # links of an article to the law that created it
_INLINE = frozenset({"a", "b", "i", "em", "strong", "sup", "sub", "span", "font", "u", "A", "B", "I", "SUP", "SUB"})


def is_legi(root: Element) -> bool:
    """Whether a root element is one of LEGI (or JORF, which has the same form)."""
    return (root.tag in ROOTS and root.find("META/META_COMMUN") is not None) or root.tag == "SECTION_TA"


def read_legi_article(root: Element, base: str) -> list[Document]:
    """The article of a file; a file without text says what it is."""
    if root.tag in ("SECTION_TA", "TEXTELR"):
        reason = "lists the sections of a LEGI text and has no text; its articles name their sections themselves"
        raise EmptyFileError(reason, path=base)
    id = _text(root, "META/META_COMMUN/ID")
    if not id:
        raise DataError("the LEGI file has no META/META_COMMUN/ID", path=base)
    if root.tag == "TEXTE_VERSION":
        return [_whole_text(root, id)]
    about = root.find("META/META_SPEC/META_ARTICLE")
    context = root.find("CONTEXTE/TEXTE")
    valid_from, valid_to = day(_text(about, "DATE_DEBUT")), day(_text(about, "DATE_FIN"))
    code = _code(context, valid_to)
    number = _text(about, "NUM")
    state = _text(about, "ETAT")
    versions = _versions(root, id)
    extra = {
        "cid": versions[0],
        "versions": [one for one in versions[1:] if one != id],
        "code_id": "" if context is None else context.get("cid", ""),
        "state": state,
        "nota": _nota(root),
    }
    return [
        Document(
            id,
            title=f"{code}, art. {number}" if number and code else code or number,
            text="\n".join(_lines(root, "BLOC_TEXTUEL/CONTENU")),
            language="fr",
            kind=DocumentKind.STATUTE,
            code=code,
            number=number,
            headings=tuple(_headings(context, valid_to)),
            valid_from=valid_from,
            valid_to=valid_to,
            status=STATES.get(state.lower(), DocumentStatus.UNKNOWN),
            citations=_cited(root),
            extra={name: value for name, value in extra.items() if value},
            history=_absence(root, context, versions[0] == id, id, valid_from),
        )
    ]


def _whole_text(root: Element, id: str) -> Document:
    """What a text says outside its articles: its references to other law, its signatures, its annexes."""
    about = root.find("META/META_SPEC")
    title = words_of(next(root.iter("TITREFULL"), None)) or words_of(next(root.iter("TITRE"), None))
    lines = [line for part in ("VISAS", "PREP", "SIGNATAIRES", "TP", "RECT") for line in _lines(root, f"{part}/CONTENU")]
    if not lines:
        raise EmptyFileError("is the description of a LEGI text and has no text; import its articles", path=id)
    dates = {} if about is None else {found.tag: words_of(found) for found in about.iter()}
    return Document(
        id,
        title=title,
        text="\n".join(lines),
        language="fr",
        kind=DocumentKind.STATUTE,
        code=title,
        date=day(dates.get("DATE_TEXTE", "")),
        valid_from=day(dates.get("DATE_DEBUT", "")),
        valid_to=day(dates.get("DATE_FIN", "")),
    )


def _text(part: Element | None, path: str) -> str:
    return "" if part is None else words_of(part.find(path))


def _lines(root: Element, path: str) -> list[str]:
    return [line for found in root.findall(path) for line in lines_of(found, _INLINE)]


def _nota(root: Element) -> str:
    return "\n".join(_lines(root, "NOTA/CONTENU"))


def _code(context: Element | None, until: datetime.date | None) -> str:
    """The name of the text: its short title, or the long one."""
    titled = None if context is None else _titled(context.findall("TITRE_TXT"), until)
    return "" if titled is None else titled.get("c_titre_court") or words_of(titled)


def _headings(context: Element | None, until: datetime.date | None) -> list[str]:
    """The titles of the nested sections."""
    path, part = [], context
    while part is not None and (part := part.find("TM")) is not None:
        titled = _titled(part.findall("TITRE_TM"), until)
        if titled is not None:
            path.append(words_of(titled))
    return path


def _titled(titles: Sequence[Element], until: datetime.date | None) -> Element | None:
    """Of several titles, the last that began before a day; one without a first day only if there is no other."""
    dated = [(start, one) for one in titles if (start := day(one.get("debut", "")))]
    begun = [pair for pair in dated if until is None or pair[0] < until] or sorted(dated, key=lambda pair: pair[0])[:1]
    if begun:
        return max(begun, key=lambda pair: pair[0])[1]
    return titles[-1] if titles else None


def _versions(root: Element, id: str) -> list[str]:
    """The ids of all versions of the article, this one included, the first one first; the others in the order of the file."""
    listed = [(day(found.get("debut", "")), found.get("id", "")) for found in root.findall("VERSIONS/VERSION/LIEN_ART")]
    known = [(start or datetime.date.max, one) for start, one in listed if one.startswith(ARTICLE_ID)]
    first = min(known, default=(None, id))[1]
    return list(dict.fromkeys([first, *(one for _, one in known), id]))


def _cited(root: Element) -> tuple[str, ...]:
    """The ids of versions of articles that the text cites; other links are about changes, or about texts that cite this one."""
    links = [
        found for found in root.findall("LIENS/LIEN") if (found.get("typelien"), found.get("sens")) == ("CITATION", "source")
    ]
    return tuple(dict.fromkeys(one for found in links if (one := found.get("id", "")).startswith(ARTICLE_ID)))


def _absence(
    root: Element, context: Element | None, is_first: bool, id: str, valid_from: datetime.date | None
) -> tuple[Document, ...]:
    """That the text had no such article before a law created it; nothing if no link says that one did."""
    links = {(found.get("typelien"), found.get("sens")) for found in root.findall("LIENS/LIEN")}
    titles = [] if context is None else context.findall("TITRE_TXT")
    starts = [start for one in titles if (start := day(one.get("debut", "")))]
    if not (is_first and links & _CREATION and starts and valid_from and min(starts) < valid_from):
        return ()
    return (Document(id, language="fr", kind=DocumentKind.STATUTE, valid_from=min(starts), valid_to=valid_from),)
