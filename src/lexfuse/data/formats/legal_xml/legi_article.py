"""LEGI XML, the official files of French law: one file for each version of an article.

The id is that of the version (``LEGIARTI…``), and its dates say when it is in force. The headings above the article are in
the file; files that only list sections (``SECTION_TA``, ``TEXTELR``) add nothing to them.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.fields import STATES
from lexfuse.data.formats.legal_xml.law import day
from lexfuse.data.formats.xml_tree import lines_of, words_of
from lexfuse.errors import DataError, EmptyFileError

ROOTS = frozenset({"ARTICLE", "SECTION_TA", "TEXTELR", "TEXTE_VERSION"})
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
    code = _code(context)
    number = _text(about, "NUM")
    state = _text(about, "ETAT")
    valid_from, valid_to = day(_text(about, "DATE_DEBUT")), day(_text(about, "DATE_FIN"))
    extra = {
        "cid": _cid(root, id),
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
            headings=tuple(_headings(context)),
            valid_from=valid_from,
            valid_to=valid_to,
            status=STATES.get(state.lower(), DocumentStatus.UNKNOWN),
            extra={name: value for name, value in extra.items() if value},
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


def _code(context: Element | None) -> str:
    """The name of the text: its short title, or the last one that it had."""
    titles = [] if context is None else context.findall("TITRE_TXT")
    return next((found.get("c_titre_court") or words_of(found) for found in reversed(titles)), "")


def _cid(root: Element, id: str) -> str:
    """The id that all versions of an article share: that of its first version."""
    links = [found for found in root.findall("VERSIONS/VERSION/LIEN_ART") if found.get("id")]
    first = min(links, key=lambda found: found.get("debut", ""), default=None)
    return id if first is None else first.get("id", id)


def _headings(context: Element | None) -> list[str]:
    """The titles of the nested sections; of a section that changed its title, the last."""
    path, part = [], context
    while part is not None and (part := part.find("TM")) is not None:
        if titles := part.findall("TITRE_TM"):
            path.append(words_of(titles[-1]))
    return path
