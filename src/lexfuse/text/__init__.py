"""Legal text: languages, words, citations, sentences and passages.

    find(text)                              citations, in canonical form
    Resolver(corpus).resolve_text(text)     the documents that a text cites
    mask(text, DECISIONS)                   the text without what gives the answer away
    Analyser("fr").terms(text)              index terms; citations are terms too

`sentences`, `paragraphs`, `passages` and `annotate` are functions in modules of the same name.

>>> from lexfuse.text.citation.find import find_citations
>>> [str(citation) for citation in find_citations("l'article L.1234-5 du code du travail")]
['L1234-5 code du travail']
"""
