"""Annotating a corpus: languages and outgoing citations."""

import os
import re
from pathlib import Path

import pytest

from lexfuse.data.corpus import Corpus
from lexfuse.data.document import Document, DocumentKind
from lexfuse.data.formats.file_format import read_corpus
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
    corpus, annotation = annotate(read_corpus(Path(folder, "fr-labour", "corpus.jsonl.gz")))
    assert annotation.languages == len(corpus) == 29104
    assert set(corpus.language) == {"fr"}
    assert 51_000 < annotation.citations < 54_000
    # Every link but those inside ranges can be seen in the text: the cited number stands there.
    seen = total = 0
    for ordinal in range(0, len(corpus), 25):
        digits = set(re.findall(r"[0-9]+(?:-[0-9]+)*", re.sub("[‐‑–]", "-", corpus.text[ordinal])))
        for cited in corpus.citations[ordinal]:
            total += 1
            seen += re.sub(r"^[A-Z*]+|\s.*$", "", corpus.document(cited).number) in digits
    assert seen / total > 0.7
