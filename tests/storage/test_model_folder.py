from __future__ import annotations

import copy
import dataclasses
import hashlib
import importlib.metadata
import itertools
import json
import os
import platform
import shutil
import sys
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp

import anchorwords as aw
from anchorwords.corpus.cleaning import Cleaning
from anchorwords.corpus.text_rule import TextRule
from anchorwords.exceptions import InputError, ModelFormatError
from anchorwords.linalg.fixed_point import Iteration
from anchorwords.model import Edit, Parts, Stability, TopicFlag, TopicModel
from anchorwords.provenance import ForbiddenTopic, Provenance
from anchorwords.storage import folders as _folders
from anchorwords.storage import model_folder as persist
from anchorwords.storage.model_folder import read_model, write_model
from anchorwords.storage.safetensors import read_tensors, write_tensors
from tests.fixtures import model_v3, model_v4

# Fields that a record need not have, with their defaults.
OPTIONAL = {
    "vocabulary": None,
    "Y": None,
    "anchor_rows": None,
    "anchor_groups": None,
    "composition_dual": None,
    "stability": None,
    "log_likelihood": None,
    "labels": None,
    "ids": (),
    "provenance": Provenance(),
    "left_out": None,
    "parts": None,
    "edits": (),
    "keyword_weights": None,
    "flags": (),
}


def same_bits(found, expected):
    """Equal to the last bit, in type and shape too."""
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def same_record(found, expected):
    """Every field of two records, bit for bit."""
    for field in dataclasses.fields(expected):
        one, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, np.ndarray):
            same_bits(one, other)
        elif dataclasses.is_dataclass(other):
            same_record(one, other)
        elif sp.issparse(other):
            assert one.shape == other.shape
            for part in ("data", "indices", "indptr"):
                same_bits(getattr(one, part), getattr(other, part))
        elif field.name == "history" and other is not None:
            same_history(one, other)
        else:
            assert type(one) is type(other)
            assert one == other


def same_history(found, expected):
    """Steps bit for bit; NaN is NaN."""
    assert type(found) is tuple
    assert all(type(step) is Iteration for step in found)
    assert repr(found) == repr(expected)  # of a float, every bit


def arrays_of(model):
    """Every array of a record, by name."""
    rows, stability = model.anchor_rows, model.stability
    found = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    found |= {} if stability is None else {f"stability.{k}": v for k, v in vars(stability).items()}
    found |= {} if rows is None else {f"anchor_rows.{k}": getattr(rows, k) for k in ("data", "indices", "indptr")}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.fixture(scope="module")
def fitted(sampled):
    return aw.AnchorTopicModel(4, rectifier=aw.ENN(tol=1e-5), random_state=3, anchors=["w010"]).fit(sampled.corpus)


