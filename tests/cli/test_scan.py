"""``anchorwords scan``."""

from __future__ import annotations

import json
import re
import shlex
import sys

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.cli.scan import parsed_numbers
from anchorwords.datasets import make_topics
from anchorwords.scanning.scan import scan as compare
from tests.reproduce.helpers import write_uci

runner = CliRunner()


@pytest.fixture(scope="module")
def corpus():
    return make_topics(n_docs=1500, n_words=120, n_topics=4, correlation=0.1, random_state=1).corpus


@pytest.fixture(scope="module")
def folder(tmp_path_factory, corpus):
    folder = tmp_path_factory.mktemp("scanned")
    write_uci(folder, "toy", corpus)
    corpus.save(folder / "corpus")
    return folder


def scan(*arguments, code=0):
    result = runner.invoke(app, ["scan", *map(str, arguments)], env={"COLUMNS": "200", "NO_COLOR": "1"})
    assert result.exit_code == code, result.output
    return result


def test_a_table_the_reasons_and_the_command(folder, corpus):
    result = scan(folder / "docword.toy.txt", "--topics", "2:6", "--min-anchor-docs", "1")
    head, _, columns, *rest = result.stdout.splitlines()
    assert head == "1,500 documents (0 too short) and 120 words"
    assert re.split(r"\s{2,}", columns.strip())[:3] == ["topics", "× noise", "replicate"]
    expected = compare(corpus, range(2, 7))
    for row, line in zip(expected.rows(), rest, strict=False):
        cells = [cell for cell in line.split() if cell != "recommended"]
        assert ("recommended" in line) == row["recommended"]
        assert cells[0] == str(row["n_components"])
        assert cells[2] == f"{row['n_replicated']:.3g}"
        assert cells[4] == f"{row['heldout_perplexity']:,.0f}"
        assert cells[5] == f"{row['npmi_coherence']:.3f}"
    text = result.stdout
    assert "Recommended: 4 topics." in text
    for reason in expected.reasons:
        assert f"- {reason}" in text
    assert f"Fit with: anchorwords fit {folder / 'docword.toy.txt'} --min-anchor-docs 1 -k 4 -o model-4" in text


def test_json(folder, corpus):
    found = json.loads(scan(folder / "corpus", "-k", "3,4", "--min-anchor-docs", "1", "--json", "--seed", "2").stdout)
    expected = compare(corpus, (3, 4), random_state=2)
    assert found["recommended"] == expected.recommended
    assert found["reasons"] == expected.reasons
    assert [level["n_components"] for level in found["levels"]] == [level.n_components for level in expected.levels]
    assert found["eigenvalues"] == pytest.approx(expected.eigenvalues.tolist(), rel=1e-9)
    assert found["directions"]["n"] == expected.directions.n
    assert [row["n_components"] for row in found["rows"]] == [3, 4]
    assert found["rows"][0]["npmi_coherence"] == pytest.approx(expected.rows()[0]["npmi_coherence"], rel=1e-9)
    assert (found["documents"], found["words"], found["min_anchor_docs"], found["plot"]) == (1500, 120, 1, None)


def test_anchors_as_fit_chooses_them(folder):
    # 1 % of 1,500 documents by default, as the preset says.
    assert json.loads(scan(folder / "corpus", "-k", "3", "--json").stdout)["min_anchor_docs"] == 0.01
    result = scan(folder / "corpus", "-k", "3", "--min-anchor-docs", "0.5", "--json")
    assert json.loads(result.stdout)["min_anchor_docs"] == 0.5


def test_a_picture(folder, tmp_path):
    pytest.importorskip("matplotlib")
    result = scan(folder / "corpus", "-k", "3,4", "--plot", tmp_path / "scan.svg")
    assert "<svg" in (tmp_path / "scan.svg").read_text()
    assert "figure written to" in result.stderr
    refused = scan(folder / "corpus", "-k", "3", "--plot", tmp_path / "scan.gif", code=2)
    assert "--plot must end in" in " ".join(refused.stderr.replace("│", " ").split())


def test_a_picture_that_memory_did_not_suffice_for_is_not_written(folder, tmp_path, monkeypatch):
    # Found by the campaign: matplotlib ignores a lack of memory while it reads a font, and draws without some letters.
    pytest.importorskip("matplotlib")
    (tmp_path / "scan.svg").write_text("the old one")

    class Font:
        def __del__(self):
            raise MemoryError

    def drawn(*arguments):
        Font()
        return draw(*arguments)

    from anchorwords.plot.scan import scan as draw

    monkeypatch.setattr(sys.modules["anchorwords.plot.scan"], "scan", drawn)
    hook = sys.unraisablehook
    result = scan(folder / "corpus", "-k", "3,4", "--plot", tmp_path / "scan.svg", code=1)
    assert isinstance(result.exception, MemoryError)  # which the command line tells in one sentence
    assert (tmp_path / "scan.svg").read_text() == "the old one"
    assert sys.unraisablehook is hook


def test_the_command_works_as_printed(folder, tmp_path):
    source = tmp_path / "two words.txt"
    chance = np.random.default_rng(0)
    kinds = [[f"{kind}{letter}" for letter in "abcdefgh"] for kind in ("fish", "ship", "tree")]
    source.write_text("\n".join(" ".join(chance.choice(kinds[i % 3], 9)) + " 12 the" for i in range(120)))
    options = ["--keep-word", "treea", "--keep-word", "fisha", "--numbers", "--stop-words", "english", "--min-df", "2"]
    result = scan(source, "-k", "2,3", *options, "--splits", "2")
    (command,) = re.findall("Fit with: (anchorwords fit .* -o model-[0-9]+)", result.stdout)
    name, *arguments = shlex.split(command)
    assert name == "anchorwords"
    assert sorted(arguments[2:-4]) == sorted(options)
    arguments[-1] = str(tmp_path / "model")
    done = runner.invoke(app, arguments)
    assert done.exit_code == 0, done.output
    rule = aw.load_model(tmp_path / "model").model_.provenance.vocabulary_rule
    assert (rule.min_df, rule.keep_words) == (2, ("treea", "fisha"))


