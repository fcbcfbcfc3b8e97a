"""Choosing parameters on judged queries; every choice carries the evidence for it."""
