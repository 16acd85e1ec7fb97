"""Anchor words: their choice, and the topics that follow from them."""
