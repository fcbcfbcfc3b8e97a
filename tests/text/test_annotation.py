"""Annotating a corpus: languages and outgoing citations."""

import datetime
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.document_history import versions_of
from lexfuse.data.formats.file_format import read_corpus
from lexfuse.index import Index
from lexfuse.service.operations.documents import CiteParameters, cite
from lexfuse.service.operations.documents import document as whole_document
from lexfuse.service.operations.search import SearchQuery, search
from lexfuse.service.registry import IndexPlace, IndexRegistry
from lexfuse.text.annotation import annotate, with_languages


def statute(number, text="", **more):
    return Document(f"id-{number}", kind=DocumentKind.STATUTE, code="Code du travail", number=number, text=text, **more)


def test_what_was_given_stays_and_comes_first():
    corpus = Corpus.of(
        [
            statute("L1", "Voir les articles L. 2 et L. 3 du présent code.", language="de", citations=("id-L3",)),
            statute("L2", "La durée du travail est fixée par la loi."),
            statute("L3"),
        ]
    )
    done, annotation = annotate(corpus)
    assert done.citations == (("id-L3", "id-L2"), (), ())
    assert done.language == ("de", "fr", "")
    assert (annotation.languages, annotation.citations) == (1, 1)
    assert corpus.citations == (("id-L3",), (), ())


def test_progress_is_told_and_an_empty_corpus_is_fine():
    told = []
    annotate(Corpus.of([statute("L1"), statute("L2")]), progress=told.append)
    assert told == [1, 2]
    assert annotate(Corpus.of([]))[1].citations == 0


def test_annotating_twice_changes_nothing():
    corpus = Corpus.of([statute("L1", "Voir l'article L. 2."), statute("L2", "Voir l'article L. 1.")])
    once, _ = annotate(corpus)
    twice, annotation = annotate(once)
    assert list(twice) == list(once)
    assert (annotation.languages, annotation.citations) == (0, 0)


def dated(number, text, start, end=None, *, id="", **more):
    days = [datetime.date(year, 1, 1) if year else None for year in (start, end)]
    return replace(statute(number, text, valid_from=days[0], valid_to=days[1], **more), id=id or f"id-{number}")


RENUMBERED = [
    dated("1382", "Tout fait oblige.", 1804, 2016, id="fault", language="fr"),
    dated("1240", "Tout fait oblige à réparer.", 2016, id="fault", language="fr"),  # the same article under another number
    dated("1382", "Les présomptions.", 2016, id="presumption", language="fr"),
    dated("9", "Voir l'article 1382 du code du travail.", 1900, 2016),
    dated("9", "Voir les articles 1240 et 1382.", 2016, 2020),
    dated("9", "Voir les articles 9 et 2000.", 2020),
    dated("2000", "Nouveau.", 2021),
    Document("case", text="L'article 1382 du code du travail est visé."),
]


def test_a_version_cites_what_was_in_force_with_it():
    done, annotation = annotate(Corpus.of(RENUMBERED))
    cited = {(one.id, str(one.valid_from)): one.citations for document in done for one in versions_of(document)}
    assert cited["id-9", "1900-01-01"] == ("fault",)
    assert cited["id-9", "2016-01-01"] == ("fault", "presumption")
    assert cited["id-9", "2020-01-01"] == ("id-2000",)
    assert cited["case", "None"] == ("fault", "presumption")  # it has no date
    assert annotation.citations == 3  # of the newest versions
    assert list(annotate(done)[0]) == list(done)


def test_cites_and_cited_by_are_those_of_the_day(tmp_path):
    Index.build(tmp_path / "law.index", annotate(Corpus.of(RENUMBERED))[0]).close()
    with IndexRegistry.open([IndexPlace.of(tmp_path / "law.index")]) as registry:
        before, after = (whole_document(registry, "id-9", "", day).document for day in ("1990-01-01", "2017-01-01"))
        assert [[card.id, card.number] for card in before.cites] == [["fault", "1382"]]
        assert [[card.id, card.number] for card in after.cites] == [["fault", "1240"], ["presumption", "1382"]]
        citing = [whole_document(registry, "fault", "", day).document.cited_by for day in ("1990-01-01", None)]
        assert [[one.id for one in some] for some in citing] == [["case", "id-9"], ["case"]]
        named = "article 1382 du code du travail"
        cited = [cite(registry, CiteParameters(text=named, as_of=day)).citations[0].documents for day in ("1990-01-01", None)]
        assert [[card.id for card in some] for some in cited] == [["fault"], ["presumption"]]
        found = [search(registry, SearchQuery(query=named, as_of=day)).results[0] for day in ("1990-01-01", "2017-01-01")]
        assert [(one.id, one.snippet.text) for one in found] == [
            ("fault", "Tout fait oblige."), ("presumption", "Les présomptions.")]  # fmt: skip


def test_a_forced_language_is_that_of_every_version():
    done = with_languages(Corpus.of(RENUMBERED), "de")
    assert {one.language for document in done for one in versions_of(document)} == {"de"}


def test_documents_get_a_language_only_where_they_have_none():
    texts = [
        Document("a", text="Quelle est la durée du préavis ?"),
        Document("b", text="notice", language="fr"),
        Document("c", text="12"),
    ]
    assert with_languages(Corpus.of(texts)).language == ("fr", "fr", "")


def test_links_within_the_four_french_codes():
    folder = os.environ.get("LEXFUSE_DATA")
    if not folder:
        pytest.skip("LEXFUSE_DATA does not name the folder of collections")
    articles = read_corpus(Path(folder, "fr-labour", "corpus.jsonl.gz"))
    corpus, annotation = annotate(Corpus.of(one for ordinal, one in enumerate(articles) if ordinal % 7000 < 1000))
    assert annotation.languages == len(corpus) == 5000
    assert len(set(corpus.code)) == 4
    assert set(corpus.language) == {"fr"}
    assert 5_300 < annotation.citations < 5_600
    # Every link but those inside ranges can be seen in the text: the cited number stands there.
    seen = total = 0
    for ordinal in range(len(corpus)):
        digits = set(re.findall(r"[0-9]+(?:-[0-9]+)*", re.sub("[‐‑–]", "-", corpus.text[ordinal])))
        for cited in corpus.citations[ordinal]:
            total += 1
            seen += re.sub(r"^[A-Z*]+|\s.*$", "", corpus.document(cited).number) in digits
    assert seen / total > 0.7
