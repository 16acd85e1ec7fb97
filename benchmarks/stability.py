"""How sure is stability itself: its replicates beside true refits, and its intervals beside the truth.

    python benchmarks/stability.py [--quick] [--refined] [--data ../shared/data] [--output docs/tables/stability]

First table: documents are given the same random weights twice. Once everything is learned anew from the weighted documents,
eigenpairs, ENN and LAW; and once as ``stability`` does it, for several numbers of steps. "Documents drawn": refits of as
many documents drawn one by one with replacement, the textbook's bootstrap. Second table: corpora drawn from known topics,
and how often the intervals hold the true prevalence and the true correlations. Third table: what it costs beside a fit where
documents are many. Fourth table: fits and stability of the two presets, and of plain refinement; with --refined that alone,
beside what OUTPUT.json already holds.
"""

from __future__ import annotations

import json
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import (
    arguments,
    circumstances,
    commit,
    described,
    real_corpus,
    seconds_of,
    table,
    warm_up_counts,
    write_tables,
)
from sklearn.base import clone

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import DegenerateWarning
from anchorwords.metrics.matching import match_topics
from anchorwords.resampling.replicates import common_basis, leading_pairs
from anchorwords.resampling.reweighted import ReplicateStatistics
from anchorwords.resampling.shards import shard_of
from anchorwords.resampling.stability import stability
from anchorwords.sources.convert import as_source

STEPS = (0, 1, 2, 3)
LEVEL = 0.9
# What is fitted for the table of refined models.
WAYS = {
    "paper": aw.AnchorTopicModel.from_preset("paper"),
    "paper, then Refinement()": aw.AnchorTopicModel(refinement=aw.Refinement()),
    "readers": aw.AnchorTopicModel.from_preset("readers"),
}
# Documents, words, topics and tokens a document of the corpora with a known truth.
DRAWN = [(1000, 200, 5, 100), (4000, 200, 5, 60), (1000, 400, 10, 100)]


class Weighted:
    """C of documents that count so many times, written down from Eq. 1: nothing of what it is compared with."""

    def __init__(self, counts, weights) -> None:
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        share = weights / (lengths * (lengths - 1.0)) / weights.sum()
        self._G = sp.csr_array(sp.diags_array(np.sqrt(share)) @ counts)
        self._d = np.asarray(counts.T @ share)
        self.shape = (counts.shape[1], counts.shape[1])

    def __matmul__(self, V):
        return self._G.T @ (self._G @ V) - self._d[:, None] * V


def refit(counts, weights, K: int):
    return aw.low_rank_anchor_words(aw.rectify_enn(Weighted(counts, weights), K).Y)


def compare(name: str, seconds: float, fitted, models, refits=None) -> dict:
    """What replicates say of the fitted topics, and how far each is from the refit with the same weights."""
    K = fitted.n_components
    top = [set(words) for words in np.argsort(-fitted.B, axis=0)[:10].T]
    similarity, anchor, words, prevalence = [], [], [], []
    for model in models:
        other, distance = match_topics(fitted.B, model.B)
        similarity.append(1.0 - distance)
        anchor.append(model.anchors[other] == fitted.anchors)
        words.append([len(top[k] & set(np.argsort(-model.B[:, other[k]])[:10])) / 10 for k in range(K)])
        prevalence.append(model.prevalence[other])
    row = {"replicates": name, "seconds": seconds / len(models)}
    row |= {
        "similarity": np.mean(similarity, axis=0),
        "anchor": np.mean(anchor, axis=0),
        "words": np.mean(words, axis=0),
    }
    row["deviation"] = np.std(prevalence, axis=0, ddof=1)
    if refits is not None:
        pairs = zip(refits, models, strict=True)
        row["to_refit"] = float(np.mean([match_topics(a.B, b.B).total_variation.mean() for a, b in pairs]))
    return row


