from __future__ import annotations

import json
import os
import stat
import sys

import numpy as np
import pytest

import anchorwords as aw
from anchorwords import _folders
from anchorwords.exceptions import ModelFormatError
from anchorwords.persist import read_model, write_model


@pytest.fixture
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
    assert (loaded.model_.Y is None) == (model.model_.Y is None)
    assert loaded.model_.vocabulary is None


def test_data_frame_names_survive(sampled, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(sampled.corpus.counts.toarray(), columns=sampled.corpus.vocabulary)
    model = aw.AnchorTopicModel(3).fit(frame)
    model.save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").feature_names_in_.tolist() == list(sampled.corpus.vocabulary)


def test_no_pickle_and_no_leftovers(fitted, tmp_path):
    fitted.save(tmp_path / "deep" / "model")
    files = sorted(path.name for path in (tmp_path / "deep" / "model").iterdir())
    assert "model.json" in files
    assert all(name.endswith((".npy", ".json")) for name in files)
    assert os.listdir(tmp_path / "deep") == ["model"]
    assert stat.S_IMODE((tmp_path / "deep" / "model").stat().st_mode) == 0o755


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


@pytest.mark.parametrize("failure", [OSError("disk gone"), KeyboardInterrupt()])
def test_a_failed_swap_puts_the_old_model_back(fitted, tmp_path, monkeypatch, failure):
    from pathlib import Path

    target = tmp_path / "model"
    fitted.save(target)
    original = Path.rename

    def rename(self, other):
        if Path(other) == target and ".partial-" in self.name:
            raise failure
        return original(self, other)

    monkeypatch.setattr(_folders, "_exchanged", lambda *_: False)  # a system that cannot exchange two names
    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(type(failure)):
        fitted.save(target)
    monkeypatch.undo()
    aw.load_model(target)
    assert os.listdir(tmp_path) == ["model"]


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
    words = ["\ud800 lone", "new\nline", "مرحبا", "🙂", ""] + [f"w{i}" for i in range(115)]
    model = aw.AnchorTopicModel(2).fit(aw.Corpus(sampled.corpus.counts, words))
    model.save(tmp_path / "model")
    assert aw.load_model(tmp_path / "model").model_.vocabulary == tuple(words)


def reseal(folder, manifest):
    """Write a manifest with a right checksum: what is wrong in it is wrong on purpose."""
    manifest.pop("checksum", None)
    manifest["checksum"] = _folders._text_checksum(manifest)
    (folder / "model.json").write_text(json.dumps(manifest))


def accept(folder, name):
    """Make the checksum of an array right: a hostile folder, not a damaged one."""
    manifest = json.loads((folder / "model.json").read_text())
    manifest["arrays"][name] = _folders.checksum(folder / f"{name}.npy")
    reseal(folder, manifest)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("B", lambda a: a[:, 0]),
        ("B", lambda a: a[:-1]),
        ("B", lambda a: a * np.nan),
        ("A", lambda a: a[:2, :2]),
        ("anchors", lambda a: a + 10**6),
        ("anchors", lambda a: a.astype(float)),
        ("anchor_rows.indices", lambda a: a + 10**6),
        ("word_probs", lambda a: a.astype("U9")),
    ],
)
def test_hostile_arrays_are_refused(fitted, tmp_path, name, change):
    fitted.save(tmp_path / "model")
    file = tmp_path / "model" / f"{name}.npy"
    np.save(file, change(np.load(file)))
    accept(tmp_path / "model", name)
    with pytest.raises(ModelFormatError, match="damaged"):
        aw.load_model(tmp_path / "model")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 zip", b"\x93NUMPY\x01\x00\x10\x00{'descr': 'O'}   "])
def test_files_that_are_no_arrays_are_refused(fitted, tmp_path, content):
    fitted.save(tmp_path / "model")
    (tmp_path / "model" / "B.npy").write_bytes(content)
    accept(tmp_path / "model", "B")
    with pytest.raises(ModelFormatError):
        aw.load_model(tmp_path / "model")


