"""What every index can be asked, whether it is a folder or spread over the shards of a cluster."""

from __future__ import annotations

import dataclasses
import datetime
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lexfuse.channels.distribution import SampleOrigin, drawn_queries, estimate
from lexfuse.channels.explanation import Explanation
from lexfuse.channels.query_context import query_context
from lexfuse.channels.registry import applicable_options, channels_in, open_retriever
from lexfuse.data.document import Document
from lexfuse.data.progress_bar import ProgressBar, no_progress_bar
from lexfuse.data.queries import Queries, Query
from lexfuse.data.run import Run
from lexfuse.errors import ConfigError
from lexfuse.search.asked_question import read_question, run_questions
from lexfuse.search.document_explanation import explain_document
from lexfuse.search.hits import Hits, find_hits
from lexfuse.search.index_version import IndexVersion
from lexfuse.search.pipeline import DEPTH
from lexfuse.search.similar import known_day
from lexfuse.search.similar_hits import SimilarHits, find_similar
from lexfuse.search.spec.spec import SearchSpec
from lexfuse.search.version_difference import VersionDifference, difference
from lexfuse.search.words.correction import Spelling, SpellingCorrection
from lexfuse.search.words.suggestion import Suggestion, suggester_of
from lexfuse.storage.history.day_coverage import DayCoverage
from lexfuse.storage.index_settings import FALLBACK_LANGUAGE
from lexfuse.storage.snapshot import Snapshot


