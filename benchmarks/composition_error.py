"""How near inferred compositions come to the true ones, on synthetic documents.

    python benchmarks/composition_error.py [--quick] [--output docs/tables/composition_error]

True topics are given to everyone. Compositions are drawn from Dirichlet distributions, symmetric (mean parameter m) and
not (parameters drawn, of that mean); "map" takes its prior from the true A. scikit-learn's LDA is given the topics and its
default prior 1/K, or the true one (the mean of an asymmetric one, as it takes a single number).
"""

from __future__ import annotations

from common import arguments, circumstances, described, table, write_tables

SETTINGS = [
    (10, 0.1, True), (20, 0.05, True), (50, 0.02, True), (20, 0.1, False), (20, 0.3, True), (50, 0.1, False),
    (20, 0.5, False), (10, 1.0, True),
]  # fmt: skip
LENGTHS = (20, 100, 1000)


def variational(B, prior, X):
    """scikit-learn's transform with these topics."""
    import numpy as np
    from sklearn.decomposition import LatentDirichletAllocation

    model = LatentDirichletAllocation(B.shape[1], doc_topic_prior=prior, max_iter=1, random_state=0).fit(X[:20])
    model.components_ = np.maximum(B.T, 1e-12) * 1e6
    model.exp_dirichlet_component_ = np.maximum(B.T, 1e-12)
    return model.transform(X)


def measured(K: int, mean: float, symmetric: bool, n_docs: int, seed: int) -> list[dict]:
    import numpy as np
    import scipy.sparse as sp

    from anchorwords.infer.fold_in import fold_in
    from anchorwords.infer.penalised import penalised_compositions
    from anchorwords.infer.prior import prior_weights

    rng = np.random.default_rng(seed)
    B = rng.dirichlet(np.full(1000, 0.05), K).T
    alpha = np.full(K, mean) if symmetric else mean * K * rng.dirichlet(np.full(K, 2.0))
    p = alpha / alpha.sum()
    A = (alpha.sum() * np.outer(p, p) + np.diag(p)) / (alpha.sum() + 1.0)
    rows = []
    for length in LENGTHS:
        W = rng.dirichlet(alpha, n_docs)
        X = sp.csr_matrix(np.array([rng.multinomial(length, B @ w) for w in W]), dtype=float)

        def error(weights, W=W):
            return float(np.abs(weights - W).sum(axis=1).mean() / 2)

        rows.append({
            "K": K, "mean": mean, "symmetric": symmetric, "length": length,
            "map": error(penalised_compositions(X, B, prior_weights(A)).weights),
            "likelihood": error(fold_in(X, B, p).weights),
            "default": error(variational(B, None, X)), "true": error(variational(B, mean, X)),
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def markdown(records: list[dict]) -> str:
    record = records[0]
    lines = [
        [
            f"{row['K']}, {row['mean']:g}{'' if row['symmetric'] else ', asymmetric'}", f"{row['length']:,}",
            *(f"{row[name]:.4f}" for name in ("map", "likelihood", "default", "true")),
            f"{row['map'] / row['default']:.3f}", f"{row['map'] / row['true']:.3f}",
        ]
        for row in record["rows"]
    ]  # fmt: skip
    columns = [
        "K, mean parameter", "tokens", "map", "maximum likelihood", "scikit-learn LDA, prior 1/K", "the same, true prior",
        "map / default", "map / true",
    ]  # fmt: skip
    return f"{record['documents']:,} documents a line. {described(record)}\n{table(columns, lines)}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="two settings, few documents")
    options = parser.parse_args()
    n_docs = 100 if options.quick else 500
    settings = SETTINGS[:2] if options.quick else SETTINGS
    rows = [row for seed, setting in enumerate(settings) for row in measured(*setting, n_docs, seed)]
    record = {**circumstances(), "documents": n_docs, "rows": rows}
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
