"""Pairs that the structure of law gives for free: no question was asked and no judgement made, a corpus is enough.

What a query copies from its document is taken out of the passage most of the time, else a model learns to compare strings; the
shares are constants of the modules that make the pairs. Documents that repeat another word for word count once, as the query
would answer both alike; the first one stays.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum

from lexfuse.data.corpus import Corpus
from lexfuse.data.read_report import ReadReport
from lexfuse.errors import ConfigError
from lexfuse.text.annotation import with_languages
from lexfuse.train.examples.examples import TrainingPair
from lexfuse.train.structure.citation_pairs import cited_pairs, citing_paragraph_pairs
from lexfuse.train.structure.heading_pairs import heading_pairs, title_pairs
from lexfuse.train.structure.inverse_cloze import cloze_pairs
from lexfuse.train.structure.pair_filter import filter_pairs


class StructureKind(StrEnum):
    """What a query and its passage are to each other.

    >>> StructureKind("headings")
    <StructureKind.HEADINGS: 'headings'>
    """

    HEADINGS = "headings"  # heading path -> article
    TITLE = "title"  # title of a document or a section -> its body
    CITED = "cited"  # sentence that cites an article -> that article
    CITING_PARAGRAPH = "citing-paragraph"  # paragraph of a judgment -> paragraph of an earlier one that it cites
    CLOZE = "cloze"  # sentence -> the rest of its document


def structure_pairs(
    corpus: Corpus, kinds: Iterable[StructureKind], *, masked: bool = True, seed: int = 1, report: ReadReport | None = None
) -> dict[str, list[TrainingPair]]:
    """Pairs of each kind, in the order of the documents; the same corpus and seed always give the same.

    With ``masked`` the queries of citing sentences and paragraphs are without their citations. The report says how many pairs of
    each kind there are and what was left out. Pairs of case law never look ahead, but they do look at all of the corpus: where
    judgments of a test period are in it, give only the earlier ones (`lexfuse.train.examples.splits.documents_before`).

    >>> from lexfuse.data.document import Document
    >>> document = Document("a", text="Le préavis dure un mois.", headings=("Livre I : La fin du contrat",))
    >>> structure_pairs(Corpus.of([document]), [StructureKind.HEADINGS])["headings"]
    [TrainingPair(query='La fin du contrat', passage='Livre I : La fin du contrat Le préavis dure un mois.')]
    """
    report = ReadReport() if report is None else report
    wanted = list(dict.fromkeys(kinds))
    if not wanted:
        raise ConfigError(f"no kind of pairs is asked for; choose from {', '.join(StructureKind)}")
    corpus = with_languages(corpus)
    distinct = _distinct(corpus)
    if len(distinct) < len(corpus):
        report.note(f"{len(corpus) - len(distinct):,} documents without text or with the text of another, not used as passages")
    made = {}
    for kind in wanted:
        left: Counter[str] = Counter()
        pairs = filter_pairs(_pairs(kind, corpus, distinct, masked, seed, left), left)
        report.kept += len(pairs)
        without = ", ".join(f"{count:,} {what}" for what, count in left.items() if count)
        report.note(f"{kind.value}: {len(pairs):,} pairs" + (f"; without {without}" if without else ""))
        made[kind.value] = pairs
    return made


def _pairs(
    kind: StructureKind, corpus: Corpus, distinct: list[int], masked: bool, seed: int, left: Counter[str]
) -> Iterator[TrainingPair]:
    match kind:
        case StructureKind.HEADINGS:
            return heading_pairs(corpus, distinct, seed, left)
        case StructureKind.TITLE:
            return title_pairs(corpus, distinct, left)
        case StructureKind.CITED:
            return cited_pairs(corpus, left, masked=masked)
        case StructureKind.CITING_PARAGRAPH:
            return citing_paragraph_pairs(corpus, left, masked=masked)
        case StructureKind.CLOZE:
            return cloze_pairs(corpus, distinct, seed, left)


def _distinct(corpus: Corpus) -> list[int]:
    """The first document of each text; spaces and capitals make no other text."""
    first: dict[str, int] = {}
    for ordinal, text in enumerate(corpus.text):
        first.setdefault(" ".join(text.casefold().split()), ordinal)
    first.pop("", None)
    return list(first.values())
