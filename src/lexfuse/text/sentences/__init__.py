"""Sentence splitting of legal French and English."""
