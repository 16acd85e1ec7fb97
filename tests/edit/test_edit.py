from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.edit.split import _expected_counts
from anchorwords.exceptions import DegenerateWarning, InputError
from anchorwords.interpret.compositions import document_compositions
from anchorwords.sources.convert import as_source
from anchorwords.storage.model_folder import _check, _facts_of, _tensors_of

K = 6


@pytest.fixture(scope="module")
def data():
    return make_topics(n_docs=600, n_words=240, n_topics=K, random_state=0).corpus


@pytest.fixture(scope="module", params=["paper", "readers"])
def fitted(request, data):
    return aw.AnchorTopicModel.from_preset(request.param, K).fit(data)


@pytest.fixture(scope="module")
def model(data):
    return aw.AnchorTopicModel(K).fit(data)


def assert_valid(record):
    """What a folder requires of a model, and that A and B agree on the probabilities of words."""
    _check(_tensors_of(record), _facts_of(record))
    assert len(record.edits) > 0
    np.testing.assert_allclose(record.prevalence.sum(), 1.0, atol=1e-9)


def test_merge_then_transform_is_transform_then_add(fitted, data):
    before = fitted.transform(data)
    merged = aw.merge_topics(fitted, [[3, 1], [0, 4, 2]])
    after = merged.transform(data)
    assert merged.model_.ids == (0, 3, 5)
    expected = np.column_stack([before[:, [0, 4, 2]].sum(1), before[:, [1, 3]].sum(1), before[:, 5]])
    np.testing.assert_allclose(after, expected, atol=1e-14)  # sums of the same numbers


def test_drop_then_transform_is_transform_then_scale(fitted, data):
    before = fitted.transform(data)[:, [0, 2, 3, 5]]
    after = aw.drop_topics(fitted, [1, 4]).transform(data)
    np.testing.assert_allclose(after, before / before.sum(axis=1, keepdims=True), atol=1e-14)


def test_merged_topics_are_mixtures_and_keep_the_words(fitted):
    record = fitted.model_
    merged = aw.merge_topics(record, [[1, 3]])
    assert isinstance(merged, aw.TopicModel)
    np.testing.assert_allclose(merged.B @ merged.prevalence, record.B @ record.prevalence, atol=1e-14)
    np.testing.assert_allclose(merged.B @ merged.A @ merged.B.T, _coarse(record, [1, 3]), atol=1e-12)
    np.testing.assert_allclose(merged.word_topics[:, 1], record.word_topics[:, [1, 3]].sum(axis=1), atol=1e-14)


def _coarse(record, group):
    """B A B' of a model in which the topics of a group have the same words."""
    pi = record.prevalence[group]
    B = np.array(record.B)
    B[:, group] = (B[:, group] @ pi / pi.sum())[:, None]
    return B @ record.A @ B.T


def test_reorder_permutes_everything(fitted, data):
    moved = aw.reorder_topics(fitted, [4, 1])
    order = [4, 1, 0, 2, 3, 5]
    assert moved.model_.ids == tuple(order)
    np.testing.assert_array_equal(moved.components_, fitted.components_[order])
    np.testing.assert_allclose(moved.transform(data), fitted.transform(data)[:, order], atol=1e-14)


def test_rename_save_load(fitted, data, tmp_path):
    named = aw.rename_topics(aw.merge_topics(fitted, [[2, 5]]), {2: "space  flight"})
    named.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.model_.labels[loaded.model_.position(2)] == "space flight"
    assert loaded.model_.edits == named.model_.edits
    np.testing.assert_array_equal(loaded.transform(data), named.transform(data))
    assert aw.rename_topics(loaded, {2: ""}).model_.labels is None


def test_merged_labels_are_kept(model):
    named = aw.rename_topics(model, {2: "a", 5: "b"})
    assert aw.merge_topics(named, [[5, 2, 0]]).model_.labels[0] == "b + a"


def test_merged_labels_are_cut_at_the_limit(model, tmp_path):
    named = aw.rename_topics(model, {2: "a" * 200, 5: "b"})
    merged = aw.merge_topics(named, [[2, 5]])
    label = merged.model_.labels[merged.model_.position(2)]
    assert label == "a" * 199 + "…"
    assert aw.rename_topics(merged, {2: label}).model_.labels == merged.model_.labels


def test_a_saved_model_with_a_long_label_loads(model, tmp_path):
    long = replace(model.model_, labels=("x" * 10_000, *[""] * (K - 1)))
    model.with_model(long).save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").model_.labels == long.labels


