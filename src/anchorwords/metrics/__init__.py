"""Metrics: pure functions of a model and a corpus or operator."""
