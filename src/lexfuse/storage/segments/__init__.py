"""Segments: immutable files with the posting lists of a block of documents."""
