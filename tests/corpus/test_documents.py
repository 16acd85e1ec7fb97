"""The documents table: the same from every reader, and aligned with the rows whatever is done to the corpus."""

from __future__ import annotations

import csv
import datetime as dt
import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anchorwords as aw
from anchorwords.exceptions import CorpusFormatError, InputError
from anchorwords.sources.convert import as_source

WORDS = ["apple", "bread", "cheese", "date", "egg", "fig", "grape"]
READERS = ["csv", "tsv", "jsonl", "parquet", "pandas", "polars", "arrow", "dicts"]
# Values that every format can hold. A list is written as text in tables without types.
CELLS = {
    "year": st.integers(1900, 2100),
    "score": st.floats(-1e6, 1e6).filter(lambda value: not float(value).is_integer()),
    "venue": st.sampled_from(["ICML", "Nature, weekly", 'the "Journal"', "été", "x\u2028y"]),
    "day": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "labels": st.lists(st.sampled_from(["red", "green", "blue"]), max_size=3, unique=True),
}
KINDS = {"year": "integer", "score": "number", "venue": "text", "day": "date", "labels": "list"}


@st.composite
def tables(draw):
    """Rows with a text, an id and some columns, some of whose values are missing."""
    n_docs = draw(st.integers(1, 12))
    rows = []
    for number in range(n_docs):
        words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8))
        row = {"id": f"d{number}", "title": f"Title {number}", "text": " ".join(words)}
        row |= {name: draw(cell) for name, cell in CELLS.items()}
        rows.append(row)
    missing = draw(st.sets(st.tuples(st.integers(0, n_docs - 1), st.sampled_from(["score", "venue", "day"]))))
    for number, name in missing:
        rows[number][name] = None
    return rows


def expected_column(rows, name):
    values = [row[name] for row in rows]
    kind = KINDS[name]
    if kind == "list":
        array = np.empty(len(values), dtype=object)
        array[:] = [tuple(value) for value in values]
        return array
    if all(value is None for value in values):
        return np.array(values, dtype=object)
    types = {"integer": "i8", "number": "f8", "date": "M8[D]", "text": object}
    missing = {"number": np.nan, "date": np.datetime64("NaT")}.get(kind)
    return np.array([missing if value is None else value for value in values], dtype=types[kind])


def written(rows, reader, folder):
    """The rows in a format, and further options of reading it."""
    lists = {"list_columns": {"labels": "|"}}
    if reader in ("csv", "tsv"):
        path = folder / f"a.{reader}"
        with path.open("w", newline="", encoding="utf-8") as stream:
            if reader == "csv":
                out = csv.DictWriter(stream, rows[0])
                out.writeheader()
                out.writerows(row | {"labels": "|".join(row["labels"])} for row in rows)
            else:
                cells = [["" if value is None else value for value in row.values()] for row in rows]
                lines = [[*rows[0]], *([*cell[:-1], "|".join(cell[-1])] for cell in cells)]
                stream.write("".join("\t".join(map(str, line)) + "\n" for line in lines))
        return path, lists
    if reader == "jsonl":
        path = folder / "a.jsonl"
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in rows))
        return path, {}
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    table = pa.table(columns | {"labels": pa.array(columns["labels"], pa.list_(pa.string()))})
    if reader == "parquet":
        pq.write_table(table, folder / "a.parquet", row_group_size=5)
        return folder / "a.parquet", {}
    frames = {
        "arrow": lambda: table, "pandas": lambda: pd.DataFrame(columns), "polars": lambda: pl.from_arrow(table),
        "dicts": lambda: rows,
    }  # fmt: skip
    return frames[reader](), {}


