"""Train models on the user's texts."""
