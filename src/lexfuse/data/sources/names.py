"""Names of the collections that LexFuse imports; apart from their readers, so that help texts are fast."""

from __future__ import annotations

from enum import StrEnum


class Source(StrEnum):
    """A collection that LexFuse imports in the form in which it is published.

    >>> Source("bsard")
    <Source.BSARD: 'bsard'>
    """

    BSARD = "bsard"
    LLEQA = "lleqa"
    CJEU = "cjeu"
    LEGALPINCITE = "legalpincite"
    LEGI = "legi"
    KALI = "kali"
    LABOUR = "labour"  # the codes of LEGI with the ministry's sheets as questions
    CONSTITUTION = "constitution"
