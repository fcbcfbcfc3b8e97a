"""The mapping between a `Document` or `Query` and a flat record, shared by all file formats.

A record maps names to JSON values. `NAMES` lists the names of each field, the most trusted first; the first that is not empty
gives the value. Another name with a different value stays in ``extra``, and so does every unknown name: reading loses nothing.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from lexfuse.data.dates import parse_date
from lexfuse.data.document import Document, DocumentKind, DocumentStatus
from lexfuse.data.queries import Query
from lexfuse.data.read_report import listed
from lexfuse.errors import DataError

NAMES: Mapping[str, tuple[str, ...]] = {
    "id": ("_id", "id"),
    "title": ("title",),
    "text": ("text", "contents"),
    "language": ("language", "lang"),
    "kind": ("kind",),
    "code": ("code",),
    "number": ("number", "article_no", "article_num", "num", "paragraph"),
    "headings": ("headings",),
    "court": ("court",),
    "date": ("date",),
    "valid_from": ("valid_from", "date_debut"),
    "valid_to": ("valid_to", "date_fin"),
    "status": ("status", "etat"),
    "identifiers": ("identifiers", "ecli", "celex", "cases", "case_number"),
    "citations": ("citations",),
}
DOCUMENT_FIELDS = tuple(NAMES)
QUERY_FIELDS = ("id", "text", "language", "date")
LIST_FIELDS = ("headings", "identifiers", "citations")
DATE_FIELDS = ("date", "valid_from", "valid_to")
_DAY_FIRST = ("date_debut", "date_fin")  # of French data, which writes 02/01/2020 for 2 January

# French states of a provision. For those not in EXACT_STATES the original word is kept in ``extra`` too.
STATES: Mapping[str, DocumentStatus] = {
    **{status.value: status for status in DocumentStatus if status},
    "vigueur": DocumentStatus.IN_FORCE,
    "vigueur_diff": DocumentStatus.DEFERRED,
    "abroge_diff": DocumentStatus.ENDING,
    "abroge": DocumentStatus.REPEALED,
    "annule": DocumentStatus.REPEALED,
    "disjoint": DocumentStatus.REPEALED,
    "modifie": DocumentStatus.REPEALED,
    "modifie_mort_ne": DocumentStatus.REPEALED,
    "perime": DocumentStatus.REPEALED,
    "transfere": DocumentStatus.REPEALED,
}
EXACT_STATES = frozenset({*(status.value for status in DocumentStatus), "vigueur", "vigueur_diff", "abroge_diff", "abroge"})
KINDS: Mapping[str, DocumentKind] = {kind.value: kind for kind in DocumentKind}


def document_of(record: Mapping[str, Any]) -> Document:
    """A document from a flat record; a value of the wrong type is a `DataError` that names the field.

    >>> document_of({"_id": 7, "text": "…", "article_no": "L1", "etat": "VIGUEUR", "source": "x"})
    Document(id='7', title='', text='…', language='', kind=<DocumentKind.STATUTE: 'statute'>, code='', number='L1', ...
             status=<DocumentStatus.IN_FORCE: 'in force'>, identifiers=(), citations=(), extra={'source': 'x'}, history=())
    """
    taken = _RecordReader(record, _DOCUMENT_NAMES)
    number, number_name = taken.first("number", _word)
    fields: dict[str, Any] = {
        "id": taken.id(),
        "title": taken.first("title", _text)[0],
        "text": taken.text(),
        **{name: taken.first(name, _text)[0] for name in ("language", "code", "court")},
        "number": number,
        **{name: taken.first(name, _words)[0] or () for name in ("headings", "citations")},
        **{name: taken.first(name, _date)[0] or None for name in DATE_FIELDS},
        "status": taken.label("status", STATES, EXACT_STATES) or DocumentStatus.UNKNOWN,
        "identifiers": taken.together("identifiers"),
    }
    kind = taken.label("kind", KINDS, frozenset(KINDS))
    inferred = DocumentKind.PARAGRAPH if number_name == "paragraph" else kind_of(fields["code"], number, fields["court"])
    return Document(**fields, kind=kind or inferred, extra=taken.extra())


def query_of(record: Mapping[str, Any]) -> Query:
    """A query from a flat record; everything but id, text, language and date goes to ``extra``.

    >>> query_of({"_id": "q1", "text": "préavis ?", "date": "2025-11-04", "kind": "question"})
    Query(id='q1', text='préavis ?', language='', date=datetime.date(2025, 11, 4), extra={'kind': 'question'})
    """
    taken = _RecordReader(record, _QUERY_NAMES)
    language, date = taken.first("language", _text)[0], taken.first("date", _date)[0] or None
    return Query(taken.id(), taken.text(), language, date, taken.extra())


def kind_of(code: str, number: str, court: str) -> DocumentKind:
    """The kind of a document that states none: a code or number means a statute, a court means a decision.

    >>> kind_of("Code civil", "", ""), kind_of("", "", "CJEU")
    (<DocumentKind.STATUTE: 'statute'>, <DocumentKind.DECISION: 'decision'>)
    """
    if code or number:
        return DocumentKind.STATUTE
    return DocumentKind.DECISION if court else DocumentKind.OTHER


def document_record(document: Document) -> dict[str, Any]:
    """The flat record of a document: JSON values under canonical names, without empty fields, ``extra`` last.

    >>> document_record(Document("a", text="…", kind=DocumentKind.STATUTE, headings=("Livre I",), extra={"source": "x"}))
    {'id': 'a', 'title': '', 'text': '…', 'kind': 'statute', 'headings': ['Livre I'], 'extra': {'source': 'x'}}
    """
    inferred = kind_of(document.code, document.number, document.court)
    record: dict[str, Any] = {"id": document.id, "title": document.title, "text": document.text}
    for name in DOCUMENT_FIELDS[3:]:
        value = getattr(document, name)
        if name == "kind" and value is inferred is DocumentKind.OTHER:
            continue
        if value:
            record[name] = _plain(value)
    if document.extra:
        record["extra"] = dict(document.extra)
    return record


def query_record(query: Query) -> dict[str, Any]:
    """The flat record of a query, like `document_record`."""
    record: dict[str, Any] = {"id": query.id, "text": query.text}
    record |= {name: _plain(value) for name in QUERY_FIELDS[2:] if (value := getattr(query, name))}
    if query.extra:
        record["extra"] = dict(query.extra)
    return record


def known_names(fields: Iterable[str]) -> frozenset[str]:
    """Every name that one of these fields may have."""
    return frozenset(name for field in fields for name in NAMES[field])


_DOCUMENT_NAMES = known_names(DOCUMENT_FIELDS) | {"extra"}
_QUERY_NAMES = known_names(QUERY_FIELDS) | {"extra"}


class _RecordReader:
    """Takes fields out of a record and remembers which known names must stay in ``extra``."""

    def __init__(self, record: Mapping[str, Any], known: frozenset[str]) -> None:
        self.record = record
        self.known = known
        self.left: set[str] = set()

    def first(self, field: str, read: Callable[[str, Any], Any]) -> tuple[Any, str]:
        """The first value that is not empty, and its name; different values under other names stay in ``extra``."""
        found: Any = ""
        found_name = ""
        for name in NAMES[field]:
            if (raw := self.record.get(name)) is None:
                continue
            value = read(name, raw)
            if value and not found:
                found, found_name = value, name
            elif value and value != found:
                self.left.add(name)
        return found, found_name

    def id(self) -> str:
        name = self.first("id", _word)[0]
        if not name:
            raise DataError(f"no id: expected a field '_id' or 'id', got {_fields(self.record)}")
        return cast("str", name)

    def text(self) -> str:
        if not any(name in self.record for name in NAMES["text"]):
            raise DataError(f"no text: expected a field 'text', got {_fields(self.record)}")
        return cast("str", self.first("text", _text)[0])

    def label(self, field: str, words: Mapping[str, Any], exact: frozenset[str]) -> Any:
        """A label from a table of words; a word that is unknown or more precise than its label stays in ``extra``."""
        found = None
        for name in NAMES[field]:
            if (raw := self.record.get(name)) is None:
                continue
            word = _text(name, raw).strip().casefold()
            label = words.get(word)
            if word and (word not in exact or label is None or found not in (None, label)):
                self.left.add(name)
            found = found or label
        return found

    def together(self, field: str) -> tuple[str, ...]:
        """The canonical list or, if it is empty, the words under all other names in one list."""
        canonical, *others = NAMES[field]
        words = _words(canonical, self.record.get(canonical))
        by_name = {name: _words(name, self.record.get(name)) for name in others}
        if not words:
            return tuple(dict.fromkeys(word for named in by_name.values() for word in named))
        self.left |= {name for name, named in by_name.items() if not set(named) <= set(words)}
        return words

    def extra(self) -> dict[str, Any]:
        extra = {name: value for name, value in self.record.items() if name not in self.known or name in self.left}
        nested = self.record.get("extra")
        if nested is not None and not isinstance(nested, Mapping):
            return extra | {"extra": nested}
        for name, value in (nested or {}).items():
            if name in extra and extra[name] != value:
                raise DataError(f"field {name!r} has two different values, {_short(extra[name])} and {_short(value)}")
            extra[name] = value
        return extra


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise DataError(f"field {name!r}: expected text, got {_short(value)}")
    return value


def _word(name: str, value: Any) -> str:
    """Text, or an integer as text: ids and numbers are often written without quotes."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else _text(name, value)


def _words(name: str, value: Any) -> tuple[str, ...]:
    if value is None or value == "":
        return ()
    if isinstance(value, list | tuple):
        if None in value:
            raise DataError(f"field {name!r}: expected a list of texts, got null inside {_short(value)}")
        return tuple(_word(name, item) for item in value)
    try:
        return (_word(name, value),)
    except DataError:
        raise DataError(f"field {name!r}: expected a list of texts, got {_short(value)}") from None


def _date(name: str, value: Any) -> datetime.date | None:
    try:
        return parse_date(value, day_first=name in _DAY_FIRST)
    except DataError as error:
        raise DataError(f"field {name!r}: {error.reason}") from None


def _plain(value: Any) -> Any:
    if isinstance(value, datetime.date):
        return value.isoformat()
    return list(value) if isinstance(value, tuple) else str(value)


def _fields(record: Mapping[str, Any]) -> str:
    return f"the fields {listed(list(record))}" if record else "no fields"


def _short(value: Any) -> str:
    shown = repr(value)
    return f"{type(value).__name__} {shown if len(shown) <= 60 else shown[:59] + '…'}"
