"""The report on results made by hand: hostile words and names, and methods that failed."""

from __future__ import annotations

import csv
import json
import re

import pytest

from anchorwords.reproduce.figures import draw
from anchorwords.reproduce.report import write_report
from anchorwords.reproduce.run import Results
from tests.reproduce.helpers import TINY, bars, links, tables

HOSTILE = ["a|b", "*loud*", "<b>bold</b>", "two\nlines", "\x1b[31mred", "back\\slash", "`code`", "[a](b)", "&amp;"]


def row(anchor, prominent, characteristic, topic=0):
    specific = [word for word in characteristic if word not in prominent]
    return {
        "topic": topic, "prevalence": 0.5, "anchor": anchor, "prominent": prominent, "characteristic": characteristic,
        "specific": specific, "prominent_documents": [9] * len(prominent), "specific_documents": [4] * len(specific),
        "anchor_documents": 3,
    }  # fmt: skip


def results(corpus="c", rows=(), **parts):
    info = {"corpus": corpus, "documents": 10, "words": 90, "tokens": 1000, "entries": 500, "stop_words": True}
    table = {"corpus": corpus, "n_words": 90, "rows": list(rows) or [row("x", ["y", "z"], ["z", "x"])]}
    return Results(TINY, [info], [], [], [], [table], 1)._replace(**parts)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Function: results -> text of the report, written without figures."""
    monkeypatch.setattr("anchorwords.reproduce.report.draw", lambda *_: {})

    def write(given):
        write_report(given, tmp_path)
        return (tmp_path / "report.md").read_text(encoding="utf-8")

    write.folder = tmp_path
    return write


def test_hostile_words_are_shown_as_they_are(written):
    text = written(results(rows=[row(word, [word, "plain"], ["plain", word[::-1]]) for word in HOSTILE]))
    assert r"a\|b" in text
    assert r"\*loud\*" in text
    assert r"\<b\>bold\<\/b\>" in text
    assert "two\nlines" not in text
    assert "\x1b" not in text
    for table in tables(text):
        assert len({bars(line) for line in table}) == 1
    table = tables(text)[-1]
    assert len(table) == 2 + len(HOSTILE)


def test_hostile_words_come_back_from_the_csv_file(written):
    written(results(rows=[row(word, [word], [word], k) for k, word in enumerate(HOSTILE)]))
    with (written.folder / "words.csv").open(encoding="utf-8", newline="") as stream:
        assert [line["anchor"] for line in csv.DictReader(stream)] == HOSTILE


def test_what_is_characteristic_alone_is_bold(written):
    text = written(results(rows=[row("anchor", ["one", "two"], ["two", "three"])]))
    assert "| anchor | one two | two **three** |" in text
    spaced = written(results(rows=[row("The Beatles", ["The Who", "Cream"], ["The Byrds", "Cream"])]))
    assert "| The Beatles | The Who · Cream | **The Byrds** · Cream |" in spaced


def test_it_says_what_was_run(written):
    text = written(results("nips12"))
    assert "`nips12` (for NeurIPS)" in text
    notes = text.split("## How it was run")[1]
    for part in ("80 words", "K = 5, 6", "K = 5;", "2 seeds", "20 steps", "One thread"):
        assert part in notes
    assert re.search(r"\| nips12 \| NeurIPS \| 10 \| 90 \| 1,000 \| yes \|", text)


def test_without_records_there_is_still_a_report(written):
    text = written(results())
    assert text.count("**no data**") >= 9
    assert "nan" not in re.findall(r"[a-z]+", text.lower())
    for name in ("first", "second"):
        assert (written.folder / f"{name}.csv").read_text().strip() == ""


@pytest.mark.parametrize("method", ["Baseline", "AP+AW", "ENN+LAW", "PALM+LAW", "LR-JSMF"])
def test_a_method_that_failed_does_not_break_it(written, finished, method):
    """Every metric undefined (a baseline without correlations, say) and no convergence."""
    _, whole, _ = finished
    counted = {"n_components", "seed", "words", "documents", "n_words"}
    lost = [
        {
            key: None if isinstance(value, float) and not key.startswith("seconds") and key not in counted else value
            for key, value in record.items()
        } | {"converged": False}
        if record["method"] == method else record
        for record in json.loads(json.dumps(whole.first))
    ]  # fmt: skip
    # What compares with AP is there whenever both ran.
    for record, before in zip(lost, whole.first, strict=True):
        record.update({key: before[key] for key in before if "distance" in key})
    text = written(whole._replace(first=lost))
    assert "nan" not in re.findall(r"[a-z]+", text.lower())
    assert "None" not in text
    with (written.folder / "first.csv").open(encoding="utf-8", newline="") as stream:
        rows = [line for line in csv.DictReader(stream) if line["method"] == method]
    assert rows
    assert {line["specificity"] for line in rows} == {""}
    assert {line["converged"] for line in rows} == {"False"}


def test_a_method_that_did_not_converge_is_named(written, finished):
    """The notes say that ENN runs until it has converged: where it did not, they must not."""
    _, whole, _ = finished
    lost = [record | {"converged": record["method"] != "ENN+LAW"} for record in whole.first]
    text = written(whole._replace(first=lost))
    assert "ENN runs until it has converged" not in text or "not converge" in text


def panel(corpus, method="Baseline"):
    return {
        "corpus": corpus, "n_words": 90, "method": method, "log_relative_volume": None, "explained": [0.5, 0.2],
        "xy": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.3, 0.3]], "anchors": [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]],
        "anchor_words": ["$a$", "b|", "c"],
    }  # fmt: skip


@pytest.mark.parametrize("name", ["news.v2", "my corpus", "a(1)"])
def test_names_of_corpora_make_files_and_links(tmp_path, name):
    """docword.NAME.txt may have any NAME."""
    write_report(results(name, spaces=[panel(name)]), tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]*\]\((<[^>]*>|[^\s()]+)\)", text)  # what CommonMark takes for a destination
    assert len(pictures) == 1, links(text)
    from urllib.parse import unquote

    assert (tmp_path / unquote(pictures[0].strip("<>"))).is_file()


def test_a_bar_in_a_name_breaks_no_table(written):
    for table in tables(written(results("a|b"))):
        assert len({bars(line) for line in table}) == 1


def test_k_outside_every_group_is_no_figure_and_no_error(tmp_path):
    """K of 2 and 3 are in no group of Figure 4: there is nothing to draw, but the rest of the report is wanted."""
    second = [
        {"corpus": "c", "n_words": n, "n_components": 2, "mst_incoherence": 1.0, "method": "LR-JSMF"} for n in (50, 90)
    ]
    draw(results(second=second), tmp_path)


def test_a_report_is_replaced(written):
    written(results("one"))
    text = written(results("two"))
    assert "`two`" in text
    assert "`one`" not in text
    assert not [path.name for path in written.folder.iterdir() if path.name.startswith(".")]
