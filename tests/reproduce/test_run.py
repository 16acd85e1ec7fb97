"""The whole run: what it writes, what it keeps, and how it goes on."""

from __future__ import annotations

import csv
import getpass
import json
import os
import re
import shutil
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from anchorwords.datasets import make_topics
from anchorwords.exceptions import AnchorwordsError
from anchorwords.metrics import METRICS
from anchorwords.reproduce import reproduce, run
from anchorwords.reproduce.plan import METHODS, Plan
from anchorwords.reproduce.series import SECOND
from tests.reproduce.helpers import (
    TIMES,
    TINY,
    cached,
    count_computed,
    draw_little,
    links,
    tables,
    use_tiny,
    without_times,
    write_uci,
)

# Of one corpus under the tiny plan: K; methods' panels and one a vocabulary; K of each vocabulary; two tables.
TASKS = {"first": 2, "space": 5 + 2, "second": 2 * 2, "table": 2}


def rows_of(file):
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def test_the_report_and_its_files(finished):
    output, _, _ = finished
    assert {path.name for path in output.iterdir()} == {
        "report.md", "first.csv", "second.csv", "words.csv", "figures", "cache",
    }  # fmt: skip
    report = (output / "report.md").read_text(encoding="utf-8")
    for link in links(report):
        assert (output / link).is_file(), link
        assert (output / link).stat().st_size > 0
    linked = {Path(link).name for link in links(report)}
    assert linked == {path.name for path in (output / "figures").iterdir()}
    stems = {Path(name).stem for name in linked}
    assert stems == {"figure2-alpha", "figure2-beta", "figure3-80", "figure3-more-80", "figure4"}
    assert linked == {f"{stem}{end}" for stem in stems for end in (".svg", ".png")}
    assert "nan" not in re.findall(r"[a-z]+", report.lower())


def test_every_claim_has_a_verdict_in_the_report(finished):
    report = (finished[0] / "report.md").read_text(encoding="utf-8")
    summary = tables(report)[0][2:]
    verdicts = [line.split(" | ")[2] for line in summary]
    assert len(verdicts) == 10
    assert set(verdicts) <= {"agrees", "in part", "differs"}  # a whole run has data for every claim
    shown = re.findall(r"^\*\*(agrees|in part|differs|no data)\*\*: ", report, re.MULTILINE)
    assert shown == verdicts


def test_tables_of_the_report_are_tables(finished):
    for table in tables((finished[0] / "report.md").read_text(encoding="utf-8")):
        assert len({line.count("|") for line in table}) == 1
        assert set(table[1]) <= set("|-: ")


def test_rows_are_what_the_plan_says(finished):
    output, results, _ = finished
    first, second, words = (rows_of(output / f"{name}.csv") for name in ("first", "second", "words"))
    expected = set()
    for corpus in ("alpha", "beta"):
        for K in TINY.every_k:
            for method in METHODS if K in TINY.slow_k else ("ENN+LAW", "LR-JSMF"):
                for seed in range(TINY.n_seeds if method == "LR-JSMF" else 1):
                    expected.add((corpus, "80", method, str(K), str(seed)))
    keys = [(r["corpus"], r["n_words"], r["method"], r["n_components"], r["seed"]) for r in first]
    assert set(keys) == expected
    assert len(keys) == len(expected) == 2 * (6 + 3)
    sizes = {info["corpus"]: info["words"] for info in results.corpora}
    expected = {
        (corpus, str(size), str(K)) for corpus in sizes for size in (round(sizes[corpus] / 2), sizes[corpus])
        for K in TINY.every_k
    }  # fmt: skip
    keys = [(r["corpus"], r["n_words"], r["n_components"]) for r in second]
    assert set(keys) == expected
    assert len(keys) == 2 * TINY.n_steps * len(TINY.every_k)
    # A table of the small vocabulary and one of the full, which is under 10,000 words.
    assert len(words) == 2 * 2 * TINY.table_k
    assert {row["n_words"] for row in words} == {"80", *map(str, sizes.values())}


