"""Every template with hostile values: nothing of them becomes markup."""

import datetime
import re
from html.parser import HTMLParser

import pytest
from jinja2 import UndefinedError

from lexfuse.service.operations.lasting_search import LastingPage
from lexfuse.service.schemas.contents import ContentsPage, SectionCard, SectionText
from lexfuse.service.schemas.document import CitedDocument, DocumentCard, DocumentMarks, DocumentParagraph, WholeDocument
from lexfuse.service.schemas.explanation import (
    AlignedPair,
    AlignedParagraph,
    ExplainResponse,
    HitExplanation,
    ParagraphAlignment,
    SourceShare,
    StructureSupport,
    TermShare,
    TokenShare,
)
from lexfuse.service.schemas.history import ChangedText, DocumentDifference, DocumentVersion
from lexfuse.service.schemas.judgement_summary import JudgeProgress, JudgingSummary, PairAgreement, QuestionProgress
from lexfuse.service.schemas.search import (
    Facet,
    FacetValue,
    IndexCard,
    MarkedSpan,
    ProfileCard,
    SearchPage,
    SearchResult,
    SearchTiming,
)
from lexfuse.web.law_text import NO_MARKS, FoundPlace, body_of, law_blocks
from lexfuse.web.messages import InterfaceLocale, messages_of
from lexfuse.web.pages.document import crumbs_of, lists_of, source_url
from lexfuse.web.pages.feedback import GRADES
from lexfuse.web.pages.search import KNOWN_FACETS, chips_of, options_of
from lexfuse.web.preferences import ReaderPreferences, Theme
from lexfuse.web.renderer import TEMPLATES, document_url, environment, rendered
from lexfuse.web.search_state import SearchState
from lexfuse.web.timeline import TimelineEntry

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}&lt;b&gt;</textarea><!--"
LANGUAGES = [ReaderPreferences(language, theme, expert=theme is Theme.DARK) for language in InterfaceLocale for theme in Theme]


class Tags(HTMLParser):
    """What a page is made of: its elements, their attributes, and its text."""

    def __init__(self):
        super().__init__()
        self.elements, self.attributes, self.scripts, self.words = [], [], 0, []

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.words.append(data)


def read(text):
    tags = Tags()
    tags.feed(text)
    return tags


def facts(**more):
    day = datetime.date(2024, 5, 1)
    told = {name: HOSTILE for name in ("id", "title", "kind", "language", "code", "number", "court", "status")}
    return {
        **told,
        "headings": [HOSTILE, HOSTILE],
        "identifiers": [HOSTILE],
        "date": day,
        "valid_from": day,
        "valid_to": day,
        **more,
    }


CARD = DocumentCard(**facts())
MARK = MarkedSpan(text=HOSTILE, matches=[(2, 12), (5, 20)], best=(0, 30), cut_before=True, cut_after=True)
STATE = SearchState(HOSTILE, HOSTILE, HOSTILE, (f"code={HOSTILE}",), HOSTILE, HOSTILE, HOSTILE)
INDEX = IndexCard(name=HOSTILE, title=HOSTILE, documents=3, generation=1, languages={HOSTILE: 3}, default_profile=HOSTILE,
                  profiles=[ProfileCard(name=HOSTILE, channels=[HOSTILE]), ProfileCard(name="b", channels=[])])  # fmt: skip
ALIGNMENT = ParagraphAlignment(query_proportion=0.5, document_proportion=0.2, more=3, pairs=[AlignedPair(
    query=AlignedParagraph(number=HOSTILE, text=HOSTILE, span=(0, 1)),
    document=AlignedParagraph(number=None, text=HOSTILE, span=(0, 1)), meetings=2, cosine=0.9)])  # fmt: skip
SHARE = SourceShare(source=HOSTILE, score=None, rank=None, value=-0.5, imputed=True, weight=0.5, contribution=-0.25)
BEFORE = HitExplanation(document=CARD, rank=9, listed=True, score=0.1, sources=[SHARE, SHARE])
WHY = HitExplanation(
    document=CARD, rank=1203, listed=False, allowed=False, cited=True, score=0.5, sources=[SHARE, SHARE], snippet=MARK,
    terms=[TermShare(source=HOSTILE, term=HOSTILE, in_query=1.5, in_document=2, idf=0.5, contribution=0.7)] * 14,
    tokens=[TokenShare(source=HOSTILE, in_query=HOSTILE, in_document=HOSTILE, similarity=0.9)],
    other_ranks={HOSTILE: 4}, before=BEFORE, alignment=ALIGNMENT,
    structure=StructureSupport(path=[HOSTILE, HOSTILE], candidates=2, documents=4, best_document=CARD, citing_document=CARD,
                               own=0.2, section=0.1, cited=0.1),
)  # fmt: skip
PLACE = {"path": "/", "site": "https://x.example", "here": '/?q=%22%3E%3Cscript%3E&lang=fr&x="><script>'}


