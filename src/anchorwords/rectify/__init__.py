"""Rectification: pull a noisy co-occurrence onto the geometry of the model, one method a module."""
