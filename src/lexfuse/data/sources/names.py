"""Names of the collections that LexFuse imports, and choices of their readers; apart from them, so that help texts are fast."""

from __future__ import annotations

from enum import StrEnum


class SourceName(StrEnum):
    """A collection that LexFuse imports in the form in which it is published.

    >>> SourceName("bsard")
    <SourceName.BSARD: 'bsard'>
    """

    BSARD = "bsard"
    LLEQA = "lleqa"
    CJEU = "cjeu"
    LEGALPINCITE = "legalpincite"
    LEGI = "legi"
    KALI = "kali"
    LABOUR = "labour"  # the codes of LEGI with the ministry's sheets as questions
    CONSTITUTION = "constitution"


class WithinTest(StrEnum):
    """What becomes of citations between two paragraphs of the test period of CJEU, where a query would cite another query.

    The paper removes the citations (footnote 3); its published code removes every query that has one.

    >>> WithinTest("remove-queries")
    <WithinTest.REMOVE_QUERIES: 'remove-queries'>
    """

    REMOVE_CITATIONS = "remove-citations"
    REMOVE_QUERIES = "remove-queries"
    KEEP = "keep"
