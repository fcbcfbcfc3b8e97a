"""Columns of tables: which field each one is, and the type of its values."""
