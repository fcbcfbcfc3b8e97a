"""Legal text: languages, words, citations, sentences and passages.

    find(text)                              citations, in canonical form
    Resolver(corpus).resolve_text(text)     the documents that a text cites
    mask(text, DECISIONS)                   the text without what gives the answer away
    Analyser("fr").terms(text)              index terms; citations are terms too

`sentences`, `paragraphs`, `passages` and `annotate` are functions in modules of the same name.

>>> from lexfuse.text import find
>>> [str(citation) for citation in find("l'article L.1234-5 du code du travail")]
['L1234-5 code du travail']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lexfuse.lazy import lazy

if TYPE_CHECKING:
    from lexfuse.text.analyser import Analyser, Folding, Token
    from lexfuse.text.annotate import Annotation
    from lexfuse.text.citation import DECISIONS, EVERYTHING, STATUTES, Citation, System
    from lexfuse.text.citations import find, mask
    from lexfuse.text.codes import full_code, matching_codes
    from lexfuse.text.languages import detect
    from lexfuse.text.letters import folded
    from lexfuse.text.paragraphs import Paragraph
    from lexfuse.text.passages import Passage, numbered_passages, word_offsets
    from lexfuse.text.resolve import Resolver
    from lexfuse.text.sentences import Span, cut_long, sentence_texts
    from lexfuse.text.vocabulary import TermEncoder, Vocabulary

_HOMES = {
    "Analyser": "lexfuse.text.analyser",
    "Folding": "lexfuse.text.analyser",
    "Token": "lexfuse.text.analyser",
    "Annotation": "lexfuse.text.annotate",
    "DECISIONS": "lexfuse.text.citation",
    "EVERYTHING": "lexfuse.text.citation",
    "STATUTES": "lexfuse.text.citation",
    "Citation": "lexfuse.text.citation",
    "System": "lexfuse.text.citation",
    "find": "lexfuse.text.citations",
    "mask": "lexfuse.text.citations",
    "full_code": "lexfuse.text.codes",
    "matching_codes": "lexfuse.text.codes",
    "detect": "lexfuse.text.languages",
    "folded": "lexfuse.text.letters",
    "Paragraph": "lexfuse.text.paragraphs",
    "Passage": "lexfuse.text.passages",
    "numbered_passages": "lexfuse.text.passages",
    "word_offsets": "lexfuse.text.passages",
    "Resolver": "lexfuse.text.resolve",
    "Span": "lexfuse.text.sentences",
    "cut_long": "lexfuse.text.sentences",
    "sentence_texts": "lexfuse.text.sentences",
    "TermEncoder": "lexfuse.text.vocabulary",
    "Vocabulary": "lexfuse.text.vocabulary",
}
__all__ = [
    "DECISIONS",
    "EVERYTHING",
    "STATUTES",
    "Analyser",
    "Annotation",
    "Citation",
    "Folding",
    "Paragraph",
    "Passage",
    "Resolver",
    "Span",
    "System",
    "TermEncoder",
    "Token",
    "Vocabulary",
    "cut_long",
    "detect",
    "find",
    "folded",
    "full_code",
    "mask",
    "matching_codes",
    "numbered_passages",
    "sentence_texts",
    "word_offsets",
]
__getattr__ = lazy("lexfuse.text", _HOMES)
