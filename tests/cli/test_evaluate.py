"""``anchorwords evaluate``."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import anchorwords as aw
from anchorwords.cli.app import app
from anchorwords.metrics import METRICS
from tests.reproduce.helpers import write_uci

runner = CliRunner()
NAMES = [metric.name for metric in METRICS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sampled):
    """Models by ENN and by AP; their corpus as a UCI file and as a folder."""
    folder = tmp_path_factory.mktemp("judged")
    write_uci(folder, "toy", sampled.corpus)
    sampled.corpus.save(folder / "corpus")
    aw.AnchorTopicModel(5).fit(sampled.corpus).save(folder / "model")
    fitted = runner.invoke(
        app, ["fit", str(folder / "docword.toy.txt"), "-o", str(folder / "ap"), "-k", "5", "--rectifier", "ap",
              "--max-iter", "1000", "-q"],
    )  # fmt: skip
    assert fitted.exit_code == 0, fitted.output
    return folder


def evaluate(*arguments, code=0, **options):
    result = runner.invoke(app, ["evaluate", *map(str, arguments)], env={"COLUMNS": "200", "NO_COLOR": "1"}, **options)
    assert result.exit_code == code, result.output
    return result


def columns(line):
    return re.split(r"\s{2,}", line.strip())


def test_a_table_of_every_metric(folder, sampled):
    result = evaluate(folder / "model", folder / "docword.toy.txt")
    head, _, *lines = result.stdout.splitlines()
    assert head == "5 topics, measured on 600 documents (0 too short) and 120 words"
    expected = aw.evaluate(aw.load_model(folder / "model"), sampled.corpus)
    assert len(lines) == 1 + len(METRICS)
    for metric, line in zip(METRICS, lines[1:], strict=True):
        cells = columns(line)
        assert cells[0] == metric.title
        assert cells[1] == f"{expected[metric.name]:.4g}"
        assert metric.direction in line
        assert metric.measured_on in line
        assert ("±" in line) == (metric.name in expected["standard_error"])
    assert result.stderr == ""


def test_json_is_what_evaluate_returns(folder, sampled):
    measured = json.loads(evaluate(folder / "model", folder / "docword.toy.txt", "--json").stdout)
    expected = aw.evaluate(aw.load_model(folder / "model"), sampled.corpus)
    assert set(measured) == set(expected)
    for name in NAMES:
        assert measured[name] == pytest.approx(expected[name], rel=1e-12)
        if name in expected["per_topic"]:
            np.testing.assert_allclose(measured["per_topic"][name], expected["per_topic"][name], rtol=1e-12)
    assert measured["undefined"] == {}
    assert measured["reference"] == {"documents": 600, "too_short": 0, "words": 120, "topics": 5}


def test_some_metrics_only(folder):
    arguments = (folder / "model", folder / "corpus", "-m", "npmi_coherence", "--metric", "entropy")
    lines = evaluate(*arguments).stdout.splitlines()
    assert [columns(line)[0] for line in lines[3:]] == ["NPMI coherence", "Entropy"]
    measured = json.loads(evaluate(*arguments, "--json").stdout)
    assert set(measured) & set(NAMES) == {"npmi_coherence", "entropy"}
    assert set(measured["per_topic"]) == {"npmi_coherence", "entropy"}


def test_an_unknown_metric_is_bad_usage(folder):
    result = evaluate(folder / "model", folder / "corpus", "-m", "beauty", code=2)
    text = " ".join(result.stderr.replace("│", " ").split())
    assert "there is no metric beauty; the names are relative_recovery," in text
    assert result.stdout == ""


def test_every_topic_too(folder, sampled):
    chosen = ("-m", "entropy", "-m", "specificity")
    text = evaluate(folder / "model", folder / "corpus", "--per-topic", *chosen).stdout
    lines = text.split("\n\n")[2].splitlines()
    assert lines[0].split() == ["topic", "words", "metric", "value"]
    assert len(lines) == 1 + 5 * 2
    model = aw.load_model(folder / "model")
    per_topic = aw.evaluate(model, sampled.corpus)["per_topic"]
    for row, first, second in zip(aw.topic_table(model, 3), lines[1::2], lines[2::2], strict=True):
        topic = row["topic"]
        assert columns(first) == [
            str(topic), " ".join(row["prominent"]), "Specificity", f"{per_topic['specificity'][topic]:.4g}"
        ]  # fmt: skip
        assert columns(second) == ["Entropy", f"{per_topic['entropy'][topic]:.4g}"]


def test_a_corpus_folder_and_a_file_are_judged_alike(folder):
    one = json.loads(evaluate(folder / "model", folder / "corpus", "--json", "--jobs", 1).stdout)
    other = json.loads(evaluate(folder / "model", folder / "docword.toy.txt", "--json").stdout)
    for name in NAMES:
        assert one[name] == pytest.approx(other[name], rel=1e-12), name


def test_what_a_model_of_ap_has_no_value_for(folder):
    result = evaluate(folder / "ap", folder / "docword.toy.txt")
    values = {columns(line)[0]: columns(line)[1] for line in result.stdout.splitlines()[3:]}
    missing = {metric.title for metric in METRICS if values[metric.title] == "-"}
    assert missing == {metric.title for metric in METRICS if metric.measured_on.startswith("rectified C")}
    assert "nan" not in values.values()
    # Metrics with the same reason share a line.
    for line in result.stderr.splitlines():
        names, reason = line.split(": ", 1)
        assert set(names.split(", ")) <= set(NAMES)
        assert "holds no compression Y" in reason
    named = {name for line in result.stderr.splitlines() for name in line.split(": ")[0].split(", ")}
    assert named == {metric.name for metric in METRICS if metric.title in missing}
    assert "\x1b" not in result.stderr


def test_quiet_has_no_remarks(folder):
    loud = evaluate(folder / "ap", folder / "docword.toy.txt")
    quiet = evaluate(folder / "ap", folder / "docword.toy.txt", "-q")
    assert quiet.stderr == ""
    assert quiet.stdout == loud.stdout


def test_json_has_null_for_what_is_undefined(folder):
    result = evaluate(folder / "ap", folder / "corpus", "--json")

    def refuse(constant):
        raise AssertionError(constant)

    measured = json.loads(result.stdout, parse_constant=refuse)  # NaN is not JSON
    for name in NAMES:
        assert (measured[name] is None) == (name in measured["undefined"])
    assert "relative_recovery" in measured["undefined"]
    assert "relative_recovery" not in measured["per_topic"]


def test_topics_of_a_model_without_every_metric(folder):
    text = evaluate(folder / "ap", folder / "corpus", "--per-topic", "-m", "relative_recovery", "-m", "entropy").stdout
    assert text.split("\n\n")[2].count("Entropy") == 5
    assert "RelativeRecovery" not in text.split("\n\n")[2]


def test_text_is_read_by_the_rule_of_the_model(tmp_path):
    lines = ["Cats purr, cats sleep at home"] * 6 + ["Dogs bark, dogs run at night"] * 6
    (tmp_path / "pets.txt").write_text("\n".join(lines))
    corpus = aw.read_corpus(tmp_path / "pets.txt", lowercase=False)
    assert "Cats" in corpus.vocabulary
    aw.AnchorTopicModel(2).fit(corpus).save(tmp_path / "model")
    measured = json.loads(evaluate(tmp_path / "model", tmp_path / "pets.txt", "--json").stdout)
    assert measured["reference"]["words"] == corpus.n_words  # "Cats" and "cats" are two, as in the fit
    expected = aw.evaluate(aw.load_model(tmp_path / "model"), corpus)
    for name in ("specificity", "npmi_coherence", "relative_approximation"):
        assert measured[name] == pytest.approx(expected[name], rel=1e-9), name
    piped = evaluate(tmp_path / "model", "-", "--json", input="\n".join(lines) + "\n")
    assert json.loads(piped.stdout)["reference"] == measured["reference"]


def test_words_the_model_does_not_know_do_not_count(tmp_path, folder, sampled):
    corpus = sampled.corpus
    more = aw.Corpus(
        np.hstack([np.full((corpus.n_docs, 1), 3), corpus.counts.toarray()]), ["strange", *corpus.vocabulary]
    )
    more.save(tmp_path / "more")
    one = json.loads(evaluate(folder / "model", tmp_path / "more", "--json").stdout)
    other = json.loads(evaluate(folder / "model", folder / "corpus", "--json").stdout)
    assert one["reference"] == other["reference"]
    assert one["specificity"] == pytest.approx(other["specificity"], rel=1e-12)


def test_a_reading_option_for_a_corpus_is_bad_usage(folder):
    result = evaluate(folder / "model", folder / "corpus", "--keep-case", code=2)
    assert "counted already" in " ".join(result.stderr.replace("│", " ").split())


# ---- Stability.


def test_replicates_say_how_sure_topics_are(folder, sampled):
    arguments = (folder / "model", folder / "corpus", "-m", "entropy", "--replicates", 3)
    measured = json.loads(evaluate(*arguments, "--json").stdout)
    expected = aw.stability(aw.load_model(folder / "model"), sampled.corpus, n_replicates=3)
    assert measured["stability"] == pytest.approx(expected.similarity.mean(), rel=1e-6)
    for name, values in (
        ("stability", expected.similarity),
        ("stable_words", expected.words),
        ("anchor_stability", expected.anchor),
        ("prevalence_low", expected.prevalence_low),
        ("prevalence_high", expected.prevalence_high),
    ):
        np.testing.assert_allclose(measured["per_topic"][name], values, rtol=1e-6, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(measured["correlation_low"], expected.correlation_low, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(measured["correlation_high"], expected.correlation_high, rtol=1e-6, atol=1e-9)
    assert measured["replicates"] == {"number": 3, "shards": 32, "level": 0.9}
    text = evaluate(*arguments, "--per-topic").stdout
    line = next(line for line in text.splitlines() if line.startswith("Stability"))
    assert columns(line) == [
        "Stability", f"{expected.similarity.mean():.4g}", "higher is better", "3 replicates of 32 shards"
    ]  # fmt: skip
    by_topic = text.split("\n\n")[2]
    titles = [
        "Entropy",
        "Stability",
        "Words kept",
        "Anchor kept",
        "Share, 90% interval, from",
        "Share, 90% interval, to",
    ]
    found = [columns(line)[-2:] for line in by_topic.splitlines()[1:]]
    assert [title for title, _ in found] == titles * 5
    first = aw.topic_table(aw.load_model(folder / "model"), 3)[0]["topic"]
    assert found[4][1] == f"{measured['per_topic']['prevalence_low'][first]:.4g}"
    # The model on disk is as it was.
    assert aw.load_model(folder / "model").model_.stability is None


def test_stability_that_was_kept_is_shown_again(folder, sampled, tmp_path):
    model = aw.load_model(folder / "model")
    kept = model.measure_stability(sampled.corpus, n_replicates=2)
    model.save(tmp_path / "model")
    measured = json.loads(evaluate(tmp_path / "model", folder / "corpus", "-m", "entropy", "--json").stdout)
    assert measured["stability"] == pytest.approx(kept.similarity.mean())
    assert measured["per_topic"]["stability"] == kept.similarity.tolist()
    expected = aw.evaluate(model, sampled.corpus, metrics=["entropy"])
    assert set(measured) == set(expected)
    assert set(measured["per_topic"]) == set(expected["per_topic"])
    assert measured["correlation_high"] == kept.correlation_high.tolist()


def test_replicates_that_cannot_be_made(folder):
    assert "at least 2" in evaluate(folder / "model", folder / "corpus", "--replicates", 1, code=2).stderr
    result = evaluate(folder / "ap", folder / "corpus", "--replicates", 3, code=1)
    assert "replicates are rectified by ENN" in str(result.exception)


def test_help():
    text = evaluate("--help").stdout
    assert text.count("Example: anchorwords evaluate") == 3
    for option in ("--metric", "--per-topic", "--replicates", "--json", "--jobs"):
        line = next(line for line in text.splitlines() if option in line and "Example" not in line)
        assert len(line.split()) > 5
