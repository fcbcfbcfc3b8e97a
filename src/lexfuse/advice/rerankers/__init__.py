"""Rerankers that an advice tries on top of the chosen configuration."""