def search_values(preferences):
    page = SearchPage(
        index=HOSTILE, generation=1, profile=HOSTILE, query=HOSTILE, candidates=30, next_cursor=HOSTILE, notes=[HOSTILE],
        results=[SearchResult(**facts(), rank=1, found="citation", score=1.0, snippet=MARK)],
        facets=[Facet(field=field, values=[FacetValue(value=HOSTILE, count=3, chosen=True, filters=[HOSTILE])], more=2)
                for field in (HOSTILE, "headings")],
        timing=SearchTiming(total=1.0, stages={HOSTILE: 1.0}),
    )  # fmt: skip
    messages = messages_of(preferences.language)
    return {"state": STATE, "answer": page, "indexes": [INDEX, INDEX], "index": INDEX, "chips": chips_of(STATE, messages),
            "options": options_of([INDEX, INDEX], INDEX, messages), "judging": True, "judged": {HOSTILE: 2},
            "grades": GRADES, "known_facets": KNOWN_FACETS, "as_of_words": STATE.as_of,
            "lasting": LastingPage(page, True, HOSTILE)}  # fmt: skip


def document_values():
    link = CitedDocument(text=HOSTILE, span=(0, 5), system=HOSTILE, key=HOSTILE, documents=[CARD])
    paragraphs = [
        DocumentParagraph(anchor="p1", number=number, span=(0, 9), text=HOSTILE, citations=[link]) for number in (HOSTILE, None)
    ]
    found = WholeDocument(
        **facts(), text=HOSTILE, etag="1", extra={"url": f"https://x.example/{HOSTILE}"}, paragraphs=paragraphs, cites=[CARD],
        cited_by=[CARD], cited_by_count=7, previous=CARD, next=CARD, versions=[CARD],
    )  # fmt: skip
    return {
        "document": found,
        "index_name": HOSTILE,
        "state": STATE,
        "marks": DocumentMarks(matches=[(2, 12), (5, 20)], best=(0, 30), rank=2, cursor=HOSTILE, previous=CARD, next=CARD),
        "find": HOSTILE,
        "rank": HOSTILE,
        "places": [FoundPlace(HOSTILE, HOSTILE, 2)],
        "more_places": 3,
        "not_in_force": datetime.date(2024, 5, 1),
        "blocks": law_blocks([*paragraphs, *(paragraphs[0].model_copy(update={"text": f"| {HOSTILE} | a"}) for _ in range(2))]),
        "plan": law_blocks(paragraphs),
        "timeline": [
            TimelineEntry(None, None, STATE.document(HOSTILE), current, "/changes/a", CARD) for current in (True, False)
        ],
        "crumbs": crumbs_of(found, HOSTILE),
        "lists": lists_of(found),
        "source_url": source_url(found),
        "body_of": body_of,
    }


def contents_values(whole):
    section = SectionCard(title=HOSTILE, path=[HOSTILE], count=2, sections=[SectionCard(title=HOSTILE, path=[HOSTILE], count=2)])
    paragraph = DocumentParagraph(anchor="s1", number=None, span=(0, 9), text=HOSTILE)
    page = ContentsPage(
        index=HOSTILE, generation=1, path=[HOSTILE, HOSTILE], count=2, sections=[section], documents=[CARD], more=2,
        can_be_whole=True, texts=[SectionText(document=CARD, paragraphs=[paragraph])], previous=section, next=section,
    )  # fmt: skip
    return {"indexes": [INDEX, INDEX], "index": INDEX, "section": page, "whole": whole, "whole_url": "/browse",
            "body_of": body_of, "law_blocks": law_blocks, "none_marked": NO_MARKS, "linked": document_url}  # fmt: skip


def changes_values():
    version = DocumentVersion(valid_from=None, valid_to=datetime.date(2024, 5, 1), text=HOSTILE)
    changes = [ChangedText(kind=kind, text=HOSTILE) for kind in ("same", "removed", "added")]
    found = DocumentDifference(index=HOSTILE, generation=1, id=HOSTILE, changed=True, before=version, after=None, changes=changes)
    return {"document": CARD, "index_name": HOSTILE, "difference": found}


