"""The index folder: a SQLite catalog beside immutable, memory-mapped segments."""