@pytest.mark.parametrize("into", [2, 3])
def test_merging_a_split_gives_the_topic_back(fitted, data, into):
    split = aw.split_topic(fitted, 2, data, into=into)
    record = split.model_
    assert record.ids[2 : 2 + into] == tuple(range(K, K + into))
    assert_valid(record)
    assert split.transform(data).shape == (data.n_docs, K - 1 + into)
    back = aw.merge_topics(split, [list(range(K, K + into))]).model_
    # Scaling to given sums ends within rounding of them.
    np.testing.assert_allclose(back.B, fitted.model_.B, atol=1e-9)
    np.testing.assert_allclose(back.A, fitted.model_.A, atol=1e-9)
    np.testing.assert_allclose(back.word_topics, fitted.model_.word_topics, atol=1e-9)


def test_split_finds_the_topics_that_were_merged(data):
    """Topics that are hidden in one come apart again: each sub-topic is nearest to another true topic."""
    model = aw.AnchorTopicModel(K).fit(data)
    hidden = aw.merge_topics(model, [[0, 3]])
    split = aw.split_topic(hidden, 0, data)
    new = [split.model_.position(topic) for topic in split.model_.edits[-1].result]
    distance = np.abs(split.model_.B[:, new][:, :, None] - model.model_.B[:, [0, 3]][:, None, :]).sum(axis=0) / 2
    nearest = distance.argmin(axis=1)
    assert sorted(nearest) == [0, 1]
    assert distance.min(axis=1).max() < 0.25  # unrelated topics of this corpus are more than 0.8 apart


def test_small_sub_topics_are_warned_of(model, data, monkeypatch):
    """One topic in six: most sub-topics have little to learn from."""
    monkeypatch.setattr("anchorwords.edit.split._SMALL", 0.1)
    with pytest.warns(DegenerateWarning, match=r"into 6 gives sub-topics with [\d., %]+ of it, of which") as found:
        split = aw.split_topic(model, 1, data, into=6)
    shares = split.model_.prevalence[1:7] / model.model_.prevalence[1]
    small = np.count_nonzero(shares < 0.1)
    assert 1 < small < 5
    assert f"of which {small} have less than 10%: split it into {6 - small}." in str(found[0].message)


def test_expected_counts_share_out_the_tokens(model, data):
    """Over all topics, the expected counts add up to the counts; each is theta_k B_ik / theta B_i of them."""
    record, counts = model.model_, data.counts[:50]
    theta = np.random.default_rng(0).dirichlet(np.ones(K), size=50)
    shares = [_expected_counts(counts, theta, record.B, np.array([k])).toarray() for k in range(K)]
    known = counts.toarray() * (record.B.sum(axis=1) > 0.0)
    np.testing.assert_allclose(np.sum(shares, axis=0), known, atol=1e-12)
    m, i = 7, int(counts[[7]].indices[0])
    expected = counts[m, i] * theta[m, 2] * record.B[i, 2] / (record.B[i] @ theta[m])
    np.testing.assert_allclose(shares[2][m, i], expected, rtol=1e-12)
    np.testing.assert_allclose(
        _expected_counts(counts, theta, record.B, np.array([1, 4])).toarray(), shares[1] + shares[4], atol=1e-12
    )


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_sequence_of_edits_is_valid(model, data, draw):
    """Also for documents: their proportions sum to one, and follow each edit that only regroups topics."""
    record, documents = model.model_, data[:25]
    before = proportions_of(record, documents)
    for _ in range(draw.draw(st.integers(1, 5))):
        ids, position = list(record.ids), record.position
        several = ["merge", "drop", "reduce"] if len(ids) > 1 else []
        action = draw.draw(st.sampled_from(["rename", "reorder", "split", *several]))
        if action == "merge":
            group = draw.draw(st.lists(st.sampled_from(ids), min_size=2, max_size=len(ids), unique=True))
            record = aw.merge_topics(record, [group])
        elif action == "drop":
            some = st.lists(st.sampled_from(ids), min_size=1, max_size=len(ids) - 1, unique=True)
            record = aw.drop_topics(record, draw.draw(some))
        elif action == "rename":
            record = aw.rename_topics(record, {draw.draw(st.sampled_from(ids)): draw.draw(st.text(max_size=200))})
        elif action == "reduce":
            record = aw.reduce_topics(record, draw.draw(st.integers(1, len(ids) - 1)))
        elif action == "split":
            try:
                record = aw.split_topic(record, draw.draw(st.sampled_from(ids)), data)
            except InputError:  # a part of a part of a topic may have too few documents left
                continue
        else:
            record = aw.reorder_topics(record, draw.draw(st.permutations(ids)))
        assert_valid(record)
        assert set(record.ids) - set(ids) <= set(record.edits[-1].result)
        after = proportions_of(record, documents)
        np.testing.assert_allclose(after.sum(axis=1), 1.0, atol=1e-9)
        if action in ("rename", "reorder"):
            expected = before[:, [position(topic) for topic in record.ids]]
        elif action == "merge":
            expected = np.column_stack([
                before[:, [position(one) for one in (group if topic == group[0] else [topic])]].sum(axis=1)
                for topic in record.ids
            ])  # fmt: skip
        else:
            expected = after
        np.testing.assert_allclose(after, expected, atol=1e-12)
        before = after


