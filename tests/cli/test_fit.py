"""``anchorwords fit``: presets, guidance, and what is learned beside the topics."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
import scipy.sparse as sp
import typer

import anchorwords as aw
from anchorwords.cli.guidance import as_anchor, documents_or_share
from anchorwords.cli.guidance import words_of as guided_words
from anchorwords.exceptions import UnknownWordWarning
from anchorwords.presets import preset

from .test_cli import run as run_process
from .test_text import run

READERS = preset("readers")


@pytest.fixture(scope="module")
def corpus(sampled):
    return sampled.corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory, corpus):
    """The corpus, a sketch of it, and baskets of rare things: few of 800 are in 1 % of 1,500 baskets."""
    folder = tmp_path_factory.mktemp("guided")
    corpus.save(folder / "corpus")
    aw.CooccurrenceSketch(5, rule=None, random_state=0).update(corpus).save(folder / "sketch")
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 4, size=1500)
    things = 200 * kind[:, None] + rng.integers(0, 200, size=(1500, 5))
    rows = np.repeat(np.arange(1500), 5)
    counts = sp.csr_array((np.ones(rows.size), (rows, things.ravel())), shape=(1500, 800))
    aw.Corpus(counts, [f"thing {i}" for i in range(800)]).save(folder / "baskets")
    return folder


def fitted(source, tmp_path, *arguments):
    """The model that a command wrote, and its summary."""
    done = run("fit", source, "-k", 5, "-o", tmp_path / "model", "--json", "-q", *arguments)
    assert done.returncode == 0, done.stderr
    return aw.load_model(tmp_path / "model").estimator_, json.loads(done.stdout)


def listed_words(row):
    """The words of a row of topic_table by its ranking."""
    return row.get("words", row["prominent"])


def words_of(model, columns):
    return [model.model_.vocabulary[i] for i in columns]


# ---- Presets.


def test_topics_are_those_of_the_preset_for_readers(folder, corpus, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path)
    expected = aw.AnchorTopicModel.from_preset("readers", 5, random_state=0).fit(corpus)
    np.testing.assert_array_equal(model.components_, expected.components_)
    for name, value in READERS.items():
        assert getattr(model, name) == value
    assert (summary["preset"], summary["ranking"], summary["refined"]) == ("readers", "keywords", True)
    assert summary["log_likelihood"] == expected.model_.log_likelihood[-1]
    assert (summary["composition"], summary["prior_mismatch"], summary["stability"]) == ("posterior-mean", None, None)


def test_the_paper_is_a_preset_too(folder, corpus, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--preset", "paper")
    np.testing.assert_array_equal(model.components_, aw.AnchorTopicModel(5, random_state=0).fit(corpus).components_)
    assert (summary["preset"], summary["ranking"], summary["refined"]) == ("paper", "probability", False)
    assert (summary["log_likelihood"], summary["min_anchor_docs"]) == (None, 1)


def test_a_preset_may_be_overruled(folder, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--no-refine")
    assert (model.refinement, model.min_anchor_docs, summary["refined"]) == (None, READERS["min_anchor_docs"], False)
    assert model.rectifier == aw.ENN()


def test_what_is_not_said_of_the_rectifier_is_as_the_preset_has_it(folder, tmp_path):
    rough = READERS["rectifier"].tol
    for arguments, expected in (
        (["--tol", "1e-8"], aw.ENN(tol=1e-8)),
        (["--max-iter", "500"], aw.ENN(tol=rough, max_iter=500)),
        (["--rectifier", "enn"], READERS["rectifier"]),
        (["--max-iter", "500", "--no-refine"], aw.ENN(max_iter=500)),
        (["--rectifier", "palm", "--max-iter", "30", "--tol", "0.1"], aw.PALM(max_iter=30, tol=0.1)),
        (["--rectifier", "none"], None),
    ):
        assert fitted(folder / "corpus", tmp_path, *arguments)[0].rectifier == expected


def test_paper_topics_may_be_refined(folder, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--preset", "paper", "--refine")
    assert (model.refinement, model.min_anchor_docs, summary["refined"]) == (READERS["refinement"], 1, True)


@pytest.mark.parametrize(
    ("arguments", "ranking"),
    [
        ([], "keywords"),
        (["--no-refine"], "probability"),
        (["--preset", "paper"], "probability"),
        (["--preset", "paper", "--refine"], "keywords"),
    ],
)
def test_fit_and_topics_list_the_same_words(folder, tmp_path, arguments, ranking):
    """The words follow the model, which the other commands know, and not the name of the preset, which they do not."""
    shown = json.loads(run("fit", folder / "corpus", "-k", 5, "-n", 6, "--json", "-q", *arguments).stdout)
    model, summary = fitted(folder / "corpus", tmp_path, *arguments)
    listed = json.loads(run("topics", tmp_path / "model", "-n", 6, "--json").stdout)
    assert summary["ranking"] == shown["ranking"] == ranking
    assert [listed_words(row) for row in shown["table"]] == [listed_words(row) for row in listed]
    assert listed == aw.topic_table(model, 6, ranking=ranking)
    words = aw.top_words(model, 6, ranking=ranking)
    assert [listed_words(row) for row in listed] == [words[row["topic"]] for row in listed]
    # What the user asks for wins.
    asked = json.loads(run("topics", tmp_path / "model", "-n", 6, "--ranking", "frex", "--json").stdout)
    assert asked == aw.topic_table(model, 6, ranking="frex")


def test_the_other_commands_list_them_too(folder, corpus, tmp_path):
    model, _ = fitted(folder / "corpus", tmp_path, "--no-refine")
    run("export", tmp_path / "model", "--to", "graphml", "-n", 3, "-o", tmp_path / "topics.graphml", "-q")
    labelled = aw.Corpus(corpus.counts, corpus.vocabulary, documents={"age": ["old", "new"] * 300})
    labelled.save(tmp_path / "labelled")
    grouped = run("groups", tmp_path / "model", tmp_path / "labelled", "--by", "age", "-n", 3)
    for words in aw.top_words(model, 3):
        assert " ".join(words) in (tmp_path / "topics.graphml").read_text()
    refined, _ = fitted(folder / "corpus", tmp_path)
    judged = run("evaluate", tmp_path / "model", folder / "corpus", "-m", "entropy", "--per-topic").stdout
    assert all(" ".join(words) in judged for words in aw.top_words(refined, 3, ranking="keywords"))
    listed = [" ".join(words) for words in aw.top_words(model, 3)]
    assert all(any(line.endswith(words) for words in listed) for line in grouped.stdout.splitlines()[1:])


def test_shown_topics_are_ranked_as_the_preset_says(folder):
    readers = run("fit", folder / "corpus", "-k", 5)
    assert "keywords" in readers.stdout
    paper = run("fit", folder / "corpus", "-k", 5, "--preset", "paper")
    assert "prominent words" in paper.stdout
    table = json.loads(run("fit", folder / "corpus", "-k", 5, "--json", "-n", 4).stdout)["table"]
    assert all(len(row["words"]) == 4 for row in table)


# ---- Guidance.


def test_anchors_of_ones_own_one_word_or_several(folder, tmp_path):
    options = ["--anchor", "w003,w010", "--anchor", "w020", "--no-refine"]
    model, _ = fitted(folder / "corpus", tmp_path, *options)
    groups = [words_of(model, group) for group in model.model_.anchor_groups]
    assert groups[:2] == [["w003", "w010"], ["w020"]]
    shown = run("topics", tmp_path / "model").stdout
    assert "w003 + w010" in shown
    refined, _ = fitted(folder / "corpus", tmp_path, *options[:-1])
    assert [words_of(refined, group) for group in refined.model_.anchor_groups][:2] == groups[:2]


def test_names_may_hold_commas():
    assert as_anchor("fire, ready, aim", {"fire, ready, aim"}) == "fire, ready, aim"
    assert as_anchor("plot, story ,", set()) == ["plot", "story"]
    assert as_anchor("plot,", {"plot"}) == "plot"
    with pytest.raises(typer.BadParameter, match="must name a word"):
        as_anchor(" , ", set())


def test_words_follow_the_case_of_the_text():
    assert as_anchor("SQL,iOS", {"sql", "iOS"}, lowercase=True) == ["sql", "iOS"]
    assert as_anchor("SQL", {"sql"}) == "SQL"  # the words of counts are as they are
    assert guided_words("SQL,Xss", {"sql", "xss"}, "--forbid", lowercase=True) == ["sql", "xss"]


def test_capitals_and_stop_words_of_text(tmp_path):
    rng = np.random.default_rng(0)
    things = [[f"thing{k}{one}" for one in "abcdefgh"] for k in range(3)]
    lines = [" ".join(["The", *rng.choice(things[rng.integers(3)], 12), *rng.choice(things[0], 4)]) for _ in range(300)]
    (tmp_path / "texts.txt").write_text("\n".join(lines).title(), encoding="utf-8")
    arguments = ("--anchor", "Thing0A", "--anchor", "the", "--forbid", "THING1B,thing1c", "--max-df", "1.0")
    with pytest.warns(UnknownWordWarning, match=r"anchors: a word is not .* left out: 'the' \(a stop word\)\."):
        done = run("fit", tmp_path / "texts.txt", "-k", 3, "-q", "-o", tmp_path / "model", *arguments)
    assert done.returncode == 0, done.stderr
    model = aw.load_model(tmp_path / "model").estimator_
    assert words_of(model, model.anchors_)[0] == "thing0a"
    assert list(model.forbidden_anchors) == ["thing1b", "thing1c"]


def test_a_forbidden_word_is_no_anchor(folder, tmp_path):
    free, _ = fitted(folder / "corpus", tmp_path)
    barred = words_of(free, free.anchors_)[:2]
    model, _ = fitted(folder / "corpus", tmp_path, "--forbid", barred[0], "--forbid", barred[1])
    again, _ = fitted(folder / "corpus", tmp_path, "--forbid", ",".join(barred))
    np.testing.assert_array_equal(again.anchors_, model.anchors_)
    assert not set(barred) & set(words_of(model, model.anchors_))


def test_anchors_are_as_frequent_as_asked(folder, corpus, tmp_path):
    for asked, fewest in (("200", 200), ("0.3", 180)):
        model, summary = fitted(folder / "corpus", tmp_path, "--min-anchor-docs", asked)
        assert corpus.document_frequencies[model.anchors_].min() >= fewest
        assert summary["min_anchor_docs"] == model.min_anchor_docs == float(asked)
    assert (documents_or_share("20"), documents_or_share("0.5"), documents_or_share(None)) == (20, 0.5, None)
    assert documents_or_share("auto") == "auto"
    assert isinstance(documents_or_share("1"), int)


def test_words_to_keep_whatever_the_rule_says(folder, corpus, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--n-words", 30)
    lost = [word for word in corpus.vocabulary if word not in model.model_.vocabulary][:2]
    assert "keep_words" not in summary["vocabulary_rule"]
    model, summary = fitted(
        folder / "corpus", tmp_path, "--n-words", 30, "--keep-word", lost[0], "--keep-word", lost[1]
    )
    assert set(lost) < set(model.model_.vocabulary)
    assert summary["vocabulary_rule"]["keep_words"] == lost
    told = run("fit", folder / "corpus", "-k", 5, "--n-words", 30, "--keep-word", lost[0])
    assert f"but in any case {lost[0]}" in told.stderr


def test_a_missing_word_warns_in_a_line_and_the_work_goes_on(folder, tmp_path):
    done = run_process(
        "fit", folder / "corpus", "-k", 5, "-q", "-o", tmp_path / "model", "--anchor", "w0033", "--forbid", "w0100",
        "--keep-word", "w0200", "--replicates", 2,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    warned = done.stderr.splitlines()
    assert len(warned) == 3  # and not again for the replicates
    for line, word in zip(warned, ("w0200", "w0033", "w0100"), strict=True):
        assert line.startswith("warning: ")
        assert f"'{word}' (did you mean " in line


# ---- Too few candidates.


def test_the_presets_threshold_gives_way_to_rare_things(folder, tmp_path):
    baskets = aw.open_corpus(folder / "baskets")
    assert (baskets.document_frequencies >= 0.01 * baskets.n_docs).sum() < 5 * 20
    done = run("fit", folder / "baskets", "-k", 20, "-o", tmp_path / "model", "--no-refine", "--json")
    assert done.returncode == 0, done.stderr
    assert "as the preset asks), so that any word may be an anchor" in done.stderr
    assert json.loads(done.stdout)["min_anchor_docs"] == 1
    # What the user asks for is not lowered.
    asked = run("fit", folder / "baskets", "-k", 20, "--min-anchor-docs", "0.03", "--no-refine")
    assert asked.returncode == 1
    assert "min_anchor_docs=0.03" in asked.stderr


# ---- Beside the topics.


def test_the_prior_of_compositions_goes_with_the_model(folder, corpus, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--prior-aware")
    assert summary["composition"] == model.composition == "prior-aware"
    assert model.model_.parts.composition_dual.shape == (6, 6)  # five topics and the background
    assert 0 <= summary["prior_mismatch"] < 1
    told = run("fit", folder / "corpus", "-k", 5, "--prior-aware")
    assert "prior of compositions: learned on 600 documents" in told.stderr
    done = run("transform", tmp_path / "model", folder / "corpus", "-o", tmp_path / "w.npy", "--json")
    assert json.loads(done.stdout)["method"] == "prior-aware"
    aware = np.load(tmp_path / "w.npy")
    np.testing.assert_array_equal(aware, model.transform(corpus, method="prior-aware"))
    run("transform", tmp_path / "model", folder / "corpus", "-o", tmp_path / "w.npy", "--method", "posterior-mean")
    np.testing.assert_array_equal(np.load(tmp_path / "w.npy"), model.transform(corpus, method="posterior-mean"))
    assert np.abs(aware - np.load(tmp_path / "w.npy")).max() > 0.01


def test_stability_is_measured_and_kept(folder, tmp_path):
    model, summary = fitted(folder / "corpus", tmp_path, "--replicates", 3, "--preset", "paper")
    assert summary["replicates"] == model.model_.stability.n_replicates == 3
    assert summary["stability"] == pytest.approx(model.model_.stability.similarity.mean())
    assert "stability" in json.loads(run("topics", tmp_path / "model", "--json").stdout)[0]


# ---- Sketches.


def test_a_sketch_has_the_papers_topics(folder, tmp_path):
    done = run("fit", folder / "sketch", "-k", 5, "-o", tmp_path / "model", "--json", "--anchor", "w003,w010")
    assert done.returncode == 0, done.stderr
    assert "no documents to refine topics on: these are the paper's" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["preset"], summary["ranking"], summary["refined"]) == ("paper", "probability", False)
    model = aw.load_model(tmp_path / "model")
    assert words_of(model, model.model_.anchor_groups[0]) == ["w003", "w010"]


@pytest.mark.parametrize(
    ("source", "arguments", "code", "message"),
    [
        ("sketch", ["--refine"], 2, "--refine goes over the documents again"),
        (
            "sketch",
            ["--prior-aware", "--replicates", "5"],
            2,
            "--prior-aware, --replicates goes over the documents again",
        ),
        ("sketch", ["--keep-word", "w003"], 2, "--keep-word cannot be applied to a sketch"),
        ("corpus", ["--replicates", "1"], 2, "--replicates must be at least 2"),
        ("corpus", ["--replicates", "4", "--rectifier", "ap"], 2, "--replicates are rectified by ENN"),
        ("corpus", ["--replicates", "-1"], 2, "--replicates"),
        ("corpus", ["--anchor", ","], 2, "--anchor must name a word"),
        ("corpus", ["--forbid", ","], 2, "--forbid must name a word"),
        ("corpus", ["--strength", "1"], 2, "--strength holds topics to the words of --anchor: give both"),
        ("corpus", ["--strength", "1", "--anchor", "w003", "--no-refine"], 2, "--strength matters while topics are"),
        ("corpus", ["--preset", "poets"], 2, "poets"),
        ("corpus", ["--min-anchor-docs", "many"], 2, "or a share between 0 and 1, but is 'many'"),
        ("corpus", ["--min-anchor-docs", "0"], 2, "or a share between 0 and 1, but is '0'"),
        ("corpus", ["--min-anchor-docs", "1.5"], 2, "or a share between 0 and 1, but is '1.5'"),
        ("corpus", ["--min-anchor-docs", "599"], 1, "lower min_anchor_docs"),
        ("corpus", ["--anchor", "w003", "--forbid", "w003"], 1, "'w003' is given as both"),
        ("corpus", ["--anchor", "w003,w003"], 1, "given more than once"),
        ("corpus", [part for i in range(6) for part in ("--anchor", f"w00{i}")], 1, "at most n_components=5 anchors"),
    ],
)
def test_what_does_not_go_is_said_in_a_line(folder, tmp_path, source, arguments, code, message):
    done = run("fit", folder / source, "-k", 5, "-o", tmp_path / "model", *arguments)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    if code == 1:
        assert done.stderr.splitlines()[-1].startswith("error: ")
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def test_every_option_has_help():
    text = run("fit", "--help").stdout
    assert text.count("Example: anchorwords fit") == 3
    options = (
        "--preset",
        "--anchor ",
        "--forbid",
        "--min-anchor-docs",
        "--refine",
        "--prior-aware",
        "--replicates",
        "--keep-word",
    )
    for option in options:
        line = next(line for line in text.splitlines() if option in line and "Example" not in line)
        assert len(line.split()) > 5, option


@pytest.mark.parametrize("quiet", [False, True])
def test_a_fit_of_minutes_is_announced_once(folder, tmp_path, monkeypatch, quiet):
    monkeypatch.setattr("anchorwords.fit_time.expected_operations", lambda *_: 1e13)
    monkeypatch.setattr("anchorwords.fit_time.product_rate", lambda _: 1e11)
    done = run("fit", folder / "corpus", "-k", 3, "-o", tmp_path / "model", *(["-q"] if quiet else []))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("this fit of 3 topics over") == (0 if quiet else 1)
    assert ("will take about 2 minutes; fewer topics or words take less" in done.stderr) is not quiet
