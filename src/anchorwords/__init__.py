"""Exact, reproducible spectral topic models for very large vocabularies.

The names below load the modules behind them when first used: ``import anchorwords`` itself is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .anchors.dense import anchor_words
    from .anchors.lowrank import low_rank_anchor_words
    from .corpus.corpus import Corpus
    from .corpus.read import import_corpus, read_corpus
    from .corpus.stored import open_corpus
    from .estimator import AnchorTopicModel, load_model
    from .interpret.anchors import anchor_table
    from .interpret.documents import top_documents
    from .interpret.words import characteristic_words, prominent_words, topic_table
    from .metrics.evaluate import evaluate
    from .model import TopicModel
    from .rectify.alternating import rectify_ap
    from .rectify.enn import rectify_enn
    from .rectify.options import AP, ENN, PALM
    from .rectify.palm import rectify_palm
    from .rectify.result import Rectified
    from .statistics.moments import cooccurrence
    from .statistics.operator import CooccurrenceOperator
    from .statistics.sketch import CooccurrenceSketch
    from .statistics.sketch_folder import load_sketch

_HOME = {
    "AP": "rectify.options",
    "AnchorTopicModel": "estimator",
    "CooccurrenceOperator": "statistics.operator",
    "CooccurrenceSketch": "statistics.sketch",
    "Corpus": "corpus.corpus",
    "ENN": "rectify.options",
    "PALM": "rectify.options",
    "Rectified": "rectify.result",
    "TopicModel": "model",
    "anchor_table": "interpret.anchors",
    "anchor_words": "anchors.dense",
    "characteristic_words": "interpret.words",
    "cooccurrence": "statistics.moments",
    "evaluate": "metrics.evaluate",
    "import_corpus": "corpus.read",
    "load_model": "estimator",
    "load_sketch": "statistics.sketch_folder",
    "low_rank_anchor_words": "anchors.lowrank",
    "open_corpus": "corpus.stored",
    "prominent_words": "interpret.words",
    "read_corpus": "corpus.read",
    "rectify_ap": "rectify.alternating",
    "rectify_enn": "rectify.enn",
    "rectify_palm": "rectify.palm",
    "top_documents": "interpret.documents",
    "topic_table": "interpret.words",
}
_ROOMS = ("datasets", "exceptions", "metrics", "plot")

__all__ = [
    "AP",
    "ENN",
    "PALM",
    "AnchorTopicModel",
    "CooccurrenceOperator",
    "CooccurrenceSketch",
    "Corpus",
    "Rectified",
    "TopicModel",
    "__version__",
    "anchor_table",
    "anchor_words",
    "characteristic_words",
    "cooccurrence",
    "evaluate",
    "import_corpus",
    "load_model",
    "load_sketch",
    "low_rank_anchor_words",
    "open_corpus",
    "prominent_words",
    "read_corpus",
    "rectify_ap",
    "rectify_enn",
    "rectify_palm",
    "top_documents",
    "topic_table",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(f".{_HOME[name]}", __name__), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'anchorwords' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_ROOMS])