def proportions_of(record, corpus):
    """Topic proportions of documents given a record; those of a document without known words are the prevalence."""
    return np.concatenate([weights for weights, _ in document_compositions(record, as_source(corpus))])


def test_hierarchy_loses_all_information_in_the_end(model):
    tree = aw.topic_hierarchy(model)
    assert tree.linkage.shape == (K - 1, 4)
    assert (np.diff(tree.linkage[:, 2]) >= 0).all()
    np.testing.assert_allclose(tree.linkage[-1, 2], 1.0, atol=1e-9)
    assert sorted(tree.order) == list(range(K))
    assert [len(tree.cut(n)) for n in range(1, K + 1)] == list(range(1, K + 1))
    assert sorted(topic for cluster in tree.cut(3) for topic in cluster) == list(range(K))


@pytest.mark.parametrize("n", [1, 2, 4, K])
def test_hierarchy_keeps_the_information_of_its_clusters(model, n):
    """By the definition of mutual information, sum p(x, y) log p(x, y) / p(x) p(y), of topics that are counted as one."""
    record, tree = model.model_, aw.topic_hierarchy(model)
    kept = 0.0
    for joint in (record.B * record.prevalence, record.B @ record.A):
        p = np.column_stack([joint[:, cluster].sum(axis=1) for cluster in tree.cut(n)])
        apart = np.outer(p.sum(axis=1), p.sum(axis=0))
        some = p > 0.0
        kept += (p[some] * np.log(p[some] / apart[some])).sum()
    height = tree.linkage[K - n - 1, 2] if n < K else 0.0
    np.testing.assert_allclose(kept, tree.information * (1.0 - height), atol=1e-9)


def test_copies_of_a_topic_are_joined_first(model, data):
    split = aw.split_topic(model, 1, data)
    pair = set(split.model_.edits[-1].result)
    tree = aw.topic_hierarchy(split)
    first = tree.rows()[0]
    assert first["information_kept"] > 0.8
    assert pair & {*first["topics"], *first["with_topics"]}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda m: aw.merge_topics(m, [[1, 99]]), "no topic 99"),
        (lambda m: aw.merge_topics(m, [[1]]), "at least two"),
        (lambda m: aw.merge_topics(m, [[1, 2], [2, 3]]), "topics to merge: topic 2 is named twice"),
        (lambda m: aw.merge_topics(m, [[3, 3]]), "topics to merge: topic 3 is named twice"),
        (lambda m: aw.merge_topics(m, "1,2"), "list of lists"),
        (lambda m: aw.drop_topics(m, [1, 1]), "topics to drop: topic 1 is named twice"),
        (lambda m: aw.reorder_topics(m, [1, 1]), "order of topics: topic 1 is named twice"),
        (lambda m: aw.drop_topics(m, list(range(K))), "at least one topic must remain"),
        (lambda m: aw.rename_topics(m, {1: 3}), "dict of topic ids"),
        (
            lambda m: aw.rename_topics(m, {1: "x" * 201}),
            "label of topic 1 must have at most 200 characters, but has 201",
        ),
        (lambda m: aw.reduce_topics(m, K + 1), "6 topics cannot be reduced to 7: ask for at most 6"),
        (lambda m: aw.split_topic(m, 1, np.ones((3, 240)), into=1), "at least 2"),
        (lambda m: aw.split_topic(m, 1, np.ones((3, 240))), "needs 20 documents"),
    ],
)
def test_bad_edits_are_refused(model, edit, words):
    with pytest.raises(InputError, match=words):
        edit(model)