def assert_aligned(corpus, rows):
    """The table is that of these rows, and so are the counts."""
    assert len(corpus) == corpus.n_docs == len(rows)
    assert corpus.doc_ids == tuple(row["id"] for row in rows)
    assert list(corpus.documents) == [*CELLS, "title"]
    assert list(corpus.documents.titles) == [row["title"] for row in rows]
    for name in CELLS:
        found, expected = corpus.documents[name], expected_column(rows, name)
        np.testing.assert_array_equal(found, expected.astype(found.dtype))
        # A column of which a selection has no value left keeps its type.
        assert found.dtype == expected.dtype or all(row[name] is None for row in rows)
    for document, row in zip(corpus, rows, strict=True):
        words = [word for word in row["text"].split() if word in corpus.vocabulary]
        assert document.counts == {word: words.count(word) for word in words}
        assert (document.id, document.title) == (row["id"], row["title"])
        assert document.values["labels"] == tuple(row["labels"])


@pytest.fixture(params=READERS)
def reader(request):
    return request.param


@pytest.fixture(params=["in memory", "on disk"])
def read(request, tmp_path_factory):
    def read(source, **options):
        options = {"text_column": "text", "id_column": "id", "columns": list(CELLS), "title_column": "title"} | options
        if request.param == "in memory":
            return aw.read_corpus(source, **options)
        return aw.import_corpus(source, tmp_path_factory.mktemp("corpus") / "c", **options)

    return read


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=8)
@given(rows=tables(), data=st.data())
def test_the_table_is_the_same_from_every_reader_and_stays_aligned(reader, read, tmp_path_factory, rows, data):
    folder = tmp_path_factory.mktemp("rows")
    source, options = written(rows, reader, folder)
    corpus = read(source, **options)
    assert_aligned(corpus, rows)
    # Selections of every kind, one after the other.
    numbers = st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=8)
    mask = st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))
    for key in (
        data.draw(st.slices(len(rows))), np.array(data.draw(mask)), data.draw(numbers), np.sort(data.draw(numbers)),
        (data.draw(numbers), ...),
    ):  # fmt: skip
        kept = np.arange(len(rows))[key[0] if isinstance(key, tuple) else key]
        part = corpus[key]
        assert_aligned(part, [rows[row] for row in kept])
        np.testing.assert_array_equal(part.kept_rows, kept)
        if len(kept):
            again = part[::2]
            assert_aligned(again, [rows[row] for row in kept[::2]])
            again.save(folder / "saved")
            assert_aligned(aw.open_corpus(folder / "saved"), [rows[row] for row in kept[::2]])
    # Pruning: the words that are left may be none of a document.
    lengths = [len(set(row["text"].split())) for row in rows]
    least = data.draw(st.integers(0, max(lengths)))
    pruned = corpus.prune(min_tokens=0, min_types=least)
    stayed = [number for number, length in enumerate(lengths) if length >= least]
    assert_aligned(pruned, [rows[number] for number in stayed])
    np.testing.assert_array_equal(pruned.kept_rows, stayed)
    assert_aligned(pruned[::-1], [rows[number] for number in stayed[::-1]])
    np.testing.assert_array_equal(as_source(pruned).documents["year"], expected_column(rows, "year")[stayed])


def test_a_table_takes_part_in_pickling(tmp_path):
    corpus = aw.read_corpus([{"text": "one two", "year": 1}, {"text": "two three", "year": 2}], columns="all")
    corpus.save(tmp_path / "c")
    for one in (corpus, corpus[1:], aw.open_corpus(tmp_path / "c"), aw.open_corpus(tmp_path / "c")[1:]):
        again = pickle.loads(pickle.dumps(one))  # as joblib sends it to a process
        np.testing.assert_array_equal(again.documents["year"], one.documents["year"])
        assert repr(again) == repr(one)


def test_all_columns_are_those_that_are_neither_text_nor_ids(reader, read, tmp_path):
    rows = [
        {"id": "a", "title": "A", "text": "one two", "year": 1999, "score": 0.5, "venue": "x", "day": dt.date(2020, 1, 1),
         "labels": ["u"]},
        {"id": "b", "title": "B", "text": "two", "year": 2000, "score": 1.5, "venue": "y", "day": dt.date(2020, 1, 2),
         "labels": []},
    ]  # fmt: skip
    source, options = written(rows, reader, tmp_path)
    found = read(source, **options | {"columns": "all", "title_column": None})
    assert sorted(found.documents) == sorted(["title", *CELLS])
    assert found.documents.title is None


