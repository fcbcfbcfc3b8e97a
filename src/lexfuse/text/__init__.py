"""Legal text: languages, words, citations, sentences and passages.

    find_citations(text)                         citations, in canonical form
    mask_citations(text, DECISIONS)              the text without the decisions it cites
    CitationResolver(corpus).resolve_text(text)  the documents that a text cites
    Analyser("fr").terms(text)                   index terms; citations are terms too

>>> from lexfuse.text.citation.find import find_citations
>>> [str(citation) for citation in find_citations("l'article L.1234-5 du code du travail")]
['L1234-5 code du travail']
"""
