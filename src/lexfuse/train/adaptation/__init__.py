"""Adaptation of a model to a corpus without judgements: MLM, TSDAE, SDR, structure."""
