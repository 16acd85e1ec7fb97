"""How far the second moment of inferred compositions is from A: posterior means and prior-aware compositions.

    python benchmarks/second_moment.py [--quick] [--data ../shared/data] [--output docs/tables/second_moment]

The distance is the Frobenius norm of (1/M) sum w w' - A over the documents of the fit, relative to that of A. Drawn
documents have logistic normal compositions, in which some topics come together and others shun each other; the model
is the true one (its A that of the very compositions drawn), or fitted. Real documents: fitted models, best 5,000 words.
"""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables


def drawn(seed: int, length: int, n_docs: int, n_words: int = 500, K: int = 10):
    """Topics, compositions and counts."""
    rng = np.random.default_rng(seed)
    B = np.ascontiguousarray(rng.dirichlet(np.full(n_words, 0.05), size=K).T)
    spread = rng.standard_normal((K, K)) / np.sqrt(K)
    z = rng.multivariate_normal(0.5 * rng.standard_normal(K), 2.0 * spread @ spread.T + 0.4 * np.eye(K), size=n_docs)
    w = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    return B, w, sp.csr_array(rng.multinomial(length, w @ B.T).astype(float))


def distances(model, X) -> dict:
    """Of a fitted estimator or a record with B and A."""
    from anchorwords.infer.aware import aware_compositions, learn_dual
    from anchorwords.infer.compose import compositions, joined
    from anchorwords.sources.convert import as_source

    def distance(weights):
        return float(np.linalg.norm(weights.T @ weights / len(weights) - model.A) / np.linalg.norm(model.A))

    dual = learn_dual(model, as_source(X))
    return {
        "posterior-mean": distance(joined(compositions(model, as_source(X))).weights),
        "prior-aware": distance(aware_compositions(X, model, dual.matrix).weights),
        "steps": dual.n_iter,
        "bound": dual.n_bound,
    }


def true_record(B, w):
    """The true topics as a record; words and anchors play no part in compositions."""
    from anchorwords.model import TopicModel

    A = w.T @ w / len(w)
    A = (A + A.T) / 2.0
    p = B @ A.sum(axis=1)
    word_topics = B * A.sum(axis=1) / np.maximum(p, 1e-300)[:, None]
    return TopicModel(
        B=B, A=A, A_raw_sum=1.0, anchors=np.arange(B.shape[1]), word_topics=word_topics, word_probs=p
    )  # fmt: skip


def measure(options) -> list[dict]:
    import anchorwords as aw

    n_docs = 500 if options.quick else 5000
    rows = []

    def add(what, documents, model, X):
        rows.append({"documents": what, "n": X.shape[0], "model": model[0], **distances(model[1], X)})
        print(rows[-1], documents, flush=True)

    for length in (20, 100, 1000):
        B, w, X = drawn(length, length, n_docs)
        add(f"drawn, {length:,} tokens", length, ("true", true_record(B, w)), X)
        add(f"drawn, {length:,} tokens", length, ("fitted", aw.AnchorTopicModel(10).fit(X).model_), X)
    for name in ("kos",) if options.quick else ("nips12", "kos", "20ng"):
        corpus = real_corpus(options.data, name).prune(n_words=5000)
        for K in (10,) if options.quick else (10, 50):
            model = aw.AnchorTopicModel(K).fit(corpus).model_
            add(f"{name}, K {K}", name, ("fitted", model), sp.csr_array(corpus.counts))
    return rows


def markdown(records: list[dict]) -> str:
    rows = [
        [
            row["documents"], f"{row['n']:,}", row["model"],
            *(f"{100 * row[key]:.2f} %" for key in ("posterior-mean", "prior-aware")),
            str(row["steps"]), str(row["bound"]),
        ]
        for row in records[0]["rows"]
    ]  # fmt: skip
    columns = ["documents", "number", "model", "posterior-mean", "prior-aware", "steps", "directions held back"]
    return f"{described(records[0])}\n{table(columns, rows)}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="500 documents, kos only")
    options = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        record = {**circumstances(), "commit": commit(), "rows": measure(options)}
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
