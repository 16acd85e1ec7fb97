"""Topics for other programs: pyLDAvis, graph programs, gensim's way to print, data frames, files of compositions."""

from .document_topics import write_compositions
from .frames import to_frame
from .gensim import show_topics
from .graph import write_graph
from .pyldavis import pyldavis_data

__all__ = ["pyldavis_data", "show_topics", "to_frame", "write_compositions", "write_graph"]
