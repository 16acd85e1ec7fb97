"""Records as a notebook displays and prints them, with words and labels that look like markup."""

from __future__ import annotations

import pytest

from ..records.parsing import Parsed

LABEL = "<i>first</i> & more"
SETUP = f"""
import numpy as np
import anchorwords as aw
from anchorwords.datasets import make_topics

made = make_topics(n_docs=400, n_words=60, n_topics=4, doc_length=60, random_state=0)
# Every word looks like markup: whichever words a table shows, they have to be escaped.
words = [f"<b>w{{i:02}}</b>" for i in range(60)]
rng = np.random.default_rng(0)
columns = {{"year": rng.integers(2000, 2005, 400), "group": rng.choice(["<u>north</u>", "south"], 400)}}
corpus = aw.Corpus(made.corpus.counts, words, documents=columns)
fitted = aw.AnchorTopicModel(4).fit(corpus)
fitted.measure_stability(corpus, n_replicates=3)
model = aw.rename_topics(fitted, {{0: "{LABEL}"}})
over_time = aw.topics_over_time(model, corpus, by="year")
texts = [" ".join(np.repeat(words, row)) for row in corpus.counts.toarray().astype(int)]
vectorizer = aw.TextVectorizer(tokenizer=str.split, cleaning=False, stop_words=None, min_df=1, max_df=1.0)
"""
# Every record that the documentation calls a table, as the last expression of a cell.
RECORDS = {
    "estimator": "model",
    "text estimator": "aw.TextTopicModel(4, vectorizer=vectorizer).fit(texts)",
    "model": "model.model_",
    "topic_table": "aw.topic_table(model)",
    "evaluate": "aw.evaluate(model, corpus, metrics=['npmi_coherence', 'topic_diversity'])",
    "scan": "aw.scan(corpus, [2, 3, 4])",
    "stability": "aw.stability(model, corpus, n_replicates=3)",
    "prevalence_by": "aw.prevalence_by(model, corpus, by='group')",
    "topics_over_time": "over_time",
    "trends": "over_time.trends()",
    "words": "over_time.words(0, n=5)",
    "estimate_effects": "aw.estimate_effects(model, corpus, 'year + C(group)')",
    "topic_hierarchy": "aw.topic_hierarchy(model)",
    "top_documents": "aw.top_documents(model, corpus, 2)",
    "similar_words": "aw.similar_words(model, words[:1], 3)",
}
# Records that show words or labels, each of which looks like markup.
NAMING = [name for name in RECORDS if name != "scan"]
# Estimators print as code that makes them, a model as one line; their frames are those of other records.
TABLES = [name for name in RECORDS if name not in ("estimator", "text estimator", "model")]


@pytest.fixture(scope="module")
def shown(run_cells):
    cells = {"setup": SETUP} | RECORDS
    cells["all of a scan"] = f"print(({RECORDS['scan']}).to_text())"
    for name in TABLES:
        cells[f"print {name}"] = f"print({RECORDS[name]})"
        cells[f"frame of {name}"] = f"({RECORDS[name]}).to_frame()"
    cells["one of each"] = "display(aw.topic_table(model), model)"
    cells["a slice"] = "aw.topic_table(model)[:2]"
    cells["batches"] = "aw.AnchorTopicModel(4).partial_fit(corpus)"
    cells["unfitted"] = "aw.AnchorTopicModel(4)"
    return run_cells(cells)


def parsed_table(shown, name):
    """Our HTML of a record. That of an estimator ends with the diagram of scikit-learn, which is not ours."""
    html = shown[name].html
    return Parsed(html.split("<details>")[0] + "</div>" if "estimator" in name else html)


@pytest.mark.parametrize("name", RECORDS)
def test_records_display_as_tables(shown, name):
    assert shown[name].kinds == ["execute_result"]
    parsed = parsed_table(shown, name)
    assert "table" in parsed.names()
    assert parsed.texts["caption"][0]
    assert len(parsed.rows) >= 3


@pytest.mark.parametrize("name", RECORDS)
def test_records_show_markup_as_text(shown, name):
    html = shown[name].html
    for markup in ("<b>w", "<i>first", "<u>north"):
        assert markup not in html
    if name in NAMING:
        assert any(escaped in html for escaped in ("&lt;b&gt;w", "&lt;i&gt;first", "&lt;u&gt;north"))


def test_labels_arrive_whole(shown):
    for name in (
        "estimator",
        "model",
        "topic_table",
        "prevalence_by",
        "topics_over_time",
        "trends",
        "estimate_effects",
    ):
        cells = [cell for row in parsed_table(shown, name).rows for cell in row]
        assert LABEL in cells, name


@pytest.mark.parametrize("name", [name for name in TABLES if name != "scan"])
def test_records_print_as_aligned_text(shown, name):
    printed = shown[f"print {name}"]
    assert printed.kinds == ["stdout"]
    lines = printed.printed.rstrip("\n").split("\n")
    # A caption, headings, and a row at least.
    assert len(lines) >= 3
    assert "<table" not in printed.printed
    if lines[1].startswith("topic "):
        rows = [line for line in lines[2:] if line[:5].strip().isdigit()]
        assert len(rows) >= 4
        # Ids end where their heading does, and labels begin where theirs does.
        place = lines[1].index("label")
        assert all(line[4].isdigit() and line[5:place].isspace() and not line[place].isspace() for line in rows)


def test_a_scan_prints_its_advice_and_on_request_its_table(shown):
    assert "recommended: " in shown["print scan"].printed
    assert "topics  level" in shown["all of a scan"].printed


@pytest.mark.parametrize("name", TABLES)
def test_records_become_frames(shown, name):
    result = shown[f"frame of {name}"]
    assert result.kinds == ["execute_result"]
    assert 'class="dataframe"' in result.html
    assert len(Parsed(result.html).rows) >= 2


def test_several_displays_of_a_cell_do_not_mix(shown):
    outputs = shown["one of each"]
    assert outputs.kinds == ["display_data"] * 2
    table, model = outputs.all("text/html")
    assert "most prevalent first" in table
    assert "AnchorTopicModel: 4 topics" in model


def test_a_slice_of_a_table_is_a_table(shown):
    assert len(Parsed(shown["a slice"].html).rows) == 3


def test_estimators_without_topics_show_the_diagram_of_scikit_learn(shown):
    for name in ("batches", "unfitted"):
        assert "sk-top-container" in shown[name].html
        assert "anchorwords-output" not in shown[name].html
