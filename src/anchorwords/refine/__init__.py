"""Refinement: topics polished by likelihood after the spectral fit."""
