"""Judged queries as training examples, and as the document pool for measuring a model in training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from lexfuse.data.arrays import I32, Days
from lexfuse.data.corpus import Corpus
from lexfuse.data.ids import Ids
from lexfuse.data.qrels import Qrels
from lexfuse.data.queries import Queries
from lexfuse.data.read_report import ReadReport
from lexfuse.data.run import Run
from lexfuse.encode.passage_plan import LengthUnit, PassagePlan, whole_text
from lexfuse.errors import ConfigError, DataError
from lexfuse.train.examples.dev_evaluation import DevQueries, QueryDates, days_of, earlier_hits, first_ids
from lexfuse.train.examples.examples import Examples, padded_rows

CANDIDATES = 200  # documents of a ranking that a cross-encoder is measured on; more than 100, else R@100 could not change


@dataclass(frozen=True, slots=True)
class PassageWindow:
    """A model's units in a shorter window, as used in training.

    >>> from lexfuse.encode.passage_plan import WordUnits
    >>> PassageWindow(WordUnits(), 12, 2).room
    10
    """

    units: LengthUnit
    window: int
    specials: int = 0  # of the window, that no text has

    @property
    def room(self) -> int:
        """The number of text units that fit."""
        return self.window - self.specials

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Start and end of each unit."""
        return self.units.offsets(text)


def judged_examples(
    corpus: Corpus,
    queries: Queries,
    qrels: Qrels,
    *,
    negatives: Run | None = None,
    too_close: Run | None = None,
    source: str = "judged",
    report: ReadReport | None = None,
) -> Examples:
    """One example for each relevant document of each query; a document is read as "title headings text".

    ``negatives`` and ``too_close`` come from `lexfuse.train.examples.hard_negatives`. A negative with the exact text of a
    relevant document is omitted. The report lists queries without a relevant document; unknown queries and documents are bad
    records.

    >>> corpus = Corpus.of([Document("a", text="Le préavis dure un mois."), Document("b", text="Le bail est nul.")])
    >>> queries = Queries.of([Query("q", "durée du préavis")])
    >>> run = Run.of("bm25", {"q": {"b": 1.0}})
    >>> list(judged_examples(corpus, queries, Qrels.of([("q", "a", 1)]), negatives=run).rows())
    [('durée du préavis', 'Le préavis dure un mois.', ['Le bail est nul.'], 'judged')]
    """
    report = ReadReport() if report is None else report
    relevant = relevant_documents(corpus, queries, qrels, report)

    @cache
    def text_of(doc: str) -> str:
        return whole_text(corpus.document(doc))

    rows, answers, without = [], dict[str, list[str]](), 0
    for name, positives in relevant.items():
        question = queries.query(name).text
        known = [text_of(doc) for doc in positives]
        close = [text_of(doc) for doc in _ranked(too_close, name, corpus)]
        answers.setdefault(question, []).extend((*known, *close))
        excluded = {*known, *close, ""}
        others = [text for doc in _ranked(negatives, name, corpus) if (text := text_of(doc)) not in excluded]
        for positive in known:
            if positive:
                rows.append((question, positive, list(dict.fromkeys(others)), source))
            else:
                without += 1
    if without:
        report.note(f"{without:,} relevant documents have no text; they are not learned from")
    if strange := _strangers(negatives, corpus):
        report.note(
            f"{strange:,} documents of the ranking are not in the corpus and cannot be negatives; is it of another corpus?"
        )
    if not rows:
        raise DataError("no query has a relevant document with a text; there is nothing to learn from")
    return Examples.of(rows, answers)


def judged_pool(
    corpus: Corpus,
    queries: Queries,
    qrels: Qrels,
    *,
    most: int | None = None,
    candidates: Run | None = None,
    depth: int = CANDIDATES,
    units: LengthUnit | None = None,
    before_query_date: bool = False,
    seed: int = 1,
    report: ReadReport | None = None,
) -> DevQueries:
    """Judged queries with the documents that are ranked for them: all judged ones, and others drawn at random.

    ``most`` is the maximum number of documents, if no more are judged; ``None`` means the whole corpus, and only then the figures
    are those of an index. With ``candidates``, the documents are the judged ones and the first ``depth`` of each query, which
    alone are ranked for it, for cross-encoders. A document beyond the room of ``units`` becomes several passages, as in an index.
    With ``before_query_date``, only documents earlier than a query are ranked for it; the report counts relevant ones that are
    not earlier and so cannot be found.

    >>> corpus = Corpus.of(Document(name, text=f"article {name}") for name in "abcd")
    >>> judged_pool(corpus, Queries.of([Query("q", "?")]), Qrels.of([("q", "c", 1)]), most=1).passages
    ('article c',)
    """
    report = ReadReport() if report is None else report
    if most is not None and most < 1:
        raise ConfigError(f"a pool needs at least 1 document, got {most}; leave it out to take the whole corpus")
    relevant = relevant_documents(corpus, queries, qrels, report)
    names = Ids(relevant)
    days = days_of(queries, names) if before_query_date else None
    chosen = corpus.ids.ordinals(sorted({doc for name in names for doc in qrels.judged(name)}))
    chosen = np.unique(chosen[chosen >= 0])
    ranked: list[I32] = []
    if candidates is not None:
        some = candidates if days is None else earlier_hits(candidates, queries, corpus)
        ranked = [corpus.ids.ordinals(_ranked(some, name, corpus)[:depth]) for name in names]
        if not sum(map(len, ranked)):
            raise DataError(
                f"the ranking {some.name!r} has no {'' if days is None else 'earlier '}document of the corpus for any of the "
                f"{len(names):,} queries that the model is measured on; rank these queries first"
            )
        chosen = np.unique(np.concatenate([chosen, *ranked]))
    else:
        chosen = _filled_up(chosen, len(corpus), len(corpus) if most is None else most, seed)
    if days is not None:
        _tell_later(corpus, relevant, days, report)
    passages, owner = _passages(corpus, chosen, units)
    judgements = ((name, doc, grade) for name in names for doc, grade in qrels.judged(name).items() if doc in corpus.ids)
    return DevQueries(
        names, tuple(queries.query(name).text for name in names), Ids(corpus.ids[int(at)] for at in chosen),
        tuple(passages), owner, Qrels.of(judgements), _candidates(ranked, chosen, owner) if candidates is not None else None,
        None if days is None else QueryDates(days, corpus.date[chosen]),
    )  # fmt: skip