class IndexReader(ABC):
    """An index that is read: searched, explained, asked for documents."""

    @property
    @abstractmethod
    def version(self) -> IndexVersion:
        """The state that is searched, with its profiles."""

    @property
    def name(self) -> str:
        """What the index is called: its folder, schema, database or cluster."""
        return self.version.name

    @property
    def snapshot(self) -> Snapshot:
        """The documents and channels of the state that is searched."""
        return self.version.snapshot

    @property
    def channels(self) -> tuple[str, ...]:
        """The stored channels, without words and citations."""
        return tuple(self.snapshot.channels)

    @property
    def specs(self) -> Mapping[str, SearchSpec]:
        """What the index can be searched by, the default first."""
        return dict(self.version.specs)

    def __len__(self) -> int:
        """How many documents there are."""
        return len(self.snapshot)

    def __contains__(self, id: str) -> bool:
        """Whether there is a document of an id."""
        return id in self.snapshot.ids

    @property
    def languages(self) -> dict[str, int]:
        """How many documents are in each language, most first."""
        return dict(Counter(language or FALLBACK_LANGUAGE for language in self.snapshot.column("language")).most_common())

    @property
    def language(self) -> str:
        """The language of most documents."""
        return next(iter(self.languages), FALLBACK_LANGUAGE)

    def document(self, id: str, as_of: str | datetime.date | None = None) -> Document:
        """The document with an id, in its version of a day; `NotFoundError` if the index does not have it.

        Without a day it is the version in force today, or else the newest.

        >>> index.document("lib-4").number
        'L4'
        """
        return self.version.read(id, as_of)

    def history(self, id: str) -> list[Document]:
        """All versions of a document, the oldest first; `NotFoundError` if the index does not have it.

        >>> [str(version.valid_from) for version in index.history("lib-4")]
        ['2021-09-01']
        """
        return self.snapshot.history(id)

    def diff(self, id: str, before: str | datetime.date, after: str | datetime.date) -> VersionDifference:
        """What changed in a document from one day to another, word by word; see `lexfuse.search.version_difference`.

        >>> index.diff("lib-4", "2020-01-01", "2022-01-01").before is None  # in force since 2021
        True
        """
        return difference(self.version, id, before, after)

    def coverage(self, day: str | datetime.date) -> DayCoverage:
        """How many documents are in force on a day, and how many the index knows only from a later day on.

        >>> index.coverage("2019-12-31")
        DayCoverage(day=datetime.date(2019, 12, 31), documents=6, in_force=0, unknown=6)
        """
        known = known_day(day, "day")
        if known is None:
            raise ConfigError(f"day: a day was expected, got {day!r}; write it as 2024-01-31")
        return self.snapshot.coverage(known)

    def score_distributions(
        self, queries: Queries | None = None, *, progress: ProgressBar = no_progress_bar, **options: Any
    ) -> dict[str, dict[str, Any]]:
        """How the scores of every channel are distributed, estimated now, as plain values by key.

        Without queries, the first words of documents are searched for. Each channel takes the search options that it has.

        >>> [found["channel"] for found in index.score_distributions(k1=0.9).values()]
        ['bm25', 'tfidf', 'citation']
        """
        asked = drawn_queries(self.snapshot) if queries is None else queries
        origin = SampleOrigin.DOCUMENTS if queries is None else SampleOrigin.GIVEN
        names, found = channels_in(self.snapshot), {}
        with progress("estimating distributions", len(names)) as done:
            for number, name in enumerate(names, start=1):
                own = applicable_options(self.snapshot, name, {"exact": True, **options})
                one = estimate(open_retriever(self.snapshot, name, **own), asked, origin)
                found[one.key] = one.as_json()
                done(number)
        return found

    # Searching

    def search(self, question: str | Query, k: int = 10, **options: Any) -> Hits:
        """The k best answers: documents that the question cites, then the best matches, each with a snippet.

        `profile` names a profile of the index or is a `SearchSpec`. Without one, options of `SearchSpec.of` say how to
        search: ``channels=["bm25", "dense"], fusion=TM2C2(alpha=0.8)``. ``filters=["code=Code civil"]``, ``as_of``,
        ``language``, ``sort``, ``facets``, ``after`` and ``operators`` are as for `lexfuse.search.hits.find_hits`. A question may
        have operators: ``"exact phrase"``, ``-word``, ``AND OR NOT``, ``word*``, ``/s /p /5``, ``title:word``. ``spelling``
        (auto, apply or off) says what happens to misspelt words, and ``everyday=False`` switches the lexicon off;
        `Hits.correction` and `Hits.expansions` say what was done.

        >>> hits = index.search("retard de prêt", k=2, channels=["bm25", "tfidf"], fusion="rrf")
        >>> [(hit.rank, hit.id, str(hit.snippet)[:18]) for hit in hits]
        [(1, 'lib-4', 'En cas de retard, '), (2, 'lib-3', 'Le prêt est consen')]
        """
        with query_context():
            return find_hits(self.version, question, k, **options)

    def suggest(self, text: str, k: int = 8) -> list[Suggestion]:
        """Completions of a question that is being typed: articles, frequent questions, headings and words of the index.

        >>> [(one.kind.value, one.text) for one in index.suggest("L. 4")]
        [('article', 'Code des bibliothèques, art. L. 4')]
        """
        return suggester_of(self.version).suggest(text, k)

    def did_you_mean(self, question: str, *, language: str = "") -> SpellingCorrection | None:
        """The question with misspelt words replaced by words of the index; None if all of its words occur.

        >>> index.did_you_mean("retart de prêt").question
        'retard de prêt'
        """
        return read_question(self.version, question, language, spelling=Spelling.AUTO).correction

    def similar(self, text: str = "", k: int = 10, **options: Any) -> SimilarHits:
        """Documents like a whole text, or like a ``document`` of the index; see `lexfuse.search.similar_hits.find_similar`.

        >>> [hit.id for hit in index.similar(document="lib-4", k=1)]
        ['lib-3']
        """
        with query_context():
            return find_similar(self.version, text, k, **options)

    def explain(self, question: str | Query, document: str, *, language: str = "", **search: Any) -> Explanation:
        """Why a document, by its id or a citation, has its rank for a question, or which rank it would have.

        >>> why = index.explain("retard de prêt", "article L. 4")
        >>> why.doc, why.rank, [term.term for term in why.evidence["bm25"].terms]
        ('lib-4', 1, ['retard', 'pret'])
        """
        with query_context():
            return explain_document(self.version, question, document, language=language, **search).explanation

    def run(
        self,
        queries: Queries,
        *,
        depth: int = DEPTH,
        before_query_date: bool = False,
        exclude_self: bool = False,
        operators: bool = False,
        profile: str | SearchSpec = "",
        name: str | None = None,
        **options: Any,
    ) -> Run:
        """The best `depth` documents of every query; with `before_query_date` among those dated before it.

        `exclude_self` leaves out the document that has the id of the query, for queries that are documents themselves. Queries
        are plain text, since those of collections quote; with `operators` they are read as `search` reads a question.

        >>> queries = lexfuse.Queries.of([lexfuse.Query("q", "cotisation")])
        >>> [hit.doc for hit in index.run(queries, depth=10, name="words").hits("q")]
        ['lib-6', 'lib-2']
        """
        if not profile and options.keys() - {"filters", "as_of"}:
            options = {"depth": depth, **options}
        opened = self.version.search_by(profile, name=name, **options)
        ranked = depth + exclude_self
        found = run_questions(opened, queries, ranked, before_query_date=before_query_date, operators=operators)
        if exclude_self:
            found = found.without_self(depth)
        return found if name is None else dataclasses.replace(found, name=name)
