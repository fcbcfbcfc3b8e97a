"""French collective agreements in the SocialGouv form of KALI (npm ``@socialgouv/kali-data``): one document per article.

An agreement is a JSON tree of ``{type: "convention collective"|section|article, data, children}``. Its base text and every
amendment are separate texts inside it (sections with a KALITEXT id), each with articles 1, 2, 3. Consequences, and gaps of the
source:

- An article number is unique only within its text, so the text is the document's ``code``; the agreement is in ``extra``.
- The subject of an article is its ``surtitre``, used as the innermost heading.
- An article has no start date. The latest amendment that made its present wording gives it.
- Most agreements of the package have no articles, only number and title; they are counted.
- One text may belong to several agreements: its articles are kept once, and ``also_in`` lists the other agreements.
- Texts repeat word for word in many agreements ("Le présent avenant entre en vigueur…"): all are kept.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lexfuse.data.archives import parse_json, required_members
from lexfuse.data.corpus import Corpus
from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.formats.beir import Collection
from lexfuse.data.read_report import ReadReport
from lexfuse.data.sources.legi import article_title, children_of, one_line
from lexfuse.data.sources.legi_html import text_and_links
from lexfuse.errors import DataError

AGREEMENT_FILE = r"KALICONT\d{12}(-\d+)?\.json(\.gz)?"
ROOTS = ("convention collective", "section")  # the second if several local agreements share a container
ARTICLE_URL = "https://www.legifrance.gouv.fr/conv_coll/id/{article}/?idConteneur={agreement}"

# The ministry makes an agreement binding for the whole branch ("étendu"); it is in force either way.
STATES = {
    "VIGUEUR": DocumentStatus.IN_FORCE,
    "VIGUEUR_ETEN": DocumentStatus.IN_FORCE,
    "VIGUEUR_NON_ETEN": DocumentStatus.IN_FORCE,
    "VIGUEUR_DIFF": DocumentStatus.DEFERRED,
    "ABROGE_DIFF": DocumentStatus.ENDING,
}
_MADE_BY = frozenset({"CREE", "CREATION", "MODIFIE", "MODIFICATION"})  # links from an amendment to what it made
_EXTENDED = re.compile(
    r"(?<![\s.,–-])[\s.,–-]*+\b[EÉ]tendue? par .*", re.IGNORECASE
)  # when and where it was made binding, after its name
_BASE_TEXT = re.compile(r"(Texte de base)\s*+:\s*+(.+)")


@dataclass(frozen=True, slots=True)
class _AgreementText:
    """What the articles of one text share: data of the agreement, and of the section that is the text."""

    place: str
    agreement: Mapping[str, Any]
    id: str = ""
    title: str = ""
    date: datetime.date | None = None


def read_kali(path: str | Path, report: ReadReport | None = None) -> Collection:
    """The articles of one agreement (a JSON file), or of every agreement in a folder or in the package's tarball.

    >>> article = {"id": "KALIARTI000000000001", "num": "4", "surtitre": "Congés", "content": "<p>Un.</p>", "etat": "VIGUEUR"}
    >>> text = {"id": "KALITEXT000000000001", "title": "Texte de base : Convention collective du cirque"}
    >>> agreement = {"type": "convention collective", "children": [
    ...     {"type": "section", "data": text, "children": [{"type": "article", "data": article}]}],
    ...     "data": {"id": "KALICONT000000000001", "num": 9, "title": "Convention collective du cirque"}}
    >>> import json
    >>> _ = (folder / "cirque.json").write_text(json.dumps(agreement))
    >>> document = read_kali(folder / "cirque.json").corpus[0]
    >>> document.title, document.headings
    ('Convention collective du cirque, art. 4', ('Texte de base', 'Congés'))
    """
    report = ReadReport() if report is None else report
    documents: dict[str, Document] = {}
    also: dict[str, list[str]] = {}  # further agreements of an article
    empty = 0
    for place, raw in required_members(path, AGREEMENT_FILE, "KALICONT….json"):
        tree = _agreement(parse_json(raw, place), place)
        found = 0
        for document in _articles(tree, _AgreementText(place, tree["data"]), report):
            found += 1
            if document.id in documents:
                report.note("article of several agreements, kept once", path=f"{place}, article {document.id}")
                also.setdefault(document.id, []).append(document.extra["agreement_id"])
            documents.setdefault(document.id, document)
        empty += not found
    if not documents:
        raise DataError("has no article; an agreement is a tree of sections and articles", path=path)
    if empty:
        report.note(f"{empty:,} agreements without articles (the package has only their number and title)")
    for id, agreements in also.items():
        documents[id] = replace(documents[id], extra={**documents[id].extra, "also_in": sorted(set(agreements))})
    report.kept += len(documents)
    return Collection(corpus=Corpus.of(documents.values()), queries=None, qrels={})


def _agreement(tree: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(tree, dict) or tree.get("type") not in ROOTS or not isinstance(tree.get("data"), dict):
        found = f"type {tree.get('type')!r} and {sorted(tree)}" if isinstance(tree, dict) else type(tree).__name__
        raise DataError(f"not an agreement: expected type {ROOTS[0]!r}, data and children, found {found}", path=place)
    if not tree["data"].get("id") or not tree["data"].get("title"):
        raise DataError(f"the agreement has no id or no title; found {sorted(tree['data'])}", path=place)
    return tree


def _articles(tree: Mapping[str, Any], text: _AgreementText, report: ReadReport) -> Iterator[Document]:
    pending: list[tuple[Any, _AgreementText, tuple[str, ...]]] = [
        (child, text, ()) for child in reversed(children_of(tree, text.place))
    ]
    while pending:
        node, text, headings = pending.pop()
        kind, data = (node.get("type"), node.get("data")) if isinstance(node, dict) else (None, None)
        try:
            if kind == "section" and isinstance(data, dict):
                inner = _text(data, text)
                path = (*headings, _heading(data))
                pending.extend((child, inner, path) for child in reversed(children_of(node, text.place)))
            elif kind == "article" and isinstance(data, dict):
                yield _article(data, text, headings, report)
            else:
                raise DataError(f"a node of type {kind!r}, expected 'section' or 'article' with data", path=text.place)
        except DataError as error:
            report.bad(error)


def _text(data: Mapping[str, Any], around: _AgreementText) -> _AgreementText:
    """The text that a section's articles belong to: the section itself if it is a text, else the enclosing text."""
    id = str(data.get("id") or "")
    if not id.startswith("KALITEXT"):
        return around
    title = one_line(data.get("title"))
    base = _BASE_TEXT.fullmatch(title)
    return _AgreementText(
        around.place,
        around.agreement,
        id,
        _EXTENDED.sub("", base[2]) if base else title,
        parse_date(data.get("modifDate"), path=around.place),
    )