def against_refits(name: str, corpus, K: int, n_replicates: int, n_shards: int = 32) -> dict:
    counts, seed = corpus.counts, 0
    fit_seconds = seconds_of(lambda: aw.AnchorTopicModel(K, random_state=0).fit(corpus))
    fitted = aw.AnchorTopicModel(K, random_state=0).fit(corpus).model_
    source = as_source(corpus)
    statistics = ReplicateStatistics(source, n_replicates, n_shards, seed)
    shards = shard_of(0, corpus.n_docs, n_shards, seed)
    begin = time.perf_counter()
    refits = [refit(counts, weights[shards], K) for weights in statistics.weights[1:]]
    rows = [compare("refits", time.perf_counter() - begin, fitted, refits, refits)]
    for n_steps in STEPS:
        begin = time.perf_counter()
        statistics = ReplicateStatistics(source, n_replicates, n_shards, seed)
        Q = common_basis(statistics, np.asarray(fitted.Y), seed)
        models = [
            aw.low_rank_anchor_words(aw.rectify_enn((V, D), K).Y)
            for r, V, D in leading_pairs(statistics, Q, K, n_steps)
            if r > 0
        ]
        rows.append(compare(f"{n_steps} steps", time.perf_counter() - begin, fitted, models, refits))
        print(f"{name}: {n_steps} steps", flush=True)
    rng = np.random.default_rng(seed)
    draws = rng.multinomial(corpus.n_docs, np.full(corpus.n_docs, 1.0 / corpus.n_docs), size=n_replicates)
    begin = time.perf_counter()
    drawn = [_refit_of_drawn(counts, weights.astype(float), K) for weights in draws]
    rows.append(compare("documents drawn", time.perf_counter() - begin, fitted, drawn))
    first = rows[0]
    for row in rows:
        for measure in ("similarity", "anchor", "words"):
            row[f"{measure}_correlation"] = float(np.corrcoef(row[measure], first[measure])[0, 1])
            row[f"{measure}_difference"] = float(np.mean(row[measure] - first[measure]))
        row["width"] = float(np.median(row["deviation"] / first["deviation"]))
    plain = [{k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in row.items()} for row in rows]
    return {
        "corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "K": K, "n_replicates": n_replicates,
        "fit_seconds": fit_seconds, "rows": plain,
    }  # fmt: skip


def _refit_of_drawn(counts, weights, K: int):
    """Words that are in none of the documents drawn take no part, and are put back with no probability."""
    used = np.asarray(counts.T @ weights) > 0.0
    model = refit(sp.csr_array(counts[:, np.flatnonzero(used)]), weights, K)
    B = np.zeros((used.size, K))
    B[used] = model.B
    return aw.TopicModel(
        B,
        model.A,
        1.0,
        np.flatnonzero(used)[model.anchors],
        np.full(B.shape, 1.0 / K),
        np.full(used.size, 1.0 / used.size),
    )


def coverage(n_docs: int, n_words: int, K: int, length: int, n_corpora: int) -> dict:
    """How often intervals hold the truth that the corpora were drawn from."""
    held: dict[str, list[float]] = {"prevalence": [], "correlation": []}
    distance, similarity = [], []
    for seed in range(n_corpora):
        truth = make_topics(n_docs, n_words, K, doc_length=length, n_anchors=3, random_state=seed)
        model = aw.AnchorTopicModel(K, random_state=0).fit(truth.corpus).model_
        sure = stability(model, truth.corpus, level=LEVEL, random_state=seed)
        matching = match_topics(model.B, truth.B)
        A = truth.A[np.ix_(matching.other, matching.other)]
        p = A.sum(axis=1)
        held["prevalence"].append(float(((sure.prevalence_low <= p) & (sure.prevalence_high >= p)).mean()))
        held["correlation"].append(float(((sure.correlation_low <= A) & (sure.correlation_high >= A)).mean()))
        distance.append(float(matching.total_variation.mean()))
        similarity.append(float(sure.similarity.mean()))
    return {
        "documents": n_docs, "words": n_words, "K": K, "length": length, "corpora": n_corpora,
        "prevalence": float(np.mean(held["prevalence"])), "correlation": float(np.mean(held["correlation"])),
        "error": float(np.std(held["prevalence"], ddof=1) / np.sqrt(n_corpora)),
        "distance": float(np.mean(distance)), "similarity": float(np.mean(similarity)),
    }  # fmt: skip