def test_several_columns_of_text_are_joined(reader, read, tmp_path):
    rows = [
        {"id": str(number), "title": "Apple Bread", "text": "egg fig egg", "year": 1, "score": 0.5, "venue": "grape",
         "day": None, "labels": []}
        for number in range(3)
    ]  # fmt: skip
    source, options = written(rows, reader, tmp_path)
    corpus = read(source, **options | {"text_column": ["title", "text", "venue"], "columns": None, "ngrams": (1, 2)})
    assert corpus[0].counts == {
        "apple": 1, "apple bread": 1, "bread": 1, "bread egg": 1, "egg": 2, "egg fig": 1, "fig": 1, "fig egg": 1,
        "egg grape": 1, "grape": 1,
    }  # fmt: skip


def test_lists_of_tokens_are_joined_but_not_with_texts():
    rows = [{"a": ["x", "y"], "b": ["y"], "c": "z"}, {"a": None, "b": ["x"], "c": ""}]
    corpus = aw.read_corpus(rows, text_column=["a", "b"])
    assert [document.counts for document in corpus] == [{"x": 1, "y": 2}, {"x": 1}]
    with pytest.raises(CorpusFormatError, match="document 1: columns of text and of tokens cannot be joined"):
        aw.read_corpus(rows, text_column=["a", "c"])


def test_members_of_json_lines_may_come_and_go(tmp_path):
    lines = [{"text": "one"}, {"text": "two", "a": 1}, {"b": [1, "x"], "text": "three"}, {"text": "four", "a": None}]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    documents = aw.read_corpus(path, columns="all").documents
    assert documents.kinds == {"a": "number", "b": "list"}
    np.testing.assert_array_equal(documents["a"], [np.nan, 1.0, np.nan, np.nan])
    assert documents["b"].tolist() == [(), (), ("1", "x"), ()]


def test_tables_with_too_many_columns_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": "one", f"m{number}": 1}) + "\n" for number in range(1001)))
    with pytest.raises(CorpusFormatError, match="more than 1,000 columns: name those to keep"):
        aw.read_corpus(path, columns="all")
    assert list(aw.read_corpus(path, columns="m7").documents) == ["m7"]


def test_a_table_without_names_is_read_by_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1999,one two,x\n2000,two three,y\n")
    corpus = aw.read_corpus(path, text_column=2, columns=[1, 3])
    assert corpus.documents.kinds == {"1": "integer", "3": "text"}
    assert corpus.documents["1"].tolist() == [1999, 2000]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["yaer"]}, r"no column 'yaer': it has 1 'text', 2 'year', 3 'year2'"),
        ({"columns": 9}, r"columns must be a column of the first line of .* from 1 to 3, but is 9"),
        ({"columns": ["year", "year"]}, "columns must name each column once"),
        ({"columns": {"year": int}}, "columns must be the name of a column, its number from 1, or a list of them"),
        ({"columns": [True]}, "columns must be"),
        ({"title_column": ["year"]}, "title_column must be the name of a column or its number"),
        ({"list_columns": ["year"]}, r"list_columns must map names of columns to separators, as in {'tags': ';'}"),
        ({"list_columns": {"year": ""}}, "list_columns must map"),
        ({"list_columns": {"tags": ";"}}, "no column 'tags'"),
    ],
    ids=str,
)
def test_wrong_columns_are_refused(tmp_path, options, message):
    path = tmp_path / "a.csv"
    path.write_text("text,year,year2\none,1,2\n")
    with pytest.raises(InputError, match=message):
        aw.read_corpus(path, **options)