def test_round_trip_of_an_estimator(fitted, sampled, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.get_params() == fitted.get_params()
    for name in ("components_", "anchors_", "topic_correlation_", "topic_prevalence_", "word_topics_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    assert loaded.model_.vocabulary == sampled.corpus.vocabulary
    assert (loaded.n_iter_, loaded.converged_) == (fitted.n_iter_, fitted.converged_)
    assert (loaded.n_docs_, loaded.n_skipped_) == (fitted.n_docs_, fitted.n_skipped_) == (600, 0)
    same_history(loaded.history_, fitted.history_)
    assert loaded.n_iter_ == len(loaded.history_) > 0
    np.testing.assert_array_equal(loaded.transform(sampled.corpus), fitted.transform(sampled.corpus))
    assert aw.topic_table(loaded) == aw.topic_table(fitted)
    assert loaded.get_feature_names_out().tolist() == fitted.get_feature_names_out().tolist()


@pytest.mark.parametrize("rectifier", ["ap", None, "palm"])
def test_round_trip_of_every_method(sampled, tmp_path, rectifier):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = aw.AnchorTopicModel(3, rectifier=rectifier).fit(sampled.corpus.counts)
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert loaded.rectifier == rectifier
    same_history(loaded.history_, model.history_)
    assert (loaded.history_ == ()) == (rectifier is None)
    assert (loaded.model_.Y is None) == (model.model_.Y is None)
    assert loaded.model_.vocabulary is None


def test_data_frame_names_survive(sampled, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sampled.corpus.counts.toarray(), columns=sampled.corpus.vocabulary)
    model = aw.AnchorTopicModel(3).fit(frame)
    model.save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").feature_names_in_.tolist() == list(sampled.corpus.vocabulary)


def with_provenance(model, **changes):
    """The record with another provenance."""
    return dataclasses.replace(model, provenance=model.provenance.with_changes(**changes))


def test_histories_of_any_numbers_and_length_survive(fitted, tmp_path):
    model = copy.copy(fitted)
    rng = np.random.default_rng(0)
    steps = [Iteration(*row) for row in rng.standard_normal((2000, 3)) * 10.0 ** rng.integers(-300, 300, (2000, 3))]
    steps += [Iteration(0.0, -0.0), Iteration(np.float64(5e-324), 1.7976931348623157e308, 1 / 3)]
    model.model_ = with_provenance(fitted.model_, history=tuple(steps), n_iter=len(steps), n_skipped=2**40)
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    assert [tuple(map(float.hex, step)) for step in loaded.history_] == [tuple(map(float.hex, step)) for step in steps]
    assert (loaded.n_iter_, loaded.n_skipped_) == (2002, 2**40)
    # JSON has no infinity: it is read back as NaN.
    model.model_ = with_provenance(
        fitted.model_, history=(Iteration(np.inf, -np.inf, np.nan), Iteration(1.0, np.nan, 2.0)), n_iter=2
    )
    model.save(tmp_path / "model")
    same_history(aw.load_model(tmp_path / "model").history_, (Iteration(*[np.nan] * 3), Iteration(1.0, np.nan, 2.0)))
    assert "NaN" not in (tmp_path / "model" / "model.json").read_text(encoding="utf-8")


def test_models_saved_before_fits_were_remembered(any_format):
    folder, key = any_format
    manifest = manifest_of(folder)
    for name in ("n_docs", "n_skipped", "history"):
        manifest[key].pop(name, None)
    reseal(folder, manifest)
    expected = (manifest[key]["n_iter"], manifest[key]["converged"])
    for turn in ("of an earlier version", "and saved again by this one"):
        loaded = aw.load_model(folder)
        assert (loaded.n_docs_, loaded.n_skipped_, loaded.history_) == (None, None, None), turn
        assert (loaded.n_iter_, loaded.converged_) == expected, turn
        loaded.save(folder)


def test_no_pickle_and_no_leftovers(fitted, tmp_path):
    fitted.save(tmp_path / "deep" / "model")
    files = sorted(path.name for path in (tmp_path / "deep" / "model").iterdir())
    assert files == ["model.json", "model.safetensors"]
    assert os.listdir(tmp_path / "deep") == ["model"]


def test_replaces_a_model_but_nothing_else(fitted, tmp_path):
    target = tmp_path / "model"
    fitted.save(target)
    fitted.save(target)
    assert os.listdir(tmp_path) == ["model"]
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("precious")
    with pytest.raises(ModelFormatError, match=r"not a model folder.*nothing was written"):
        fitted.save(other)
    assert (other / "chapter.txt").read_text() == "precious"
    (tmp_path / "file").write_text("also")
    with pytest.raises(ModelFormatError, match="not a model folder"):
        fitted.save(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    fitted.save(tmp_path / "empty")


def test_a_failure_leaves_the_old_model(fitted, tmp_path, monkeypatch):
    target = tmp_path / "model"
    fitted.save(target)
    before = (target / "model.json").read_bytes()
    monkeypatch.setattr(_folders.json, "dumps", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        fitted.save(target)
    monkeypatch.undo()
    assert (target / "model.json").read_bytes() == before
    assert os.listdir(tmp_path) == ["model"]
    aw.load_model(target)


def test_folders_that_only_look_like_a_model_are_left_alone(fitted, tmp_path):
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "model.json").write_text('{"format": "other tool"}')
    more = tmp_path / "more"
    fitted.save(more)
    (more / "notes.txt").write_text("precious")
    for folder in (foreign, more):
        with pytest.raises(ModelFormatError, match="nothing was written"):
            fitted.save(folder)
    assert (more / "notes.txt").read_text() == "precious"


def test_words_of_any_kind_survive(sampled, tmp_path):
    # Two lone surrogates are not the character they would make.
    words = ["\ud800 lone", "new\nline", "مرحبا", "🙂", "\ud83d\ude42", "", "\0"] + [f"w{i}" for i in range(113)]
    model = aw.AnchorTopicModel(2).fit(aw.Corpus(sampled.corpus.counts, words))
    model.save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").model_.vocabulary == tuple(words)


# ---- The record.


def test_every_field_of_the_record_has_a_place():
    # A field that is added later needs a place in the folder, and a new version where readers must know it.
    facts = persist._facts_of(model_v4.record()).keys() - {"n_words", "n_components"}
    assert facts == {"A_raw_sum", "stability", "labels", "ids", "provenance", "edits", "flags", "background"}
    placed = {name.split(".")[0] for name in persist._LAYOUT} - {"parts_dual"} | facts - {"background"}  # of the parts
    assert placed == {field.name for field in dataclasses.fields(TopicModel)}
    parts = {name.removeprefix("stability.") for name in persist._LAYOUT if name.startswith("stability.")}
    assert parts | persist._STABILITY_NUMBERS.keys() == {field.name for field in dataclasses.fields(Stability)}
    assert model_v4.PROVENANCE.to_dict().keys() == {field.name for field in dataclasses.fields(Provenance)}
    required = {"B", "A", "A_raw_sum", "anchors", "word_topics", "word_probs"}
    assert {field.name for field in dataclasses.fields(TopicModel)} == required | OPTIONAL.keys()


# Parts of the provenance that came after the fixture of version 4.
LATER = {
    "text": {"preset": "readers", "vectorizer": {"numbers": True}},
    "tokenized": True,
    "forbidden_topics": (ForbiddenTopic(2, 0.75, 0.125, (2, 0)),),
}


def complete() -> TopicModel:
    """A record in which every part differs from its default."""
    record = with_provenance(model_v4.record(), **LATER)
    K = record.n_components
    return dataclasses.replace(
        record,
        left_out=np.array([0, 7, 2**31 - 1], dtype=np.int32),
        parts=Parts(
            np.column_stack([record.B[:, ::-1], record.word_probs]),
            np.full((K + 1, K + 1), (K + 1.0) ** -2),
            np.append(np.arange(K)[::-1], -1),
            np.eye(K + 1),
            background=K,
        ),
        keyword_weights=record.B[:, ::-1].astype(np.float32),
        flags=(
            TopicFlag("copies", (0, 5), ((1, 3),), 0.75),
            TopicFlag("incoherent", (2,), ((1, 0),), -0.125),
            TopicFlag("two subjects", (0,), ((4, 1), (2,)), 0.5),
        ),
        edits=(Edit("merge", (2, 9), (2,)), Edit("rename", (5,), (5,), ("a name",))),
    )


def test_the_fixture_of_version_4_has_no_default_values():
    # So that a field that is not saved, or saved in the place of another, does not pass the tests below.
    assert not any(getattr(model_v4.PROVENANCE, name) for name in LATER)
    for record, parts in ((complete(), OPTIONAL), (complete().provenance, vars(Provenance(version="")))):
        for name, default in parts.items():
            assert getattr(record, name) is not None
            assert (
                name in ("Y", "composition_dual", "anchor_rows", "left_out", "parts", "keyword_weights")
                or getattr(record, name) != default
            )
    assert model_v4.record().ids != (0, 1, 2)


@pytest.mark.parametrize("left_out", [c for n in range(3) for c in itertools.combinations(OPTIONAL, n)], ids="-".join)
def test_round_trip_with_and_without_each_field(tmp_path, left_out):
    model = dataclasses.replace(complete(), **{name: OPTIONAL[name] for name in left_out})
    write_model(tmp_path / "model", model)
    found = read_model(tmp_path / "model")
    same_record(found, model)
    assert found.ids == ((0, 1, 2) if "ids" in left_out else (2, 0, 5))


@pytest.mark.parametrize("left_out", [field.name for field in dataclasses.fields(Provenance)])
def test_round_trip_with_and_without_each_part_of_the_provenance(tmp_path, left_out):
    more = {"history": None} if left_out == "n_iter" else {}  # a history has as many steps as n_iter says
    model = with_provenance(complete(), **{left_out: getattr(Provenance(), left_out)}, **more)
    write_model(tmp_path / "model", model)
    same_record(read_model(tmp_path / "model"), model)


def test_labels_and_ids_stay_with_an_estimator(fitted, tmp_path):
    model = copy.copy(fitted)
    model.model_ = dataclasses.replace(fitted.model_.with_labels(["a", "", "語", "new\nline"]), ids=(7, 3, 2**40, 0))
    for turn in range(2):
        model.save(tmp_path / "model")
        model = aw.load_model(tmp_path / "model")
        assert model.model_.labels == ("a", "", "語", "new\nline"), turn
        assert model.model_.ids == (7, 3, 2**40, 0), turn


def retyped(model, floats, integers):
    """The record in other types of numbers."""
    kinds = {"f": floats, "i": integers}
    change = {name: getattr(model, name).astype(kinds[getattr(model, name).dtype.kind]) for name in
              ("B", "A", "anchors", "word_topics", "word_probs", "Y", "composition_dual")}  # fmt: skip
    rows = sp.csr_array(model.anchor_rows, copy=True)
    rows.data, rows.indices, rows.indptr = (
        rows.data.astype(floats), rows.indices.astype(integers), rows.indptr.astype(integers),
    )  # fmt: skip
    stable = {name: value.astype(floats) for name, value in vars(model.stability).items()
              if isinstance(value, np.ndarray)}  # fmt: skip
    stability = dataclasses.replace(model.stability, **stable)
    return dataclasses.replace(model, **change, anchor_rows=rows, stability=stability)


@pytest.mark.parametrize("floats", [np.float32, np.float64])
@pytest.mark.parametrize("integers", [np.int32, np.int64])
def test_types_survive(tmp_path, floats, integers):
    # Also long indices, which SciPy shortens where it can.
    model = retyped(model_v4.record(), floats, integers)
    write_model(tmp_path / "model", model)
    same_record(read_model(tmp_path / "model"), model)


def test_any_order_in_memory_is_saved(tmp_path):
    model = model_v4.record()
    wide = np.zeros((12, 9))
    wide[:, ::3] = model.Y
    locked = model.word_topics.copy()
    locked.setflags(write=False)
    other = dataclasses.replace(
        model,
        B=np.asfortranarray(model.B),
        A=model.A.T,
        Y=wide[:, ::3],
        word_topics=locked,
        word_probs=model.word_probs[::-1].copy()[::-1],
        anchor_rows=sp.csc_array(model.anchor_rows),
        composition_dual=model.composition_dual.astype(">f8"),
    )
    write_model(tmp_path / "model", other)
    found = read_model(tmp_path / "model")
    same_record(found, model)
    assert all(array.flags.c_contiguous for array in arrays_of(found).values())


def test_the_smallest_models(tmp_path):
    # One word, which is empty, and one topic; rows of anchors that hold nothing.
    one = np.ones((1, 1))
    model = TopicModel(one, one, 0.0, np.zeros(1, dtype=np.intp), one, one[0], [""], anchor_rows=sp.csr_array((1, 1)))
    write_model(tmp_path / "model", model)
    found = read_model(tmp_path / "model")
    same_record(found, model)
    assert found.vocabulary == ("",)
    assert found.anchor_rows.nnz == 0
    # A last row that is empty, and one in the middle.
    rows = sp.csr_array(np.array([[0.5, 0.5, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]))
    model = TopicModel(np.eye(4), np.eye(4) / 4, 1.0, np.arange(4), np.eye(4), np.full(4, 0.25), anchor_rows=rows)
    write_model(tmp_path / "model", model)
    same_record(read_model(tmp_path / "model"), model)


def test_arrays_are_read_only_and_nothing_done_to_the_file_changes_them(tmp_path):
    write_model(tmp_path / "model", model_v4.record())
    found = read_model(tmp_path / "model")
    assert len(arrays_of(found)) == 17
    for array in arrays_of(found).values():
        assert type(array) is np.ndarray
        assert array.flags.aligned
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    os.truncate(tmp_path / "model" / "model.safetensors", 0)  # a mapped file would end the process with SIGBUS
    same_record(found, model_v4.record())


def test_a_loaded_model_outlives_its_folder(fitted, sampled, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    bare = read_model(tmp_path / "model")
    expected = fitted.transform(sampled.corpus)
    write_model(tmp_path / "model", model_v4.record())
    same_record(read_model(tmp_path / "model"), model_v4.record())
    same_record(bare, fitted.model_)
    np.testing.assert_array_equal(loaded.transform(sampled.corpus), expected)
    shutil.rmtree(tmp_path / "model")
    same_record(bare, fitted.model_)
    np.testing.assert_array_equal(loaded.transform(sampled.corpus), expected)


def test_a_model_can_be_saved_over_the_file_it_is_mapped_from(tmp_path):
    write_model(tmp_path / "model", model_v4.record())
    for turn in range(3):
        model = read_model(tmp_path / "model")
        write_model(tmp_path / "model", model.with_vocabulary([f"{turn}.{i}" for i in range(12)]))
    found = read_model(tmp_path / "model")
    assert found.vocabulary[0] == "2.0"
    same_record(found.with_vocabulary(model_v4.WORDS), model_v4.record())


def test_the_same_model_is_the_same_bytes(fitted, tmp_path):
    fitted.save(tmp_path / "one")
    aw.load_model(tmp_path / "one").save(tmp_path / "two")
    for name in ("model.json", "model.safetensors"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


@pytest.mark.parametrize("n_topics", [1, 2, 3, 5])
@pytest.mark.parametrize("n_words", [119, 120])
def test_compositions_are_the_same_bits(sampled, tmp_path, n_topics, n_words):
    # Sizes that put arrays at places in the file that memory would not.
    X = sampled.corpus.counts[:, :n_words]
    model = aw.AnchorTopicModel(n_topics).fit(X)
    model.save(tmp_path / "model")
    loaded = aw.load_model(tmp_path / "model")
    same_record(loaded.model_, model.model_)
    assert loaded.transform(X).tobytes() == model.transform(X).tobytes()
    assert loaded.score(X) == model.score(X)


def test_the_manifest_says_what_wrote_it(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "model.json").read_text(encoding="utf-8"))
    assert (manifest["format"], manifest["format_version"]) == ("anchorwords-model", 6)
    assert manifest["written_by"] == f"anchorwords {aw.__version__}"
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "numba", "scikit-learn")}
    assert manifest["libraries"] == {"python": platform.python_version(), **versions}
    raw = (tmp_path / "model" / "model.safetensors").read_bytes()
    assert manifest["checksums"] == {"model.safetensors": f"sha256:{hashlib.sha256(raw).hexdigest()}"}
    assert manifest["provenance"]["parameters"]["n_components"] == 4
    assert manifest["provenance"]["version"] == aw.__version__
    assert (manifest["labels"], manifest["ids"]) == (None, [0, 1, 2, 3])
    assert "metadata" not in manifest
    # Neither documents nor words are in it: its size does not grow with them.
    assert len(json.dumps(manifest)) < 5000


def test_libraries_that_are_not_there_are_not_named(tmp_path, monkeypatch):
    monkeypatch.setattr(persist, "_LIBRARIES", ("numpy", "a-library-that-is-not-there"))
    assert persist._libraries().keys() == {"python", "numpy"}


def test_parameters_come_back_as_json_has_them(tmp_path):
    # Keys that sort otherwise as text, tuples, and two surrogates that JSON makes one character of.
    given = {"k": {10: 1, 9: (2, 3)}, "w": "\ud83d\ude42"}
    write_model(tmp_path / "model", with_provenance(model_v4.record(), parameters=given))
    found = read_model(tmp_path / "model").provenance.parameters
    assert found == {"k": {"10": 1, "9": [2, 3]}, "w": "🙂"}
    nested = []
    nested.append(nested)
    for wrong in ({"x": float("nan")}, {"x": np.zeros(2)}, {"x": {1, 2}}, {"x": nested}):
        with pytest.raises(InputError, match="the provenance of a model must be what JSON can hold"):
            write_model(tmp_path / "other", with_provenance(model_v4.record(), parameters=wrong))
    assert os.listdir(tmp_path) == ["model"]


# ---- Formats of the past and of today, for good.


def test_the_fixture_of_version_4_is_read_for_ever():
    # Never make this folder anew for version 4, whatever this test says: see tests/fixtures/model_v4.py.
    assert manifest_of(model_v4.FOLDER)["format_version"] == 4
    same_record(read_model(model_v4.FOLDER), model_v4.record())
    with pytest.raises(FileExistsError, match="never made anew"):
        model_v4.make()


def test_the_fixture_of_version_3_is_read_for_ever():
    # Never make this folder anew for version 3, whatever this test says: see tests/fixtures/model_v3.py.
    manifest = manifest_of(model_v3.FOLDER)
    assert manifest["format_version"] == 3
    assert not {"labels", "ids", "provenance"} & manifest.keys()
    model = read_model(model_v3.FOLDER)
    same_record(model, model_v3.record())
    assert (model.labels, model.ids) == (None, (0, 1, 2))


def test_the_fixture_of_version_3_composes_documents(tmp_path):
    write_model(tmp_path / "model", model_v3.record())
    now, then = aw.load_model(tmp_path / "model"), aw.load_model(model_v3.FOLDER)
    assert then.get_params() == now.get_params()
    assert then.rectifier == aw.ENN(tol=1e-5)
    assert then.composition == "prior-aware"
    assert (then.n_iter_, then.converged_, then.n_features_in_) == (17, True, 12)
    assert (then.n_docs_, then.n_skipped_, then.history_) == (None, None, None)  # of before these were kept
    assert then.text_rule_ == TextRule(cleaning=Cleaning.none())
    X = np.random.default_rng(0).integers(0, 5, (20, 12))
    X[3] = 0
    weights = then.transform(X)
    assert weights.tobytes() == now.transform(X).tobytes()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(weights[3], then.topic_prevalence_)
    assert [row["anchor"] for row in aw.topic_table(then)] == [row["anchor"] for row in aw.topic_table(now)]


def test_the_fixture_of_version_4_composes_documents():
    then, older = aw.load_model(model_v4.FOLDER), aw.load_model(model_v3.FOLDER)
    assert then.get_params() == older.get_params() | {"random_state": 7, "n_jobs": 2}
    assert (then.n_iter_, then.converged_, then.n_features_in_) == (3, False, 12)
    assert (then.n_docs_, then.n_skipped_) == (600, 3)
    same_history(then.history_, model_v4.PROVENANCE.history)
    assert then.text_rule_ == model_v4.PROVENANCE.reading
    assert then.feature_names_in_.tolist() == list(model_v4.WORDS)
    X = aw.Corpus(np.random.default_rng(0).integers(0, 5, (20, 12)), model_v4.WORDS)
    assert then.transform(X).tobytes() == older.transform(X).tobytes()


def test_a_folder_of_version_3_that_is_saved_again_has_the_new_version(folder_v3):
    before = aw.load_model(folder_v3)
    before.save(folder_v3)
    manifest = manifest_of(folder_v3)
    assert manifest["format_version"] == 6
    assert "metadata" not in manifest
    after = aw.load_model(folder_v3)
    same_record(after.model_, model_v3.record())
    assert after.get_params() == before.get_params()


def test_compositions_named_map_by_version_3_are_posterior_means(folder_v3):
    manifest = manifest_of(folder_v3)
    manifest["metadata"]["params"]["composition"] = "map"
    reseal(folder_v3, manifest)
    X = np.random.default_rng(0).integers(0, 5, (20, 12))
    expected = aw.load_model(model_v3.FOLDER).set_params(composition="posterior-mean").transform(X)
    for turn in ("of version 3", "and saved again by this one"):
        loaded = aw.load_model(folder_v3)
        assert loaded.composition == "posterior-mean", turn
        assert loaded.transform(X).tobytes() == expected.tobytes(), turn
        loaded.save(folder_v3)


def test_what_version_3_kept_of_a_fit_is_read(folder_v3):
    manifest = manifest_of(folder_v3)
    rule = model_v4.PROVENANCE.reading
    manifest["metadata"].update(
        n_docs=600, n_skipped=2, n_iter=2, converged=False, feature_names_in=True, text_rule=rule.to_dict(),
        history={"change": [0.5, None], "violation": [1.0, 0.25], "objective": [None, 2.0]},
    )  # fmt: skip
    reseal(folder_v3, manifest)
    expected = Provenance(
        reading=rule, parameters=model_v3.PARAMETERS, n_docs=600, n_skipped=2, n_iter=2, converged=False,
        history=(Iteration(0.5, 1.0), Iteration(np.nan, 0.25, 2.0)), named_columns=True, version="",
    )  # fmt: skip
    same_record(read_model(folder_v3).provenance, expected)
    # Documents that were not text had no rule.
    manifest["metadata"]["text_rule"] = None
    reseal(folder_v3, manifest)
    assert aw.load_model(folder_v3).text_rule_ is None


# ---- What is damaged, or made to harm.


def reseal(folder, manifest):
    """Write a manifest with a right checksum: what is wrong in it is wrong on purpose."""
    manifest.pop("checksum", None)
    manifest["checksum"] = _folders._text_checksum(manifest)
    (folder / "model.json").write_text(json.dumps(manifest), encoding="utf-8")


def manifest_of(folder):
    return json.loads((folder / "model.json").read_text(encoding="utf-8"))


def accept(folder):
    """Make the checksums right: a hostile folder, not a damaged one."""
    manifest = manifest_of(folder)
    raw = (folder / "model.safetensors").read_bytes()
    manifest["checksums"]["model.safetensors"] = f"sha256:{hashlib.sha256(raw).hexdigest()}"
    reseal(folder, manifest)


def rewrite(folder, change):
    """Change arrays, and make the checksums right."""
    tensors = {name: array.copy() for name, array in read_tensors(folder / "model.safetensors")[0].items()}
    change(tensors)
    (folder / "model.safetensors").unlink()
    write_tensors(folder / "model.safetensors", tensors)
    accept(folder)


def refused(folder, match):
    """The one sentence with which a folder is refused."""
    with pytest.raises(ModelFormatError, match=match) as caught:
        aw.load_model(folder)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith(".")
    assert len(text) < 600
    return text


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(model_v4.FOLDER, tmp_path / "model")


@pytest.fixture
def folder_v3(tmp_path):
    return shutil.copytree(model_v3.FOLDER, tmp_path / "model")


@pytest.fixture(params=[3, 4])
def any_format(request, tmp_path):
    """A folder of each format that can be read, and the key of its manifest that holds what an estimator noted down."""
    source, key = {3: (model_v3.FOLDER, "metadata"), 4: (model_v4.FOLDER, "provenance")}[request.param]
    return shutil.copytree(source, tmp_path / "model"), key


def at(place, value):
    """Change an entry."""

    def change(array):
        array[place] = value
        return array

    return change


def moved(a):
    """Mass moved between two entries of a column, past zero: the sum stays."""
    a[1, 0], a[2, 0] = a[1, 0] + a[2, 0] + 0.25, -0.25
    return a


def lopsided(a):
    a[0, 1], a[1, 0] = a[0, 1] + 0.01, a[1, 0] - 0.01
    return a


CHANGES = [
    ("B", lambda a: a[:, 0]),
    ("B", lambda a: a[:-1]),
    ("B", lambda a: a.T),
    ("B", lambda a: a[:, :, None]),
    ("B", lambda a: a * np.nan),
    ("B", at((3, 1), np.inf)),
    ("B", at((3, 1), np.nan)),
    ("B", at((3, 1), 1e308)),
    ("B", at((3, 1), -1e-3)),
    ("B", moved),
    ("B", lambda a: a * 1.1),
    ("B", lambda a: a * (1 - 1e-5)),
    ("B", lambda a: (a > 0).astype(np.int64)),
    ("B", lambda a: a > 0),
    ("word_topics", lambda a: a * 1.1),
    ("word_topics", at((5, 0), np.nan)),
    ("word_topics", lambda a: -a),
    ("word_topics", lambda a: a[::-1, :2]),
    ("word_topics", at(5, (1.5, -0.5, 0.0))),
    ("word_probs", lambda a: a / 2),
    ("word_probs", at(0, -0.5)),
    ("word_probs", lambda a: a[:, None]),
    ("word_probs", lambda a: a.astype(np.uint8)),
    ("A", lambda a: a[:2, :2]),
    ("A", lambda a: a * 2),
    ("A", lopsided),
    ("A", at((1, 1), np.nan)),
    ("A", at(np.s_[:], [[1.2, -0.1, 0], [-0.1, 0, 0], [0, 0, 0]])),
    ("anchors", lambda a: a + 10**6),
    ("anchors", lambda a: a - 5),
    ("anchors", lambda a: a.astype(float)),
    ("anchors", lambda a: a[:2]),
    ("anchors", lambda a: a + 1),  # groups no longer begin with them
    ("Y", at((0, 0), np.nan)),
    ("Y", at((0, 0), -np.inf)),
    ("Y", lambda a: a[1:]),
    ("composition_dual", lopsided),
    ("composition_dual", at((0, 0), np.inf)),
    ("composition_dual", at((0, 1), 1e308)),
    ("composition_dual", lambda a: a[0]),
    ("anchor_rows.indices", lambda a: a + 10**6),
    ("anchor_rows.indices", at(0, -1)),
    ("anchor_rows.indices", at(0, 12)),
    ("anchor_rows.indices", lambda a: a[:-1]),
    ("anchor_rows.indices", lambda a: a.astype(np.int64)),  # of another type than indptr
    ("anchor_rows.indices", lambda a: a.astype(np.uint32)),
    ("anchor_rows.indptr", lambda a: a + 1),
    ("anchor_rows.indptr", lambda a: a[::-1]),
    ("anchor_rows.indptr", at(-1, 2**31 - 1)),
    ("anchor_rows.indptr", at(1, -5)),
    ("anchor_rows.indptr", at(1, 2**30)),
    ("anchor_rows.indptr", lambda a: a[:-1]),
    ("anchor_rows.data", lambda a: -a),
    ("anchor_rows.data", lambda a: a / 2),
    ("anchor_rows.data", at(0, np.nan)),
    ("anchor_rows.data", at(0, np.inf)),
    ("anchor_rows.data", lambda a: a[:, None]),
    ("anchor_rows.data", lambda a: a.astype(np.int64)),
    ("anchor_groups.indices", at(1, 12)),
    ("anchor_groups.indices", at(1, -1)),
    ("anchor_groups.indices", at(0, 1)),
    ("anchor_groups.indices", lambda a: a[:-1]),
    ("anchor_groups.indices", lambda a: a[:0]),
    ("anchor_groups.ends", lambda a: a[::-1]),
    ("anchor_groups.ends", at(0, 0)),
    ("anchor_groups.ends", at(0, -1)),
    ("anchor_groups.ends", at(1, 2)),
    ("anchor_groups.ends", at(-1, 2**62)),
    ("anchor_groups.ends", lambda a: a[:2]),
    ("vocabulary.text", lambda a: a[:-1]),
    ("vocabulary.text", lambda a: a + 128),
    ("vocabulary.text", lambda a: np.full_like(a, 0xFF)),
    ("vocabulary.text", lambda a: a.astype(np.uint16)),
    ("vocabulary.ends", lambda a: a[:-1]),
    ("vocabulary.ends", lambda a: a - 1),
    ("vocabulary.ends", at(4, -1)),
    ("vocabulary.ends", at(4, 2**62)),
    ("vocabulary.ends", lambda a: a.astype(float)),
    ("vocabulary.ends", lambda a: np.where(np.arange(12) < 11, 0, a)),  # the same word many times
    ("stability.similarity", lambda a: a + 1),
    ("stability.similarity", lambda a: a - 2),
    ("stability.similarity", at(0, np.nan)),
    ("stability.words", lambda a: a[:2]),
    ("stability.anchor", lambda a: a * 100),
    ("stability.prevalence_low", lambda a: a * 0 + 1),
    ("stability.prevalence_high", at(0, np.nan)),
    ("stability.correlation_low", at((0, 0), np.inf)),
    ("stability.correlation_high", lambda a: a * 0),
    ("stability.correlation_high", lambda a: a[0]),
]


@pytest.mark.parametrize(("name", "change"), CHANGES, ids=[f"{name}-{n}" for n, (name, _) in enumerate(CHANGES)])
def test_hostile_arrays_are_refused(folder, name, change):
    rewrite(folder, lambda tensors: tensors.update({name: change(tensors[name])}))
    text = refused(folder, r"is damaged \(.*\): fit and save the model again")
    # The sentence names what is wrong.
    assert name.split(".")[0].rstrip("s") in text or "strings do not fit" in text or "decode" in text


@pytest.mark.parametrize("name", persist._LAYOUT)
def test_an_array_that_is_missing(folder, name):
    if name.startswith(("parts", "keyword_weights")):  # not in the fixture
        write_model(folder, complete())
    rewrite(folder, lambda tensors: tensors.pop(name, None))  # left_out is not in the fixture
    if name == "parts_dual":
        assert aw.load_model(folder).model_.parts.composition_dual is None
        return
    if name in (
        "Y",
        "composition_dual",
        "log_likelihood",
        "left_out",
        "keyword_weights",
    ):  # a model without it is a model
        assert getattr(aw.load_model(folder).model_, name) is None
    else:
        refused(folder, f"{name} is missing")


def test_words_left_out_must_be_in_order(folder):
    rewrite(folder, lambda tensors: tensors.update(left_out=np.array([3, 3], dtype=np.int32)))
    refused(folder, "left_out is not in ascending order")


@pytest.mark.parametrize("name", ["C", "anchor_rows", "stability.code", "../secret", "x" * 10_000, "new\nline", ""])
def test_an_array_that_is_none_of_a_model(folder, name):
    rewrite(folder, lambda tensors: tensors.update({name: np.zeros(3)}))
    refused(folder, "is no array of a model")


def test_a_stability_without_arrays_or_without_numbers(folder):
    numbers = manifest_of(folder)["stability"]
    reseal(folder, manifest_of(folder) | {"stability": None})
    refused(folder, "arrays without numbers")

    def without(tensors):
        for name in [name for name in tensors if name.startswith("stability.")]:
            del tensors[name]

    reseal(folder, manifest_of(folder) | {"stability": numbers})
    rewrite(folder, without)
    refused(folder, "numbers without arrays")
    reseal(folder, manifest_of(folder) | {"stability": None})
    assert aw.load_model(folder).model_.stability is None


def flag_with(**changes):
    return {"kind": "incoherent", "topics": [0], "words": [[1, 2]], "value": 0.1} | changes


FACTS = [
    ({"n_words": 13}, r"B has shape \(12, 3\)"),
    ({"n_words": 10**30}, "has shape"),
    ({"n_words": "12"}, "n_words is not a positive whole number"),
    ({"n_words": 12.0}, "n_words is not a positive whole number"),
    ({"n_words": None}, "n_words is not a positive whole number"),
    ({"n_words": 0}, "n_words is not a positive whole number"),
    ({"n_components": 2}, "has shape"),
    ({"n_components": -3}, "n_components is not a positive whole number"),
    ({"n_components": True}, "n_components is not a positive whole number"),
    ({"A_raw_sum": float("nan")}, "A_raw_sum"),
    ({"A_raw_sum": float("inf")}, "A_raw_sum"),
    ({"A_raw_sum": -1.0}, "A_raw_sum"),
    ({"A_raw_sum": 10**400}, "A_raw_sum"),
    ({"A_raw_sum": "1.0"}, "A_raw_sum"),
    ({"A_raw_sum": None}, "A_raw_sum"),
    ({"stability": []}, "arrays without numbers"),
    ({"stability": {"level": 2.0, "n_replicates": 20, "n_shards": 8}}, "level"),
    ({"stability": {"level": float("nan"), "n_replicates": 20, "n_shards": 8}}, "level"),
    ({"stability": {"level": "0.9", "n_replicates": 20, "n_shards": 8}}, "level"),
    ({"stability": {"level": 0.9, "n_shards": 8}}, "n_replicates is not a positive whole number"),
    ({"stability": {"level": 0.9, "n_replicates": 20, "n_shards": 0.5}}, "n_shards is not a positive whole number"),
    ({"checksums": {}}, "lacks the checksum"),
    ({"checksums": None}, "lacks the checksum"),
    ({"checksums": {"model.safetensors": 5}}, "lacks the checksum"),
    ({"checksums": {"model.safetensors": "sha256:"}}, "checksum of model.safetensors is wrong"),
    ({"checksums": {"../other": "sha256:0"}}, "lacks the checksum"),
    ({"labels": "abc"}, "the labels do not name each topic once"),
    ({"labels": 3}, "the labels do not name each topic once"),
    ({"labels": False}, "the labels do not name each topic once"),
    ({"labels": {"0": "a", "1": "b", "2": "c"}}, "the labels do not name each topic once"),
    ({"labels": []}, "the labels do not name each topic once"),
    ({"labels": ["a", "b"]}, "the labels do not name each topic once"),
    ({"labels": ["a", "b", "c", "d"]}, "the labels do not name each topic once"),
    ({"labels": ["a", "b", 3]}, "the labels do not name each topic once"),
    ({"labels": ["a", "b", None]}, "the labels do not name each topic once"),
    ({"labels": ["a", "b", ["c"]]}, "the labels do not name each topic once"),
    ({"ids": "012"}, "the ids do not number each topic once"),
    ({"ids": 3}, "the ids do not number each topic once"),
    ({"ids": False}, "the ids do not number each topic once"),
    ({"ids": {"0": 0, "1": 1, "2": 2}}, "the ids do not number each topic once"),
    ({"ids": []}, "the ids do not number each topic once"),
    ({"ids": [0, 1]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, 2, 3]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, 1]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, -1]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, 2.0]}, "the ids do not number each topic once"),
    ({"ids": [0, 2, True]}, "the ids do not number each topic once"),
    ({"ids": ["0", "1", "2"]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, None]}, "the ids do not number each topic once"),
    ({"ids": [0, 1, [2]]}, "the ids do not number each topic once"),
    ({"ids": None}, "the ids do not number each topic once"),
    ({"provenance": []}, "the provenance is not an object"),
    ({"provenance": None}, "the provenance is not an object"),
    ({"provenance": "by hand"}, "the provenance is not an object"),
    ({"provenance": {}}, "n_iter or converged is missing"),
    ({"flags": {}}, "the flags of topics are not a list"),
    ({"flags": None}, "the flags of topics are not a list"),
    ({"flags": ["copies"]}, "a flag does not say what may be wrong"),
    ({"flags": [flag_with(kind="ugly")]}, "a flag does not say what may be wrong"),
    ({"flags": [flag_with(kind=["copies"])]}, "a flag does not say what may be wrong"),
    ({"flags": [flag_with(more=1)]}, "a flag does not say what may be wrong"),
    ({"flags": [flag_with(topics=[0, 1])]}, "a flag does not name its topics"),
    ({"flags": [flag_with(topics=[True])]}, "a flag does not name its topics"),
    ({"flags": [flag_with(topics=[2**63])]}, "a flag does not name its topics"),
    ({"flags": [flag_with(words=[])]}, "a flag does not name its words"),
    ({"flags": [flag_with(words=[[0], [1]])]}, "a flag does not name its words"),
    ({"flags": [flag_with(words=[[12]])]}, "a flag names words that are none"),
    ({"flags": [flag_with(words=["01"])]}, "a flag names words that are none"),
    ({"flags": [flag_with(value="much")]}, "a flag holds what is no number"),
    ({"flags": [flag_with(value=float("nan"))]}, "a flag holds what is no number"),
    ({"flags": [flag_with(value=10**400)]}, "a flag holds what is no number"),
    ({"background": 3}, "the background is none of the parts"),
    ({"format": "other"}, "does not describe an anchorwords model"),
    ({"format": "anchorwords-corpus"}, "does not describe an anchorwords model"),
    ({"format_version": 99}, "has model format 99, but this version reads 6: upgrade anchorwords, or fit and save"),
    ({"format_version": 3}, "lacks metadata"),
    ({"format_version": 4.0}, "has model format 4.0"),
    ({"format_version": True}, "has model format True"),
    ({"format_version": "4"}, "has model format '4'"),
    ({"format_version": None}, "has model format None"),
    ({"format_version": [4] * 1000}, "has model format"),
]


