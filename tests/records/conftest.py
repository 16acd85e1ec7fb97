"""Every kind of record of the public API, with hostile labels."""

from __future__ import annotations

import numpy as np
import pytest

import anchorwords as aw

LABEL = "<script>alert('x')</script> & more"


@pytest.fixture(scope="session")
def labelled(sampled):
    """A fitted model whose topics have ids of their own and labels that no page should run."""
    model = aw.AnchorTopicModel(5).fit(sampled.corpus)
    model.measure_stability(sampled.corpus, n_replicates=3, n_shards=8)
    # Ids 2, 3, 4 and 5: the merge and the split leave gaps.
    model = aw.drop_topics(model, [0])
    return aw.rename_topics(model, {k: f"{LABEL} {k}" for k in model.model_.ids})


@pytest.fixture(scope="session")
def documents(sampled):
    """The corpus with a year and a group."""
    rng = np.random.default_rng(0)
    columns = {"year": rng.integers(2000, 2006, 600), "group": rng.choice(["<b>one</b>", "two & three"], 600)}
    plain = sampled.corpus
    return aw.Corpus(plain.counts, plain.vocabulary, documents=columns)


@pytest.fixture(scope="session")
def results(labelled, documents, sampled):
    """Results by name."""
    over_time = aw.topics_over_time(labelled, documents, by="year")
    fitted = aw.AnchorTopicModel(5).fit(sampled.corpus)
    found = {
        "topic_table": aw.topic_table(labelled, 4),
        "anchor_table": aw.anchor_table(labelled, documents),
        "common_words": aw.common_words(labelled, 5, min_spread=0.1),
        "changes": aw.changes(fitted, labelled, 3),
        "align_topics": aw.align_topics(labelled, labelled),
        "top_documents": aw.top_documents(labelled, documents, 2),
        "evaluate": aw.evaluate(labelled, documents, metrics=["npmi_coherence", "topic_diversity", "entropy"]),
        "stability": labelled.model_.stability,
        "prevalence_by": aw.prevalence_by(labelled, documents, by="group"),
        "topics_over_time": over_time,
        "trends": over_time.trends(),
        "words": over_time.words(labelled.model_.ids[1], 3),
        "hierarchy": aw.topic_hierarchy(labelled),
        "similar_words": aw.similar_words(labelled, ["w005"], 3),
        "predict_words": aw.predict_words(labelled, ["w005", "w017"], 3),
        "scan": aw.scan(sampled.corpus, [2, 4, 5, 6]),
    }
    if pytest.importorskip("formulaic"):
        effects = aw.estimate_effects(labelled, documents, "year")
        found |= {
            "effects": effects,
            "contrast": effects.contrast({"year": 2004}, {"year": 2001}),
            "predict": effects.predict({"year": [2000, 2005]}),
        }
    return found
