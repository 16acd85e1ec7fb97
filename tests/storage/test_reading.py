"""Folders read as one version of themselves, and files that only look like files."""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.exceptions import CorpusFormatError, InputError
from anchorwords.storage import reading, replacing
from anchorwords.storage.reading import OpenFolder, read_as_one

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder of each kind."""
    home = tmp_path_factory.mktemp("made")
    save(home, 0)
    return home


def save(home: Path, version: int) -> None:
    """A model, a corpus and a sketch whose every file tells the version."""
    rng = np.random.default_rng(version)
    counts = rng.poisson(1.0, (60, 12)).astype(float)
    words = [f"version{version}word{i}" for i in range(12)]
    corpus = aw.Corpus(counts, words)
    aw.AnchorTopicModel(2, random_state=version).fit(corpus).save(home / "model")
    corpus.save(home / "corpus")
    sketch = aw.CooccurrenceSketch(2, random_state=version)
    sketch.update(counts, words)
    sketch.save(home / "sketch")


LOADERS = {"model": aw.load_model, "corpus": aw.open_corpus, "sketch": aw.load_sketch}


# ---- Not a plain file.


@pytest.mark.parametrize("what", LOADERS)
@pytest.mark.parametrize("how", ["pipe", "device", "hollow"])
def test_a_manifest_that_is_not_a_plain_file_is_refused(made, tmp_path, what, how):
    folder = tmp_path / what
    shutil.copytree(made / what, folder)
    manifest = folder / f"{what}.json"
    manifest.unlink()
    if how == "pipe":
        os.mkfifo(manifest)  # opening it would wait for ever
    elif how == "device":
        manifest.symlink_to("/dev/zero")  # reading it would never end
    else:
        manifest.touch()
        os.truncate(manifest, 1 << 40)
    with pytest.raises(InputError, match=f"not a {what} folder"):
        LOADERS[what](folder)
    # A command that asks what a folder is does not hang either.
    with pytest.raises(InputError):
        aw.read_corpus(folder)
    with pytest.raises(InputError):
        LOADERS[what](manifest)


@pytest.mark.parametrize("what", LOADERS)
def test_any_file_that_is_not_a_plain_one_is_refused(made, tmp_path, what):
    for name in os.listdir(made / what):
        folder = tmp_path / name / what
        shutil.copytree(made / what, folder)
        for make in (os.mkfifo, lambda path: path.symlink_to("/dev/zero"), Path.mkdir):
            file = folder / name
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            make(file)
            with pytest.raises(InputError):
                read_all(what, folder)


def read_all(what: str, folder: Path) -> None:
    loaded = LOADERS[what](folder)
    if what == "corpus":
        assert loaded.counts.nnz == loaded.document_frequencies.sum()
        assert len(loaded.vocabulary) == loaded.term_frequencies.size


def test_a_manifest_longer_than_any_of_ours_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setattr("anchorwords.storage.folders._LONGEST_MANIFEST", 100)
    with pytest.raises(InputError, match="damaged"):
        aw.load_model(made / "model")


def test_a_large_file_of_holes_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setattr("anchorwords.storage.holes.BOMB_BYTES", 1 << 22)
    folder = tmp_path / "corpus"
    shutil.copytree(made / "corpus", folder)
    os.truncate(folder / "words.bin", 1 << 32)
    with pytest.raises(CorpusFormatError, match="almost nothing of its size is stored"):
        aw.open_corpus(folder)
    # A large file that is there is fine.
    (tmp_path / "full").write_bytes(os.urandom(1 << 23))
    with OpenFolder(tmp_path) as here, here.open("full") as stream:
        assert len(stream.read()) == 1 << 23


# ---- Replaced while it is read.


@pytest.mark.parametrize("what", LOADERS)
def test_what_was_loaded_stays_what_it_was(made, tmp_path, what):
    save(tmp_path, 1)
    loaded = LOADERS[what](tmp_path / what)
    save(tmp_path, 2)
    words = loaded.model_.vocabulary if what == "model" else loaded.vocabulary if what == "corpus" else loaded.words(1)
    assert all(word.startswith("version1word") for word in words)
    if what == "corpus":
        rng = np.random.default_rng(1)
        np.testing.assert_array_equal(loaded.counts.toarray(), rng.poisson(1.0, (60, 12)))


def test_a_corpus_that_was_replaced_is_not_taken_for_the_old_one_in_another_process(tmp_path):
    save(tmp_path, 1)
    corpus = aw.open_corpus(tmp_path / "corpus")
    sent = pickle.dumps(corpus)  # as the standard library sends it to a worker
    assert pickle.loads(sent).vocabulary == corpus.vocabulary
    save(tmp_path, 2)
    with pytest.raises(CorpusFormatError, match="was replaced while it was in use"):
        pickle.loads(sent)


def test_a_folder_that_is_replaced_while_it_is_read_is_read_again(tmp_path):
    save(tmp_path, 1)
    seen = []

    def slowly(folder):
        seen.append(len(seen))
        if len(seen) < 4:
            save(tmp_path, 1 + len(seen))  # which removes what was opened
        with folder.open("model.json") as stream:
            return json.load(stream)["provenance"]["parameters"]["random_state"]

    assert read_as_one(tmp_path / "model", slowly) == 4
    assert len(seen) == 4


def test_a_folder_moved_away_for_a_moment_is_waited_for(tmp_path, monkeypatch):
    # A system that replaces a folder in two moves: in between there is nothing at its name.
    save(tmp_path, 1)
    monkeypatch.setattr(replacing, "_exchange_function", lambda: None)
    rename, loaded = os.rename, []

    def between(one, other):
        result = rename(one, other)
        if ".replaced-" in Path(other).name and Path(one) == tmp_path / "model":
            reader = subprocess.Popen([sys.executable, "-c", READER, str(tmp_path / "model")], stdout=subprocess.PIPE)
            assert reader.stdout.readline() == b"reading\n"
            time.sleep(0.3)
            loaded.append(reader)
        return result

    monkeypatch.setattr(os, "rename", between)
    save(tmp_path, 2)
    (reader,) = loaded
    output, _ = reader.communicate()
    assert output.decode().strip() == "2"


READER = """
import sys
import anchorwords as aw
print("reading", flush=True)
print(aw.load_model(sys.argv[1]).random_state)
"""


def write_often(home: str, first: int, number: int) -> None:
    for version in range(first, first + number):
        save(Path(home), version)


@pytest.mark.parametrize("n_writers", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_readers_see_one_version_while_others_replace_it(tmp_path, n_writers):
    home = tmp_path / "home"  # which does not exist: the first writers race for it
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write_often, args=(str(home), 100 * (i + 1), 25)) for i in range(n_writers)]
    for writer in writers:
        writer.start()
    n_read = dict.fromkeys(LOADERS, 0)
    while any(writer.is_alive() for writer in writers):
        for what, load in LOADERS.items():
            if not (home / what).exists():
                continue
            loaded = load(home / what)
            if what == "model":
                words, seed = loaded.model_.vocabulary, loaded.random_state
            elif what == "corpus":
                words, seed = loaded.vocabulary, None
                rng = np.random.default_rng(int(words[0].removeprefix("version").split("word")[0]))
                np.testing.assert_array_equal(loaded.counts.toarray(), rng.poisson(1.0, (60, 12)))
            else:
                words, seed = loaded.words(1), loaded.random_state
            versions = {word.split("word")[0] for word in words}
            assert len(versions) == 1
            assert seed is None or versions == {f"version{seed}"}
            n_read[what] += 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert min(n_read.values()) > 0
    assert sorted(os.listdir(home)) == ["corpus", "model", "sketch"]


def use_scratch(number: int) -> None:
    from anchorwords.storage.writing import scratch_folder

    for i in range(number):
        with scratch_folder() as folder:
            (folder / "x").write_text(str(i))
            assert (folder / "x").read_text() == str(i)


def test_processes_side_by_side_keep_their_scratch_folders(tmp_path, monkeypatch):
    # The defect: one in a hundred and thirty fits lost its folder to another that had just started.
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=use_scratch, args=(400,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert os.listdir(tmp_path) == []


def test_no_file_is_left_open(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        corpus = aw.import_corpus(["one two", "two"], tmp_path / "c")
        assert corpus.counts.nnz == 3
        opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
        del corpus
    if opened is not None:
        assert len(os.listdir("/proc/self/fd")) < opened


def test_an_interruption_while_a_file_is_opened_is_not_taken_for_a_missing_file(made, tmp_path, monkeypatch):
    # A find of the campaign: the descriptor was closed twice, and the error of that hid the interruption.
    shutil.copytree(made / "model", tmp_path / "model")
    model = aw.load_model(tmp_path / "model")
    opened = io.open

    def interrupted(*arguments, **options):
        opened(*arguments, **options).close()  # which closes the descriptor
        raise KeyboardInterrupt

    monkeypatch.setattr(reading, "open", interrupted, raising=False)
    monkeypatch.setattr(reading.os, "fdopen", interrupted)
    with pytest.raises(KeyboardInterrupt):
        model.save(tmp_path / "model")