@pytest.mark.parametrize(
    ("change", "match"),
    [pytest.param(*fact, id=f"{n}-{next(iter(fact[0]))}") for n, fact in enumerate(FACTS)],
)
def test_hostile_manifests_are_refused(folder, change, match):
    reseal(folder, manifest_of(folder) | change)
    refused(folder, match)


@pytest.mark.parametrize(
    ("background", "match"),
    [
        (-1, "none of the parts"), (4, "none of the parts"), (True, "none of the parts"), ("3", "none of the parts"),
        (0, "belongs to a topic"),
    ],
)  # fmt: skip
def test_a_background_that_is_none(folder, background, match):
    write_model(folder, complete())
    reseal(folder, manifest_of(folder) | {"background": background})
    refused(folder, match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"metadata": []}, "lacks metadata"),
        ({"metadata": None}, "lacks metadata"),
        ({"metadata": "by hand"}, "lacks metadata"),
        ({"metadata": {}}, "n_iter or converged is missing"),
        ({"labels": ["a", "b", 3]}, "the labels do not name each topic once"),
        ({"ids": [0, 1, 1]}, "the ids do not number each topic once"),
        ({"format_version": 4}, "the provenance is not an object"),
    ],
)
def test_hostile_manifests_of_version_3_are_refused(folder_v3, change, match):
    reseal(folder_v3, manifest_of(folder_v3) | change)
    refused(folder_v3, match)


