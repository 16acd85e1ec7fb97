"""Effects of covariates by the three methods of `estimate_effects`: known effects, and mean proportions of cve by year.

    python benchmarks/effects.py [--quick] [--data ../shared/data] [--output docs/tables/effects]

Simulated: 6,000 documents of four topics, of which the first grows by 0.2 over the unit interval of a covariate and the
second falls by as much, for documents of different lengths. Real: the smallest and largest mean proportion of 30 topics
in each year of cve, which cannot be negative.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, commit, described, seconds_of, table, write_tables

METHODS = ("calibrated", "posterior-mean", "unbiased")


def simulated(length: int, n_docs: int = 6000) -> dict:
    import anchorwords as aw
    from anchorwords.datasets import make_topics
    from anchorwords.model import TopicModel

    B = make_topics(n_docs=2, n_words=120, n_topics=4, random_state=0).B
    alpha = np.array([1.0, 0.5, 0.8, 1.2])
    A = (np.outer(alpha, alpha) + np.diag(alpha)) / (alpha.sum() * (alpha.sum() + 1.0))
    p = B @ A.sum(axis=1)
    model = TopicModel(B, A, 1.0, B.argmax(axis=0), B * A.sum(axis=1) / p[:, None], p)
    rng = np.random.default_rng([length, 1])
    x = rng.uniform(size=n_docs)
    mean = 0.25 + np.outer(x - 0.5, [0.2, -0.2, 0.0, 0.0])
    w = np.array([rng.dirichlet(4.0 * one) for one in mean])
    counts = sp.csr_array(
        np.array([rng.multinomial(rng.poisson(length) + 1, q / q.sum()) for q in w @ B.T], dtype=float)
    )
    row: dict = {"length": length}
    for method in METHODS:
        found = aw.estimate_effects(model, counts, "x", data={"x": x}, method=method)
        row[method] = found.estimate[1, :2].tolist()
        row[f"{method}_error"] = float(found.std_error[1, :2].max())
    print(row, file=sys.stderr, flush=True)
    return row


def real(data: Path) -> list[dict]:
    import anchorwords as aw

    with gzip.open(data / "cve" / "cve.tsv.gz", "rt", encoding="utf-8") as stream:
        lines = (line.rstrip("\n").split("\t", 1) for line in stream)
        rows = [{"year": int(name.split("-")[1]), "text": text} for name, text in lines]
    corpus = aw.read_corpus(rows, text_column="text", columns="year")
    model = aw.TextTopicModel(30).fit(corpus)
    years = sorted(set(corpus.documents["year"].tolist()))
    found = []
    for method in METHODS:
        predicted: list = []
        seconds = seconds_of(
            lambda method=method, predicted=predicted: predicted.append(
                aw.estimate_effects(model, corpus, "C(year)", method=method).predict({"year": years}).estimate
            )
        )
        found.append({"method": method, "least": float(predicted[0].min()), "largest": float(predicted[0].max()),
                      "seconds": seconds})  # fmt: skip
    return found


def markdown(records: list[dict]) -> str:
    record = records[0]
    rows = [
        [str(row["length"]), *(", ".join(f"{value:.3f}" for value in row[method]) for method in METHODS),
         f"{max(row[f'{method}_error'] for method in METHODS):.3f}"]
        for row in record["simulated"]
    ]  # fmt: skip
    text = (
        described(record)
        + "\nTrue effects of 0.2 and -0.2 in 6,000 simulated documents; the last column is the largest standard error.\n\n"
        + table(["tokens", *METHODS, "error"], rows)
    )
    if record["real"]:
        real_rows = [
            [row["method"], f"{100 * row['least']:.1f} %", f"{100 * row['largest']:.1f} %", f"{row['seconds']:.1f}"]
            for row in record["real"]
        ]
        text += (
            "\nMean proportions of 30 topics of cve (167,093 documents) by year: the smallest, the largest, and seconds.\n\n"
            + table(["method", "smallest", "largest", "seconds"], real_rows)
        )
    return text


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="two lengths, no cve")
    options = parser.parse_args()
    lengths = (12, 50) if options.quick else (6, 12, 25, 50, 100, 300)
    if not options.quick and not (options.data / "cve").is_dir():
        sys.exit(f"{options.data / 'cve'} is not there: name the folder that holds the corpora with --data.")
    record = {
        **circumstances(), "commit": commit(), "simulated": [simulated(length) for length in lengths],
        "real": [] if options.quick else real(options.data),
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
