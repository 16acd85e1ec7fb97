"""Exact, reproducible spectral topic models for very large vocabularies.

The names below load the modules behind them when first used: ``import anchorwords`` itself is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .anchors.dense import anchor_words
    from .anchors.lowrank import low_rank_anchor_words
    from .compare import align_topics, changes
    from .corpus.cleaning import Cleaning
    from .corpus.corpus import Corpus
    from .corpus.documents import Documents
    from .corpus.read import import_corpus, read_corpus
    from .corpus.stored import open_corpus
    from .corpus.text_rule import TextRule
    from .corpus.vocabulary_rule import VocabularyRule
    from .edit.split import split_topic
    from .edit.topics import drop_topics, merge_topics, reduce_topics, rename_topics, reorder_topics
    from .effects.estimate import estimate_effects
    from .estimator import AnchorTopicModel
    from .exploring.data import explorer_data
    from .exploring.page import explorer
    from .interpret.anchors import anchor_table
    from .interpret.association import topic_association
    from .interpret.common_words import common_words
    from .interpret.flags import flag_topics
    from .interpret.hierarchy import topic_hierarchy
    from .interpret.labels import label_topics
    from .interpret.order import reading_order
    from .interpret.predict import predict_words
    from .interpret.prevalence import prevalence_by
    from .interpret.similar import similar_words
    from .interpret.top_documents import top_documents
    from .interpret.topic_table import topic_table
    from .interpret.topic_words import (
        background_words,
        characteristic_words,
        prominent_words,
        top_indices,
        top_words,
    )
    from .kernels.ahead import warmup
    from .loading import load_model
    from .metrics.evaluate import evaluate
    from .model import Stability, TopicFlag, TopicModel
    from .provenance import Provenance
    from .rectify.alternating import rectify_ap
    from .rectify.enn import rectify_enn
    from .rectify.palm import rectify_palm
    from .rectify.rectifiers import AP, ENN, PALM
    from .rectify.result import Rectified
    from .refine.options import Refinement
    from .resampling.stability import stability
    from .scanning.record import Scan
    from .scanning.scan import scan
    from .sources.convert import as_source
    from .sources.source import Source
    from .statistics.moments import cooccurrence
    from .statistics.operator import CooccurrenceOperator
    from .statistics.saved_sketch import load_sketch
    from .statistics.sketch import CooccurrenceSketch
    from .text_model import TextTopicModel
    from .text_vectorizer import TextVectorizer
    from .trends.over_time import topics_over_time
    from .trends.record import TopicsOverTime

_HOME = {
    "AP": "rectify.rectifiers",
    "AnchorTopicModel": "estimator",
    "Cleaning": "corpus.cleaning",
    "CooccurrenceOperator": "statistics.operator",
    "CooccurrenceSketch": "statistics.sketch",
    "Corpus": "corpus.corpus",
    "Documents": "corpus.documents",
    "ENN": "rectify.rectifiers",
    "PALM": "rectify.rectifiers",
    "Provenance": "provenance",
    "Rectified": "rectify.result",
    "Refinement": "refine.options",
    "Scan": "scanning.record",
    "Source": "sources.source",
    "Stability": "model",
    "TextRule": "corpus.text_rule",
    "TextTopicModel": "text_model",
    "TextVectorizer": "text_vectorizer",
    "TopicFlag": "model",
    "TopicModel": "model",
    "TopicsOverTime": "trends.record",
    "VocabularyRule": "corpus.vocabulary_rule",
    "align_topics": "compare",
    "anchor_table": "interpret.anchors",
    "anchor_words": "anchors.dense",
    "as_source": "sources.convert",
    "background_words": "interpret.topic_words",
    "changes": "compare",
    "characteristic_words": "interpret.topic_words",
    "common_words": "interpret.common_words",
    "cooccurrence": "statistics.moments",
    "drop_topics": "edit.topics",
    "estimate_effects": "effects.estimate",
    "evaluate": "metrics.evaluate",
    "explorer": "exploring.page",
    "explorer_data": "exploring.data",
    "flag_topics": "interpret.flags",
    "import_corpus": "corpus.read",
    "label_topics": "interpret.labels",
    "load_model": "loading",
    "load_sketch": "statistics.saved_sketch",
    "low_rank_anchor_words": "anchors.lowrank",
    "merge_topics": "edit.topics",
    "open_corpus": "corpus.stored",
    "predict_words": "interpret.predict",
    "prevalence_by": "interpret.prevalence",
    "prominent_words": "interpret.topic_words",
    "read_corpus": "corpus.read",
    "reading_order": "interpret.order",
    "rectify_ap": "rectify.alternating",
    "rectify_enn": "rectify.enn",
    "rectify_palm": "rectify.palm",
    "reduce_topics": "edit.topics",
    "rename_topics": "edit.topics",
    "reorder_topics": "edit.topics",
    "scan": "scanning.scan",
    "similar_words": "interpret.similar",
    "split_topic": "edit.split",
    "stability": "resampling.stability",
    "top_documents": "interpret.top_documents",
    "top_indices": "interpret.topic_words",
    "top_words": "interpret.topic_words",
    "topic_association": "interpret.association",
    "topic_hierarchy": "interpret.hierarchy",
    "topic_table": "interpret.topic_table",
    "topics_over_time": "trends.over_time",
    "warmup": "kernels.ahead",
}
_ROOMS = ("datasets", "exceptions", "export", "metrics", "plot")

__all__ = [
    "AP",
    "ENN",
    "PALM",
    "AnchorTopicModel",
    "Cleaning",
    "CooccurrenceOperator",
    "CooccurrenceSketch",
    "Corpus",
    "Documents",
    "Provenance",
    "Rectified",
    "Refinement",
    "Scan",
    "Source",
    "Stability",
    "TextRule",
    "TextTopicModel",
    "TextVectorizer",
    "TopicFlag",
    "TopicModel",
    "TopicsOverTime",
    "VocabularyRule",
    "__version__",
    "align_topics",
    "anchor_table",
    "anchor_words",
    "as_source",
    "background_words",
    "changes",
    "characteristic_words",
    "common_words",
    "cooccurrence",
    "drop_topics",
    "estimate_effects",
    "evaluate",
    "explorer",
    "explorer_data",
    "flag_topics",
    "import_corpus",
    "label_topics",
    "load_model",
    "load_sketch",
    "low_rank_anchor_words",
    "merge_topics",
    "open_corpus",
    "predict_words",
    "prevalence_by",
    "prominent_words",
    "read_corpus",
    "reading_order",
    "rectify_ap",
    "rectify_enn",
    "rectify_palm",
    "reduce_topics",
    "rename_topics",
    "reorder_topics",
    "scan",
    "similar_words",
    "split_topic",
    "stability",
    "top_documents",
    "top_indices",
    "top_words",
    "topic_association",
    "topic_hierarchy",
    "topic_table",
    "topics_over_time",
    "warmup",
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