@pytest.mark.parametrize("key", ["n_words", "n_components", "A_raw_sum", "stability", "checksums", "provenance"])
def test_a_manifest_that_lacks_something(any_format, key):
    folder, provenance = any_format
    manifest = manifest_of(folder)
    del manifest[provenance if key == "provenance" else key]
    reseal(folder, manifest)
    refused(folder, "damaged")


def test_keys_of_later_versions_pass(folder):
    reseal(folder, manifest_of(folder) | {"remark": "for people"})
    aw.load_model(folder)


def test_version_2_says_what_to_do(fitted, tmp_path):
    (tmp_path / "model").mkdir()
    np.save(tmp_path / "model" / "B.npy", fitted.model_.B)
    reseal(tmp_path / "model", {"format": "anchorwords-model", "format_version": 2, "arrays": {"B": "crc32:0"}})
    assert refused(tmp_path / "model", "format 2, but this version reads 6").endswith(": fit and save the model again.")


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", '{"format": "anchorwords-model"', "\0", '"text"'])
def test_manifests_that_are_none(folder, content):
    (folder / "model.json").write_text(content)
    refused(folder, r"is damaged: it is not JSON|does not describe an anchorwords model")


def test_manifests_nested_to_the_limit(folder):
    # Reading and writing JSON give up at depths of their own; between them is the sentence all the same.
    limit = sys.getrecursionlimit()
    good = (folder / "model.json").read_text(encoding="utf-8")
    for depth in [*range(limit - 130, limit + 5), 100_000]:
        nested = f'"remark": {"[" * depth}{"]" * depth},'
        (folder / "model.json").write_text(good.replace('"libraries"', nested + '"libraries"'), encoding="utf-8")
        refused(folder, "damaged")


