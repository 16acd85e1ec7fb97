"""``anchorwords trends``."""

from __future__ import annotations

import csv
import json
import os

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.cli.output import as_plain
from anchorwords.cli.sparkline import sparkline
from tests.trends.test_over_time import shifting

from .test_cli import run as run_process
from .test_text import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model whose first topic changes its words, and documents that get more of it from year to year."""
    folder = tmp_path_factory.mktemp("dated")
    rng = np.random.default_rng(0)
    model, _, _ = shifting(rng)
    year = np.repeat(np.arange(2000, 2010), 60)
    late = (year - 2000) / 9.0
    shares = rng.beta(8 * (0.2 + 0.5 * late), 8 * (0.8 - 0.5 * late))
    phi = np.zeros((600, 20))
    phi[:, :5], phi[:, 5:10] = 0.2 * (1 - late)[:, None], 0.2 * late[:, None]
    phi *= shares[:, None]
    phi[:, 10:] = (1 - shares)[:, None] / 10
    counts = np.array([rng.multinomial(60, row / row.sum()) for row in phi])
    table = {
        "year": [None if i == 7 else int(one) for i, one in enumerate(year)],
        "day": [f"{one}-0{1 + i % 9}-15" for i, one in enumerate(year)],
        "kind": ["ab"[i % 2] for i in range(600)],
        "dirty": [f"{one}-0{1 + i % 9}-15" if i % 100 else "unknown" for i, one in enumerate(year)],
        "nothing": [None] * 600,
        "same": [1999] * 600,
    }
    from anchorwords.storage.model_folder import write_model

    write_model(folder / "model", model.with_labels(["changing words", "same words"]))
    aw.Corpus(counts, model.vocabulary, documents=table).save(folder / "corpus")
    with (folder / "documents.jsonl").open("w") as stream:
        for row, one in zip(counts, table["year"], strict=True):
            tokens = [model.vocabulary[i] for i, count in enumerate(row) for _ in range(int(count))]
            stream.write(json.dumps({"text": tokens, "year": one}) + "\n")
    return folder


def trends(folder, *arguments, code=0, source="corpus", by="year"):
    done = run("trends", folder / "model", folder / source, "--by", by, *arguments)
    assert done.returncode == code, done.stderr
    return done


def expected(folder, by="year", freq=None, **options):
    return aw.topics_over_time(aw.load_model(folder / "model"), aw.open_corpus(folder / "corpus"), by, freq, **options)


def test_the_table(folder):
    done = trends(folder)
    lines = done.stdout.splitlines()
    head, first, second = (line.split() for line in lines[:3])
    assert head[:5] == ["topic", "label", "per", "year", "interval"]
    found = {row["topic"]: row for row in expected(folder).trends().rows()}
    # Two topics: one gains what the other loses.
    for cells in (first, second):
        row = found[int(cells[0])]
        assert cells[1:3] == row["label"].split()
        assert cells[3] == f"{100 * row['slope']:+.2f}"
        assert cells[4:7] == [f"{100 * row['lower']:+.2f}", "to", f"{100 * row['upper']:+.2f}"]
        assert cells[7] == f"{100 * row['change']:+.1f}"
        assert cells[8] == row["verdict"]
        assert len(cells[9]) == 10  # the years
    assert {found[0]["verdict"], found[1]["verdict"]} == {"rising", "falling"}
    words = next(line for line in lines[4:] if "changing words" in line)
    risen = {f"w0{i}" for i in range(5, 10)}
    fallen = {f"w0{i}" for i in range(5)}
    listed = words.split()[3:]
    assert set(listed[:4]) <= risen
    assert set(listed[4:]) <= fallen
    assert "599 documents in 10 periods of one value each: 2000, ..., 2009." in done.stdout
    assert "1 rising, 1 falling, 0 no clear trend" in done.stdout
    assert "left out: 1 document without a time\n" in done.stderr
    assert "left out" not in trends(folder, by="day").stderr
    assert "rising words" not in trends(folder, "-n", 0).stdout


def test_json_holds_everything(folder):
    told = json.loads(trends(folder, "--json").stdout)
    found = expected(folder)
    assert told["trends"] == as_plain(found.trends().rows())
    assert told["rows"] == as_plain(found.rows())
    assert [one["period"] for one in told["periods"]] == list(found.periods)
    assert [(one["start"], one["end"]) for one in told["periods"][:2]] == [(2000, 2000), (2001, 2001)]
    days = json.loads(trends(folder, "--json", "--freq", "YE", by="day").stdout)
    assert (days["periods"][0]["start"], days["periods"][0]["end"]) == ("2000-01-01", "2001-01-01")
    assert days["unit"] == "year"
    assert (told["by"], told["freq"], told["unit"], told["level"], told["fdr"]) == ("year", "distinct", "1", 0.9, 0.05)
    assert told["degrees_of_freedom"] == pytest.approx(found.by_periods.freedom)
    assert (told["documents"], told["documents_without_time"], told["documents_without_known_words"]) == (599, 1, 0)
    for one in told["words"]:
        own = found.words(one["topic"], 4)
        assert one["rising"] == own.rising
        assert one["rows"] == own.rows()


@pytest.mark.parametrize(
    ("options", "by", "freq", "python"),
    [
        (["--freq", "5"], "year", 5, {}),
        (["--freq", "quantiles:4"], "year", "quantiles:4", {}),
        (["--freq", "YE", "--level", "0.5"], "day", "YE", {"level": 0.5}),
        (["--by-tokens"], "day", None, {"by_tokens": True}),
    ],
)
def test_options_are_those_of_the_function(folder, options, by, freq, python):
    told = json.loads(trends(folder, "--json", *options, by=by).stdout)
    assert told["trends"] == as_plain(expected(folder, by, freq, **python).trends().rows())


def test_independent_documents_and_a_false_discovery_rate(folder):
    told = json.loads(trends(folder, "--json", "--independent", "--fdr", 0.2).stdout)
    assert told["errors"] == "documents"
    assert told["trends"] == as_plain(expected(folder).trends(errors="documents", fdr=0.2).rows())


def test_some_topics(folder):
    told = json.loads(trends(folder, "--json", "--topics", "1").stdout)
    assert {row["topic"] for row in told["rows"]} == {row["topic"] for row in told["trends"]} == {1}
    # Values of the others have a part in the verdicts all the same.
    assert told["trends"] == [row for row in as_plain(expected(folder).trends().rows()) if row["topic"] == 1]


def test_a_table_for_other_programs(folder, tmp_path):
    for name, separator in (("trends.csv", ","), ("trends.tsv", "\t")):
        done = trends(folder, "-o", tmp_path / name)
        assert done.stdout == ""
        with (tmp_path / name).open(newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter=separator))
        found = expected(folder)
        slopes = {row["topic"]: row for row in found.trends().rows()}
        for row, right in zip(rows, found.rows(), strict=True):
            assert {column: row[column] for column in right} == {column: str(value) for column, value in right.items()}
            own = slopes[right["topic"]]
            assert float(row["slope"]) == own["slope"]
            assert float(row["slope_lower"]) == own["lower"]
            assert row["verdict"] == own["verdict"]
        first = rows[0]
        assert first["words"] == " ".join(found.words(0, 4).top[0])
        assert first["rising"] == " ".join(one["word"] for one in found.words(0, 4).rising)


def test_a_column_of_the_documents_needs_no_other_option(folder):
    assert trends(folder, "--json", source="documents.jsonl").stdout == trends(folder, "--json").stdout


def test_a_figure_and_the_table(folder, tmp_path):
    done = trends(folder, "--plot", tmp_path / "new" / "years.svg", "--topics", "1,0")
    assert "figure written to" in done.stderr
    assert (tmp_path / "new" / "years.svg").read_text().count("<svg") == 1
    assert done.stdout == trends(folder, "--topics", "1,0").stdout


def test_few_periods(folder):
    done = trends(folder, by="same")
    assert "0 rising, 0 falling, 2 no clear trend" in done.stdout
    assert "599" not in done.stdout
    assert "600 documents in 1 period: 1999." in done.stdout
    assert "use a finer --freq, or --independent" in " ".join(done.stderr.split())
    told = json.loads(trends(folder, "--json", by="same").stdout)
    assert all(row["slope"] is None and row["lower"] is None for row in told["trends"])
    two = trends(folder, "--freq", "quantiles:2")
    assert "fewer than three periods" in two.stderr
    assert "fewer than three periods" not in trends(folder, "--freq", "quantiles:2", "--independent").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--by", "colour"], 1, "the documents have no column 'colour': they have 'year',"),
        (
            ["--by", "kind"],
            1,
            "the column 'kind' must hold dates or numbers, but is of the kind 'text': prevalence_by and",
        ),
        (
            ["--by", "dirty"],
            1,
            "6 of its 600 values are not dates; the first is 'unknown' in row 1. Correct or empty these",
        ),
        (["--by", "nothing"], 1, "no document has a value in the column 'nothing'"),
        (["--by", "year", "--freq", "ME"], 1, "freq must be a width such as 5, 'quantiles:8' or None, but is 'ME'"),
        (["--by", "day", "--freq", "fortnight"], 1, "freq must be 'YE', 'QE', 'ME', 'W' or 'D' for dates"),
        (["--by", "year", "--topics", "7"], 1, "there is no topic 7"),
        (["--by", "year", "--topics", "first"], 2, "--topics must be ids such as 3,5, but is first"),
        (["--by", "year", "--level", "1"], 2, "--level must be between 0 and 1"),
        (["--by", "year", "--fdr", "5"], 2, "--fdr must be between 0 and 1"),
        (["--by", "year", "-o", "trends.xls"], 2, "--output must end in .csv or .tsv, but is trends.xls"),
        (["--by", "year", "--plot", "trends.gif"], 2, "--plot must end in .svg, .png or .pdf, but is trends.gif"),
        (["--by", "year", "--spreadsheet"], 2, "--spreadsheet is about the table that --output writes: give both"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(folder, tmp_path, arguments, code, message):
    done = run("trends", folder / "model", folder / "corpus", *arguments, cwd=tmp_path)
    assert done.returncode == code
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert done.stdout == ""
    assert os.listdir(tmp_path) == []


def test_sparklines():
    assert sparkline(np.array([0.0, 0.5, 1.0, np.nan])) == "▁▅█ "
    assert sparkline(np.array([0.0, 0.5, 1.0, np.nan]), ascii_only=True) == "_+# "
    assert sparkline(np.zeros(3)) == "▁▁▁"
    assert sparkline(np.array([np.nan])) == " "
    long = sparkline(np.linspace(0, 1, 400))
    assert len(long) == 30
    assert sorted(long) == list(long)


def test_a_terminal_without_blocks_gets_letters(folder, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    done = run_process("trends", folder / "model", folder / "corpus", "--by", "year")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "?" not in done.stdout


def test_help_has_examples():
    assert run("trends", "--help").stdout.count("Example: anchorwords trends") == 2
