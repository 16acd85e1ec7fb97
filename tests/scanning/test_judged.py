"""Metrics of many models at once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.metrics import Reference
from anchorwords.scanning import judged
from anchorwords.scanning.judged import Judge, ManyGroups


@pytest.mark.parametrize("piece", [1, 700, 1 << 23])
def test_pairs_are_counted_as_one_group_at_a_time(sampled, monkeypatch, piece):
    monkeypatch.setattr(judged, "_PIECE", piece)
    counts = sampled.corpus.counts
    groups = [np.array([3, 1, 90]), np.array([7]), np.array([1, 7, 119, 2]), np.zeros(0, dtype=np.intp)]
    for form in (counts, [sp.csr_array(counts[:100]), sp.csr_array(counts[100:])]):
        found, n_docs = ManyGroups(form).documents_together(groups)
        expected, n_expected = Reference(form).documents_together(groups)
        assert n_docs == n_expected == 600
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_each_model_gets_its_own(sampled):
    models = [aw.AnchorTopicModel(K).fit(sampled.corpus).model_ for K in (2, 5)]
    names = ["umass_coherence", "entropy", "npmi_coherence"]
    judge = Judge(ManyGroups(sampled.corpus), names, 0, None)
    for model in models:
        judge.add(model)
    for model, values in zip(models, judge.results(), strict=True):
        expected = aw.evaluate(model, sampled.corpus, metrics=names)
        assert list(values) == names
        assert values == pytest.approx({name: expected[name] for name in names}, rel=1e-12)
