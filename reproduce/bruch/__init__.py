"""Bruch, Gai and Ingber: convex combination against reciprocal ranks (section 3.2 describes the experiments)."""
