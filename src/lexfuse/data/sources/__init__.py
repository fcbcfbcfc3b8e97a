"""Importers of legal collections, each from its published form."""