def test_columns_hold_all_metrics_and_times(finished):
    output, _, _ = finished
    first, second = rows_of(output / "first.csv"), rows_of(output / "second.csv")
    for row in first:
        assert all(row[metric.name] != "" and float(row[metric.name]) == float(row[metric.name]) for metric in METRICS)
    for row in second:
        assert all(row[name] != "" for name in SECOND)
    for row in first + second:
        assert all(float(row[name]) >= 0.0 for name in TIMES)
        assert int(row["words"]) <= int(row["n_words"])
    for row in first:
        assert (row["seed_topic_distance"] != "") == (row["method"] == "LR-JSMF" and row["seed"] != "0")


def test_figures_draw_what_the_records_hold(finished):
    _, results, _ = finished
    from anchorwords.reproduce import figures

    assert all({*figures.FIRST, *figures.BESIDE} <= set(record) for record in results.first)
    assert all(set(figures.SECOND) <= set(record) for record in results.second)
    panels = figures._panels(results.spaces, "alpha")
    assert [panel["title"] for panel in panels] == [*METHODS, "LR-JSMF, 75 words", "LR-JSMF, 150 words"]


def test_results_are_those_of_the_files(finished):
    output, results, _ = finished
    assert [(r["method"], f"{r['relative_recovery']:.6g}") for r in results.first] == [
        (r["method"], r["relative_recovery"]) for r in rows_of(output / "first.csv")
    ]
    assert [info["corpus"] for info in results.corpora] == ["alpha", "beta"]
    assert all(info["stop_words"] is False for info in results.corpora)


def test_nothing_says_where_it_ran(finished, corpora):
    output, _, _ = finished
    private = {str(output), str(corpora), str(Path.home()), tempfile.gettempdir(), os.getcwd()}
    user = getpass.getuser()
    for file in output.rglob("*"):
        if file.suffix in {".md", ".csv", ".json", ".svg"}:
            text = file.read_text(encoding="utf-8")
            assert not [path for path in private if path != "/" and path in text], file.name
            assert not re.search(rf"\b{re.escape(user)}\b", text), file.name


def test_progress_goes_up_to_all(finished):
    _, _, calls = finished
    done = [call[1] for call in calls]
    assert done == sorted(done)
    assert done[0] == 0
    assert done[-1] == calls[-1][2]
    assert len({call[2] for call in calls}) == 1
    labels = " ".join(call[0] for call in calls)
    for part in ("alpha", "beta", "reading", "K 5", "LR-JSMF", "words"):
        assert part in labels


def test_a_second_call_computes_nothing_and_writes_the_same(finished, corpora, monkeypatch):
    output, results, _ = finished
    use_tiny(monkeypatch)
    draw_little(monkeypatch)
    before = {path: path.read_bytes() for path in output.rglob("*") if path.is_file()}
    computed = count_computed(monkeypatch)
    again = reproduce(corpora, output, quick=True, n_jobs=1)
    assert not computed
    assert again == results
    today = date.today().isoformat().encode()
    for path, content in before.items():
        now = path.read_bytes()
        if path.name == "report.md":  # a run at midnight has two dates
            now, content = (re.sub(rb"\d{4}-\d\d-\d\d", today, text) for text in (now, content))
        assert now == content, path.name
    assert {path for path in output.rglob("*") if path.is_file()} == set(before)


# -- going on ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def alpha(corpora, tmp_path, tiny, finished):
    """Function that runs the tiny plan on one corpus, without figures: its results and what it computed.

    ``alpha.fill()`` puts the results of a finished run where it looks for them, and returns the records.
    """
    computed = count_computed(tiny)

    def call(data=corpora, **options):
        computed.clear()
        options = {"quick": True, "n_jobs": 1, "corpora": ["alpha"], "report": False} | options
        return reproduce(data, tmp_path / "out", **options), dict(computed)

    def fill():
        (tmp_path / "out" / "cache").mkdir(parents=True)
        for file in (finished[0] / "cache").glob("*-alpha-*.json"):
            shutil.copy(file, tmp_path / "out" / "cache")
        return {
            name: [record for record in getattr(finished[1], name) if record["corpus"] == "alpha"]
            for name in ("first", "second", "spaces", "tables")
        }

    call.output = tmp_path / "out"
    call.fill = fill
    return call