def test_the_commands_of_all_levels_work_as_printed(tmp_path):
    source = tmp_path / "eight kinds.txt"
    chance = np.random.default_rng(0)
    names = ("fish", "ship", "tree", "bird", "road", "moon", "lamp", "desk")
    kinds = [[f"{name}{letter}" for letter in "abcdefgh"] for name in names]
    source.write_text("\n".join(" ".join(chance.choice(kinds[i % 8], 9)) for i in range(400)))
    result = scan(source, "-k", "2,3,4")
    assert "No single number of topics is recommended." in result.stdout
    levels = json.loads(scan(source, "-k", "2,3,4", "--json", "-q").stdout)["levels"]
    commands = re.findall("Fit with: (anchorwords fit .* -o model-[0-9]+)", result.stdout)
    assert len(commands) == len(levels) > 0
    for i, (command, level) in enumerate(zip(commands, levels, strict=True)):
        arguments = shlex.split(command)[1:]
        arguments[-1] = str(tmp_path / f"model-{i}")
        done = runner.invoke(app, arguments)
        assert done.exit_code == 0, done.output
        assert aw.load_model(arguments[-1]).model_.n_components == level["n_components"]


def test_the_commands_of_plausible_numbers_work_as_printed(tmp_path):
    # The last direction is about as strong as noise, so that the data do not tell some numbers apart.
    corpus = make_topics(n_docs=1500, n_words=120, n_topics=8, correlation=0.35, random_state=2).corpus
    corpus.save(tmp_path / "corpus")
    arguments = (tmp_path / "corpus", "--min-anchor-docs", "1", "-k", "4:12")
    text = scan(*arguments).stdout
    found = json.loads(scan(*arguments, "--json", "-q").stdout)
    assert found["recommended"] is None
    assert len(found["plausible"]) > 1
    assert found["plausible"] == [level["n_components"] for level in found["levels"]]
    assert "The data do not tell these numbers apart." in text
    commands = re.findall("Fit with: (anchorwords fit .* -o model-[0-9]+)", text)
    assert len(commands) == len(found["plausible"])
    for i, (command, K) in enumerate(zip(commands, found["plausible"], strict=True)):
        words = shlex.split(command)[1:]
        words[-1] = str(tmp_path / f"model-{i}")
        done = runner.invoke(app, words)
        assert done.exit_code == 0, done.output
        assert aw.load_model(words[-1]).model_.n_components == K


def test_numbers_are_chosen_if_none_are_given(folder):
    text = scan(folder / "corpus", "--min-anchor-docs", "1").stdout
    assert "Recommended: 4 topics." in text
    found = json.loads(scan(folder / "corpus", "--min-anchor-docs", "1", "--json", "-q").stdout)
    assert {3, 4, 5} <= {row["n_components"] for row in found["rows"]}


def test_a_single_number_is_compared_with_nothing(folder):
    result = scan(folder / "corpus", "-k", "3", "--min-anchor-docs", "1")
    assert "- Only one number of topics was scanned, so there is nothing to compare it with." in result.stdout
    assert "- With 3 topics, " in result.stdout
    for claim in ("fine", "recommended", "Fit with"):
        assert claim not in result.stdout
    assert json.loads(scan(folder / "corpus", "-k", "3", "--json", "-q").stdout)["levels"] == []


def test_a_step_is_chosen_for_a_long_range_and_reported(folder):
    result = scan(folder / "corpus", "-k", "2:24", "--splits", "1")
    assert "scanning 12 numbers of topics: 2:24:2; 2:24:1 scans every number" in result.stderr
    assert "scanning" not in scan(folder / "corpus", "-k", "2:4").stderr


def test_numbers():
    assert parsed_numbers("10,20, 50") == [10, 20, 50]
    assert parsed_numbers("10:30:10") == [10, 20, 30]
    assert parsed_numbers("2:4,8,10:19:5") == [2, 3, 4, 8, 10, 15]
    assert parsed_numbers("7") == parsed_numbers("7:7") == [7]
    assert parsed_numbers("10:60") == list(range(10, 61, 5))
    assert parsed_numbers("1:20") == list(range(1, 21))
    assert parsed_numbers("1:21") == [*range(1, 21, 2), 21]
    assert parsed_numbers("1:400") == [*range(1, 400, 50), 400]
    assert parsed_numbers("10:60:1") == list(range(10, 61))
    for wrong in ("", "a", "10,", "1:2:3:4", "5:2", "0", "1:5:0", "2.5", "-3", "10-20"):
        with pytest.raises(typer.BadParameter, match="--topics must be numbers such as"):
            parsed_numbers(wrong)


def test_bad_usage(folder, tmp_path, corpus):
    assert "--topics must be numbers such as" in " ".join(
        scan(folder / "corpus", "-k", "few", code=2).stderr.replace("│", " ").split()
    )
    aw.CooccurrenceSketch(5).update(corpus).save(tmp_path / "sketch")
    refused = scan(tmp_path / "sketch", "-k", "3", code=2)
    assert "is a sketch, which contains no documents" in " ".join(refused.stderr.replace("│", " ").split())


def test_help():
    text = scan("--help").stdout
    assert text.count("Example: anchorwords scan") == 2
    for option in ("--topics", "--plot", "--splits", "--json"):
        assert option in text
