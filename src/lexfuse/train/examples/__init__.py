"""Training examples: queries, passages, negatives, splits and batches."""
