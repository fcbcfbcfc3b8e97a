"""Channels in PostgreSQL: how an index is exported, and retrievers that search it by SQL."""