def test_one_lost_result_is_made_again(alpha):
    results = alpha.fill()
    assert len(cached(alpha.output)) == sum(TASKS.values())
    for series in ("second", "first"):
        lost = cached(alpha.output, series)[0]
        lost.unlink()
        again, computed = alpha()
        assert computed == {series: 1}
        assert lost.is_file()
        assert without_times(again.first) == without_times(results["first"])
        assert without_times(again.second) == without_times(results["second"])


def test_ctrl_c_keeps_what_is_done(alpha, tiny):
    original = run._compute
    started = []

    def pressed(task, *rest):
        started.append(task)
        if len(started) == 9:
            raise KeyboardInterrupt
        return original(task, *rest)

    tiny.setattr(run, "_compute", pressed)
    with pytest.raises(KeyboardInterrupt):
        alpha()
    assert len(cached(alpha.output)) == 8
    assert not [path for path in (alpha.output / "cache").iterdir() if path.suffix != ".json"]
    tiny.setattr(run, "_compute", original)
    _, computed = alpha()
    assert sum(computed.values()) == sum(TASKS.values()) - 8
    assert alpha()[1] == {}


def test_other_counts_are_another_corpus(alpha, corpora, tmp_path):
    alpha.fill()
    data = tmp_path / "changed"
    data.mkdir()
    lines = (corpora / "alpha" / "docword.alpha.txt").read_text().splitlines()
    document, word, count = lines[3].split()
    lines[3] = f"{document} {word} {int(count) + 1}"
    (data / "docword.alpha.txt").write_text("\n".join(lines) + "\n")
    (data / "vocab.alpha.txt").write_bytes((corpora / "alpha" / "vocab.alpha.txt").read_bytes())
    assert alpha(data)[1] == TASKS
    assert alpha(data)[1] == {}
    assert alpha()[1] == {}  # and the old one is still there


def test_the_same_counts_elsewhere_are_the_same_corpus(alpha, corpora, tmp_path):
    alpha.fill()
    for name in ("docword.alpha.txt", "vocab.alpha.txt"):
        (tmp_path / name).write_bytes((corpora / "alpha" / name).read_bytes())
    assert alpha(tmp_path)[1] == {}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"n_seeds": 3}, {"first": 2}),
        ({"ap_steps": 21}, {"first": 2, "space": 7}),
        ({"table_k": 4}, {"table": 2}),
        ({"space_k": 4}, {"space": 7}),
        ({"slow_k": (5, 6)}, {"first": 1}),
        ({"every_k": (5, 6, 7)}, {"first": 1, "second": 6}),  # other eigenpairs serve all K
    ],
)
def test_another_plan_is_not_served_from_the_old_results(alpha, tiny, change, expected):
    alpha.fill()
    plan = replace(TINY, **change)
    use_tiny(tiny, plan)
    results, computed = alpha()
    assert computed == expected
    if change.get("n_seeds"):
        assert {r["seed"] for r in results.first if r["method"] == "LR-JSMF"} == {0, 1, 2}
    if "ap_steps" in change:
        assert {r["iterations"] for r in results.first if r["method"] == "AP+AW"} == {21}
    use_tiny(tiny, TINY)
    assert alpha()[1] == {}


