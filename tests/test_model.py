from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.model import as_topic_model, embed_words
from anchorwords.sources.in_use import WordsInUse
from tests.contracts import check_valid_model


def test_record_is_frozen_and_read_only(nonnegative_factor):
    model = aw.low_rank_anchor_words(nonnegative_factor)
    with pytest.raises(dataclasses.FrozenInstanceError):
        model.B = None
    with pytest.raises(ValueError, match="read-only"):
        model.B[0, 0] = 1
    assert (model.n_words, model.n_components) == (80, 6)
    assert "80 words, 6 topics" in repr(model)
    assert model.prevalence.sum() == pytest.approx(1.0)


def test_vocabulary_must_fit(nonnegative_factor):
    model = aw.low_rank_anchor_words(nonnegative_factor)
    with pytest.raises(InputError, match="80 columns"):
        model.with_vocabulary(["a"])
    assert model.with_vocabulary([f"w{i}" for i in range(80)]).vocabulary[79] == "w79"


def test_embedded_words(sampled):
    counts = sampled.corpus.counts
    small = aw.AnchorTopicModel(3).fit(counts).model_
    used = np.zeros(125, bool)
    used[np.r_[0:60, 65:125]] = True
    model = embed_words(small, WordsInUse(used))
    check_valid_model(model)
    assert not model.B[60:65].any()
    np.testing.assert_allclose(model.word_topics[60:65], np.tile(small.prevalence, (5, 1)))
    np.testing.assert_array_equal(model.B[used], small.B)
    np.testing.assert_array_equal(model.anchor_rows.toarray()[:, used], small.anchor_rows.toarray())
    assert not model.Y[60:65].any()
    assert used[model.anchors].all()


def test_anything_else_is_refused():
    with pytest.raises(InputError, match="call fit first"):
        as_topic_model(aw.AnchorTopicModel())
    with pytest.raises(InputError, match="got int"):
        as_topic_model(3)
