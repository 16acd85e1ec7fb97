"""Corpora: counts with their vocabulary, read, curated, never changed."""
