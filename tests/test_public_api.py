from __future__ import annotations

import inspect
import subprocess
import sys

import pytest

import anchorwords as aw

CONTRACT = {
    "cooccurrence": ["X"],
    "CooccurrenceOperator": ["X"],
    "Corpus": ["counts", "vocabulary", "doc_ids"],
    "read_corpus": ["path", "format", "vocabulary", "text_column", "id_column"],
    "open_corpus": ["path"],
    "rectify_ap": ["C", "n_components", "max_iter", "tol"],
    "rectify_enn": ["C", "n_components", "n_rows", "relaxation", "max_iter", "tol"],
    "rectify_palm": ["C", "n_components", "s", "gamma", "max_iter", "inertial", "tol"],
    "anchor_words": ["C", "n_components", "anchors"],
    "low_rank_anchor_words": ["Y", "anchors"],
    "AnchorTopicModel": ["n_components", "rectifier", "anchors", "random_state", "n_jobs", "verbose"],
    "prominent_words": ["model", "n"],
    "characteristic_words": ["model", "n"],
    "topic_table": ["model", "n"],
    "evaluate": ["model", "X"],
    "top_documents": ["model", "X", "n"],
    "anchor_table": ["model", "X"],
    "load_model": ["path"],
    "scan": ["X", "n_components"],
    "stability": ["model", "X", "n_replicates", "n_shards", "level"],
    "top_words": ["model", "n", "ranking", "weight"],
    "prevalence_by": ["model", "X", "by", "level"],
    "align_topics": ["old", "new"],
    "Refinement": ["n_sweeps", "split_sweeps", "decorrelation"],
    "ENN": ["max_iter", "tol", "n_rows", "relaxation"],
    "PALM": ["s", "gamma", "max_iter", "inertial", "tol"],
    "AP": ["max_iter", "tol"],
}


@pytest.mark.parametrize("name", sorted(CONTRACT))
def test_signatures_keep_the_contract(name):
    parameters = list(inspect.signature(getattr(aw, name)).parameters)
    assert [p for p in CONTRACT[name] if p not in parameters] == []


def test_defaults_keep_the_contract():
    assert inspect.signature(aw.rectify_ap).parameters["max_iter"].default == 150
    palm = inspect.signature(aw.rectify_palm).parameters
    assert (palm["s"].default, palm["gamma"].default, palm["max_iter"].default) == (1e-4, 1.005, 100)
    assert palm["inertial"].default is False
    prune = inspect.signature(aw.Corpus.prune).parameters
    assert [prune[name].default for name in ("n_words", "min_df", "max_df", "min_tokens", "min_types")] == [
        None,
        1,
        1.0,
        5,
        3,
    ]


@pytest.mark.parametrize(
    ("record", "function"), [("ENN", "rectify_enn"), ("PALM", "rectify_palm"), ("AP", "rectify_ap")]
)
def test_option_records_default_to_what_the_functions_default_to(record, function):
    options = getattr(aw, record)()
    parameters = inspect.signature(getattr(aw, function)).parameters
    for name, value in vars(options).items():
        assert parameters[name].default == value


def test_every_public_name_resolves_and_is_documented():
    for name in aw.__all__:
        value = getattr(aw, name)
        assert name == "__version__" or value.__doc__
    assert set(aw.__all__) <= set(dir(aw))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = aw.nonsense


def test_public_names_survive_the_import_of_any_submodule():
    # A function named like a package would be shadowed once that package is imported.
    script = (
        "import anchorwords as aw; aw.CooccurrenceOperator; aw.AnchorTopicModel; aw.topic_table;"
        "import anchorwords.statistics.moments, anchorwords.datasets;"
        "import types; bad=[n for n in aw.__all__ if isinstance(getattr(aw, n), types.ModuleType)]; assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_import_is_lazy():
    script = (
        "import sys; import anchorwords; heavy = {'numpy','scipy','sklearn','numba','typer','rich'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
