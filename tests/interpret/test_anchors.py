from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import InputError
from anchorwords.interpret.anchors import anchor_table


@pytest.fixture(scope="module")
def model(sampled):
    return aw.AnchorTopicModel(5).fit(sampled.corpus)


def test_frequencies_are_those_of_the_definitions(model, sampled):
    counts = sampled.corpus.counts.toarray()
    table = anchor_table(model, sampled.corpus)
    assert [row["topic"] for row in table] == [row["topic"] for row in aw.topic_table(model)]
    everything = aw.prominent_words(model, 120)
    for row in table:
        k = row["topic"]
        anchor = model.anchors_[k]
        assert row["anchor"] == sampled.corpus.vocabulary[anchor]
        assert row["prevalence"] == pytest.approx(model.topic_prevalence_[k])
        assert row["probability"] == model.model_.word_probs[anchor]
        assert row["in_topic"] == model.components_[k, anchor]
        assert row["rank"] == 1 + everything[k].index(row["anchor"])
        assert row["documents"] == (counts[:, anchor] > 0).sum()
        assert row["tokens"] == counts[:, anchor].sum()
        assert (type(row["rank"]), type(row["documents"]), type(row["tokens"])) == (int, int, int)
    assert anchor_table(model) == [
        {name: value for name, value in row.items() if name not in ("documents", "tokens")} for row in table
    ]


def test_any_way_to_give_the_documents_is_the_same(model, sampled, tmp_path):
    corpus = sampled.corpus
    expected = anchor_table(model, corpus)
    order = np.random.default_rng(0).permutation(corpus.n_words)
    corpus.save(tmp_path / "corpus")
    for X in (
        corpus.counts,
        [corpus.counts[:100], corpus.counts[100:]],
        aw.open_corpus(tmp_path / "corpus"),
        aw.Corpus(corpus.counts[:, order], [corpus.vocabulary[i] for i in order]),
    ):
        assert anchor_table(model.model_, X) == expected
    without = aw.Corpus(corpus.counts[:, :1], ["unheard-of"])
    with pytest.raises(InputError, match="holds none of the model's words"):
        anchor_table(model, without)


def test_names_come_from_where_there_are_some(model, sampled):
    bare = replace(model.model_, vocabulary=None)
    assert [row["anchor"] for row in anchor_table(bare)] == [
        str(model.anchors_[row["topic"]]) for row in anchor_table(model)
    ]
    expected = anchor_table(model, sampled.corpus)
    assert anchor_table(bare, sampled.corpus) == expected
    assert anchor_table(bare, sampled.corpus.counts, vocabulary=sampled.corpus.vocabulary) == expected


def test_rank_breaks_ties_as_the_words_do(model):
    B = np.full((120, 5), 1 / 120)
    table = anchor_table(replace(model.model_, B=B))
    assert [row["rank"] for row in table] == [1 + model.anchors_[row["topic"]] for row in table]
    B[model.anchors_] = 0.0
    assert {row["rank"] for row in anchor_table(replace(model.model_, B=B))} == {None}


def test_bad_input_is_refused(model, sampled):
    with pytest.raises(InputError, match="but X has 3 columns: give counts over the columns of the fit, or a Corpus"):
        anchor_table(model, sampled.corpus.counts[:, :3])
    with pytest.raises(InputError, match="120 columns"):
        anchor_table(model, vocabulary=["a"])
    with pytest.raises(InputError, match="expected a TopicModel"):
        anchor_table("model")
