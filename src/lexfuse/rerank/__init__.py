"""Rerankers: a closer look at the best documents of a ranking."""