def test_manifests_that_are_not_text(folder):
    (folder / "model.json").write_bytes(b"\xff\xfe\x00")
    refused(folder, "is not JSON")
    (folder / "model.json").unlink()
    refused(folder, r"holds no readable model\.json")
    (folder / "model.json").mkdir()
    refused(folder, r"holds no readable model\.json")
    shutil.rmtree(folder)
    refused(folder, "does not exist")


def test_a_changed_manifest_is_refused(folder):
    text = (folder / "model.json").read_text(encoding="utf-8")
    (folder / "model.json").write_text(text.replace('"n_docs": 600', '"n_docs": 601'), encoding="utf-8")
    refused(folder, "checksum is wrong")
    # Line ends of another system are no change.
    (folder / "model.json").write_bytes(text.replace("\n", "\r\n").encode())
    aw.load_model(folder)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("name", ["model.safetensors", "model.json"])
def test_any_changed_bit_is_refused(folder, name, seed):
    rng = np.random.default_rng(seed)
    raw = bytearray((folder / name).read_bytes())
    raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    (folder / name).write_bytes(raw)
    if name == "model.safetensors":
        refused(folder, "checksum of model.safetensors is wrong")
        return
    with suppress(ModelFormatError):
        # Unless the manifest says the same in other letters: 1E-05 is 1e-05.
        same_record(read_model(folder), model_v4.record())


