"""The first results of a search as an Atom feed (RFC 4287): an alert for new or changed documents among them.

The id of an entry contains a digest of the document, so a reader of feeds shows an entry again when the document enters the
first results or changes. Nothing about the reader is stored.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Mapping
from urllib.parse import quote, urlencode
from xml.etree import ElementTree

from lexfuse.service.operations.documents import etag_of
from lexfuse.service.operations.lasting_search import lasting_search
from lexfuse.service.operations.search import SearchQuery
from lexfuse.service.registry import IndexRegistry
from lexfuse.service.schemas.search import SearchResult

MEDIA_TYPE = "application/atom+xml"
ATOM = "http://www.w3.org/2005/Atom"
_UNDATED = datetime.date(1970, 1, 1)  # a feed needs a day for every entry


def search_feed(registry: IndexRegistry, given: SearchQuery, address: str, self_address: str, title: str) -> bytes:
    """The feed of a search; `address` is that of the service, `self_address` that of the feed.

    >>> site = "https://law.example"
    >>> feed = search_feed(registry, SearchQuery(query="retard", k=1), site, f"{site}/feed", "retard")
    >>> b"<title>retard</title>" in feed, b"https://law.example/documents/lib-4" in feed
    (True, True)
    """
    page = lasting_search(registry, given.model_copy(update={"cursor": ""})).page
    with registry.index(given.index).lease() as version:
        heads = version.snapshot.heads([result.id for result in page.results])  # one may have been deleted in this moment
        etags = {one.id: etag_of(one) for one in version.snapshot.documents([head.id for head in heads])}
    ElementTree.register_namespace("", ATOM)
    feed = ElementTree.Element(_name("feed"))
    _text(feed, "id", f"urn:lexfuse:search:{given.digest()}")
    _text(feed, "title", title)
    _text(feed, "updated", _moment(max((day_of(one) for one in page.results), default=_UNDATED)))
    ElementTree.SubElement(feed, _name("link"), rel="self", href=self_address)
    _text(ElementTree.SubElement(feed, _name("author")), "name", "LexFuse")
    for result in page.results:
        if result.id in etags:
            _entry(feed, result, etags[result.id], address, {"index": page.index})
    written: bytes = ElementTree.tostring(feed, encoding="utf-8", xml_declaration=True)
    return written


def day_of(result: SearchResult) -> datetime.date:
    """The day of a document: when it came into force, or of its decision."""
    return result.valid_from or result.date or _UNDATED


def _entry(feed: ElementTree.Element, result: SearchResult, etag: str, address: str, more: Mapping[str, str]) -> None:
    entry = ElementTree.SubElement(feed, _name("entry"))
    name = hashlib.sha256(f"{result.id}\0{etag}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
    _text(entry, "id", f"urn:lexfuse:document:{name}")
    _text(entry, "title", result.title or result.id)
    _text(entry, "updated", _moment(day_of(result)))
    href = f"{address}/documents/{quote(result.id, safe='')}?{urlencode(more)}"
    ElementTree.SubElement(entry, _name("link"), rel="alternate", type="text/html", href=href)
    _text(entry, "summary", result.snippet.text)


def _text(parent: ElementTree.Element, name: str, text: str) -> None:
    made = ElementTree.SubElement(parent, _name(name))
    made.text = "".join(mark for mark in text if mark in "\t\n\r" or (mark >= " " and not "\ud800" <= mark <= "\udfff"
                        and mark not in "\ufffe\uffff"))  # fmt: skip


def _name(name: str) -> str:
    return f"{{{ATOM}}}{name}"


def _moment(day: datetime.date) -> str:
    return f"{day.isoformat()}T00:00:00Z"
