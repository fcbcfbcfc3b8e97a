"""Training pairs from the structure of law: citations, headings, inverse cloze."""
