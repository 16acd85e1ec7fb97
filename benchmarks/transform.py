"""Compositions of all documents of imdb100k: ``transform`` beside scikit-learn's LDA with the same topics.

    python benchmarks/transform.py [--quick] [--rounds 3] [--topics 50] [--data ../shared/data]
                                   [--output docs/tables/transform]

The model is fitted once. Each transform runs in a process of its own, whose peak memory is read at its end, after a
warm-up on a few documents; the clock sees the transform alone. Ours uses all cores and runs before, between and
after scikit-learn's, which runs with its defaults, on one core; processor time is told beside, since a busy machine
takes more from two threads than from one. Streamed: the documents lie on disk, are opened with ``open_corpus`` and go
through ``transform_blocks``, half of them and all of them, to see what the memory depends on; it includes the pages of the
files that are mapped, which the system takes back when it needs them.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from common import arguments, circumstances, commit, described, program, real_corpus, table, usable_cores, write_tables

_COLUMNS = ["", "documents", "seconds", "least to most", "us a document", "of processor", "times LDA", "peak MB"]

# Arguments: the folder of the model, and that of the counts or the corpus. The rows sum to one: a cheap check of the answer.
_TIMED = """
import json, sys, time
{load}
{warm_up}
begin, processor = time.perf_counter(), time.process_time()
{work}
seconds, processor = time.perf_counter() - begin, time.process_time() - processor
print(json.dumps({{"seconds": seconds, "processor": processor, "documents": documents, "sum": total}}))
"""

_AT_ONCE = """
weights = model.transform(counts)
documents, total = len(weights), float(weights.sum())"""

_OURS = _TIMED.format(
    load="""
import anchorwords as aw
import scipy.sparse as sp
model, counts = aw.load_model(sys.argv[1]), sp.load_npz(sys.argv[2])""",
    warm_up="model.transform(counts[:200])",
    work=_AT_ONCE,
)

_STREAMED = _TIMED.format(
    load="""
import anchorwords as aw
model, corpus = aw.load_model(sys.argv[1]), aw.open_corpus(sys.argv[2])""",
    warm_up="next(iter(model.transform_blocks(corpus)))",
    work="""
documents = total = 0
for weights in model.transform_blocks(corpus):
    documents, total = documents + len(weights), total + float(weights.sum())""",
)

_LDA = _TIMED.format(
    load="""
import anchorwords as aw
import scipy.sparse as sp
from composition_error import lda_given_topics
model, counts = lda_given_topics(aw.load_model(sys.argv[1]).model_.B), sp.load_npz(sys.argv[2])""",
    warm_up="model.transform(counts[:200])",
    work=_AT_ONCE,
)


def measure(corpus, K: int, rounds: int, folder: Path) -> dict:
    """Seconds and peak memory of each way."""
    import scipy.sparse as sp

    import anchorwords as aw

    model, counts, half, whole = (str(folder / name) for name in ("model", "counts.npz", "half", "whole"))
    aw.AnchorTopicModel(K).fit(corpus).save(model)
    held = sp.csr_matrix(corpus.counts)
    sp.save_npz(counts, held, compressed=False)
    corpus.save(whole)
    n = held.shape[0] // 2
    aw.Corpus(held[:n], corpus.vocabulary).save(half)
    runs: dict[str, list[dict]] = {}

    def run(name: str, body: str, data: str) -> None:
        runs.setdefault(name, []).append(program(body, model, data))
        print(name, json.dumps(runs[name][-1]), file=sys.stderr, flush=True)

    for turn in range(rounds):
        if turn == rounds // 2:
            run("LDA", _LDA, counts)
        run("ours", _OURS, counts)
        run("streamed", _STREAMED, whole)
    run("streamed, half of the documents", _STREAMED, half)
    return {
        "documents": held.shape[0], "words": held.shape[1], "types": held.nnz / held.shape[0], "K": K,
        "counts_mb": (held.data.nbytes + held.indices.nbytes + held.indptr.nbytes) / 1e6, "runs": runs,
    }  # fmt: skip


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        runs = record["runs"]
        reference = median(run["seconds"] for run in runs["LDA"])
        names = {
            "ours": "`transform`",
            "LDA": "scikit-learn LDA",
            "streamed": "`transform_blocks`, from disk",
            "streamed, half of the documents": "the same, half of the documents",
        }
        rows = []
        for name, words in names.items():
            times = [run["seconds"] for run in runs[name]]
            processor = median(run["processor"] for run in runs[name])
            documents = runs[name][0]["documents"]
            times_as_fast = reference / record["documents"] * documents / median(times)
            rows.append(
                [
                    words, f"{documents:,}", f"{median(times):.1f}", f"{min(times):.1f} to {max(times):.1f}",
                    f"{median(times) / documents * 1e6:.0f}", f"{processor / documents * 1e6:.0f}", f"{times_as_fast:.1f}",
                    f"{max(run['peak_mb'] for run in runs[name]):,.0f}",
                ]
            )  # fmt: skip
        text += [
            described(record),
            f"imdb100k, all {record['words']:,} words, {record['types']:.0f} types a document, K {record['K']}; the counts "
            f"are {record['counts_mb']:.0f} MB in memory. scikit-learn on one core, its default, ours on "
            f"{record['machine']['cores']}. Median of {len(runs['ours'])} runs, scikit-learn's of {len(runs['LDA'])}.\n",
            table(_COLUMNS, rows),
        ]
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="the first 5,000 documents, K 10")
    options = parser.parse_args()
    corpus, K = real_corpus(options.data, "imdb100k"), options.topics
    if options.quick:
        import anchorwords as aw

        corpus, K = aw.Corpus(corpus.counts[:5_000], corpus.vocabulary), 10
    with tempfile.TemporaryDirectory() as folder:
        found = measure(corpus, K, options.rounds, Path(folder))
    record = {**circumstances(), "commit": commit(), "cores": len(usable_cores()), **found}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
