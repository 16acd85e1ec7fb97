"""``anchorwords topics``: styles, anchors and documents."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.cli.tables import side_by_side_as_table
from anchorwords.interpret.anchors import anchor_table
from anchorwords.interpret.top_documents import top_documents

runner = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """A model, and its corpus with and without names of documents."""
    folder = tmp_path_factory.mktemp("reading")
    corpus = sampled.corpus
    aw.AnchorTopicModel(5).fit(corpus).save(folder / "model")
    corpus.save(folder / "numbered")
    aw.Corpus(corpus.counts, corpus.vocabulary, [f"report {m}" for m in range(corpus.n_docs)]).save(folder / "named")
    return folder


def topics(folder, *arguments, code=0, **environment):
    result = runner.invoke(
        app, ["topics", str(folder / "model"), *map(str, arguments)], env={"COLUMNS": "200", **environment}
    )
    assert result.exit_code == code, result.output
    return result


def table(folder, n):
    return aw.topic_table(aw.load_model(folder / "model"), n)


def test_the_table_is_the_default(folder):
    plain = topics(folder, "-n", 4).stdout
    assert plain == topics(folder, "-n", 4, "--style", "table").stdout
    assert len(plain.splitlines()) == 6
    assert "characteristic words not among them" in plain
    assert json.loads(topics(folder, "-n", 4, "--json").stdout) == table(folder, 4)


def test_paper_style_stands_side_by_side(folder):
    rows = table(folder, 6)
    lines = topics(folder, "-n", 6, "--style", "paper").stdout.splitlines()
    assert re.split(r"\s{2,}", lines[0].strip()) == ["topic", "prominent words", "characteristic words"]
    for row, line in zip(rows, lines[2:], strict=True):
        starred = [f"*{word}*" if word in row["specific"] else word for word in row["characteristic"]]
        assert line.split() == [str(row["topic"]), *row["prominent"], *starred]
    assert any(row["specific"] for row in rows)


def test_paper_style_is_bold_on_a_terminal(folder):
    rows = table(folder, 6)
    screen = Console(force_terminal=True, color_system="standard", width=200, file=io.StringIO())
    screen.print(side_by_side_as_table(rows))
    lines = screen.file.getvalue().splitlines()[2:]
    assert [re.findall("\x1b\\[1m(\\S+)\x1b\\[0m", line) for line in lines] == [row["specific"] for row in rows]
    forced = topics(folder, "-n", 6, "--style", "paper", FORCE_COLOR="1", TERM="xterm").stdout
    assert f"\x1b[1m{next(row['specific'][0] for row in rows if row['specific'])}\x1b[0m" in forced
    assert "*" not in forced


def test_markdown_is_a_table(folder):
    rows = table(folder, 6)
    lines = topics(folder, "-n", 6, "--style", "markdown").stdout.splitlines()
    assert lines[:2] == ["| topic | prominent words | characteristic words |", "| ---: | --- | --- |"]
    for row, line in zip(rows, lines[2:], strict=True):
        words = [f"**{word}**" if word in row["specific"] else word for word in row["characteristic"]]
        assert line == f"| {row['topic']} | {' '.join(row['prominent'])} | {' '.join(words)} |"
    tables = topics(folder, "--style", "markdown", "--anchors", "--documents", 1, "--corpus", folder / "named").stdout
    assert [len(part.splitlines()) for part in tables.split("\n\n")] == [7, 7, 7]
    for part in tables.strip().split("\n\n"):
        assert len({line.count("|") for line in part.splitlines()}) == 1


@pytest.mark.parametrize("style", ["table", "paper", "markdown"])
def test_topics_without_a_name_of_their_own_have_automatic_ones(folder, tmp_path, style):
    model = aw.load_model(folder / "model")
    named = aw.rename_topics(model, {2: "space flight"})
    named.save(tmp_path / "model")
    shown = topics(tmp_path, "--style", style).stdout
    assert "space flight" in shown
    rows = {row["topic"]: row["label"] for row in aw.topic_table(named)}
    assert len(rows) == 5
    for topic, label in rows.items():
        assert any(line.replace("|", " ").split()[:1] == [str(topic)] and label in line for line in shown.splitlines())


def test_hostile_words_stay_harmless(tmp_path, sampled):
    hostile = ["[red]a|b[/red]", "\x1b[31mred", "**loud**", "<b>&amp;</b>", "back\\slash", "two\nlines", "café-1.5 'x'"]
    words = hostile + [f"w{i}" for i in range(sampled.corpus.n_words - len(hostile))]
    corpus = aw.Corpus(sampled.corpus.counts, words, [f"[bold]\x1b{m}|`" for m in range(sampled.corpus.n_docs)])
    aw.AnchorTopicModel(5, anchors=[0, 1, 2, 3, 4]).fit(corpus).save(tmp_path / "model")
    corpus.save(tmp_path / "corpus")
    rest = ("-n", 120, "--anchors", "--corpus", tmp_path / "corpus", "--documents", 2)
    for style in ("table", "paper", "markdown"):
        shown = topics(tmp_path, "--style", style, *rest, COLUMNS="5000").stdout
        assert "\x1b" not in shown
        assert "two\nlines" not in shown
        if style != "markdown":
            assert "[red]a|b[/red]" in shown
            assert "[bold]\N{REPLACEMENT CHARACTER}" in shown
    assert r"\[red\]a\|b\[\/red\]" in shown
    assert r"\*\*loud\*\*" in shown
    assert r"\<b\>\&amp\;\<\/b\>" in shown
    assert r"back\\slash" in shown
    assert "café-1.5 'x'" in shown
    assert "`" not in shown.replace(r"\`", "")
    # As many bars in every line of a table, those of words aside.
    for part in shown.strip().split("\n\n"):
        assert len({line.replace(r"\|", "").count("|") for line in part.splitlines()}) == 1
    assert json.loads(topics(tmp_path, *rest, "--json").stdout)[0]["documents"][0]["document"].startswith("[bold]\x1b")


def test_anchors_with_and_without_a_corpus(folder, sampled):
    model = aw.load_model(folder / "model")
    alone = topics(folder, "--anchors").stdout.split("\n\n")[1].splitlines()
    counted = topics(folder, "--anchors", "--corpus", folder / "named").stdout.split("\n\n")[1].splitlines()
    assert "documents" not in alone[0]
    assert counted[0].split()[-2:] == ["documents", "tokens"]
    for row, short, line in zip(anchor_table(model, sampled.corpus), alone[1:], counted[1:], strict=True):
        assert (short.split()[0], short.split()[2]) == (str(row["topic"]), row["anchor"])
        assert short.split()[-1] == str(row["rank"])
        assert line.split()[-2:] == [f"{row['documents']:,}", f"{row['tokens']:,}"]
    for row, expected in zip(
        json.loads(topics(folder, "--anchors", "--corpus", folder / "named", "--json").stdout),
        anchor_table(model, sampled.corpus),
        strict=True,
    ):
        named = {name: row[name] for name in ("topic", "label", "prevalence", "anchor")}
        assert named | row["anchor_frequency"] == expected


def test_documents_of_each_topic(folder, sampled):
    model = aw.load_model(folder / "model")
    expected = top_documents(model, sampled.corpus, 3)
    rows = json.loads(topics(folder, "--documents", 3, "--corpus", folder / "named", "--json", "--jobs", 1).stdout)
    for row in rows:
        assert row["documents"] == [
            entry | {"document": f"report {entry['row']}"} for entry in expected[row["topic"]]
        ]  # fmt: skip
    listed = topics(folder, "--documents", 3, "--corpus", folder / "named").stdout.split("\n\n")[1].splitlines()
    assert len(listed) == 1 + 15
    assert re.split(r"\s{2,}", listed[1].strip())[-1] == rows[0]["documents"][0]["document"]
    # Without names a document has the number that transform gives it.
    rows = json.loads(topics(folder, "--documents", 1, "--corpus", folder / "numbered", "--json").stdout)
    assert [row["documents"][0]["document"] for row in rows] == [
        str(expected[row["topic"]][0]["row"] + 1) for row in rows
    ]
    none = topics(folder, "--documents", 3, "--corpus", folder / "named", "--min-tokens", 1000)
    assert none.stdout.count("none") == 5
    assert "lower --min-tokens" in none.stderr


def test_text_is_split_as_for_the_fit(tmp_path):
    lines = ["Cats purr, cats sleep at home"] * 6 + ["Dogs bark, dogs run at night"] * 6
    (tmp_path / "pets.txt").write_text("\n".join(lines))
    corpus = aw.read_corpus(tmp_path / "pets.txt", lowercase=False)
    aw.AnchorTopicModel(2).fit(corpus).save(tmp_path / "model")
    rows = json.loads(
        topics(tmp_path, "--corpus", tmp_path / "pets.txt", "--documents", 2, "--anchors", "--json").stdout
    )
    assert sorted(entry["row"] for row in rows for entry in row["documents"]) == [0, 1, 6, 7]
    for row in rows:
        assert row["anchor_frequency"]["documents"] in (6, 12)
        assert row["documents"][0]["tokens"] == 6


# ---- Rankings, stability, groups of anchors, common words.


@pytest.fixture(scope="module")
def sure(tmp_path_factory, sampled):
    """A refined model with an anchor of two words, whose stability was measured."""
    folder = tmp_path_factory.mktemp("sure")
    model = aw.AnchorTopicModel.from_preset("readers", 5, anchors=[["w003", "w010"]]).fit(sampled.corpus)
    model.measure_stability(sampled.corpus, n_replicates=3)
    model.save(folder / "model")
    sampled.corpus.save(folder / "corpus")
    return folder


@pytest.mark.parametrize(
    ("ranking", "head"),
    [
        ("probability", "prominent words"),
        ("relevance", "words by relevance"),
        ("frex", "words by FREX"),
        ("characteristic", "characteristic words"),
    ],
)
def test_words_in_the_order_asked_for(folder, ranking, head):
    model = aw.load_model(folder / "model")
    expected = aw.topic_table(model, 4, ranking=ranking)
    assert json.loads(topics(folder, "-n", 4, "--ranking", ranking, "--json").stdout) == expected
    lines = topics(folder, "-n", 4, "--ranking", ranking).stdout.splitlines()
    assert head in lines[0]
    for row, line in zip(expected, lines[1:], strict=True):
        listed = row.get("words", row["prominent"])
        beside = [word for word in row["characteristic"] if word not in listed]
        assert line.split() == [str(row["topic"]), f"{100 * row['prevalence']:.1f}%", row["anchor"], *listed, *beside]


def test_refined_topics_are_read_by_keywords(sure, folder):
    by_default = topics(sure, "-n", 5, "--json").stdout
    assert by_default == topics(sure, "-n", 5, "--ranking", "keywords", "--json").stdout
    assert by_default != topics(sure, "-n", 5, "--ranking", "probability", "--json").stdout
    assert "keywords" in topics(sure).stdout
    for style in ("paper", "markdown"):
        assert "keywords" in topics(sure, "--style", style).stdout
        assert "prominent words" in topics(folder, "--style", style).stdout


def test_side_by_side_marks_what_is_not_listed(sure):
    rows = json.loads(topics(sure, "-n", 6, "--ranking", "frex", "--json").stdout)
    lines = topics(sure, "-n", 6, "--ranking", "frex", "--style", "markdown").stdout.splitlines()[2:7]
    for row, line in zip(rows, lines, strict=True):
        words = [word if word in row["words"] else f"**{word}**" for word in row["characteristic"]]
        assert line == f"| {row['topic']} | {' '.join(row['words'])} | {' '.join(words)} |"


def test_the_weight_of_probability(folder):
    probable = json.loads(topics(folder, "--ranking", "relevance", "--weight", 1, "--json").stdout)
    assert all(row["words"] == row["prominent"] for row in probable)
    lifted = json.loads(topics(folder, "--ranking", "relevance", "--weight", 0, "--json").stdout)
    assert any(row["words"] != row["prominent"] for row in lifted)


def test_stability_stands_beside_the_share(sure, folder):
    rows = json.loads(topics(sure, "--json").stdout)
    lines = topics(sure).stdout.splitlines()
    assert re.split(r"\s{2,}", lines[0].strip())[:5] == ["topic", "share", "interval", "stability", "anchor"]
    assert " ".join(lines[len(rows) + 1 :]).startswith("Background, ")
    for row, line in zip(rows, lines[1:], strict=False):
        low, high = f"{100 * row['prevalence_low']:.1f}", f"{100 * row['prevalence_high']:.1f}%"
        assert line.split()[2:6] == [low, "to", high, f"{row['stability']:.2f}"]
    assert "stability" not in topics(folder).stdout
    first, *notes, second = topics(sure, "--style", "markdown").stdout.strip().split("\n\n")
    assert notes[0].startswith("Background, ")
    assert second.startswith("| topic | share | interval | stability | words kept | anchor kept | anchor |")
    assert len(second.splitlines()) == len(first.splitlines()) == 7


def test_an_anchor_of_several_words_is_shown_whole(sure):
    rows = json.loads(topics(sure, "--json").stdout)
    assert next(row for row in rows if row["topic"] == 0)["anchors"] == ["w003", "w010"]
    assert topics(sure).stdout.count("w003 + w010") == 1
    assert topics(sure, "--anchors").stdout.count("w003 + w010") == 2
    assert topics(sure, "--documents", 1, "--corpus", sure / "corpus").stdout.count("w003 + w010") == 2


def test_candidates_for_stop_words(folder):
    model = aw.load_model(folder / "model")
    expected = aw.common_words(model, 4)
    assert expected
    told = json.loads(topics(folder, "--common-words", 4, "--json").stdout)
    assert told == {"topics": aw.topic_table(model), "common_words": expected}
    listed = topics(folder, "--common-words", 4).stdout.split("\n\n")[1].splitlines()
    assert [line.split()[0] for line in listed[1:]] == [one["word"] for one in expected]
    markdown = topics(folder, "--common-words", 4, "--style", "markdown").stdout.strip().split("\n\n")[1]
    assert len(markdown.splitlines()) == 2 + len(expected)


def test_no_candidates_are_no_table(tmp_path):
    corpus = aw.read_corpus([t for t in ("cats purr sleep", "dogs bark run", "banks lend money") for _ in range(6)])
    aw.AnchorTopicModel(3).fit(corpus).save(tmp_path / "model")
    result = topics(tmp_path, "--common-words", 4)
    assert "common word" not in result.stdout
    assert "no candidates for stop words" in result.stderr
    assert json.loads(topics(tmp_path, "--common-words", 4, "--json").stdout)["common_words"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--documents", "3"], "--documents needs the documents themselves"),
        (["--corpus", "CORPUS"], "--corpus is read for --documents and --anchors only"),
        (["--min-tokens", "3", "--corpus", "CORPUS", "--anchors"], "--min-tokens is about the documents"),
        (["--keep-case", "--anchors"], "--keep-case: options that say how to read documents"),
        (["--documents", "0", "--corpus", "CORPUS"], "--documents"),
        (["--style", "poem"], "poem"),
        (["--ranking", "luck"], "luck"),
        (["--weight", "0.5"], "--weight belongs to --ranking relevance and frex, but words are by probability"),
        (["--ranking", "frex", "--weight", "2"], "--weight"),
        (["--ranking", "characteristic", "--style", "paper"], "choose another --ranking"),
        (["--common-words", "0"], "--common-words"),
        (["--corpus", "CORPUS", "--anchors", "--ngrams", "2"], "whose words are counted already"),
    ],
)
def test_bad_usage_exits_with_two(folder, arguments, message):
    result = topics(folder, *[folder / "named" if a == "CORPUS" else a for a in arguments], code=2)
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert result.stdout == ""


def test_every_option_has_help():
    text = runner.invoke(app, ["topics", "--help"], env={"COLUMNS": "200", "NO_COLOR": "1"}).output
    assert text.count("Example: anchorwords topics") == 4
    for option in (
        "--style", "--ranking", "--weight", "--anchors", "--documents", "--min-tokens", "--corpus", "--common-words",
        "--json",
    ):  # fmt: skip
        line = next(line for line in text.splitlines() if option in line and "Example" not in line)
        assert len(line.split()) > 6
