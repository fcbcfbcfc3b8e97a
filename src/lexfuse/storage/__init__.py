"""The index folder: a SQLite catalog and immutable, memory-mapped segments."""