def test_two_columns_of_one_name_are_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,year,year\none,1,2\n")
    with pytest.raises(InputError, match="several columns called 'year': give them distinct names"):
        aw.read_corpus(path, columns="all")
    assert aw.read_corpus(path).documents == {}


@pytest.mark.parametrize("source", [["one two"], [["one"], ["two"]]])
def test_columns_of_what_is_no_table_are_refused(source, tmp_path):
    with pytest.raises(InputError, match="document 1 must be a dict with named members to have columns"):
        aw.read_corpus(source, columns="year")
    path = tmp_path / "a.txt"
    path.write_text("one two\n")
    with pytest.raises(InputError, match="read as text, which has no columns"):
        aw.read_corpus(path, columns="year")


# ---- A corpus of one's own.


def test_columns_are_given_to_a_corpus():
    frame = pd.DataFrame({"year": [1, 2], "name": ["x", "y"]})
    for table in (frame, pl.from_pandas(frame), {"year": [1, 2], "name": ["x", "y"]}):
        corpus = aw.Corpus([[1], [2]], ["a"], documents=table, title="name")
        assert corpus.documents.kinds == {"year": "integer", "name": "text"}
        assert corpus[1] == (None, "y", {"a": 2.0}, {"year": 2, "name": "y"})
    pd.testing.assert_frame_equal(corpus.documents.to_frame(), frame)
    again = aw.Corpus([[1], [2]], ["a"], ["p", "q"], documents=corpus.documents)
    assert again.documents.title == "name"
    assert again.documents.to_frame().index.tolist() == ["p", "q"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"documents": {"year": [1]}}, "column 'year' must have one value for each of the 2 documents, but has 1"),
        ({"documents": {"year": "ab"}}, "column 'year' must have one value"),
        ({"documents": {"year": 3}}, "column 'year' must have one value for each of the 2 documents, but has no"),
        ({"documents": [1, 2]}, "documents must be a mapping of column names to values or a data frame, but is list"),
        ({"documents": {"year": [1, 2]}, "title": "name"}, "have no column 'name': they have 'year'"),
        ({"title": "name"}, "have no column 'name': they have none; read the documents with columns="),
    ],
    ids=str,
)
def test_wrong_tables_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        aw.Corpus([[1], [2]], ["a"], **options)
    with pytest.raises(InputError, match="one row for each of the 2 documents, not 1"):
        aw.Corpus([[1], [2]], ["a"], documents=aw.Corpus([[1]], ["a"]).documents)


# ---- A corpus as a Python object.


@pytest.fixture(params=["in memory", "on disk"])
def corpus(request, tmp_path):
    made = aw.Corpus(np.arange(12).reshape(4, 3), list("abc"), list("wxyz"), documents={"year": [1, 2, 3, 4]})
    made.save(tmp_path / "c")
    return made if request.param == "in memory" else aw.open_corpus(tmp_path / "c")


def test_a_corpus_is_a_sequence_of_documents(corpus):
    assert len(corpus) == 4
    assert corpus.shape == (4, 3)
    assert corpus[0] == ("w", None, {"b": 1.0, "c": 2.0}, {"year": 1})
    assert corpus[-1] == corpus[np.int64(3)] == list(corpus)[3]
    assert [document.id for document in corpus[1:3]] == ["x", "y"]
    np.testing.assert_array_equal(corpus[[3, 0, 3]].counts.toarray(), [[9, 10, 11], [0, 1, 2], [9, 10, 11]])
    np.testing.assert_array_equal(corpus[corpus.documents["year"] > 2].term_frequencies, [15, 17, 19])


def test_an_empty_selection_is_an_empty_corpus(corpus):
    for key in ([], slice(0, 0), np.zeros(4, dtype=bool)):
        assert corpus[key].shape == (0, 3)
        assert corpus[key].documents["year"].tolist() == []
        assert bool(corpus[key])


@pytest.mark.parametrize(
    "key", [4, -5, [4], [0.5], "a", None, [[0]], [True], slice(None, None, 0), slice("a", "b"), 1.0]
)
def test_wrong_selections_are_refused(corpus, key):
    with pytest.raises(InputError) as caught:
        corpus[key]
    assert "\n" not in str(caught.value)


