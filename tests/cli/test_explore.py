"""``anchorwords explore``: the page, its data, the documents it shows, and the page served."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

import pytest

import anchorwords as aw
from anchorwords.exploring import data, serving
from anchorwords.exploring.data import explorer_data
from anchorwords.exploring.page import explorer, rendered

from .test_text import ANIMALS, KITCHEN, SPACE, run

N_DOCS = 120


@pytest.fixture(scope="module")
def texts():
    """Documents about one of three things each; what comes first in a text is nowhere else."""
    rng = random.Random(5)
    made = []
    for m in range(N_DOCS):
        words = rng.choices([ANIMALS, KITCHEN, SPACE][m % 3], k=25) + rng.choices(ANIMALS + KITCHEN + SPACE, k=5)
        made.append(f"<b>Number{m:03}</b> " + " and ".join(words))
    made[4] = made[77] = ""
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory, texts):
    """A model of text, and its documents in three ways."""
    folder = tmp_path_factory.mktemp("explored")
    corpus = aw.read_corpus(texts, stop_words=["and"]).prune(min_df=5)
    aw.AnchorTopicModel(3).fit(corpus).save(folder / "model")
    (folder / "lines.txt").write_text("\n".join(texts) + "\n")
    with (folder / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], *([f"report {m}", text] for m, text in enumerate(texts))])
    aw.import_corpus(folder / "lines.txt", folder / "corpus")
    return folder


def explore(folder, *arguments, code=0, **options):
    done = run("explore", folder / "model", *arguments, **options)
    assert done.returncode == code, done.stderr
    return done


def shown(folder, *arguments, **options):
    """What the page shows."""
    return json.loads(explore(folder, *arguments, "--json", **options).stdout)


def documents(page):
    return [document for topic in page["topics"] for document in topic["documents"]]


def test_a_page_in_the_current_folder(folder, tmp_path):
    done = explore(folder, cwd=tmp_path)
    assert os.listdir(tmp_path) == ["topics.html"]
    page = (tmp_path / "topics.html").read_bytes()
    fitted = aw.load_model(folder / "model")
    assert page == explorer(fitted, tmp_path / "expected.html").read_bytes()
    assert page.decode() == rendered(explorer_data(fitted))
    assert done.stdout == (
        f"3 topics written to topics.html ({len(page) / 1000:,.0f} kB): open it in any browser, it needs no network and "
        "no other file\n"
    )
    assert done.stderr == ""


def test_a_page_that_is_there_is_replaced(folder, tmp_path):
    (tmp_path / "page.HTM").write_text("old")
    explore(folder, "-o", tmp_path / "page.HTM", "--title", "What </title> they say")
    page = (tmp_path / "page.HTM").read_text(encoding="utf-8")
    assert "<title>What &lt;/title&gt; they say</title>" in page
    assert os.listdir(tmp_path) == ["page.HTM"]


def test_quiet_says_nothing(folder, tmp_path):
    done = explore(folder, "-o", tmp_path / "page.html", "--corpus", folder / "lines.txt", "--quiet")
    assert (done.stdout, done.stderr) == ("", "")
    assert (tmp_path / "page.html").stat().st_size > 0


def test_the_data(folder, tmp_path):
    expected = json.loads(json.dumps(explorer_data(aw.load_model(folder / "model"), title="Three")))
    assert shown(folder, "--title", "Three") == expected
    done = explore(folder, "--title", "Three", "--json", "-o", tmp_path / "data.json")
    assert json.loads((tmp_path / "data.json").read_text(encoding="utf-8")) == expected
    assert done.stdout.startswith(f"3 topics written to {tmp_path / 'data.json'} (")
    assert "browser" not in done.stdout


def test_what_is_not_a_number_is_null(folder, monkeypatch):
    def odd(*_, **__):
        return {"some": [1.5, float("nan"), float("inf")]}

    monkeypatch.setattr(data, "explorer_data", odd)
    assert shown(folder) == {"some": [1.5, None, None]}


@pytest.mark.parametrize("source", ["lines.txt", "table.csv"])
def test_documents_begin_as_they_do(folder, texts, source):
    # The text that stands beside a document must be that of this document: it holds the words that are listed for it.
    listed = documents(shown(folder, "--corpus", folder / source))
    assert listed
    for document in listed:
        m = int(document["text"].removeprefix("<b>Number")[:3])
        assert document["name"] in (f"document {m + 1}", f"report {m}")
        assert document["text"].rstrip("…").rstrip() in texts[m]
        assert set(document["words"]) <= set(texts[m].split())


def test_names_of_documents(folder):
    listed = documents(shown(folder, "--corpus", folder / "table.csv", "--id-column", "id"))
    assert listed
    assert all(document["name"].startswith("report ") for document in listed)
    assert [int(document["text"][9:12]) for document in listed] == [int(document["name"][7:]) for document in listed]


@pytest.fixture(scope="module")
def dated(folder, texts):
    """The documents as a table with dates and several labels each."""
    path = folder / "dated.csv"
    with path.open("w", newline="") as file:
        lines = [[text, f"{2001 + m // 40}-05-0{1 + m % 9}", "x; y" if m % 2 else "y"] for m, text in enumerate(texts)]
        csv.writer(file).writerows([["text", "when", "tags"], *lines])
    return path


def test_time_and_groups(folder, dated, texts):
    reading = ("--corpus", dated, "--text-column", "text", "--no-texts")
    found = shown(folder, *reading, "--time", "when", "--freq", "YE", "--by", "tags", "--split", ";")
    assert found["time"]["periods"] == ["2001", "2002", "2003"]
    assert found["time"]["by"] == "when"
    assert {row["name"]: row["n_documents"] for row in found["groups"]["rows"]} == {"y": 118, "x": 59}
    assert found["groups"]["by"] == "tags"
    fitted = aw.load_model(folder / "model")
    corpus = aw.read_corpus(dated, text_column="text", columns=["when", "tags"], like=fitted)
    options = {"time": "when", "freq": "YE", "by": "tags", "separator": ";"}
    assert found == json.loads(json.dumps(explorer_data(fitted, corpus, **options)))
    # One without the other.
    assert shown(folder, *reading, "--time", "when")["groups"] is None
    assert shown(folder, *reading, "--by", "tags")["time"] is None
    assert len(texts) == N_DOCS


def test_a_width_of_periods_is_a_number(folder, texts):
    path = folder / "numbered.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["text", "year"], *([text, 2001 + m // 12] for m, text in enumerate(texts))])
    found = shown(folder, "--corpus", path, "--text-column", "text", "--time", "year", "--freq", "5")
    assert found["time"]["periods"] == ["2000 to 2004", "2005 to 2009", "2010 to 2014"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--time", "when"), "--time needs --corpus"),
        (("--by", "tags"), "--by needs --corpus"),
        (("--corpus", "SOURCE", "--freq", "YE"), "--freq needs --time"),
        (("--corpus", "SOURCE", "--split", ";"), "--split needs --by"),
        (("--corpus", "SOURCE", "--by", "tags", "--split", ""), "--split must be a separator"),
    ],
)
def test_time_and_groups_that_do_not_go_together(folder, dated, tmp_path, arguments, message):
    arguments = [dated if argument == "SOURCE" else argument for argument in arguments]
    done = explore(folder, "-o", tmp_path / "page.html", *arguments, code=2)
    assert message in " ".join(done.stderr.split())
    assert os.listdir(tmp_path) == []


def test_a_column_that_is_not_there(folder, dated, tmp_path):
    done = explore(folder, "-o", tmp_path / "p.html", "--corpus", dated, "--text-column", "text", "--time", "x", code=1)
    assert "x" in done.stderr
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("how", ["no texts", "corpus folder", "standard input"])
def test_documents_without_their_text(folder, how):
    with_texts = documents(shown(folder, "--corpus", folder / "lines.txt"))
    without = documents(
        shown(folder, "--corpus", folder / "lines.txt", "--no-texts")
        if how == "no texts"
        else shown(folder, "--corpus", folder / "corpus")
        if how == "corpus folder"
        else shown(folder, "--corpus", "-", input=(folder / "lines.txt").read_text())
    )
    assert all("text" in document for document in with_texts)
    assert without == [{key: value for key, value in one.items() if key != "text"} for one in with_texts]


def test_texts_do_not_get_into_a_page_that_is_not_to_have_them(folder, tmp_path):
    for options, there in ([], True), (["--no-texts"], False):
        explore(folder, "-o", tmp_path / "page.html", "--corpus", folder / "lines.txt", *options)
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert ("\\u003cb\\u003eNumber" in page) == there
        assert "<b>Number" not in page


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--port", 8000], 2, "--port is about the page that --serve shows"),
        (["--no-browser"], 2, "--no-browser is about the page that --serve shows"),
        (["--serve", "--json"], 2, "choose one of them"),
        (["--serve", "--port", 65536], 2, "65535"),
        (["--no-texts"], 2, "without --corpus"),
        (["--keep-case", "--format", "text"], 2, "--format, --keep-case: options that say how to read documents"),
        (["--corpus", "LINES", "--keep-case"], 2, "--keep-case: text is split into words as it was for the fit"),
        (["--corpus", "nowhere.txt"], 1, "nowhere.txt does not exist"),
        (["--jobs", 0], 2, "must not be 0"),
        (["-o", "page.txt"], 2, "--output must end in .html or .htm, but is page.txt"),
        (["-o", "page"], 2, "--output must end in .html or .htm"),
        (["-o", "page.html", "--json"], 2, "call --output page.json, not page.html"),
        (["-o", "there/page.html"], 2, "is in a folder that does not exist"),
        (["-o", "there/data.json", "--json"], 2, "is in a folder that does not exist"),
    ],
)
def test_what_does_not_go_leaves_nothing(folder, tmp_path, arguments, code, message):
    arguments = [folder / "lines.txt" if argument == "LINES" else argument for argument in arguments]
    done = explore(folder, *arguments, code=code, cwd=tmp_path)
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert os.listdir(tmp_path) == []


def test_a_folder_is_no_page(folder, tmp_path):
    (tmp_path / "topics.html").mkdir()
    assert "topics.html is a folder" in explore(folder, code=2, cwd=tmp_path).stderr


def test_a_failure_leaves_what_was_there(folder, tmp_path, monkeypatch):
    def failing(*_, **__):
        raise aw.exceptions.InputError("no.")

    monkeypatch.setattr(data, "explorer_data", failing)
    (tmp_path / "topics.html").write_text("old")
    assert "error: no." in explore(folder, code=1, cwd=tmp_path).stderr
    assert os.listdir(tmp_path) == ["topics.html"]
    assert (tmp_path / "topics.html").read_text() == "old"


@pytest.fixture
def served(monkeypatch):
    """What is asked of the server, in place of serving it."""
    asked = []

    def serve(page, *, port, open_browser, ready):
        ready("http://127.0.0.1:1/")
        asked.append((page, port, open_browser))

    monkeypatch.setattr(serving, "serve", serve)
    return asked


def test_a_page_is_served_and_not_written(folder, tmp_path, served):
    done = explore(folder, "--serve", cwd=tmp_path)
    assert served == [(rendered(explorer_data(aw.load_model(folder / "model"))), 0, True)]
    assert os.listdir(tmp_path) == []
    assert done.stdout == "http://127.0.0.1:1/\n"
    assert "Ctrl-C" in done.stderr
    done = explore(folder, "--serve", "--no-browser", "--port", 8123, "-q", cwd=tmp_path)
    assert served[1][1:] == (8123, False)
    assert (done.stdout, done.stderr) == ("http://127.0.0.1:1/\n", "")  # the address is the result


def test_a_page_is_served_and_written(folder, tmp_path, served):
    done = explore(folder, "--serve", "-o", "page.html", cwd=tmp_path)
    assert served[0][0] == (tmp_path / "page.html").read_text(encoding="utf-8")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["3", "http://127.0.0.1:1/"]


def test_a_port_in_use(folder):
    with serving.served("another") as address:
        port = address.rsplit(":", 1)[1].strip("/")
        done = explore(folder, "--serve", "--port", port, "--no-browser", code=1)
    assert f"port {port} is in use by another program: choose another (port, --port)" in done.stderr
    assert done.stdout == ""


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
def test_served_for_real_until_interrupted(folder):
    command = [sys.executable, "-m", "anchorwords", "explore", str(folder / "model"), "--serve", "--no-browser"]

    def heard():  # a shell may have switched it off
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
    ) as process:
        try:
            address = process.stdout.readline().strip()
            with closing(HTTPConnection(urlsplit(address).netloc, timeout=20)) as link:
                link.request("GET", "/")
                page = link.getresponse().read().decode()
            process.send_signal(signal.SIGINT)
            rest, remarks = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert page == rendered(explorer_data(aw.load_model(folder / "model")))
    assert rest == ""
    assert remarks == "served to this machine only, until Ctrl-C\n"