def costs(data: Path, name: str, n_words: int, K: int, n_replicates: int) -> dict:
    """Seconds of a fit and of stability, of documents in memory and on disk."""
    corpus = real_corpus(data, name).prune(n_words=n_words)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        corpus.save(f"{folder}/corpus")
        stored = aw.open_corpus(f"{folder}/corpus")
        for way, documents in (("in memory", corpus), ("on disk", stored)):
            # Blocks as a fit of what is larger than memory reads them.
            given = documents if way == "in memory" else (lambda: stored.blocks())
            model = aw.AnchorTopicModel(K, random_state=0)
            fit = seconds_of(lambda model=model, given=given: model.fit(given))
            whole = seconds_of(lambda model=model, given=given: stability(model, given, n_replicates=n_replicates))
            rows.append({"way": way, "fit": fit, "stability": whole})
            print(rows[-1], flush=True)
    return {
        "corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "K": K, "n_replicates": n_replicates,
        "rows": rows,
    }  # fmt: skip


def refined(data: Path, problems: list[tuple], n_replicates: int) -> dict:
    """Seconds of fits and of stability, and how sure topics are, as they come from ENN and LAW and when refined."""
    rows = []
    for name, n_words, K in problems:
        corpus = real_corpus(data, name).prune(n_words=n_words)
        for way, parameters in WAYS.items():
            model = clone(parameters).set_params(n_components=K, random_state=0)
            # The fit has something to compile for the first corpus: the second of two counts.
            fit = min(seconds_of(lambda model=model, corpus=corpus: model.fit(corpus)) for _ in range(2))
            found: list = []
            whole = seconds_of(
                lambda model=model, corpus=corpus, found=found: found.append(
                    model.measure_stability(corpus, n_replicates=n_replicates)
                )
            )
            sure = found[0]
            rows.append({
                "corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "K": K, "way": way, "fit": fit,
                "stability": whole, "similarity": sure.similarity.tolist(), "words_kept": sure.words.tolist(),
                "anchor": sure.anchor.tolist(),
                "width": float(np.median((sure.prevalence_high - sure.prevalence_low) / 2 / model.topic_prevalence_)),
            })  # fmt: skip
            print(name, way, f"fit {fit:.2f} s, stability {whole:.1f} s", flush=True)
    return {**circumstances(), "commit": commit(), "n_replicates": n_replicates, "rows": rows}


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        text.append(described(record))
        for corpus in record["corpora"]:
            text.append(
                f"{corpus['corpus']}, {corpus['documents']:,} documents, {corpus['words']:,} words, K {corpus['K']}, "
                f"{corpus['n_replicates']} replicates; a fit takes {corpus['fit_seconds']:.2f} s.\n\n"
                + table(
                    [
                        "replicates", "similarity", "minus refits'", "correlation", "words kept", "minus refits'",
                        "anchor kept", "minus refits'", "correlation", "width of intervals", "distance to refit", "s each",
                    ],
                    [_line(row) for row in corpus["rows"]],
                )
            )  # fmt: skip
        text.append(
            f"Intervals at level {LEVEL}, 20 replicates of 32 shards, over corpora drawn from known topics:\n\n"
            + table(
                [
                    "documents", "tokens each", "words", "K", "corpora", "hold the prevalence", "hold entries of A",
                    "topics' distance from the truth",
                ],
                [_coverage_line(row) for row in record["coverage"]],
            )
        )  # fmt: skip
        cost = record["cost"]
        text.append(
            f"{cost['corpus']}, {cost['documents']:,} documents, {cost['words']:,} words, K {cost['K']}, "
            f"{cost['n_replicates']} replicates:\n\n"
            + table(
                ["documents", "fit s", "stability s", "a replicate s", "of a fit"],
                [
                    [
                        row["way"], f"{row['fit']:.1f}", f"{row['stability']:.1f}",
                        f"{row['stability'] / cost['n_replicates']:.1f}",
                        f"{row['stability'] / cost['n_replicates'] / row['fit']:.2f}",
                    ]
                    for row in cost["rows"]
                ],
            )
        )  # fmt: skip
        if "refined" in record:
            text.append(_refined_text(record["refined"]))
    return "\n".join(text)