def test_the_repr_tells_the_facts(corpus):
    assert "4 documents, 3 words, 66 tokens, 16 per document; columns: year" in repr(corpus)
    assert "pruned" in repr(corpus.prune(min_tokens=0, min_types=0))
    assert repr(corpus.documents) == "Documents(4 documents: year (integer))"


def test_a_slice_on_disk_is_a_view(corpus):
    part = corpus[1:3]
    assert type(part) is type(corpus)
    if isinstance(corpus, aw.corpus.stored.StoredCorpus):
        assert "counts" not in vars(part)
        assert "tokens" not in repr(part)  # nothing is read to show it
    assert part.n_tokens == 3 + 4 + 5 + 6 + 7 + 8
    np.testing.assert_array_equal(
        part.prune(min_tokens=0, min_types=0, min_df=2).counts.toarray(), [[3, 4, 5], [6, 7, 8]]
    )


def test_corpora_are_split_and_searched_by_scikit_learn(corpus, sampled):
    from sklearn.model_selection import GridSearchCV, KFold, train_test_split

    one, other = train_test_split(corpus, test_size=0.5, shuffle=False)
    assert (one.doc_ids, other.doc_ids) == (("w", "x"), ("y", "z"))
    search = GridSearchCV(aw.AnchorTopicModel(), {"n_components": [2, 3]}, cv=KFold(2))
    search.fit(sampled.corpus)
    assert set(search.best_params_) == {"n_components"}
    scores = search.cv_results_["split0_test_score"]
    half = sampled.corpus.n_docs // 2
    model = aw.AnchorTopicModel(2).fit(sampled.corpus[half:])
    assert scores[0] == pytest.approx(model.score(sampled.corpus[:half]))


def test_labels_of_a_frame_that_are_numbers():
    frame = pd.DataFrame({0: ["one two", "two three"], 1: ["a", "b"]})
    corpus = aw.read_corpus(frame, text_column=0, columns=[1])
    assert corpus.vocabulary == ("one", "three", "two")
    assert corpus.documents["1"].tolist() == ["a", "b"]


def test_a_member_that_no_document_has_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two", "year": 1}\n{"text": "two"}\n')
    assert aw.read_corpus(tmp_path / "a.jsonl", columns="year").documents["year"].tolist()[0] == 1
    for options in ({"columns": "yaer"}, {"title_column": "tittle"}, {"list_columns": {"tgas": ";"}}):
        for source in (tmp_path / "a.jsonl", [{"text": "one two", "year": 1}]):
            with pytest.raises(InputError, match=r"has a member '(yaer|tittle|tgas)': check its name"):
                aw.read_corpus(source, **options)


def test_a_table_is_a_mapping():
    documents = aw.read_corpus([{"text": "one two", "year": 1}], columns="all").documents
    assert "year" in documents
    assert "place" not in documents
    assert documents.get("place") is None
    assert documents.get("year").tolist() == [1]
    with pytest.raises(InputError, match="no column"):
        documents[2:4]


def test_documents_are_numbered_as_they_were_read(tmp_path):
    texts = [
        "",
        "x",
        *(f"moon rocket orbit launch {word}" for word in ("planet", "shuttle", "goal", "season") for _ in range(6)),
    ]
    corpus = aw.read_corpus(texts)
    corpus.save(tmp_path / "c")
    for one in (corpus, aw.open_corpus(tmp_path / "c")):
        pruned = one.prune()
        assert list(pruned.documents.names(3)) == ["3", "4", "5"]
        assert list(pruned[2:].documents.names(2)) == ["5", "6"]
        model = aw.AnchorTopicModel(2).fit(pruned)
        found = aw.top_documents(model, pruned, 3)
        assert all(entry["document"] == entry["row"] + 2 for topic in found for entry in topic)
