"""Measures, significance and comparison of runs."""
