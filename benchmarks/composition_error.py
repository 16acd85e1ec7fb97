"""How far inferred compositions are from the true ones, beside scikit-learn's LDA given the true topics.

    python benchmarks/composition_error.py [--quick] [--documents 200] [--output docs/tables/composition_error]

Documents are drawn from known topics and known compositions. The error is the total variation between the inferred
composition and the true one, mean over documents. ``map`` knows the true topics and E[w w'], from which it takes its prior,
as ``transform`` does; scikit-learn's ``transform`` knows the true topics, and its prior is the default 1 / K or the true
parameter, for which it takes one number: the mean where the prior is skewed. The second table says how the constant of
``anchorwords.infer.prior`` was chosen.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, commit, described, table, write_tables

# Words of the vocabulary, and the Dirichlet parameters of sharp and of overlapping topics over them.
_WORDS = 1000
_TOPICS = {"sharp": 0.05, "overlapping": 0.3}
_CONSTANTS = (0.0, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0)


def lda_given_topics(B, prior: float | None = None):
    """scikit-learn's LatentDirichletAllocation as if it had learned these topics; None is its default prior."""
    from sklearn.decomposition import LatentDirichletAllocation

    N, K = B.shape
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentDirichletAllocation(K, doc_topic_prior=prior, max_iter=1, random_state=0)
        model.fit(sp.csr_matrix(np.ones((1, N))))
    topics = np.maximum(B.T, 1e-12)
    model.components_ = topics * 1e6
    model.exp_dirichlet_component_ = topics
    return model


def parameters(kind: str, K: int, mean: float) -> np.ndarray:
    """Parameters of a Dirichlet with this mean: all alike, or falling as one over the rank."""
    shares = np.ones(K) if kind == "symmetric" else 1.0 / np.arange(1, K + 1)
    return mean * K * shares / shares.sum()


def second_moment(alpha):
    """E[w w'] of a Dirichlet."""
    total = alpha.sum()
    return (np.outer(alpha, alpha) / total + np.diag(alpha) / total) / (total + 1.0)


def draw(rng, B, alpha, length: int, n_docs: int):
    """True compositions and counts."""
    W = rng.dirichlet(alpha, n_docs)
    return W, sp.csr_matrix(np.array([rng.multinomial(length, p / p.sum()) for p in W @ B.T]), dtype=np.float64)


def errors(B, alpha, W, X) -> dict:
    """Mean total variation of each way."""
    from anchorwords.infer.fold_in import fold_in
    from anchorwords.infer.penalised import penalised_compositions
    from anchorwords.infer.prior import prior_weights

    def error(weights) -> float:
        return float(np.abs(weights - W).sum(axis=1).mean() / 2)

    mean = min(float(alpha.mean()), 1.0)  # scikit-learn takes no more, and one may be a rounding off
    by_constant = {}
    for constant in _CONSTANTS:
        for name, weights in (
            ("each", alpha * alpha / (alpha + constant)),
            ("mean", alpha * mean / (mean + constant)),
        ):
            by_constant[f"{name} {constant:g}"] = error(penalised_compositions(X, B, weights).weights)
    return {
        "map": error(penalised_compositions(X, B, prior_weights(second_moment(alpha))).weights),
        "maximum_likelihood": error(fold_in(X, B, alpha / alpha.sum()).weights),
        "lda_default": error(lda_given_topics(B).transform(X)),
        "lda_true": error(lda_given_topics(B, mean).transform(X)),
        "by_constant": by_constant,
    }


def measure(options) -> list[dict]:
    rows = []
    for topics, sharpness in _TOPICS.items():
        for K in options.topics:
            B = np.ascontiguousarray(np.random.default_rng(K).dirichlet(np.full(_WORDS, sharpness), K).T)
            for kind in ("symmetric", "skewed"):
                for mean in options.means:
                    alpha = parameters(kind, K, mean)
                    for length in options.lengths:
                        rng = np.random.default_rng([K, length, round(1000 * mean)])
                        found = errors(B, alpha, *draw(rng, B, alpha, length, options.documents))
                        rows.append({"topics": topics, "K": K, "prior": kind, "mean": mean, "length": length, **found})
                    print(topics, K, kind, mean, file=sys.stderr, flush=True)
    return rows


