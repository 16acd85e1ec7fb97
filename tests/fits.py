"""Fits and inference from plain counts and lists of blocks, for tests of the layers below the estimator."""

from __future__ import annotations

from types import SimpleNamespace

import anchorwords.fitting
from anchorwords.infer import aware, complete, compose
from anchorwords.refine import refinement
from anchorwords.refine.guided import Guided
from anchorwords.sources.convert import as_source
from anchorwords.sources.source import Source
from anchorwords.statistics.of_sketch import SketchedCooccurrence


class Blocks(Source):
    """Blocks as they are, without any check; ``blocks`` may be a function that gives them anew."""

    def __init__(self, blocks, n_words=0):
        self._blocks = blocks if callable(blocks) else list(blocks)
        first = next(iter(self._given()), None)
        self.n_words = n_words if first is None else first.shape[1]

    def _given(self):
        return self._blocks() if callable(self._blocks) else self._blocks

    def lazy_blocks(self):
        for block in self._given():
            yield lambda block=block: block


def fit_topics(data, n_components, *, vocabulary=None, **options):
    options = anchorwords.fitting.FitOptions(n_components, **options)
    return SimpleNamespace(model=anchorwords.fitting.fit_documents(as_source(data), options, vocabulary=vocabulary))


def fit_sketch(sketch, n_components, *, vocabulary=None, min_df=1, n_features=0, **options):
    options = anchorwords.fitting.FitOptions(n_components, **options)
    statistics = SketchedCooccurrence(sketch, min_df, n_features)
    return SimpleNamespace(model=anchorwords.fitting.fit_sketch(statistics, options, vocabulary=vocabulary))


def refine_topics(model, data, options, *, n_given=0, **others):
    """With ``n_given`` the first topics are held to their anchors as those of a fit are, with no strength."""
    if n_given:
        groups = model.anchor_groups or tuple((int(word),) for word in model.anchors)
        others["guided"] = Guided(groups[:n_given])
    source = Blocks(data) if isinstance(data, list) or callable(data) else as_source(data)
    return refinement.refine_topics(model, source, options, **others)


def learn_dual(model, blocks, **options):
    return aware.learn_dual(model, Blocks(blocks), **options)


def compositions(model, blocks, **options):
    return compose.compositions(model, Blocks(blocks), **options)


def complete_documents(model, blocks, **options):
    return complete.complete_documents(model, Blocks(blocks, model.n_words), **options)