@pytest.mark.parametrize("right", [False, True], ids=["damaged", "tampered"])
@pytest.mark.parametrize("keep", [0, 1, 7, 8, 9, 500, 1600, -1000, -9, -1])
def test_truncated_files_are_refused(folder, keep, right):
    raw = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(raw[:keep])
    if right:
        accept(folder)
    refused(folder, "damaged")


@pytest.mark.parametrize("right", [False, True], ids=["damaged", "tampered"])
@pytest.mark.parametrize("more", [b"\0", b"\0" * 8, b"import os"])
def test_longer_files_are_refused(folder, more, right):
    raw = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(raw + more)
    if right:
        accept(folder)
    refused(folder, "damaged")


class Trap:
    """What runs when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("loading a model ran code",))


@pytest.mark.parametrize("content", ["pickle", "npy", "npz", "zip", "nothing"])
def test_files_that_are_no_arrays_are_refused_and_never_run(folder, content):
    import pickle

    file = folder / "model.safetensors"
    file.unlink()
    if content == "pickle":
        file.write_bytes(pickle.dumps(Trap()))
    elif content in ("npy", "npz"):
        write = np.save if content == "npy" else np.savez
        with file.open("wb") as stream:
            write(stream, np.array([Trap()], dtype=object), allow_pickle=True)
    else:
        file.write_bytes(b"PK\x03\x04" if content == "zip" else b"")
    accept(folder)
    refused(folder, "has no header")


def header_of(folder):
    raw = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(raw[:8], "little")
    return json.loads(raw[8 : 8 + length]), raw[8 + length :]


def put_header(folder, text, data, length=None):
    length = len(text) if length is None else length
    (folder / "model.safetensors").write_bytes(length.to_bytes(8, "little") + text + data)
    accept(folder)


def test_hostile_headers_are_refused(folder):
    # What else a header may try is in test_safetensors.py; here that each ends in the one sentence.
    header, data = header_of(folder)
    put_header(folder, json.dumps(header).encode(), data)
    aw.load_model(folder)
    text = json.dumps(header)
    for wrong in (
        text.replace('"data_offsets": [0, 72]', '"data_offsets": [-72, 0]'),
        text.replace('"data_offsets": [0, 72]', '"data_offsets": [0, NaN]'),
        text.replace('"data_offsets": [0, 72]', '"data_offsets": [72, 144]'),
        text.replace('"shape": [12, 3]', '"shape": [12, 1e400]'),
        text.replace('"shape": [12, 3]', '"shape": [3, 12, 4611686018427387904, 4]'),
        text.replace("F64", "PICKLE"),
        text[:-1] + ', "B": ' + json.dumps(header["B"]) + "}",
        "{" + '"x":{' * 50_000 + "}" * 50_001,
    ):
        assert wrong != text
        put_header(folder, wrong.encode(), data)
        refused(folder, r"is damaged \(")
    for length in (2**64 - 1, 2**63, 2**40, 2**20 + 1, 0):
        put_header(folder, text.encode(), data, length)
        refused(folder, "no header, or one of more than")


def test_files_of_two_models_do_not_mix(fitted, folder, tmp_path):
    fitted.save(tmp_path / "other")
    shutil.copy(tmp_path / "other" / "model.safetensors", folder)
    refused(folder, "checksum of model.safetensors is wrong")
    accept(folder)
    refused(folder, "has shape")


def test_files_that_are_missing_or_no_files(folder):
    (folder / "model.safetensors").unlink()
    refused(folder, "model.safetensors is missing")
    (folder / "model.safetensors").mkdir()
    refused(folder, "model.safetensors cannot be read: Is a directory")


def test_files_that_are_too_many(folder):
    (folder / ".DS_Store").write_bytes(b"what systems leave in folders they have shown")
    aw.load_model(folder)
    (folder / "B.npy").write_bytes(b"")
    refused(folder, r"'B\.npy' is no part of a model")


def steps(n, **columns):
    """A history as it is saved, with other columns."""
    return {"change": [0.5] * n, "violation": [0.25] * n, "objective": [None] * n} | columns


def test_a_history_is_read_step_by_step(any_format):
    folder, key = any_format
    manifest = manifest_of(folder)
    manifest[key].update(n_docs=600, n_skipped=0, n_iter=17, history=steps(17))
    reseal(folder, manifest)
    loaded = aw.load_model(folder)
    same_history(loaded.history_, (Iteration(0.5, 0.25),) * 17)
    assert (loaded.n_docs_, loaded.n_skipped_) == (600, 0)


# Changes of what a folder says of a fit of 17 steps.
FIT = {
    "no steps": lambda made: made.pop("n_iter"),
    "steps that are null": lambda made: made.update(n_iter=None),
    "steps that are no number": lambda made: made.update(n_iter="abc"),
    "steps without end": lambda made: made.update(n_iter=float("inf")),
    "steps in fractions": lambda made: made.update(n_iter=17.0),
    "steps that are true": lambda made: made.update(n_iter=True),
    "steps below zero": lambda made: made.update(n_iter=-1),
    "not whether it converged": lambda made: made.pop("converged"),
    "converged to a number": lambda made: made.update(converged=1),
    "documents that are a list": lambda made: made.update(n_docs=[600]),
    "documents that are true": lambda made: made.update(n_docs=True),
    "half a document": lambda made: made.update(n_docs=0.5),
    "documents below zero": lambda made: made.update(n_docs=-600),
    "documents beyond count": lambda made: made.update(n_docs=10**30),
    "short documents in words": lambda made: made.update(n_skipped="none"),
    "a history in words": lambda made: made.update(history="long"),
    "a history of nothing": lambda made: made.update(history={}),
    "a history by step": lambda made: made.update(history=[[1.0, 1.0, None]] * 17),
    "a history of fewer steps": lambda made: made.update(history=steps(16)),
    "a history of more steps": lambda made: made.update(history=steps(18)),
    "a history of unequal columns": lambda made: made.update(history=steps(17, change=[1.0])),
    "a history without changes": lambda made: made.update(history=steps(17, change=None)),
    "a history of more": lambda made: made.update(history=steps(17, code=[1.0] * 17)),
    "a history of text": lambda made: made.update(history=steps(17, change=["1.0"] * 17)),
    "a history of letters": lambda made: made.update(history=steps(17, change="1" * 17)),
    "a history of truths": lambda made: made.update(history=steps(17, change=[True] * 17)),
    "a history of lists": lambda made: made.update(history=steps(17, change=[[1.0]] * 17)),
    "a history that is NaN": lambda made: made.update(history=steps(17, violation=[float("nan")] * 17)),
    "a history without end": lambda made: made.update(history=steps(17, violation=[float("inf")] * 17)),
}


@pytest.mark.parametrize("how", FIT)
def test_what_is_no_fit_is_refused(any_format, how):
    folder, key = any_format
    manifest = manifest_of(folder)
    manifest[key].update(n_iter=17, history=None)
    reseal(folder, manifest)
    aw.load_model(folder)
    FIT[how](manifest[key])
    reseal(folder, manifest)
    refused(folder, r"is damaged \(.*\): fit and save the model again")


def threshold(**changes):
    return {"min_docs": 6, "value": 0.01, "relaxed": False, "n_frequent": 0, "fewest": 1} | changes


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"preset": 3}, "the preset or the version is no text"),
        ({"preset": ["readers"]}, "the preset or the version is no text"),
        ({"parameters": []}, "the parameters are no object"),
        ({"parameters": None}, "the parameters are no object"),
        ({"parameters": "default"}, "the parameters are no object"),
        ({"anchor_threshold": 6}, "the anchor threshold does not say what was required"),
        ({"anchor_threshold": {"min_docs": 6}}, "the anchor threshold does not say what was required"),
        ({"reading": "plain"}, "a rule is not an object"),
        ({"reading": ["lowercase"]}, "a rule is not an object"),
        ({"reading": False}, "a rule is not an object"),
        ({"reading": {"lowercase": 1}}, "text rule has the value 1 of lowercase"),
        ({"reading": {"stop_words": "the"}}, "text rule has the value 'the' of stop_words"),
        ({"reading": {"ngrams": [1, 2, 3]}}, r"text rule has the value \[1, 2, 3\] of ngrams"),
        ({"reading": {"ngrams": [1, "2"]}}, r"text rule has the value \[1, '2'\] of ngrams"),
        ({"reading": {"ngrams": [1, 10**9]}}, r"text rule has the value \[1, 1000000000\] of ngrams"),
        ({"reading": {"ngrams": [0, 1]}}, r"text rule has the value \[0, 1\] of ngrams"),
        ({"reading": {"ngrams": [2, 1]}}, r"text rule has the value \[2, 1\] of ngrams"),
        ({"reading": {"ngrams": [True, 2]}}, r"text rule has the value \[True, 2\] of ngrams"),
        ({"reading": {"min_length": 10**30}}, "text rule has the value .* of min_length"),
        ({"reading": {"min_length": -1}}, "text rule has the value -1 of min_length"),
        ({"reading": {"max_length": 10**9}}, "text rule has the value 1000000000 of max_length"),
        ({"reading": {"stop_words": [["a"]]}}, r"text rule has the value \[\['a'\]\] of stop_words"),
        ({"reading": {"stop_words": "/etc/passwd"}}, "a saved rule holds the words themselves"),
        ({"reading": {"min_length": True}}, "text rule has the value True of min_length"),
        ({"reading": {"max_length": 1e400}}, "text rule has the value inf of max_length"),
        ({"reading": {"tokenizer": ["os", "system"]}}, "text rule has the value .* of tokenizer"),
        ({"reading": {"vocabulary": "\n" * 10_000, "numbers": "\n" * 10_000}}, "text rule has the value"),
        ({"vocabulary_rule": "all"}, "a rule is not an object"),
        ({"vocabulary_rule": 0}, "a rule is not an object"),
        ({"vocabulary_rule": {"n_words": "12"}}, "vocabulary rule has the value '12' of n_words"),
        ({"vocabulary_rule": {"min_df": True}}, "vocabulary rule has the value True of min_df"),
        ({"vocabulary_rule": {"max_df": None}}, "vocabulary rule has the value None of max_df"),
        ({"vocabulary_rule": {"stop_words": {}}}, "vocabulary rule has the value {} of stop_words"),
        ({"vocabulary_rule": {"keep_words": "the"}}, "vocabulary rule has the value 'the' of keep_words"),
        ({"vocabulary_rule": {"keep_words": [["a"]]}}, r"vocabulary rule has the value \[\['a'\]\] of keep_words"),
        ({"vocabulary_rule": {"stop_words": [1]}}, r"vocabulary rule has the value \[1\] of stop_words"),
        ({"vocabulary_rule": {"stop_words": "/etc/passwd"}}, "a saved rule names a language or holds the words"),
        ({"vocabulary_rule": {"stop_words": "klingon"}}, "a saved rule names a language or holds the words"),
        ({"vocabulary_rule": {"min_df": -1}}, "vocabulary rule has the value -1 of min_df"),
        ({"vocabulary_rule": {"max_df": 1.5}}, "vocabulary rule has the value 1.5 of max_df"),
        ({"vocabulary_rule": {"max_df": float("nan")}}, "vocabulary rule has the value nan of max_df"),
        ({"vocabulary_rule": {"min_tokens": 10**30}}, "vocabulary rule has the value .* of min_tokens"),
        ({"named_columns": "yes"}, "named_columns is neither true nor false"),
        ({"anchor_threshold": threshold(value=float("inf"))}, "the anchor threshold holds what is no number"),
        ({"anchor_threshold": threshold(relaxed=1)}, "the anchor threshold holds what is no number"),
        ({"anchor_threshold": threshold(min_docs=1.5)}, "min_docs is not a whole number"),
    ],
)
def test_what_is_no_provenance_is_refused(folder, change, match):
    manifest = manifest_of(folder)
    manifest["provenance"].update(change)
    reseal(folder, manifest)
    refused(folder, rf"is damaged \(.*{match}")


def test_what_is_no_text_rule_of_version_3_is_refused(folder_v3):
    manifest = manifest_of(folder_v3)
    manifest["metadata"]["text_rule"] = {"lowercase": "yes"}
    reseal(folder_v3, manifest)
    refused(folder_v3, "text rule has the value 'yes' of lowercase")


def test_nothing_that_a_rule_names_is_imported(folder):
    manifest = manifest_of(folder)
    manifest["provenance"]["reading"]["tokenizer"] = "antigravity:open"
    reseal(folder, manifest)
    rule = aw.load_model(folder).text_rule_
    assert rule.tokenizer == "antigravity:open"
    assert "antigravity" not in sys.modules
    with pytest.raises(InputError, match="give it again"):
        rule.with_tokenizer(None)


ESTIMATOR = {
    "an unknown rectifier": lambda parameters: parameters.update(rectifier={"name": "magic"}),
    "a rectifier without a name": lambda parameters: parameters.update(rectifier={}),
    "a rectifier with a list for a name": lambda parameters: parameters.update(rectifier={"name": ["enn"]}),
    "a refinement that is a number": lambda parameters: parameters.update(refinement=3),
    "an unknown part of a refinement": lambda parameters: parameters.update(refinement={"magic": 1}),
    "a refinement in words": lambda parameters: parameters.update(refinement={"n_sweeps": "many"}),
    "an unknown parameter": lambda parameters: parameters.update(magic=1),
    "a billion topics": lambda parameters: parameters.update(n_components=10**9),
    "one topic more": lambda parameters: parameters.update(n_components=4),
    "topics in words": lambda parameters: parameters.update(n_components="3"),
    "topics that are a float": lambda parameters: parameters.update(n_components=3.0),
    "no number of topics": lambda parameters: parameters.update(n_components=None),
    "a refinement beyond numbers": lambda parameters: parameters.update(refinement={"decorrelation": 10**400}),
    "a rectifier that is a list": lambda parameters: parameters.update(rectifier=["enn"]),
    "an option that is a list": lambda parameters: parameters.update(rectifier={"name": "enn", "tol": [1.0]}),
    "anchors in three layers": lambda parameters: parameters.update(anchors=[[["a"]]]),
    "anchors in one word": lambda parameters: parameters.update(anchors="plain"),
    "forbidden objects": lambda parameters: parameters.update(forbidden_anchors=[{}]),
    "no documents of anchors": lambda parameters: parameters.update(min_anchor_docs=-1),
    "an unknown composition": lambda parameters: parameters.update(composition=["map"]),
    "a seed in words": lambda parameters: parameters.update(random_state="7"),
    "a negative seed": lambda parameters: parameters.update(random_state=-7),
    "no threads": lambda parameters: parameters.update(n_jobs=0),
    "threads in words": lambda parameters: parameters.update(n_jobs="all"),
    "loud in words": lambda parameters: parameters.update(verbose="\x1b[2J"),
}


@pytest.mark.parametrize("how", ESTIMATOR)
def test_what_is_no_estimator_is_refused(any_format, how):
    folder, key = any_format
    manifest = manifest_of(folder)
    ESTIMATOR[how](manifest[key]["params" if key == "metadata" else "parameters"])
    reseal(folder, manifest)
    refused(folder, "does not describe a fitted estimator")
    # The record itself is one all the same.
    same_bits(read_model(folder).B, model_v4.record().B)


def test_a_million_threads_are_not_taken_from_a_file(folder):
    manifest = manifest_of(folder)
    manifest["provenance"]["parameters"]["n_jobs"] = 10**6
    reseal(folder, manifest)
    assert aw.load_model(folder).n_jobs == 1024


OPENED = []
WATCHING = []


def watch(event, arguments):
    if WATCHING and event == "open":
        OPENED.append(str(arguments[0]))


@pytest.mark.parametrize("place", ["reading", "vocabulary_rule"])
def test_a_file_that_a_rule_names_is_not_opened(folder, tmp_path, place):
    """Stop words of a saved rule are words, or those of a language: no file of the machine on which it is loaded."""
    (tmp_path / "secret.txt").write_text("plain")
    manifest = manifest_of(folder)
    manifest["provenance"][place]["stop_words"] = str(tmp_path / "secret.txt")
    reseal(folder, manifest)
    if not OPENED:
        sys.addaudithook(watch)  # which stays
        OPENED.append("")
    WATCHING.append(1)
    try:
        refused(folder, "name a file of your own")
    finally:
        WATCHING.clear()
    assert not [path for path in OPENED if "secret.txt" in path]


@pytest.mark.parametrize("kind", [np.float16])
def test_numbers_too_rough_to_be_checked_are_refused(folder, kind):
    rewrite(folder, lambda tensors: tensors.update(B=tensors["B"].astype(kind)))
    refused(folder, "B has shape .* and type float16")


def test_a_model_without_parameters_has_those_of_a_new_estimator(any_format):
    folder, key = any_format
    manifest = manifest_of(folder)
    del manifest[key]["params" if key == "metadata" else "parameters"]
    reseal(folder, manifest)
    loaded = aw.load_model(folder)
    assert loaded.get_params() == aw.AnchorTopicModel(3).get_params()
    assert loaded.model_.provenance.parameters == {}


def test_names_of_columns_need_words(any_format):
    folder, key = any_format
    manifest = manifest_of(folder)
    manifest[key]["feature_names_in" if key == "metadata" else "named_columns"] = True
    reseal(folder, manifest)
    assert aw.load_model(folder).feature_names_in_.tolist() == list(model_v4.WORDS)

    def without(tensors):
        del tensors["vocabulary.text"], tensors["vocabulary.ends"]

    rewrite(folder, without)
    refused(folder, "does not describe a fitted estimator")


UNLOADABLE = {
    "columns that do not sum to one": lambda good: {"B": good.B * 1.1},
    "a compression that is NaN": lambda good: {"Y": good.Y * np.nan},
    "a complex compression": lambda good: {"Y": good.Y.astype(complex)},
    "a sum that is NaN": lambda _: {"A_raw_sum": float("nan")},
    "a negative sum": lambda _: {"A_raw_sum": -1.0},
    "anchors beyond the words": lambda good: {"anchors": good.anchors + 12},
    "an empty group": lambda _: {"anchor_groups": ((4, 7), (0,), ())},
    "two groups": lambda _: {"anchor_groups": ((4, 7), (0,))},
    "rows that sum to two": lambda good: {"anchor_rows": good.anchor_rows * 2},
    "rows of fewer words": lambda good: {"anchor_rows": good.anchor_rows[:, :5]},
    "a level of one": lambda good: {"stability": dataclasses.replace(good.stability, level=1.0)},
    "a level that is NaN": lambda good: {"stability": dataclasses.replace(good.stability, level=float("nan"))},
    "a lopsided dual": lambda _: {"composition_dual": np.triu(np.ones((3, 3)))},
    "a preset that is no name": lambda good: {"provenance": good.provenance.with_changes(preset=3)},
    "documents below zero": lambda good: {"provenance": good.provenance.with_changes(n_docs=-1)},
    "steps without a number": lambda good: {"provenance": good.provenance.with_changes(n_iter=None)},
    "steps other than the history": lambda good: {"provenance": good.provenance.with_changes(n_iter=4)},
    "converged to a number": lambda good: {"provenance": good.provenance.with_changes(converged=1)},
    "a rule of reading that is none": lambda good: {
        "provenance": good.provenance.with_changes(reading=TextRule(min_length=0.5))
    },
}


@pytest.mark.parametrize("how", UNLOADABLE)
def test_what_could_not_be_loaded_is_not_saved(folder, how):
    good = model_v4.record()
    before = (folder / "model.json").read_bytes()
    bad = dataclasses.replace(good, **UNLOADABLE[how](good))
    with pytest.raises(ModelFormatError, match=r"this model cannot be saved \(.*\): .*nothing was written") as caught:
        write_model(folder, bad)
    assert "\n" not in str(caught.value)
    assert (folder / "model.json").read_bytes() == before
    assert os.listdir(folder.parent) == ["model"]


def test_a_bare_record_can_be_written(nonnegative_factor, tmp_path):
    model = aw.low_rank_anchor_words(nonnegative_factor)
    write_model(tmp_path / "model", model)
    found = read_model(tmp_path / "model")
    same_record(found, model)
    assert found.anchor_rows is None
    assert found.provenance.parameters == {}
    assert aw.load_model(tmp_path / "model").n_components == model.n_components