def ratios(rows: list[dict], other: str) -> np.ndarray:
    return np.array([row["map"] / row[other] for row in rows])


def error_table(rows: list[dict]) -> str:
    """Errors by prior and length, mean over topics and K."""
    names = ("map", "maximum_likelihood", "lda_default", "lda_true")
    cells: dict[tuple, list[dict]] = {}
    for row in rows:
        cells.setdefault((row["prior"], row["mean"], row["length"]), []).append(row)
    lines = []
    for (kind, mean, length), cell in cells.items():
        means = {name: np.mean([row[name] for row in cell]) for name in names}
        compared = [
            means["map"] / means["lda_default"],
            means["map"] / means["lda_true"],
            ratios(cell, "lda_true").max(),
        ]
        lines.append(
            [
                f"{kind}, mean {mean:g}", f"{length:,}", *(f"{means[name]:.4f}" for name in names),
                *(f"{value:.3f}" for value in compared),
            ]
        )  # fmt: skip
    return table(
        ["prior", "length", "map", "maximum likelihood", "LDA, 1/K", "LDA, true", "map : 1/K", "map : true", "worst"],
        lines,
    )


def constant_table(rows: list[dict]) -> str:
    """How far each constant is from the best of all, mean and worst over the grid."""
    least = np.array([min(row["by_constant"].values()) for row in rows])
    lines = []
    for constant in _CONSTANTS:
        line = [f"{constant:g}"]
        for name in ("each", "mean"):
            excess = 100 * (np.array([row["by_constant"][f"{name} {constant:g}"] for row in rows]) / least - 1)
            line += [f"{excess.mean():.1f}", f"{excess.max():.1f}"]
        lines.append(line)
    return table(["constant c", "each: mean %", "each: worst %", "all: mean %", "all: worst %"], lines)


def summary(rows: list[dict]) -> str:
    """What the errors say, in sentences."""
    wrong = [row for row in rows if not 0.5 <= row["mean"] * row["K"] <= 2.0]
    wins = sum(row["map"] < row["lda_default"] for row in wrong)
    to_true = ratios(rows, "lda_true")
    behind = [row["mean"] for row, ratio in zip(rows, to_true, strict=True) if ratio > 1.05]
    text = (
        f"Where 1/K is off by more than a factor of two ({len(wrong)} cells of {len(rows)}) map has the smaller error in "
        f"{wins}. Against the true prior its error is {to_true.mean():.3f} times as large in the mean, {to_true.max():.3f} "
        "at worst"
    )
    if behind:
        text += f"; more than 5 % behind it is in {len(behind)} cells, of priors with a mean of {max(behind):g} or less"
    return text + ".\n"


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        rows = record["rows"]
        text += [
            described(record),
            f"Mean total variation from the true compositions, {record['documents']} documents a cell, {_WORDS:,} words, K "
            f"{' and '.join(map(str, record['K']))}, sharp and overlapping topics (Dirichlet {_TOPICS['sharp']:g} and "
            f"{_TOPICS['overlapping']:g}); the last column is the worst of these, the others their mean.\n",
            error_table(rows),
            summary(rows),
            "The prior of map: percent above the least error that any of these constants reaches, where each parameter b "
            "becomes b^2 / (b + c), and where all are multiplied by m / (m + c), m being their mean.\n",
            constant_table(rows),
        ]
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--means", type=float, nargs="+", default=[0.02, 0.05, 0.1, 0.3, 1.0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--quick", action="store_true", help="K 10, two priors, 100 documents")
    options = parser.parse_args()
    if options.quick:
        options.topics, options.means, options.documents = [10], [0.05, 0.5], 100
    record = {
        **circumstances(), "commit": commit(), "documents": options.documents, "K": options.topics,
        "rows": measure(options),
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
