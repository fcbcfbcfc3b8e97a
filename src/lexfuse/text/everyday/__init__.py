"""Everyday words: a lexicon that says how the law calls what people ask about, and the spelling of words."""
