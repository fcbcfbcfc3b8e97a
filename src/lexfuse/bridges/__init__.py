"""Bridges: the search of an index as a component of other frameworks, and indexes and collections in formats of other systems.

Each module needs the extra that has its name, and says so where the package is missing. Nothing is imported before it is used.
"""