def relevant_documents(corpus: Corpus, queries: Queries, qrels: Qrels, report: ReadReport) -> Mapping[str, tuple[str, ...]]:
    """The relevant documents of every judged query that has any; unknown ids are bad records.

    >>> queries = Queries.of([Query("q", "qui ?"), Query("r", "quoi ?")])
    >>> relevant_documents(Corpus.of([Document("a")]), queries, Qrels.of([("q", "a", 1), ("r", "a", 0)]), ReadReport())
    {'q': ('a',)}
    """
    if not len(qrels):
        raise DataError("there are no judgements; write one per line: query-id, corpus-id, score, separated by tabs")
    found, without = dict[str, tuple[str, ...]](), list[str]()
    for name in qrels.queries:
        if name not in queries.ids:
            report.bad(DataError(f"judged query {name!r} is not among the queries; add it, or remove its judgements"))
            continue
        if not queries.query(name).text.strip():
            report.bad(DataError(f"query {name!r} has no text; give it one, or remove its judgements"))
            continue
        relevant = [doc for doc, grade in qrels.judged(name).items() if grade > 0]
        for doc in relevant:
            if doc not in corpus.ids:
                report.bad(
                    DataError(f"document {doc!r}, relevant to query {name!r}, is not in the corpus; add it, or remove its line")
                )
        there = tuple(doc for doc in relevant if doc in corpus.ids)
        if there:
            found[name] = there
        else:
            without.append(name)
    if without:
        report.note(f"{len(without):,} queries have no relevant document and are not used: {first_ids(without)}")
    if not found:
        raise DataError(
            f"none of {len(qrels.queries):,} judged queries has a relevant document, a grade above 0; there is nothing to use"
        )
    return found


def _filled_up(chosen: I32, documents: int, most: int, seed: int) -> I32:
    """Documents of a corpus, filled up to a number with random others."""
    everything = np.arange(documents, dtype=np.int32)
    if most >= documents:
        return everything
    others = np.setdiff1d(everything, chosen)
    drawn = np.random.default_rng((seed, documents)).permutation(others)[: max(0, most - len(chosen))]
    return np.sort(np.concatenate([chosen, drawn]))


def _tell_later(corpus: Corpus, relevant: Mapping[str, tuple[str, ...]], days: Days, report: ReadReport) -> None:
    """Report how many relevant documents are not earlier than their query."""
    counts = [len(docs) for docs in relevant.values()]
    dates = corpus.date[corpus.ids.ordinals(doc for docs in relevant.values() for doc in docs)]
    if later := int((~(dates < np.repeat(days, counts))).sum()):
        report.note(
            f"{later:,} of {sum(counts):,} relevant documents are not dated before their query: they are not ranked for it and "
            "count as not found"
        )


def _ranked(run: Run | None, query: str, corpus: Corpus) -> Sequence[str]:
    """The documents of the corpus that a run has for a query, best first."""
    if run is None or query not in run.queries:
        return ()
    return [hit.doc for hit in run.hits(query) if hit.doc in corpus.ids]


def _strangers(run: Run | None, corpus: Corpus) -> int:
    """The number of documents of a run that are not in the corpus."""
    return 0 if run is None else int((corpus.ids.ordinals(run.docs[at] for at in np.unique(run.doc).tolist()) < 0).sum())


def _passages(corpus: Corpus, chosen: I32, units: LengthUnit | None) -> tuple[list[str], I32]:
    """The passages of documents, and which of these documents each is of."""
    plan = PassagePlan()
    texts, owner = list[str](), list[int]()
    for place, ordinal in enumerate(chosen.tolist()):
        document = corpus[ordinal]
        whole = whole_text(document)
        short = units is None or len(whole.encode("utf-8", "replace")) < units.room  # a token is a byte or more
        found = [whole] if short or units is None else [text for text, _ in plan.of(document, units)]
        texts.extend(found)
        owner.extend([place] * len(found))
    return texts, np.array(owner, dtype=np.int32)


def _candidates(ranked: Sequence[I32], chosen: I32, owner: I32) -> I32:
    """The passages of each query's ranked documents."""
    first = np.searchsorted(owner, np.arange(len(chosen) + 1))
    rows = [
        [passage for place in np.searchsorted(chosen, docs).tolist() for passage in range(first[place], first[place + 1])]
        for docs in ranked
    ]
    return padded_rows(rows)
