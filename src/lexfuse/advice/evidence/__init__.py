"""Evidence behind an advice: complementarity, score distributions, length bias, overlap."""
