"""Retrievers: each ranks the documents of an index for queries, and gives exact scores of any given pair."""
