"""Fits on a GPU: agreement with the processor, seconds of each stage, floors, and sizes up to a million words.

    python benchmarks/gpu.py [--quick] [--part corpora operations sizes] [--data ../shared/data] [--output docs/tables/gpu]

With --part only these parts are measured; the others are kept as OUTPUT.json has them.

All seconds are those of a second call, after Triton has compiled its kernels; those of the first are given once.

corpora: nips12, kos, spotify and imdb100k with all words. Each is fitted by Algorithm 6 and by the preset "readers" on the
GPU, twice to compare bits, and on the processor of the same machine; then come the topic proportions of all documents.
Algorithm 6 is fitted once more with anchors from one per cent of the documents (``min_anchor_docs=0.01``): without that rule
most anchors of imdb100k are words of one or two documents, which rounding may exchange. Topics are matched, each to one
other, so that the sum of their distances is least; the distance is total variation.

operations: single operations of a fit against the floor of this GPU, all measured in this run. Floors:

- product with C: each count is used twice, and each use reads its column and value (5 bytes) and one row of V or of X V
  (8 bytes per column), at the bandwidth of copying memory;
- sweep of ENN, which finds E and multiplies it with V: three matrix products of 2 |I| N K operations, the first in double
  and the others in single precision, at the rates of these products alone. (A sparse E is found by one product in single
  precision, and multiplied pair by pair.)
- product of the conjugate gradients: two more in single precision. (With a sparse E there are none.)

sizes: a Zipf corpus with topics, drawn on the GPU: word i has the probability (i + 30)^-1.05, its topics are drawn from a
Dirichlet distribution of parameter 0.05, those of a document from one of 0.1; 84 tokens each. One million documents with
growing vocabularies, and a million words with more documents; K 100. Exponents are fitted to the seconds, from counts in the
memory of the host to the finished model.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from statistics import median
from time import perf_counter, strftime

import numpy as np
import scipy.sparse as sp
from common import STAGES, _StageClock, arguments, commit, machine, real_corpus, table, usable_cores, write_tables

import anchorwords as aw
from anchorwords import devices
from anchorwords.exceptions import AnchorwordsError
from anchorwords.kernels import kernels_for
from anchorwords.metrics.matching import match_topics
from anchorwords.rectify.correction import checked_first
from anchorwords.sources.kinds import HeldCounts
from anchorwords.statistics.of_source import cooccurrence_of

PARTS = ("corpora", "operations", "sizes")
CORPORA = [("kos", 20), ("nips12", 50), ("spotify", 50), ("imdb100k", 100)]
SIZES = [(1_000_000, 100_000), (1_000_000, 300_000), (1_000_000, 1_000_000), (500_000, 1_000_000), (250_000, 1_000_000)]
QUICK_SIZES = [(20_000, 5_000), (20_000, 20_000), (10_000, 20_000)]
TOKENS, BLOCK = 84, 125_000
REPEAT = 5


def synchronised(function):
    """What a function returns, and its seconds until the GPU has finished."""
    torch.cuda.synchronize()
    begin = perf_counter()
    result = function()
    torch.cuda.synchronize()
    return result, perf_counter() - begin


def milliseconds(function) -> float:
    """Median of several calls, after one to warm up."""
    synchronised(function)
    return 1e3 * median(synchronised(function)[1] for _ in range(REPEAT))


# ---- Corpora.


def fitted(model, counts):
    """The model fitted, seconds of its stages and of the whole, and the memory of the GPU at its peak in GB."""
    torch.cuda.reset_peak_memory_stats()
    clock = _StageClock()
    with clock:
        _, seconds = synchronised(lambda: model.fit(counts))
    stages = {stage: clock.seconds[stage] for stage in (*STAGES, "refinement") if stage in clock.seconds}
    return model, {**stages, "whole": seconds, "peak_gb": torch.cuda.max_memory_allocated() / 1e9}


def agreement(one, other) -> dict:
    """Distances of matched topics, and anchors in common."""
    distances = match_topics(one.model_.B, other.model_.B).total_variation
    common = len(set(one.anchors_.tolist()) & set(other.anchors_.tolist()))
    return {"anchors": common, "mean": float(distances.mean()), "largest": float(distances.max())}


def same_bits(one, other) -> bool:
    names = ("B", "A", "anchors", "word_topics", "Y")
    return all(np.array_equal(getattr(one.model_, name), getattr(other.model_, name)) for name in names)


def measure_corpus(corpus, K: int) -> list[dict]:
    counts = corpus.counts
    rows = []
    makers = {
        "paper": lambda **options: aw.AnchorTopicModel(K, **options),
        "paper, anchors in 1 % of documents": lambda **options: aw.AnchorTopicModel(K, min_anchor_docs=0.01, **options),
        "readers": lambda **options: aw.AnchorTopicModel.from_preset("readers", K, **options),
    }
    for name, make in makers.items():
        make(device="cuda").fit(counts)
        model, seconds = fitted(make(device="cuda"), counts)
        again = make(device="cuda").fit(counts)
        host, host_seconds = fitted(make(), counts)
        row = {
            "fit": name, "K": K, "documents": counts.shape[0], "words": counts.shape[1], "gpu": seconds, "cpu": host_seconds,
            "same_bits": same_bits(model, again), "agreement": agreement(model, host),
        }  # fmt: skip
        if name != "paper":
            model.transform(counts)
            proportions, row["transform_gpu"] = synchronised(lambda model=model: model.transform(counts))
            expected, row["transform_cpu"] = synchronised(
                lambda model=model: aw.AnchorTopicModel.transform(model.set_params(device=None), counts)
            )
            row["transform_difference"] = float(np.abs(proportions - expected).max())
        rows.append(row)
    return rows


# ---- The synthetic corpus.


def zipf_corpus(n_docs: int, n_words: int, K: int = 100, seed: int = 0):
    """Counts of documents drawn on the GPU from a topic model with a Zipf vocabulary."""
    random = torch.Generator(device="cuda").manual_seed(seed)
    frequency = (torch.arange(n_words, device="cuda", dtype=torch.float32) + 30.0) ** -1.05
    topics = torch._standard_gamma(torch.full((n_words, K), 0.05, device="cuda"), generator=random) + 1e-30
    topics *= (frequency / topics.sum(dim=1))[:, None]
    ladder = torch.cumsum(topics.T.to(torch.float64), dim=1)
    # The cumulative probabilities of all topics, one above the other: one search finds the word of a token.
    ladder = (ladder / ladder[:, -1:] + torch.arange(K, device="cuda")[:, None]).reshape(-1)
    blocks = []
    for start in range(0, n_docs, BLOCK):
        size = min(BLOCK, n_docs - start)
        shares = torch._standard_gamma(torch.full((size, K), 0.1, device="cuda"), generator=random) + 1e-30
        shares = torch.cumsum(shares / shares.sum(dim=1, keepdim=True), dim=1)
        draws = torch.rand((size, TOKENS), generator=random, device="cuda") * shares[:, -1:]
        topic = torch.searchsorted(shares, draws).clamp_(max=K - 1)
        draws = torch.rand((size, TOKENS), generator=random, device="cuda", dtype=torch.float64)
        word = (torch.searchsorted(ladder, (topic + draws).reshape(-1)) - (topic * n_words).reshape(-1)).clamp_(
            0, n_words - 1
        )
        document = torch.arange(size, device="cuda").repeat_interleave(TOKENS)
        pair, number = torch.unique_consecutive(torch.sort(document * n_words + word)[0], return_counts=True)
        lengths = torch.bincount(pair // n_words, minlength=size)
        blocks.append([part.cpu().numpy() for part in (lengths, (pair % n_words).int(), number.double())])
    lengths, words, numbers = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    torch.cuda.empty_cache()
    return sp.csr_array((numbers, words, np.concatenate([[0], np.cumsum(lengths)])), shape=(n_docs, n_words))


def measure_size(n_docs: int, n_words: int, K: int) -> dict:
    counts = zipf_corpus(n_docs, n_words, K)
    aw.AnchorTopicModel(K, device="cuda").fit(counts)
    model, seconds = fitted(aw.AnchorTopicModel(K, device="cuda"), counts)
    again = aw.AnchorTopicModel(K, device="cuda").fit(counts)
    return {"documents": n_docs, "words": n_words, "counts": int(counts.nnz), "K": K, **seconds,
            "same_bits": same_bits(model, again)}  # fmt: skip


def exponent(rows: list[dict], over: str) -> float | None:
    if len(rows) < 2:
        return None
    return float(np.polyfit(np.log([row[over] for row in rows]), np.log([row["whole"] for row in rows]), 1)[0])


# ---- Operations.


def rates(N: int, n: int, K: int) -> dict:
    """Seconds of the three matrix products of a dense sweep by themselves, and bytes per second of copying memory."""
    Y, V = torch.randn(N, K, device="cuda"), torch.randn(N, K, device="cuda")
    width = min(N, (1 << 26) // n)
    tile, double = torch.empty((n, width), device="cuda"), Y[: max(n, width)].to(torch.float64)
    scale = N / width
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return {
        "double": scale * milliseconds(lambda: double[:n] @ double[:width].T),
        "entries": scale * milliseconds(lambda: torch.mm(Y[:n], Y[:width].T, out=tile)),
        "rows": scale * milliseconds(lambda: tile @ V[:width]),
        "mirror": scale * milliseconds(lambda: tile.T @ V[:n]),
        "bandwidth": 2.0 * source.numel() / (1e-3 * milliseconds(lambda: target.copy_(source))),
    }


def measure_operations(counts, K: int) -> list[dict]:
    """Milliseconds of single operations and of their floors."""
    prototype = devices.prototype("cuda")
    C = cooccurrence_of(HeldCounts(sp.csr_array(counts), like=prototype))
    N, n = C.shape[0], min(C.shape[0], 10 * K + 1000)
    rate = rates(N, n, K)
    rows = []
    for columns in (8, 16, 32):
        V = torch.randn(N, columns, device="cuda", dtype=torch.float64)
        floor = 1e3 * 2.0 * C.n_counts * (5.0 + 8.0 * columns) / rate["bandwidth"]
        rows.append(
            {"operation": f"product with C, {columns} columns", "ms": milliseconds(lambda V=V: C @ V), "floor": floor}
        )
    # Y of the first step, whose E is dense, and of the end, whose E is sparse.
    from anchorwords.linalg.factored import compression
    from anchorwords.rectify.start import starting_eigenpairs

    pairs = starting_eigenpairs(C, K, 0, like=prototype)
    first = compression(pairs.vectors, devices.prototype("cuda").new_tensor(pairs.values))
    last = aw.rectify_enn((pairs.vectors, devices.prototype("cuda").new_tensor(pairs.values)), K).Y
    dense_floor = rate["double"] + rate["rows"] + rate["mirror"]
    for name, Y in (("first step", first), ("end", last)):
        chosen = checked_first(Y, n)
        Y = Y[chosen.order]
        V = torch.linalg.qr(Y)[0].to(torch.float32)
        kernels = kernels_for(Y)
        E = kernels.negative_part(Y, n)
        dense = not hasattr(E, "n_pairs")
        form = "by tiles" if dense else f"{E.n_pairs:,} pairs"

        def sweep(Y=Y, V=V, kernels=kernels):
            return kernels.negative_part(Y, n).times(V)

        rows.append({"operation": f"sweep, {name}: find E and E V, {form}", "ms": milliseconds(sweep),
                     "floor": dense_floor})  # fmt: skip
        rows.append({"operation": f"conjugate gradient product, {name}",
                     "ms": milliseconds(lambda E=E, V=V: E.curvature(V, V)),
                     "floor": dense_floor + 2.0 * rate["entries"]})  # fmt: skip
    return rows


# ---- Tables.


def seconds(value: float) -> str:
    return f"{value:.2f}" if value < 10.0 else f"{value:.1f}"


def corpora_table(rows: list[dict]) -> str:
    lines = [
        [
            f"{row['corpus']}, {row['fit']}", f"{row['words']:,}", str(row["K"]), seconds(row["gpu"]["whole"]),
            seconds(row["cpu"]["whole"]), f"{row['agreement']['anchors']} of {row['K']}",
            f"{row['agreement']['mean']:.1e}", f"{row['agreement']['largest']:.1e}", "yes" if row["same_bits"] else "no",
        ]
        for row in rows
    ]  # fmt: skip
    text = table(
        ["corpus and fit", "words", "K", "GPU s", "CPU s", "same anchors", "mean distance", "largest distance",
         "same bits twice"], lines,
    )  # fmt: skip
    transformed = [row for row in rows if "transform_gpu" in row]
    text += "\n" + table(
        ["topic proportions of all documents", "documents", "GPU s", "CPU s", "largest difference"],
        [
            [f"{row['corpus']}, {row['fit']}", f"{row['documents']:,}", seconds(row["transform_gpu"]),
             seconds(row["transform_cpu"]), f"{row['transform_difference']:.1e}"]
            for row in transformed
        ],
    )  # fmt: skip
    return text


def sizes_table(rows: list[dict]) -> str:
    columns = [*STAGES, "whole"]
    text = table(
        ["documents x words", "counts", *columns, "peak GB"],
        [
            [f"{row['documents']:,} x {row['words']:,}", f"{row['counts']:,}", *(seconds(row[name]) for name in columns),
             f"{row['peak_gb']:.1f}"]
            for row in rows
        ],
    )  # fmt: skip
    most_docs, most_words = max(row["documents"] for row in rows), max(row["words"] for row in rows)
    by_words = exponent([row for row in rows if row["documents"] == most_docs], "words")
    by_counts = exponent([row for row in rows if row["words"] == most_words], "counts")
    return (
        text + f"\nTime grows as words to the power of {by_words:.2f}, and as counts to the power of {by_counts:.2f}.\n"
    )


def operations_table(rows: list[dict]) -> str:
    return table(
        ["operation", "ms", "floor ms", "ratio"],
        [
            [row["operation"], f"{row['ms']:.2f}", f"{row['floor']:.2f}", f"{row['ms'] / row['floor']:.2f}"] for row in rows
        ],
    )  # fmt: skip


def markdown(records: list[dict]) -> str:
    (record,) = records
    host = record["machine"]
    versions = f"torch {record['torch']}, Triton {record['triton']}"
    text = [
        f"{record['gpu']}; for the processor {host['cores']} cores of {host['cpu']}; {versions}; {record['date']}.\n"
    ]
    if record["first_seconds"] is not None:
        text.append(f"The first fit of all, while Triton compiles, takes {record['first_seconds']:.0f} s.\n")
    if record["sizes"]:
        text.append(sizes_table(record["sizes"]))
    if record["corpora"]:
        text.append(corpora_table(record["corpora"]))
    if record["operations"]:
        text.append(operations_table(record["operations"]))
    return "\n".join(text)


def main() -> None:
    global torch
    parser = arguments(__doc__)
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--quick", action="store_true", help="kos, and at most 20,000 words")
    options = parser.parse_args()
    try:
        devices.prototype("cuda")
    except AnchorwordsError as error:
        sys.exit(str(error))
    import torch
    import triton

    aw.warmup()  # the kernels for the processor, compiled
    warnings.simplefilter("ignore")
    logging.getLogger("anchorwords").setLevel(logging.WARNING)
    record = {
        "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "triton": triton.__version__,
        "date": strftime("%Y-%m-%d"), "machine": machine(len(usable_cores())), "commit": commit(),
        "first_seconds": None, "corpora": [], "operations": [], "sizes": [],
    }  # fmt: skip
    written = options.output and options.output.with_suffix(".json")
    if written and written.is_file():  # the parts that are not measured now stay as they are
        before = json.loads(written.read_text())[0]
        record |= {name: before[name] for name in ("first_seconds", *PARTS) if name not in options.part}
    if "corpora" in options.part:
        record["first_seconds"] = None
        for name, K in CORPORA[:1] if options.quick else CORPORA:
            corpus = real_corpus(options.data, name)
            if record["first_seconds"] is None:
                record["first_seconds"] = fitted(aw.AnchorTopicModel(K, device="cuda"), corpus.counts)[1]["whole"]
            for row in measure_corpus(corpus, K):
                record["corpora"].append({"corpus": name, **row})
                print(json.dumps(record["corpora"][-1]), file=sys.stderr, flush=True)
    K = 20 if options.quick else 100
    sizes = QUICK_SIZES if options.quick else SIZES
    if "sizes" in options.part:
        for n_docs, n_words in sizes:
            record["sizes"].append(measure_size(n_docs, n_words, K))
            print(json.dumps(record["sizes"][-1]), file=sys.stderr, flush=True)
    if "operations" in options.part:
        record["operations"] = measure_operations(zipf_corpus(*max(sizes), K), K)
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
