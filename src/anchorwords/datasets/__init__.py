"""Corpora that need no download: docstrings of the installed packages, and synthetic topics."""

from .docstrings import load_docstrings
from .synthetic import SyntheticTopics, make_topics

__all__ = ["SyntheticTopics", "load_docstrings", "make_topics"]
