"""Guided topics keep their seeds, and forbidden topics stay away: from the mathematics and on planted topics."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import GuidanceWarning, InputError
from anchorwords.interpret.seeds import seed_ranks
from anchorwords.refine.guided import Guided
from tests.contracts import check_valid_model


@pytest.fixture(scope="module")
def planted():
    """Five topics, and a sixth of 30 words of its own in a tenth of the documents: the junk."""
    data = make_topics(n_docs=700, n_words=120, n_topics=5, doc_length=60, n_anchors=2, random_state=7)
    rng = np.random.default_rng(0)
    clean = data.corpus.counts.toarray()
    junk = np.zeros((clean.shape[0], 30))
    weights = np.arange(1, 31) ** -0.5
    for row in range(0, clean.shape[0], 10):
        junk[row] = rng.multinomial(60, weights / weights.sum())
        clean[row] = rng.binomial(clean[row].astype(int), 0.1)
    words = [*data.corpus.vocabulary, *(f"junk{i:02d}" for i in range(30))]
    return aw.Corpus(np.hstack([clean, junk]), words)


def fitted(corpus, preset, n_components=6, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuidanceWarning)
        return aw.AnchorTopicModel.from_preset(preset, n_components, **options).fit(corpus).model_


def test_held_topics_are_posterior_modes():
    rng = np.random.default_rng(1)
    B = rng.dirichlet(np.ones(8), size=3).T
    held = Guided(((1, 4), (6,)), 0.25).held(B.copy())
    q = np.zeros((8, 2))
    q[[1, 4], 0], q[6, 1] = 0.5, 1.0
    np.testing.assert_allclose(held[:, :2], (B[:, :2] + 0.25 * q) / 1.25, rtol=1e-14)
    np.testing.assert_array_equal(held[:, 2], B[:, 2])
    np.testing.assert_array_equal(Guided(((1, 4),), 0.0).held(B.copy()), B)


def test_tied_topics_maximise_the_likelihood_under_the_constraint():
    """No other distribution in which the tied words are alike gives the expected tokens a greater likelihood."""
    rng = np.random.default_rng(2)
    n = rng.gamma(1.0, size=(7, 3))
    neutral = np.array([True, False, False, True, False, False, False])
    guided = Guided(neutral=neutral)
    best = guided.tied(n / n.sum(axis=0), n.sum(axis=1))
    np.testing.assert_allclose(best.sum(axis=0), 1.0, rtol=1e-14)
    assert (best[neutral] == best[neutral][:, :1]).all()
    for _ in range(50):
        other = guided.tied(rng.dirichlet(np.ones(7), size=3).T, rng.gamma(1.0, size=7))
        assert np.sum(n * np.log(other)) < np.sum(n * np.log(best))


@pytest.mark.parametrize("preset", ["readers", "paper"])
def test_a_forbidden_word_forbids_its_topic(planted, preset):
    free = fitted(planted, preset)
    junk = np.arange(120, 150)
    k = int(np.argmax(free.B[junk].sum(axis=0)))
    assert free.B[junk, k].sum() > 0.8  # the junk is a topic, if nobody forbids it
    model = fitted(planted, preset, forbidden_anchors=["junk00"])
    check_valid_model(model)
    (topic,) = model.provenance.forbidden_topics
    assert topic.word == 120
    assert set(topic.columns) >= set(junk[:20].tolist())
    assert not set(model.anchors.tolist()) & set(topic.columns)
    alike = model.B[list(topic.columns)]
    np.testing.assert_allclose(alike, np.broadcast_to(alike[:, :1], alike.shape), rtol=1e-9)
    # No topic is about the junk: none has much more of it than the corpus has.
    share = planted.counts[:, junk].sum() / planted.counts.sum()
    assert model.B[junk].sum(axis=0).max() < 1.5 * share
    assert "'junk00' belongs to one topic" in topic.sentence(model.vocabulary)


def test_a_common_word_forbids_only_itself(planted):
    free = fitted(planted, "paper")
    spread = free.word_topics.max(axis=1)
    word = int(np.argmin(spread))
    assert spread[word] < 0.5
    model = fitted(planted, "paper", forbidden_anchors=[word])
    assert model.provenance.forbidden_topics == ()
    np.testing.assert_array_equal(model.B, free.B)  # it was no anchor


def test_topics_with_seeds_are_never_forbidden(planted):
    model = fitted(planted, "readers", anchors=[["junk01", "junk02"]], forbidden_anchors=["junk00"])
    assert all(not {121, 122} & set(topic.columns) for topic in model.provenance.forbidden_topics)
    assert model.anchor_groups[0] == (121, 122)


@pytest.mark.parametrize("preset", ["readers", "paper"])
def test_without_guidance_the_strength_makes_no_difference(planted, preset):
    plain = fitted(planted, preset)
    for strength in (0.0, 0.1, 5.0):
        np.testing.assert_array_equal(fitted(planted, preset, strength=strength).B, plain.B)


def test_seeds_rise_with_the_strength(planted):
    seeds = ((3, 40), (77,))
    shares, ranks = [], []
    for strength in (0.0, 0.05, 0.5, 5.0):
        model = fitted(planted, "readers", anchors=[list(group) for group in seeds], strength=strength)
        check_valid_model(model)
        shares.append([model.B[list(group), k].sum() for k, group in enumerate(seeds)])
        ranks.append(seed_ranks(model, seeds))
        # The last M step is the posterior mode; making anchors exclusive afterwards only takes other words out.
        assert min(shares[-1]) >= strength / (1.0 + strength) - 1e-12
    assert (np.diff(shares, axis=0) > 0).all()
    assert ranks[-1] == [[1, 2], [1]] or ranks[-1] == [[2, 1], [1]]


@pytest.mark.parametrize("preset", ["readers", "paper"])
def test_a_seed_that_is_no_top_word_is_reported_with_its_rank(planted, preset):
    rare = int(np.argmin(np.asarray(planted.counts.sum(axis=0)).ravel()[:120]))
    options = {"anchors": [[rare, 121]], "strength": 0.0}
    with pytest.warns(
        GuidanceWarning, match=r"of 2 seed word.*not among the 10 top words.*rank [\d,]+ of [\d,]+ in topic 0"
    ):
        aw.AnchorTopicModel.from_preset(preset, 6, **options).fit(planted)


def test_strength_and_excluded_words_are_saved(planted, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GuidanceWarning)
        model = aw.AnchorTopicModel.from_preset(
            "readers", 6, anchors=["w003"], forbidden_anchors=["junk00"], strength=0.3
        ).fit(planted)
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.strength == 0.3
    assert loaded.model_.provenance.parameters["strength"] == 0.3
    assert loaded.model_.provenance.forbidden_topics == model.model_.provenance.forbidden_topics != ()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sure = loaded.measure_stability(planted, n_replicates=2)  # replicate 0 repeats the fit, and warns if it differs
    assert sure.similarity.shape == (6,)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "much", True, None])
def test_a_bad_strength_is_refused(planted, bad):
    with pytest.raises(InputError, match="strength must be a number, 0 or more"):
        aw.AnchorTopicModel(3, strength=bad).fit(planted)


@pytest.mark.data
@pytest.mark.parametrize("preset", ["readers", "paper"])
def test_german_descriptions_are_forbidden_by_one_word(real_corpus, preset):
    """Some vulnerabilities are described in German: forbidding one German word leaves no German topic."""
    whole = real_corpus("cve", 3000)
    corpus = whole[np.arange(0, whole.n_docs, 12)]
    german = [corpus.vocabulary.index(word) for word in ("der", "eine", "kann", "wurde", "werden", "das", "mit")]
    free = fitted(corpus, preset, 20)
    assert free.B[german].sum(axis=0).max() > 0.1  # a topic that is German, if nobody forbids it
    model = fitted(corpus, preset, 20, forbidden_anchors=["und"])
    check_valid_model(model)
    (topic,) = model.provenance.forbidden_topics
    assert set(german) <= set(topic.columns)
    assert not set(model.anchors.tolist()) & set(topic.columns)
    tokens = np.asarray(corpus.counts.sum(axis=0)).ravel()
    # Tied words have their share of the documents; that of the rectified statistics is near it.
    assert model.B[german].sum(axis=0).max() < 1.5 * tokens[german].sum() / tokens.sum()
