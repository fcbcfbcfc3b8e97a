"""Names of the importable collections and options of their readers, in a module that loads fast for help texts."""

from __future__ import annotations

from enum import StrEnum


class SourceName(StrEnum):
    """A collection that LexFuse imports from its published form."""

    BSARD = "bsard"
    LLEQA = "lleqa"
    CJEU = "cjeu"
    LEGALPINCITE = "legalpincite"
    LEGI = "legi"
    KALI = "kali"
    LABOUR = "labour"  # the codes of LEGI with the ministry's sheets as questions
    CONSTITUTION = "constitution"
    MSMARCO = "msmarco"  # and its translations, mMARCO
    COLIEE = "coliee"
    WIKIPEDIA_SIMILARITY = "wikipedia-similarity"  # wines and video games, the sets of SDR
    LEGALQUAD = "legalquad"
    SCIFACT = "scifact"
    CANADA = "canada"
    HUMAN_RIGHTS = "human-rights"  # judgments of the European Court of Human Rights


class PublicName(StrEnum):
    """A collection that LexFuse makes from public packages and repositories."""

    FRENCH_LABOUR_LAW = "french-labour-law"
    CONSTITUTION_OF_INDIA = "constitution-of-india"
    HUMAN_RIGHTS_JUDGMENTS = "human-rights-judgments"
    LEGALQUAD = "legalquad"
    SCIFACT = "scifact"


class WithinTest(StrEnum):
    """How to treat citations between two paragraphs of the CJEU test period, where a query would cite another query.

    The paper removes the citations (footnote 3); its published code removes every query that has one.
    """

    REMOVE_CITATIONS = "remove-citations"
    REMOVE_QUERIES = "remove-queries"
    KEEP = "keep"