@pytest.mark.parametrize("damage", ["cut", "empty", "null", "nothing of ours", "not text"])
def test_a_damaged_result_poisons_nothing(alpha, damage):
    """It is made again on the vocabulary it belongs to, or a sentence names the file."""
    results = alpha.fill()
    file = cached(alpha.output, "second-alpha-75")[0]
    text = file.read_bytes()
    contents = {
        "cut": text[: len(text) // 2], "empty": b"", "null": b"null", "nothing of ours": b"{}", "not text": b"\xff\x00"
    }  # fmt: skip
    file.write_bytes(contents[damage])
    said = None
    try:
        again, computed = alpha()
    except AnchorwordsError as error:
        said = str(error)
    if said is not None:
        assert file.name in said
        assert "\n" not in said
        return
    assert computed == {"second": 1}
    assert without_times(again.second) == without_times(results["second"])
    assert json.loads(file.read_text())["result"]


def test_times_are_said_to_be_of_the_threads_they_were_taken_with(alpha):
    """Times depend on threads: those kept from a run with one thread are not shown as of a run with two."""
    alpha.fill()
    assert alpha(report=True, n_jobs=1)[1] == {}
    assert "One thread" in (alpha.output / "report.md").read_text(encoding="utf-8")
    _, computed = alpha(report=True, n_jobs=2)
    measured_anew = computed.get("first") == TASKS["first"] and computed.get("second") == TASKS["second"]
    assert measured_anew or "One thread" in (alpha.output / "report.md").read_text(encoding="utf-8")


def test_results_do_not_depend_on_threads_and_the_report_can_wait(alpha, finished):
    two, computed = alpha(n_jobs=2)
    assert computed == TASKS
    for name in ("first", "second"):
        one = [record for record in getattr(finished[1], name) if record["corpus"] == "alpha"]
        assert without_times(one) == without_times(getattr(two, name))
    assert [panel for panel in finished[1].spaces if panel["corpus"] == "alpha"] == two.spaces
    assert [table for table in finished[1].tables if table["corpus"] == "alpha"] == two.tables
    assert [path.name for path in alpha.output.iterdir()] == ["cache"]


def test_a_wrong_folder_leaves_nothing(tmp_path, tiny):
    with pytest.raises(AnchorwordsError, match="is not a folder"):
        reproduce(tmp_path / "nowhere", tmp_path / "out", quick=True)
    assert os.listdir(tmp_path) == []


def test_more_words_for_one_corpus(corpora, tmp_path, tiny):
    use_tiny(tiny, Plan(**{**TINY.__dict__, "every_k": (5,), "more_words": {"alpha": {120: (5,)}}}))
    results = reproduce(corpora, tmp_path / "out", quick=True, n_jobs=1)
    sizes = {(r["corpus"], r["n_words"], r["method"]) for r in results.first}
    assert sizes == {("alpha", size, method) for size in (80, 120) for method in METHODS} | {
        ("beta", 80, method) for method in METHODS
    }
    # The report says what was run: every vocabulary of the first series.
    notes = (tmp_path / "out" / "report.md").read_text(encoding="utf-8").split("## How it was run")[1]
    assert "120" in notes


def test_a_corpus_smaller_than_the_vocabulary_of_the_plan(tmp_path, tiny):
    write_uci(tmp_path / "data", "small", make_topics(100, 40, 5, doc_length=40, random_state=0).corpus)
    results = reproduce(tmp_path / "data", tmp_path / "out", quick=True, n_jobs=1)
    assert {r["n_words"] for r in results.first} == {results.corpora[0]["words"]}
    assert len(results.first) == 6 + 3
    assert len(results.tables) == 1  # small and full are one
    keys = [(panel["method"], panel["n_words"]) for panel in results.spaces]
    assert set(keys) >= {(method, results.corpora[0]["words"]) for method in METHODS}


@pytest.mark.data
def test_the_tiny_plan_on_films(data_folder, tmp_path, monkeypatch):
    use_tiny(monkeypatch, replace(TINY, every_k=(5,), n_words=(300,), table_words=300))
    draw_little(monkeypatch)
    results = reproduce(data_folder, tmp_path / "out", quick=True, corpora=["ml1m"], n_jobs=1)
    report = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert "`ml1m` (for Movies)" in report
    assert all((tmp_path / "out" / link).is_file() for link in links(report))
    assert "nan" not in re.findall(r"[a-z]+", report.lower())
    by_method = {r["method"]: r for r in results.first if r["n_components"] == 5 and r["seed"] == 0}
    # The paper's first finding: ENN, from either start, gives one set of topics.
    assert by_method["ENN+LAW"]["relative_recovery"] == pytest.approx(
        by_method["LR-JSMF"]["relative_recovery"], rel=1e-4
    )
    assert by_method["Baseline"]["relative_recovery"] > by_method["ENN+LAW"]["relative_recovery"]
