"""The training loop: steps, evaluations and checkpoints."""
