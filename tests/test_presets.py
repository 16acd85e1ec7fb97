"""Named presets: the paper's is the default to the bit, the readers' is what it says."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import clone

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import InputError
from anchorwords.interpret.ranking import check_ranking
from anchorwords.interpret.topic_words import ranking_for
from anchorwords.metrics.matching import match_topics
from anchorwords.presets import PAPER, PRESETS, READERS, preset
from tests.contracts import check_valid_model


@pytest.fixture(scope="module")
def corpus():
    return make_topics(n_docs=400, n_words=120, n_topics=5, random_state=7).corpus


def test_paper_is_the_default_bit_for_bit(corpus):
    assert preset("paper") == {"min_anchor_docs": 1, "rectifier": "enn", "refinement": None}
    named = aw.AnchorTopicModel.from_preset("paper", 5)
    assert named.get_params() == aw.AnchorTopicModel(5).get_params()
    one, two = named.fit(corpus).model_, aw.AnchorTopicModel(5).fit(corpus).model_
    for name in ("B", "A", "anchors", "word_topics", "word_probs", "Y"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.log_likelihood is None


def test_readers_is_refined_and_its_anchors_are_frequent(corpus):
    parameters = preset("readers")
    model = aw.AnchorTopicModel.from_preset("readers", 5)
    changed = {key for key, value in model.get_params().items() if value != aw.AnchorTopicModel(5).get_params()[key]}
    assert changed == set(parameters) == {"min_anchor_docs", "rectifier", "refinement"}
    assert parameters["min_anchor_docs"] == "auto"
    assert isinstance(parameters["refinement"], aw.Refinement)
    model.fit(corpus)
    check_valid_model(model.model_)
    assert len(model.model_.log_likelihood) > 0
    df = np.bincount(corpus.counts.indices, minlength=120)
    assert (model.model_.provenance.anchor_threshold.min_docs, model.model_.provenance.anchor_threshold.relaxed) == (
        4,
        False,
    )
    assert (df[model.anchors_] >= 4).all()
    by_hand = aw.AnchorTopicModel(5, **parameters).fit(corpus)
    np.testing.assert_array_equal(by_hand.components_, model.components_)


def test_what_is_given_beside_a_preset_wins():
    model = aw.AnchorTopicModel.from_preset("readers", 7, refinement=None, random_state=3)
    assert (model.n_components, model.refinement, model.random_state) == (7, None, 3)
    assert model.min_anchor_docs == preset("readers")["min_anchor_docs"]
    # A rectification that counts on sweeps is not left without them, unless it is asked for.
    assert model.rectifier == aw.AnchorTopicModel().rectifier
    rough = preset("readers")["rectifier"]
    assert aw.AnchorTopicModel.from_preset("readers", refinement=None, rectifier=rough).rectifier == rough
    assert aw.AnchorTopicModel.from_preset("readers", refinement=aw.Refinement(3)).rectifier == rough
    assert aw.AnchorTopicModel.from_preset("readers", min_anchor_docs=5).n_components == 10
    readers = aw.AnchorTopicModel.from_preset("readers")
    assert clone(readers).get_params() == readers.get_params()


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["kos", pytest.param("nips12", marks=pytest.mark.slow), pytest.param("20ng", marks=pytest.mark.slow)]
)
def test_topics_for_readers_are_the_same_for_every_seed_and_order(real_corpus, name):
    """A ten-thousandth of a topic: what spectral topics differ by, some 1e-6, and a hundredfold for the sweeps."""
    counts = real_corpus(name, 5000).counts
    expected = aw.AnchorTopicModel.from_preset("readers", 50).fit(counts).components_
    shuffled = counts[np.random.default_rng(0).permutation(counts.shape[0])]
    for data, seed in ((counts, 1), (counts, 2), (shuffled, 0)):
        found = aw.AnchorTopicModel.from_preset("readers", 50, random_state=seed).fit(data).components_
        assert match_topics(expected.T, found.T).total_variation.max() < 1e-4


def test_presets_cannot_be_changed_by_accident():
    preset("readers")["min_anchor_docs"] = 100
    assert preset("readers")["min_anchor_docs"] == "auto"
    with pytest.raises(FrozenInstanceError):
        READERS.min_anchor_docs = 100
    assert PRESETS == {"paper": PAPER, "readers": READERS}


def test_the_model_says_how_it_is_read_not_the_name_of_its_preset(corpus):
    for name, refinement, expected in (
        ("paper", None, "probability"),
        ("paper", aw.Refinement(n_sweeps=1), "relevance"),
        ("readers", None, "probability"),
        ("readers", preset("readers")["refinement"], "keywords"),
    ):
        model = aw.AnchorTopicModel.from_preset(name, 5, refinement=refinement).fit(corpus)
        assert ranking_for(model) == ranking_for(model.model_) == expected
        check_ranking(ranking_for(model))
    with pytest.raises(InputError, match="call fit first"):
        ranking_for(aw.AnchorTopicModel.from_preset("readers"))


def test_how_it_is_read_is_saved_with_it(corpus, tmp_path):
    for name in ("paper", "readers"):
        model = aw.AnchorTopicModel.from_preset(name, 5).fit(corpus)
        model.save(tmp_path / name)
        assert ranking_for(aw.load_model(tmp_path / name)) == ranking_for(model)


@pytest.mark.parametrize("name", ["reader", "", "Paper", None])
def test_unknown_names_are_refused(name):
    with pytest.raises(InputError, match=r"there is no preset .*: the names are 'paper', 'readers'"):
        preset(name)
    with pytest.raises(InputError, match="there is no preset"):
        aw.AnchorTopicModel.from_preset(name)
