"""Options of reading: they accumulate, are refused where they would have no effect, and say what they did."""

from __future__ import annotations

import json

import numpy as np
import pytest

import anchorwords as aw
from anchorwords.corpus.stopwords import stop_words

from .test_text import run

SUBJECTS = ("orbit rocket moon launch shuttle", "goal match league keeper coach", "bread flour oven yeast dough")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Documents in a text file and in a table, with function words of two languages and a few web addresses."""
    folder = tmp_path_factory.mktemp("options")
    rng = np.random.default_rng(3)
    rows = []
    for number in range(120):
        words = [*rng.choice(SUBJECTS[number % 3].split(), 12), "the", "and", "und", "der", "interest"]
        rows.append(
            (f"{2000 + number % 4}", f"Note {number}", " ".join(rng.permutation(words)) + " https://example.org/x")
        )
    (folder / "docs.txt").write_text("\n".join(text for _, _, text in rows))
    (folder / "docs.csv").write_text("year,heading,text\n" + "\n".join(",".join(row) for row in rows))
    (folder / "docword.x.txt").write_text("2\n2\n2\n1 1 3\n2 2 4\n")
    (folder / "vocab.x.txt").write_text("one\ntwo\n")
    (folder / "more.txt").write_text("# our own\nmoon\n")
    return folder


def fitted(folder, *options):
    done = run("fit", *options, "-k", 3, "-o", folder / "model", "-q")
    assert done.returncode == 0, done.stderr
    return aw.load_model(folder / "model")


def test_stop_words_add_up(folder):
    options = [word for one in ("english", "german", folder / "more.txt", "goal") for word in ("--stop-words", one)]
    model = fitted(folder, folder / "docs.txt", *options)
    rule = model.model_.provenance.vocabulary_rule
    assert rule.stop_set == stop_words("english") | stop_words("german") | {"moon", "goal"}
    assert not {"the", "und", "moon", "goal"} & set(model.model_.vocabulary)
    assert "interest" not in rule.stop_set
    refused = run("fit", folder / "docs.txt", "--stop-words", "none", "--stop-words", "english")
    assert refused.returncode == 2
    assert "give one or the other" in refused.stderr


def test_stop_words_may_be_separated_by_commas(folder):
    one = fitted(folder, folder / "docs.txt", "--stop-words", "english,german,goal").model_.provenance.vocabulary_rule
    assert one.stop_set == stop_words("english") | stop_words("german") | {"goal"}


def test_columns_of_text_are_joined_and_others_are_kept(folder, tmp_path):
    options = ("--text-column", "heading", "--text-column", "text", "--columns", "year", "--title-column", "heading")
    told = json.loads(run("import", folder / "docs.csv", *options, "-o", tmp_path / "c", "--json").stdout)
    assert told["columns"] == {"year": "integer", "heading": "text"}
    corpus = aw.open_corpus(tmp_path / "c")
    assert "note" in corpus.vocabulary
    assert corpus.documents["year"].tolist()[:5] == [2000, 2001, 2002, 2003, 2000]
    assert corpus[7].title == "Note 7"
    shown = run("import", folder / "docs.csv", *options, "-o", tmp_path / "c")
    assert "columns of the documents: year (integer), heading (text)" in shown.stderr


def test_lists_in_a_column_are_items(folder, tmp_path):
    rng = np.random.default_rng(0)
    kinds = [[f"{kind} {letter}" for letter in "ABCDEFGH"] for kind in ("The Fish", "The Ship", "The Tree")]
    baskets = [sorted(rng.choice(kinds[i % 3], 5, replace=False).tolist()) for i in range(240)]
    rows = [{"id": f"b{i}", "year": 2000 + i % 4, "items": basket} for i, basket in enumerate(baskets)]
    (tmp_path / "baskets.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    options = ("--text-column", "items", "--id-column", "id", "--columns", "year")
    model = fitted(tmp_path, tmp_path / "baskets.jsonl", *options)
    assert set(model.model_.vocabulary) == {item for kind in kinds for item in kind}
    done = run("predict", tmp_path / "model", "The Fish A", "The Fish B", "-n", 3, "--json")
    assert all(row["word"].startswith("The Fish") for row in json.loads(done.stdout))
    pd = pytest.importorskip("pandas")
    (tmp_path / "baskets.csv").write_text(
        "id,items\n" + "".join(f"b{i},{'|'.join(b)}\n" for i, b in enumerate(baskets))
    )
    table = pd.read_csv(tmp_path / "baskets.csv")
    table["items"] = table["items"].str.split("|")
    split = aw.read_corpus(table, text_column="items", id_column="id")
    whole = aw.read_corpus(tmp_path / "baskets.jsonl", text_column="items", id_column="id")
    assert (split.vocabulary, list(split.documents.ids)) == (whole.vocabulary, [row["id"] for row in rows])
    assert (split.counts != whole.counts).nnz == 0


def test_kinds_of_text_may_be_kept(folder):
    assert "https" not in fitted(folder, folder / "docs.txt").model_.vocabulary
    kept = fitted(folder, folder / "docs.txt", "--keep", "urls", "--max-df", "1.0").model_.vocabulary
    assert {"https", "example", "org"} <= set(kept)


def test_short_documents_are_left_out_as_asked(folder, tmp_path):
    lines = (folder / "docs.txt").read_text().splitlines()
    (tmp_path / "docs.txt").write_text("\n".join([*lines, "moon goal bread rocket match oven"]))
    for options, n_docs in (((), 121), (("--min-tokens", 7), 120)):
        done = run("fit", tmp_path / "docs.txt", "-k", 3, "--json", "-q", *options)
        assert json.loads(done.stdout)["documents"] == n_docs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "docs.txt", "-k", "3", "-k", "4"], "is given 2 times, but takes one value"),
        (["fit", "docs.txt", "--min-df", "3", "--min-df", "4", "--min-df", "5"], "is given 3 times"),
        (["import", "docs.txt", "-o", "c", "--output", "d"], "is given 2 times"),
        (["fit", "docs.txt", "--separator", ";"], "is read as text, but separator belongs to csv and tsv and baskets"),
        (["fit", "docs.csv", "--text-column", "text", "--pattern", "*.x"], "but pattern belongs to folder"),
        (["fit", "docs.txt", "--no-header"], "is read as text, but header belongs to csv and tsv"),
        (["fit", "docs.txt", "--columns", "year"], "which has no columns, but a column was named"),
        (["fit", "docs.csv", "--columns", "yaer", "--text-column", "text"], "has no column 'yaer': it has 1 'year'"),
        (["fit", "docs.csv", "--text-column", "text", "--table", "docs.csv"], "which has columns of its own"),
        (["fit", "docs.csv", "--text-column", "text", "--list-column", "year"], "must be COLUMN=SEPARATOR"),
        (
            ["fit", "docword.x.txt", "--phrases"],
            "which are not split any more: leave stop_words, ngrams, phrases out",
        ),
        (["import", "docword.x.txt", "-o", "c", "--stop-words", "english"], "holds counts of words"),
        (["fit", "docs.txt", "--stop-words", "englisch"], "did you mean english?"),
        (["fit", "docs.txt", "--stop-words", "no/such.txt"], "does not exist: name a file, a language or a word"),
    ],
)
def test_options_without_effect_and_mistakes_are_refused(folder, tmp_path, arguments, message):
    given = [str(folder / one) if one.startswith(("docs.", "docword.")) else one for one in arguments]
    done = run(*given, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_corpus_pruned_in_python_is_not_pruned_again(folder, tmp_path):
    pruned = aw.read_corpus(folder / "docs.txt").prune(min_df=2, max_df=1.0)
    pruned.save(tmp_path / "c")
    done = run("fit", tmp_path / "c", "-k", 3, "-o", tmp_path / "m")
    assert "vocabulary: as it was chosen when the corpus was made" in done.stderr
    model = aw.load_model(tmp_path / "m")
    assert model.model_.vocabulary == pruned.vocabulary
    assert "the" in pruned.vocabulary
    assert model.model_.provenance.vocabulary_rule == pruned.vocabulary_rule