def _refined_text(record: dict) -> str:
    n = record["n_replicates"]
    columns = [
        "fitted", "corpus", "words", "fit s", "stability s", "a replicate s", "of a fit", "similarity",
        "least and most sure", "words kept", "anchor kept", "half an interval, of the prevalence",
    ]  # fmt: skip
    rows = [
        [
            row["way"], row["corpus"], f"{row['words']:,}", f"{row['fit']:.1f}", f"{row['stability']:.1f}",
            f"{row['stability'] / n:.2f}", f"{row['stability'] / n / row['fit']:.2f}", f"{np.mean(row['similarity']):.3f}",
            f"{min(row['similarity']):.2f}, {max(row['similarity']):.2f}", f"{np.mean(row['words_kept']):.3f}",
            f"{np.mean(row['anchor']):.3f}", f"{row['width']:.2f}",
        ]
        for row in record["rows"]
    ]  # fmt: skip
    return (
        f"Spectral and refined models, K {record['rows'][0]['K']}, {n} replicates. {described(record)}\n"
        + table(columns, rows)
    )  # fmt: skip


def _line(row: dict) -> list[str]:
    def mean(measure: str) -> str:
        return f"{np.mean(row[measure]):.3f}"

    def less(measure: str) -> str:
        return f"{row[f'{measure}_difference']:+.3f}"

    return [
        row["replicates"], mean("similarity"), less("similarity"), f"{row['similarity_correlation']:.3f}", mean("words"),
        less("words"), mean("anchor"), less("anchor"), f"{row['anchor_correlation']:.3f}", f"{row['width']:.2f}",
        f"{row['to_refit']:.3f}" if "to_refit" in row else "", f"{row['seconds']:.2f}",
    ]  # fmt: skip


def _coverage_line(row: dict) -> list[str]:
    return [
        f"{row['documents']:,}", f"{row['length']}", f"{row['words']}", f"{row['K']}", f"{row['corpora']}",
        f"{row['prevalence']:.3f} ± {row['error']:.3f}", f"{row['correlation']:.3f}", f"{row['distance']:.3f}",
    ]  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="nips12 with 1,000 words, few replicates and corpora")
    parser.add_argument("--refined", action="store_true", help="the last table only, put beside what OUTPUT.json holds")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DegenerateWarning)
    problems = [("nips12", 1000, 10)] if options.quick else [("nips12", 2500, 20), ("kos", None, 20)]
    aw.AnchorTopicModel(5).fit(warm_up_counts())
    both = [("nips12", 1000, 10)] if options.quick else [("nips12", 2500, 20), ("kos", 5000, 20)]
    if options.refined:
        path = options.output and options.output.with_suffix(".json")
        (record,) = json.loads(path.read_text()) if path and path.is_file() else ({},)
        record["refined"] = refined(options.data, both, 3 if options.quick else 20)
        print(_refined_text(record["refined"]), end="")
        if len(record) > 1:
            write_tables(options.output, [record], markdown)
        return
    corpora = []
    for name, n_words, K in problems:
        corpus = real_corpus(options.data, name).prune(n_words=n_words)
        corpora.append(against_refits(name, corpus, K, 5 if options.quick else 20))
    drawn = DRAWN[:1] if options.quick else DRAWN
    record = {**circumstances(), "commit": commit(), "corpora": corpora}
    record["coverage"] = [coverage(*problem, 10 if options.quick else 60) for problem in drawn]
    large = ("kos", 2000, 10, 3) if options.quick else ("imdb100k", 20_000, 20, 20)
    record["cost"] = costs(options.data, *large)
    record["refined"] = refined(options.data, both, 3 if options.quick else 20)
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
