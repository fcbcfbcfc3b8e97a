"""Names of laws that documents declare: the identifier "§ 5 SGB 5" of a document says that its code is also called SGB 5."""

from __future__ import annotations

from lexfuse.data.corpus import Corpus
from lexfuse.text.citation.find import find_citations


def declared_names(corpus: Corpus) -> dict[str, str]:
    """Codes with the name that the first identified provision of each has for it.

    >>> title = "Sozialgesetzbuch (SGB) Fünftes Buch (V) - Gesetzliche Krankenversicherung -"
    >>> names = declared_names(Corpus.of([Document("a", code=title, number="5", identifiers=("§ 5 SGB 5",))]))
    >>> names == {title: "SGB 5"}
    True
    """
    names: dict[str, str] = {}
    for code, number, identifiers in zip(corpus.code, corpus.number, corpus.identifiers, strict=True):
        if code and number and identifiers and code not in names:
            cited = [one for identifier in identifiers for one in find_citations(identifier)]
            names[code] = next((one.code for one in cited if one.code and one.key.casefold() == number.casefold()), "")
    return {code: name for code, name in names.items() if name}