def judging_values():
    last = datetime.datetime(2024, 5, 1, tzinfo=datetime.UTC)
    found = JudgingSummary(
        index=HOSTILE, questions=1, results=2, usable=2, needed=59, shared=2, alpha=None,
        judges=[JudgeProgress(judge=HOSTILE, questions=1, results=2, last=last)],
        progress=[QuestionProgress(query=HOSTILE, query_id="q", results=2, relevant=1, judges=2)],
        pairs=[PairAgreement(first=HOSTILE, second="", results=2, equal=0.5, kappa=None, weighted_kappa=0.5)],
    )  # fmt: skip
    return {"indexes": [INDEX, INDEX], "index": INDEX, "summary": found, "grades": GRADES, "shown": 10, "least": 2,
            "name_length": 60, "command": HOSTILE}  # fmt: skip


def pages(preferences):
    empty = search_values(preferences) | {"state": SearchState()}
    problem = {
        "title": "error.title_404",
        "lead": "error.lead_404",
        "words": HOSTILE,
        "question": HOSTILE,
        "request_id": HOSTILE,
        "http_status": 404,
    }
    why = {"explained": ExplainResponse(index=HOSTILE, generation=1, profile=HOSTILE, query=HOSTILE, why=WHY), "state": STATE}
    return {
        "search.html": search_values(preferences),
        "_results.html": search_values(preferences),
        "_opening.html": empty,
        "document.html": document_values(),
        "browse.html": contents_values(preferences.theme is Theme.DARK),
        "changes.html": changes_values(),
        "judging.html": judging_values(),
        "why.html": why | {"alone": True},
        "_why.html": why | {"alone": False},
        "error.html": problem,
        "_problem.html": problem,
    }


@pytest.mark.parametrize("preferences", LANGUAGES, ids=lambda one: f"{one.language}-{one.theme}")
@pytest.mark.parametrize("template", sorted(pages(ReaderPreferences())))
def test_nothing_hostile_becomes_markup(template, preferences):
    text = rendered(template, preferences, PLACE | pages(preferences)[template])
    tags = read(text)
    assert tags.elements.count("script") == ("base.html" in (TEMPLATES / template).read_text("utf-8"))
    assert "img" not in tags.elements
    assert "textarea" not in tags.elements
    assert not [name for _, name, _ in tags.attributes if name.startswith("on") or name == "style"]
    for _, name, value in tags.attributes:
        if name in ("href", "src", "action"):
            assert re.match(r"/(?!/)|#|https://x\.example/", value), value
    assert "49" not in "".join(tags.words)  # a value is no template
    assert not re.search(r"<script(?! type=\"module\" src=\"/static/)", text)


def test_the_hostile_text_is_there_to_be_read():
    tags = read(rendered("_results.html", ReaderPreferences(), PLACE | search_values(ReaderPreferences())))
    assert HOSTILE in "".join(tags.words)


@pytest.mark.parametrize("status", ["repealed", "deferred", "ending", "in force", ""])
def test_a_state_is_told_in_words_and_not_by_colour_alone(status):
    day = datetime.date(2024, 5, 1)
    module = environment().get_template("_macros.html")
    from lexfuse.web.renderer import words_for

    macros = module.make_module(words_for(ReaderPreferences(InterfaceLocale.ENGLISH)) | PLACE)
    shown = " ".join("".join(read(macros.state(DocumentCard(id="a", status=status, valid_from=day, valid_to=day))).words).split())
    assert "May" in shown
    assert {"repealed": "Repealed", "deferred": "Not yet in force", "ending": "Ending"}.get(status, "") in shown


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(UndefinedError):
        environment().from_string("{{ nothing }}").render()


def test_no_template_declares_text_safe():
    for path in TEMPLATES.glob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize)\b|autoescape", text), path.name
        assert not re.search(r"\s(style|on\w+)=", re.sub(r"{[{%#].*?[}%#]}", "", text, flags=re.DOTALL)), path.name


def test_links_to_places_of_documents_are_quoted():
    tags = read(rendered("document.html", ReaderPreferences(), PLACE | document_values()))
    assert all(
        '"' not in value and "<" not in value for _, name, value in tags.attributes if name == "href" and value.startswith("/doc")
    )


@pytest.mark.parametrize("address", ["javascript:alert(1)", "data:text/html,x", "//x.example", "http://[", None, 3])
def test_only_addresses_of_the_web_are_sources(address):
    assert source_url(WholeDocument(id="a", text="", etag="", extra={"url": address})) == ""
