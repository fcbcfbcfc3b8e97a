"""Text analysis: languages, words, stems and vocabulary."""
