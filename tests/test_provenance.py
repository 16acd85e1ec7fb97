"""Where a model came from, as JSON holds it; what of it is refused is in tests/storage/test_model_folder.py."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.corpus.text_rule import TextRule
from anchorwords.corpus.vocabulary_rule import VocabularyRule
from anchorwords.datasets import make_topics
from anchorwords.linalg.fixed_point import Iteration
from anchorwords.provenance import Provenance

numbers = st.floats(allow_infinity=False)
histories = st.lists(st.builds(Iteration, numbers, numbers, numbers), max_size=20).map(tuple)
sizes = st.none() | st.integers(0, 2**63 - 1)


@given(history=histories, converged=st.booleans(), n_docs=sizes, n_skipped=sizes)
def test_there_and_back(history, converged, n_docs, n_skipped):
    made = Provenance(
        n_iter=len(history), converged=converged, n_docs=n_docs, n_skipped=n_skipped, history=history,
        reading=TextRule(stop_words=frozenset({"a"}), ngrams=(1, 2)), preset="readers", parameters={"n_components": 3},
        vocabulary_rule=VocabularyRule(n_words=7, stop_words="english"),
    )  # fmt: skip
    text = json.dumps(made.to_dict(), allow_nan=False)
    assert repr(Provenance.from_dict(json.loads(text))) == repr(made)  # NaN and -0.0 too


def test_what_is_not_known_stays_so():
    made = Provenance(n_iter=7, converged=False, version="")
    assert Provenance.from_dict(made.to_dict()) == made
    assert Provenance.from_dict({"n_iter": 7, "converged": False}) == made


@pytest.mark.parametrize(
    "wrong", [{"preset": 3}, {"parameters": []}, {"reading": "plain"}, {"anchor_threshold": {"min_docs": 3}}]
)
def test_what_it_is_not(wrong):
    with pytest.raises(ValueError, match=r"preset|rule|threshold"):
        Provenance.from_dict({"n_iter": 7, "converged": False} | wrong)


def test_a_fit_leaves_it_and_a_saved_model_keeps_it(tmp_path):
    corpus = make_topics(n_docs=300, n_words=80, n_topics=3, random_state=0).corpus.prune(min_df=2)
    estimator = aw.AnchorTopicModel(3, rectifier=aw.ENN(tol=1e-6), forbidden_anchors=[0]).fit(corpus)
    made = estimator.model_.provenance
    assert made.parameters["rectifier"] == {"name": "enn", **vars(aw.ENN(tol=1e-6))}
    assert made.parameters["forbidden_anchors"] == [0]
    assert made.vocabulary_rule == corpus.vocabulary_rule == VocabularyRule(min_df=2)
    assert (made.n_docs, made.n_iter, made.converged) == (estimator.n_docs_, estimator.n_iter_, True)
    assert made.version == aw.__version__
    estimator.save(tmp_path / "model")
    assert repr(aw.load_model(tmp_path / "model").model_.provenance) == repr(made)


def test_changing_parameters_afterwards_does_not_change_it():
    corpus = make_topics(n_docs=300, n_words=80, n_topics=3, random_state=0).corpus
    estimator = aw.AnchorTopicModel.from_preset("readers", 3).fit(corpus)
    estimator.set_params(n_components=7, refinement=None)
    made = estimator.model_.provenance
    assert made.preset == "readers"
    assert made.parameters["n_components"] == 3
    assert made.parameters["refinement"] is not None
