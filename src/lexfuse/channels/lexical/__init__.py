"""Lexical channels: BM25 and TF-IDF over the words of the index."""
