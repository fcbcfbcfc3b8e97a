"""Importers of known legal collections, each from the form in which its authors publish it."""
