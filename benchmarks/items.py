"""Items: how many held-out films and songs are among the 20 that are predicted, next to popularity and ALS.

    python benchmarks/items.py [--quick] [--topics 50,100] [--output docs/tables/items]

The last tenth of the documents (users of ml1m, playlists of spotify) is held out from the fit. Of each, every fifth item,
drawn at random, is hidden; the others are the basket. Recall@20 is the number of hidden items among the 20 predicted,
divided by 20 or by the number of hidden items if that is smaller, mean over documents with at least five items. ALS is that
of ``implicit`` (64 factors, 15 iterations, regularization 0.05), which is left out, with the reason, if it is not installed.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, described, real_corpus, table, write_tables

N = 20


def split(counts, quick: bool):
    """Counts of the fit, baskets of the others, and their hidden items."""
    counts = sp.csr_array(counts)
    counts = sp.csr_array((np.ones_like(counts.data), counts.indices, counts.indptr), shape=counts.shape)
    first = counts.shape[0] * 9 // 10
    rng = np.random.default_rng(0)
    baskets, hidden = [], []
    for row in range(first, counts.shape[0], 5 if quick else 1):
        items = counts.indices[counts.indptr[row] : counts.indptr[row + 1]]
        if items.size < 5:
            continue
        hidden.append(rng.choice(items, items.size // 5, replace=False))
        baskets.append(np.setdiff1d(items, hidden[-1]))
    indptr = np.concatenate([[0], np.cumsum([basket.size for basket in baskets])])
    shape = (len(baskets), counts.shape[1])
    known = sp.csr_array((np.ones(indptr[-1]), np.concatenate(baskets), indptr), shape=shape)
    return counts[: first : 3 if quick else 1], known, hidden


def recall(predicted, hidden) -> float:
    hits = [np.isin(row[:N], items).sum() / min(N, items.size) for row, items in zip(predicted, hidden, strict=True)]
    return float(np.mean(hits))


def popularity(train, known, quick):  # noqa: ARG001
    order = np.argsort(-np.asarray(train.sum(axis=0)).ravel(), kind="stable")
    return [
        order[~np.isin(order, known.indices[a:b])][:N] for a, b in zip(known.indptr, known.indptr[1:], strict=False)
    ]


def als(train, known, quick):
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(factors=64, regularization=0.05, iterations=3 if quick else 15, random_state=0)
    model.fit(sp.csr_matrix(train), show_progress=False)
    users = np.asarray(model.recalculate_user(np.arange(known.shape[0]), sp.csr_matrix(known)))
    scores = users @ np.asarray(model.item_factors).T
    scores[np.repeat(np.arange(known.shape[0]), np.diff(known.indptr)), known.indices] = -np.inf
    return np.argsort(-scores, axis=1, kind="stable")[:, :N]


def ours(preset: str, K: int):
    def predicted(train, known, quick):  # noqa: ARG001
        import anchorwords as aw

        return aw.predict_words(aw.AnchorTopicModel.from_preset(preset, K).fit(train), known, N).columns

    return predicted


def markdown(record) -> str:
    text = f"Recall@{N}. {described(record)}\n"
    names = list(dict.fromkeys(row["corpus"] for row in record["rows"]))
    titles = list(dict.fromkeys(row["title"] for row in record["rows"]))
    by = {(row["title"], row["corpus"]): row for row in record["rows"]}
    cells = []
    for title in titles:
        line = [title]
        for name in names:
            row = by[title, name]
            line += [f"{row['recall']:.3f}", f"{row['seconds']:.1f}"] if "recall" in row else [row["status"], "-"]
        cells.append(line)
    return text + table(["", *(head for name in names for head in (name, "seconds"))], cells)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--topics", default="50,100")
    parser.add_argument("--quick", action="store_true", help="a third of the documents, a fifth of the baskets, K 10")
    options = parser.parse_args()
    topics = [10] if options.quick else [int(K) for K in options.topics.split(",")]
    systems = {"popularity": popularity, "implicit ALS, 64 factors": als}
    for K in topics:
        systems |= {f"anchorwords, paper, K {K}": ours("paper", K), f"anchorwords, readers, K {K}": ours("readers", K)}
    record = {**circumstances(), "quick": options.quick, "rows": []}
    for name in ("ml1m", "spotify"):
        train, known, hidden = split(real_corpus(options.data, name).counts, options.quick)
        for title, system in systems.items():
            begin = time.perf_counter()
            row = {"corpus": name, "title": title, "documents": len(hidden)}
            try:
                row["recall"] = recall(system(train, known, options.quick), hidden)
                row["seconds"] = time.perf_counter() - begin
            except ImportError as error:
                row["status"] = f"left out: {error}"
            record["rows"].append(row)
            print(row, flush=True)
    write_tables(options.output, record, markdown)


if __name__ == "__main__":
    main()
