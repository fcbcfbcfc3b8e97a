"""Legal text: languages, words, citations, sentences and passages."""
