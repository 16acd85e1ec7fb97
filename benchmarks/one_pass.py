"""What one pass over documents knows: sketches of growing width against a fit that reads the documents as often as it likes.

    python benchmarks/one_pass.py [--quick] [--corpora nips12 kos imdb100k] [--topics 50] [--data ../shared/data]
                                  [--output docs/tables/one_pass]

For each method and number of columns a topic: the relative error of the rank-K part of C, the anchors in common with the
fit of all passes, how far matched topics are from its (mean total variation, 0 same, 1 nothing in common), and seconds and
megabytes of the sketch. Documents come in the order of the file; the incremental sketch works on blocks of two million
counts, so that a small corpus is one block for it; such a one is also shown in blocks of an eighth of the corpus, as a
long stream would give it. "Further passes" starts a fit from the sketch: how often it then reads the documents.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

import anchorwords as aw
from anchorwords.linalg.randomized import randomized_eigh
from anchorwords.metrics import match_topics
from anchorwords.rectify.start import starting_eigenpairs
from anchorwords.statistics import incremental

WORDS = {"nips12": 5000, "kos": None, "imdb100k": None}
COLUMNS = {"linear": (2, 4, 8, 16), "incremental": (2, 3, 4, 6)}
QUICK = {"linear": (2, 8), "incremental": (2, 4)}


def error_of(values, vectors, reference) -> float:
    """|U theta U' - reference|_F / |reference|_F of two rank-K matrices, in factored form."""
    R = np.linalg.qr(np.hstack([vectors, reference.vectors]), mode="r")
    difference = (R * np.concatenate([values, -reference.values])) @ R.T
    return float(np.linalg.norm(difference) / np.linalg.norm(reference.values))


def measure(corpus, reference, pairs, K: int, method: str, columns: int, split: bool) -> dict:
    """One sketch, and what is learned from it."""
    before = incremental._BLOCK_COUNTS
    if split:
        incremental._BLOCK_COUNTS = corpus.counts.nnz // 8
    begin = time.perf_counter()
    sketch = aw.CooccurrenceSketch(K, method=method, n_columns=columns * K)
    step = max(1, corpus.n_docs // 64)
    try:
        for start in range(0, corpus.n_docs, step):
            sketch.update(corpus.counts[start : start + step], corpus.vocabulary)
        values, vectors = sketch.eigh()
    finally:
        incremental._BLOCK_COUNTS = before
    seconds = time.perf_counter() - begin
    place = {word: row for row, word in enumerate(sketch.vocabulary)}
    rows = np.array([place[word] for word in corpus.vocabulary])
    model = aw.AnchorTopicModel(K).fit(sketch).model_
    B = model.B[rows]
    anchors = set(np.argsort(rows)[model.anchors].tolist())
    refined = randomized_eigh(
        aw.CooccurrenceOperator(corpus.counts), K, start=sketch.basis(corpus.vocabulary, corpus.n_words)
    )
    return {
        "method": method, "blocks": "an eighth" if split else "as they come", "columns": columns, "seconds": seconds,
        "megabytes": sketch.n_words * columns * K * 8 / 1e6, "error": error_of(values, vectors[rows], pairs),
        "anchors": len(anchors & set(reference.anchors.tolist())),
        "distance": float(match_topics(B, reference.B).total_variation.mean()), "further": refined.n_passes,
    }  # fmt: skip


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        text.append(described(record))
        for name, part in record["corpora"].items():
            rows = [
                [
                    row["method"] if row["blocks"] == "as they come" else f"{row['method']}, in eighths",
                    f"{row['columns']} K", f"{row['error']:.4f}", f"{row['anchors']}", f"{row['distance']:.3f}",
                    f"{row['seconds']:.1f}", f"{row['megabytes']:,.0f}", f"{row['further']}",
                ]
                for row in part["rows"]
            ]  # fmt: skip
            text.append(
                f"{name}, {part['documents']:,} documents, {part['words']:,} words, K {record['K']}; the fit of all passes "
                f"reads the documents {part['passes']} times.\n\n"
                + table(
                    ["sketch", "columns", "error", f"anchors of {record['K']}", "distance of topics", "s", "MB",
                     "further passes"], rows,
                )
            )  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", nargs="+", default=list(WORDS))
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="kos, 1,000 words, K 10")
    options = parser.parse_args()
    K = 10 if options.quick else options.topics
    record: dict = {**circumstances(), "commit": commit(), "K": K, "corpora": {}}
    for name in ["kos"] if options.quick else options.corpora:
        corpus = real_corpus(options.data, name).prune(n_words=1000 if options.quick else WORDS.get(name))
        reference = aw.AnchorTopicModel(K).fit(corpus).model_
        pairs = starting_eigenpairs(aw.CooccurrenceOperator(corpus.counts), K, search=True)
        rows = []
        for method, widths in (QUICK if options.quick else COLUMNS).items():
            few_blocks = corpus.counts.nnz < 4 * incremental._BLOCK_COUNTS
            for split in (False, True) if method == "incremental" and few_blocks else (False,):
                for columns in widths:
                    rows.append(measure(corpus, reference, pairs, K, method, columns, split))
                    print(name, rows[-1], file=sys.stderr, flush=True)
        record["corpora"][name] = {
            "documents": corpus.n_docs, "words": corpus.n_words, "passes": pairs.n_passes, "rows": rows,
        }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
