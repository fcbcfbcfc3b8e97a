"""What pages cost: it grows with what is sent and no faster, it is bounded, and it is not the event loop that pays."""

import sys
import threading

import pytest
from starlette.datastructures import FormData

from lexfuse.data.document import Document, DocumentKind
from lexfuse.deadline import Deadline, limited
from lexfuse.errors import ConfigError, OverloadError
from lexfuse.service.operations.documents import text_paragraphs
from lexfuse.service.operations.export import ResultFormat, export_results
from lexfuse.service.schemas.document import CitedDocument, DocumentCard, DocumentParagraph
from lexfuse.service.schemas.search import MarkedSpan, SearchPage, SearchResult, SearchTiming
from lexfuse.web import renderer
from lexfuse.web.highlights import segments_of
from lexfuse.web.law_text import body_of
from lexfuse.web.pages.similar import MAX_WORDS, asked_of
from lexfuse.web.preferences import ReaderPreferences


def steps(call):
    """How many lines of Python a call runs through: the same on every machine."""
    count = 0

    def traced(frame, event, argument):
        nonlocal count
        count += 1
        return traced

    before = sys.gettrace()
    sys.settrace(traced)
    try:
        call()
    finally:
        sys.settrace(before)
    return count


def added(size):
    data = FormData([("action", "again"), ("add", ",".join(f"w{number}" for number in range(size)))])
    return lambda: asked_of(data)


def edited(size):
    names = [("term", f"w{number}") for number in range(size)]
    data = FormData([("action", "again"), *names, ("add", ",".join(f"w{number}" for number in range(size)))])
    return lambda: asked_of(data)


def cited(start):
    facts = {"text": "L. 1", "span": (start, start + 4), "system": "statute", "key": "L1", "more": 0}
    return CitedDocument(documents=[DocumentCard(id="a")], **facts)


def marked(size):
    links, matches = [cited(10 * at) for at in range(size)], [(10 * at + 5, 10 * at + 7) for at in range(size)]
    return lambda: segments_of("L. 1 loi, " * size, matches, (0, 5 * size), links)


def overlapping(size):
    return lambda: segments_of("a" * 2 * size, [(at, at + size) for at in range(size)], None, [cited(at) for at in range(size)])


def paragraphs(size):
    text, citations = "Voir L. 1.\n\n" * size, [cited(12 * at + 5) for at in range(size)]
    return lambda: text_paragraphs(text, citations)


def keys(size):
    def result(rank):
        return SearchResult(id="é", rank=rank, found="bm25", score=1.0, snippet=MarkedSpan(text=""))

    results = [result(rank) for rank in range(1, size + 1)]
    page = SearchPage(index="i", generation=1, profile="bm25", query="loi", results=results, timing=SearchTiming(total=0.0))
    return lambda: export_results(page, ResultFormat.BIBTEX)


def numbers(size):
    found = [DocumentParagraph(anchor=f"p{at}", number=str(at), span=(0, 9), text=f"{at}. La loi.") for at in range(1, size + 1)]
    return lambda: [body_of(paragraph) for paragraph in found]


@pytest.mark.parametrize("made", [added, edited, marked, overlapping, paragraphs, keys, numbers])
def test_twice_as_much_costs_twice_as_much(made):
    made(10)()  # what is read once is read now
    one, two = steps(made(400)), steps(made(800))
    assert two < 2.5 * one, (one, two)


def test_a_number_in_the_margin_costs_less_than_a_pattern_of_its_own():
    numbers(600)()  # more than Python keeps patterns for
    assert steps(numbers(600)) < 600 * 300


def test_more_words_than_a_judgment_has_are_refused():
    assert len(asked_of(FormData([("action", "again"), ("add", "w," * (MAX_WORDS - 1))])).words) == 1
    for more in ([("add", "w," * MAX_WORDS)], [("term", "w")] * (MAX_WORDS + 1), [("add", "w")] * (MAX_WORDS + 1)):
        with pytest.raises(ConfigError, match="at most 10,000 words"):
            asked_of(FormData([("action", "again"), *more]))


def test_a_page_that_is_late_is_not_rendered_to_its_end():
    with limited(deadline := Deadline(60)):
        deadline.revoke()
        with pytest.raises(OverloadError):
            renderer.rendered("help.html", ReaderPreferences(), {"path": "/", "here": "/", "site": ""})


def test_pages_are_rendered_on_the_threads_of_the_service(site, monkeypatch):
    threads = {}
    usual = renderer.rendered

    def noted(template, *values):
        threads[template] = threading.current_thread().name
        return usual(template, *values)

    monkeypatch.setattr(renderer, "rendered", noted)
    articles = [Document(name, title=name, text="la loi", language="fr", kind=DocumentKind.STATUTE) for name in ("a", "b")]
    client = site(articles, anonymous_judging=True)
    asked = [
        "/",
        "/?q=loi",
        "/documents/a",
        "/why/a?q=loi",
        "/compare?q=loi",
        "/similar",
        "/similar?document=a",
        "/experiments",
        "/help",
    ]
    for address in asked:
        assert client.get(address).status_code == 200, address
    assert client.post("/similar", data={"text": "la loi"}).status_code == 200
    judged = {"q": "loi", "document": "a", "grade": "1"}
    assert client.post("/judge", data=judged, headers={"X-LexFuse-Part": "judge"}).status_code == 200
    assert {"search.html", "document.html", "why.html", "compare.html", "similar.html", "judge_part.html"} <= threads.keys()
    assert all(name.startswith("lexfuse") for name in threads.values()), threads
