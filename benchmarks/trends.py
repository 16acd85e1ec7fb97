"""How often intervals of trends hold, and how often verdicts are right, with and without shared deviations.

    python benchmarks/trends.py [--quick] [--corpora 300] [--output docs/tables/trends]

Synthetic corpora have six topics, of which one rises and one falls by 0.12 over the whole time; the other four do not
change. Each topic has words of its own, so that proportions are known well, and those of a document are drawn from a
Dirichlet distribution about the mean of its period. In each period the mean of each topic deviates from the line by a
random amount with the given standard deviation, which all documents of the period share. Periods have 60 documents on
average: the same number each, a number that grows by a factor of twenty, or ten times as many in one of them.

"covered" is the share of 90% intervals that hold the true slope, for ``errors="documents"`` and ``errors="periods"``;
"length" is the mean length of the latter over the former; "false" and "found" are the shares of verdicts "rising" or
"falling" among topics that do not change and that do.
"""

from __future__ import annotations

import sys

import numpy as np
from common import arguments, circumstances, commit, described, table, write_tables

import anchorwords as aw

K, LENGTH, CHANGE, CONCENTRATION, DOCS = 6, 200, 0.12, 5.0, 60
SIZES = ("equal", "growing", "one large")
# Name, and how deviations depend on the period and on each other.
KINDS = ("independent", "growing", "autocorrelated")


def sizes(kind: str, T: int) -> np.ndarray:
    """Documents of each period."""
    if kind == "one large":
        return np.where(np.arange(T) == T // 3, 10 * DOCS, DOCS)
    shares = np.ones(T) if kind == "equal" else np.exp(np.linspace(0.0, 3.0, T))
    return np.maximum(np.round(DOCS * T * shares / shares.sum()).astype(int), 3)


def deviations(rng, kind: str, T: int, spread: float) -> np.ndarray:
    """Of T periods and K topics, without a change of the total."""
    v = rng.normal(size=(T, K))
    if kind == "growing":  # from 0.3 to 1.7 of the mean size
        v *= np.linspace(0.3, 1.7, T)[:, None]
    elif kind == "autocorrelated":  # 0.5 from period to period
        for t in range(1, T):
            v[t] = 0.5 * v[t - 1] + np.sqrt(0.75) * v[t]
    return spread * (v - v.mean(axis=1, keepdims=True))


def model() -> aw.TopicModel:
    """Topics of a word each."""
    p = np.full(K, 1.0 / K)
    return aw.TopicModel(np.eye(K), np.diag(p), 1.0, np.arange(K), np.eye(K), p, None)


def corpus(rng, T: int, size: str, kind: str, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Counts and periods."""
    period = np.repeat(np.arange(T), sizes(size, T))
    direction = np.array([1.0, -1.0] + [0.0] * (K - 2))
    mean = 1.0 / K + np.outer(np.linspace(-0.5, 0.5, T), CHANGE * direction) + deviations(rng, kind, T, spread)
    mean = np.maximum(mean, 0.01)
    gamma = rng.gamma(CONCENTRATION * (mean / mean.sum(axis=1, keepdims=True))[period])
    shares = gamma / gamma.sum(axis=1, keepdims=True)
    return rng.multinomial(LENGTH, shares).astype(float), period


def measure(T: int, size: str, kind: str, spread: float, n_corpora: int) -> dict:
    rng = np.random.default_rng([T, SIZES.index(size), KINDS.index(kind), round(1000 * spread)])
    true = np.array([1.0, -1.0] + [0.0] * (K - 2)) * CHANGE / (T - 1)
    topics = model()
    row: dict = {"periods": T, "sizes": size, "deviations": kind, "spread": spread}
    found = {errors: [] for errors in ("documents", "periods")}
    freedom = []
    for _ in range(n_corpora):
        counts, period = corpus(rng, T, size, kind, spread)
        result = aw.topics_over_time(topics, counts, period, n_words=0)
        freedom.append(result.by_periods.freedom)
        for errors, rows in found.items():
            rows += result.trends(level=0.9, errors=errors).rows()
    for errors, rows in found.items():
        slope = np.array([true[one["topic"]] for one in rows])
        lower, upper = (np.array([one[name] for one in rows]) for name in ("lower", "upper"))
        clear = np.array([one["verdict"] != "no clear trend" for one in rows])
        row |= {
            f"covered_{errors}": float(((lower <= slope) & (slope <= upper)).mean()),
            f"length_{errors}": float((upper - lower).mean()), f"false_{errors}": float(clear[slope == 0.0].mean()),
            f"found_{errors}": float(clear[slope != 0.0].mean()),
        }  # fmt: skip
    return row | {"freedom": float(np.median(freedom))}


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        lines = [
            [
                row["sizes"], row["deviations"] if row["spread"] else "none", f"{row['spread']:g}", str(row["periods"]),
                f"{row['freedom']:.1f}",
                *(f"{row[name]:.2f}" for name in ("covered_documents", "covered_periods")),
                f"{row['length_periods'] / row['length_documents']:.2f}",
                *(f"{row[name]:.2f}" for name in ("false_documents", "false_periods", "found_documents", "found_periods")),
            ]
            for row in record["rows"]
        ]  # fmt: skip
        text += [
            described(record),
            f"{record['corpora']} corpora of six topics per line; 90% intervals, false discovery rate of 0.05.\n",
            table(
                ["sizes", "deviations", "sd", "periods", "freedom", "covered, documents", "covered, periods", "length",
                 "false, documents", "false, periods", "found, documents", "found, periods"],
                lines,
            ),
        ]  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="10 periods of equal size, 30 corpora")
    options = parser.parse_args()
    cells = [(T, size, "independent", spread) for size in SIZES for T in (5, 10, 30) for spread in (0.0, 0.01, 0.03)]
    cells += [(T, "growing", "growing", 0.03) for T in (5, 10, 30)]
    cells += [(T, "equal", "autocorrelated", 0.03) for T in (5, 10, 30)]
    if options.quick:
        cells, options.corpora = [(10, "equal", "independent", spread) for spread in (0.0, 0.03)], 30
    rows = []
    for cell in cells:
        rows.append(measure(*cell, options.corpora))
        print(rows[-1], file=sys.stderr, flush=True)
    record = {**circumstances(), "commit": commit(), "corpora": options.corpora, "rows": rows}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
