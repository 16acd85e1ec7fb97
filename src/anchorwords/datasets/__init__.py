"""Corpora that need no download: docstrings of the installed packages, and synthetic topics."""

from .docstrings import docstring_texts, load_docstrings
from .stopwords import DOCSTRING_STOP_WORDS
from .synthetic import SyntheticTopics, make_topics

__all__ = ["DOCSTRING_STOP_WORDS", "SyntheticTopics", "docstring_texts", "load_docstrings", "make_topics"]