def _heading(data: Mapping[str, Any]) -> str:
    """The title of a section; the base text's title only repeats the agreement's."""
    title = one_line(data.get("title"))
    base = _BASE_TEXT.fullmatch(title)
    return base[1] if base else title


def _article(data: Mapping[str, Any], text: _AgreementText, headings: tuple[str, ...], report: ReadReport) -> Document:
    id, number = data.get("id"), one_line(data.get("num"))
    if not id:
        raise DataError("an article without id", path=f"{text.place}, article {number or '?'}")
    place = f"{text.place}, article {id}"
    if not isinstance(data.get("content"), str):
        raise DataError(f"no content; found {sorted(data)}", path=place)
    body = text_and_links(data["content"])[0]
    if not body:
        report.note("article without text, kept", path=place)
    agreement = _EXTENDED.sub("", one_line(text.agreement["title"]))
    return Document(
        id=id,
        title=article_title(agreement, number),
        text=body,
        language="fr",
        kind=DocumentKind.STATUTE,
        code=_code(text, agreement),
        number=number,
        headings=tuple(heading for heading in (*headings, one_line(data.get("surtitre"))) if heading),
        date=text.date,
        valid_from=_valid_from(data.get("lstLienModification") or [], place),
        status=_status(data.get("etat"), place, report),
        extra=_extra(data, id, text),
    )


def _code(text: _AgreementText, agreement: str) -> str:
    """The text that an article number refers to, after the agreement's well-known number (IDCC).

    The name alone would be ambiguous: "l'article 2 de la convention" would match every text whose name begins with that word.
    """
    return f"IDCC {text.agreement.get('num') or text.agreement['id']}, {text.title or agreement}"


def _extra(data: Mapping[str, Any], id: str, text: _AgreementText) -> dict[str, Any]:
    agreement = text.agreement
    extra: dict[str, Any] = {
        "cid": data.get("cid") or id,
        "agreement": one_line(agreement["title"]),
        "agreement_id": agreement["id"],
        "url": ARTICLE_URL.format(article=id, agreement=agreement["id"]),
    }
    named = {
        "idcc": agreement.get("num"),
        "agreement_name": one_line(agreement.get("shortTitle")),
        "text": text.title,
        "text_id": text.id,
        "nota": text_and_links(data.get("nota") or "")[0],
        "origin": one_line(data.get("historique")),
    }
    return extra | {name: value for name, value in named.items() if value}


def _valid_from(links: list[Any], place: str) -> datetime.date | None:
    """The day from which the latest amendment of an article applies; ``None`` if the source names no amendment."""
    made = (link for link in links if link.get("linkOrientation") == "cible" and link.get("linkType") in _MADE_BY)
    days = (parse_date(link.get("dateDebutCible"), path=place) for link in made)
    return max((day for day in days if day is not None), default=None)


def _status(state: object, place: str, report: ReadReport) -> DocumentStatus:
    if state in STATES:
        return STATES[str(state)]
    report.note(f"state {state or 'none'!r}, which no article in force has; kept without a state", path=place)
    return DocumentStatus.UNKNOWN
