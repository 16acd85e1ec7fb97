"""How far inferred compositions are from the true ones, beside scikit-learn's LDA given the true topics.

    python benchmarks/composition_error.py [--quick] [--documents 1000] [--data ../shared/data]
        [--output docs/tables/composition_error]

Documents are drawn from known topics and known compositions. The error is the total variation between the inferred
composition and the true one, mean over documents. "posterior mean", the default of ``transform``, knows the true topics and
E[w w'], from which it takes its prior; "mode" is the same without penalties; "maximum likelihood" is EM without a prior;
scikit-learn's ``transform`` knows the true topics, and its prior is
the default 1 / K or the true parameter, for which it takes one number: the mean where the prior is skewed. The second table
says how the constant of ``anchorwords.infer.prior`` was chosen. The third is of real documents, whose compositions nobody
knows: every tenth is held out, inferred from every second token by each of the ways, and scored on the others.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

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


def maximum_likelihood(X, B, max_steps: int = 2000, gap: float = 1e-6) -> np.ndarray:
    """Maximum-likelihood topic proportions by EM: a yardstick without any prior.

    A document is finished when its log-likelihood per token is within ``gap`` of the maximum.
    """
    K = B.shape[1]
    weights = np.full((X.shape[0], K), 1.0 / K)
    for w, start, stop in zip(weights, X.indptr[:-1], X.indptr[1:], strict=True):
        rows, share = B[X.indices[start:stop]], X.data[start:stop] / X.data[start:stop].sum()
        for _ in range(max_steps):
            g = (share / (rows @ w)) @ rows
            w *= g
            if g.max() <= 1.0 + gap:
                break
    return weights


def errors(B, alpha, W, X) -> dict:
    """Mean total variation of each way."""
    from anchorwords.infer.penalised import penalised_compositions
    from anchorwords.infer.prior import prior_from, prior_of

    def error(weights) -> float:
        return float(np.abs(weights - W).sum(axis=1).mean() / 2)

    mean = min(float(alpha.mean()), 1.0)  # scikit-learn takes no more, and one may be a rounding off
    by_constant = {}
    for constant in _CONSTANTS:
        prior = prior_from(alpha, constant)
        for name, known in (("posterior_mean", prior), ("mode", prior.weights)):
            by_constant[f"{name} {constant:g}"] = error(penalised_compositions(X, B, known).weights)
    prior = prior_of(second_moment(alpha))
    return {
        "posterior_mean": error(penalised_compositions(X, B, prior).weights),
        "mode": error(penalised_compositions(X, B, prior.weights).weights),
        "maximum_likelihood": error(maximum_likelihood(X, B)),
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


def perplexities(corpus, preset: str, K: int) -> dict:
    """Of held-out documents by completion, compositions inferred in each way."""
    import anchorwords as aw
    from anchorwords.infer.complete import halves
    from anchorwords.infer.penalised import known_words, penalised_compositions
    from anchorwords.infer.prior import prior_of

    held = np.arange(corpus.n_docs) % 10 == 9
    counts = sp.csr_array(corpus.counts)
    model = aw.AnchorTopicModel.from_preset(preset, K).fit(counts[~held]).model_
    seen, hidden = (sp.csr_matrix(part) for part in halves(counts[held], known_words(model.B)))
    prior = prior_of(model.A)
    rows = np.repeat(np.arange(hidden.shape[0]), np.diff(hidden.indptr))

    def perplexity(weights) -> float:
        p = np.einsum("ik,ik->i", model.B[hidden.indices], weights[rows])
        return float(np.exp(-(hidden.data @ np.log(p)) / hidden.data.sum()))

    return {
        "posterior_mean": perplexity(penalised_compositions(seen, model.B, prior).weights),
        "mode": perplexity(penalised_compositions(seen, model.B, prior.weights).weights),
        "variational": perplexity(lda_given_topics(model.B, float(prior.parameters.mean())).transform(seen)),
    }


def measure_real(options) -> list[dict]:
    rows = []
    for name in ("kos",) if options.quick else ("nips12", "kos", "20ng", "imdb100k"):
        corpus = real_corpus(options.data, name).prune(n_words=5000)
        for preset in ("paper", "readers"):
            rows.append({"corpus": name, "preset": preset, **perplexities(corpus, preset, 10 if options.quick else 50)})
            print(rows[-1], file=sys.stderr, flush=True)
    return rows


def real_table(rows: list[dict]) -> str:
    names = ("posterior_mean", "mode", "variational")
    return table(
        ["corpus", "topics", *(name.replace("_", " ") for name in names)],
        [[row["corpus"], row["preset"], *(f"{row[name]:,.0f}" for name in names)] for row in rows],
    )


def ratios(rows: list[dict], other: str) -> np.ndarray:
    return np.array([row["posterior_mean"] / row[other] for row in rows])


def error_table(rows: list[dict]) -> str:
    """Errors by prior and length, mean over topics and K."""
    names = ("posterior_mean", "mode", "maximum_likelihood", "lda_default", "lda_true")
    cells: dict[tuple, list[dict]] = {}
    for row in rows:
        cells.setdefault((row["prior"], row["mean"], row["length"]), []).append(row)
    lines = []
    for (kind, mean, length), cell in cells.items():
        means = {name: np.mean([row[name] for row in cell]) for name in names}
        compared = [
            means["posterior_mean"] / means["lda_default"],
            means["posterior_mean"] / means["lda_true"],
            ratios(cell, "lda_true").max(),
        ]
        lines.append(
            [
                f"{kind}, mean {mean:g}", f"{length:,}", *(f"{means[name]:.4f}" for name in names),
                *(f"{value:.3f}" for value in compared),
            ]
        )  # fmt: skip
    return table(
        [
            "prior",
            "length",
            "posterior mean",
            "mode",
            "maximum likelihood",
            "LDA, 1/K",
            "LDA, true",
            "mean : 1/K",
            "mean : true",
            "worst",
        ],
        lines,
    )


def constant_table(rows: list[dict]) -> str:
    """How far each constant is from the best of all, mean and worst over the grid."""
    least = np.array([min(row["by_constant"].values()) for row in rows])
    lines = []
    for constant in _CONSTANTS:
        line = [f"{constant:g}"]
        for name in ("posterior_mean", "mode"):
            excess = 100 * (np.array([row["by_constant"][f"{name} {constant:g}"] for row in rows]) / least - 1)
            line += [f"{excess.mean():.1f}", f"{excess.max():.1f}"]
        lines.append(line)
    return table(
        ["constant c", "posterior mean: mean %", "posterior mean: worst %", "mode: mean %", "mode: worst %"], lines
    )


def summary(rows: list[dict]) -> str:
    """What the errors say, in sentences."""
    to_default, to_true = ratios(rows, "lda_default"), ratios(rows, "lda_true")
    return (
        "Against LDA with its default prior the posterior mean has the smaller error in "
        f"{(to_default < 1.0).sum()} of {len(rows)} cells "
        f"({to_default.mean():.3f} times as large in the mean, {to_default.max():.3f} at worst); against the true prior "
        f"{to_true.mean():.3f} in the mean and {to_true.max():.3f} at worst, with {(to_true > 1.05).sum()} cells more than "
        "5 % behind.\n"
    )


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
            "The prior of the posterior mean: percent above the least error that any of these constants reaches, where each "
            "parameter b "
            "is a weight of b^2 / (b + c) and a penalty of c / (b + c).\n",
            constant_table(rows),
            "Perplexity of held-out documents by completion, best 5,000 words, K 50; variational inference is that of "
            "scikit-learn, given the same topics and the mean parameter of the same prior.\n",
            real_table(record["real"]),
        ]
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--topics", type=int, nargs="+", default=[10, 50])
    parser.add_argument("--means", type=float, nargs="+", default=[0.02, 0.05, 0.1, 0.3, 1.0])
    parser.add_argument("--lengths", type=int, nargs="+", default=[20, 100, 1000])
    parser.add_argument("--quick", action="store_true", help="K 10, two priors, 100 documents")
    options = parser.parse_args()
    if options.quick:
        options.topics, options.means, options.documents = [10], [0.05, 0.5], 100
    record = {
        **circumstances(), "commit": commit(), "documents": options.documents, "K": options.topics,
        "rows": measure(options), "real": measure_real(options),
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