def damage(folder, how):
    manifest = json.loads((folder / "model.json").read_text())
    if how == "no manifest":
        (folder / "model.json").unlink()
        return
    if how == "not json":
        (folder / "model.json").write_text("{")
        return
    if how == "not ours":
        manifest["format"] = "other"
    elif how == "newer":
        manifest["format_version"] = 99
    elif how == "no arrays":
        del manifest["arrays"]
    elif how == "missing array":
        (folder / "B.npy").unlink()
    elif how == "changed array":
        np.save(folder / "B.npy", np.zeros((3, 3)))
    elif how == "truncated array":
        (folder / "B.npy").write_bytes((folder / "B.npy").read_bytes()[:-9])
    elif how == "unlisted array":
        del manifest["arrays"]["A"]
    elif how == "foreign array":
        manifest["arrays"]["../secret"] = "crc32:00000000"
    elif how == "wrong vocabulary":
        manifest["vocabulary"] = ["one"]
    elif how == "no parameters":
        del manifest["metadata"]["params"]
    elif how == "steps that are no number":
        manifest["metadata"]["n_iter"] = "abc"
    elif how == "names without words":
        manifest["metadata"]["feature_names_in"], manifest["vocabulary"] = True, None
    elif how == "unknown rectifier":
        manifest["metadata"]["params"]["rectifier"] = {"name": "magic"}
    elif how == "changed manifest":
        manifest["vocabulary"][0] += "s"
        (folder / "model.json").write_text(json.dumps(manifest))
        return
    reseal(folder, manifest)


@pytest.mark.parametrize(
    "how",
    [
        "no manifest", "not json", "not ours", "newer", "no arrays", "missing array", "changed array", "truncated array",
        "unlisted array", "foreign array", "wrong vocabulary", "no parameters", "unknown rectifier",
        "steps that are no number", "names without words", "changed manifest",
    ],
)  # fmt: skip
def test_damaged_folders_get_one_sentence(fitted, tmp_path, how):
    fitted.save(tmp_path / "model")
    damage(tmp_path / "model", how)
    with pytest.raises(ModelFormatError) as caught:
        aw.load_model(tmp_path / "model")
    assert "\n" not in str(caught.value)


def test_a_bare_record_can_be_written(nonnegative_factor, tmp_path):
    write_model(tmp_path / "model", aw.low_rank_anchor_words(nonnegative_factor))
    model, metadata = read_model(tmp_path / "model")
    assert metadata == {}
    assert model.anchor_rows is None


def test_what_killed_processes_leave_is_cleared_or_put_back(fitted, tmp_path, monkeypatch):
    # A process that is gone: a number the system does not give out.
    gone = 2**22 + 1
    (tmp_path / f".model.partial-{gone}-a").mkdir()
    fitted.save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    # Killed between the two moves of a system that cannot exchange names: the old model comes back before the new one
    # takes its place, and is what stays if that fails.
    (tmp_path / "model").rename(tmp_path / f".model.replaced-{gone}-a")
    with pytest.raises(RuntimeError), _folders.written_whole(tmp_path / "model"):
        raise RuntimeError
    aw.load_model(tmp_path / "model")
    # What a living process works on is left alone, whatever its number: in containers all are number one.
    busy = tmp_path / f".model.partial-{gone}-b"
    busy.mkdir()
    with _folders._owned(busy):
        fitted.save(tmp_path / "model")
        assert busy.exists()
    fitted.save(tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    # Where there are no locks, the number decides.
    monkeypatch.setitem(sys.modules, "fcntl", None)
    for number, left in ((gone, False), (os.getppid(), True)):
        (tmp_path / f".model.partial-{number}-a").mkdir()
        fitted.save(tmp_path / "model")
        assert (tmp_path / f".model.partial-{number}-a").exists() == left
