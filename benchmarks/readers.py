"""What readers see: words of topics ranked by the same rule for every system, on three corpora.

    python benchmarks/readers.py [--quick] [--python PATH] [--topics 50] [--seeds 3] [--peer-seeds 1]
                                 [--jobs 2] [--corpora nips12,kos,20ng] [--systems anchorwords-readers,tomotopy-lda]
                                 [--output docs/tables/readers]

Each system runs in a fresh process, as in peers.py, on the best 5,000 words of the corpus (20ng without english stop
words), once for each seed. Words are ranked by probability, and by relevance with weight 0.6, p being the words'
shares of the corpus for all systems alike. NPMI of the top 10 words on boolean documents, diversity of the top 25.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import mean, median

from common import arguments, circumstances, described, real_corpus, usable_cores, write_tables
from common import table as markdown_table
from peers import SYSTEMS, run_apart, settings_of

DEFAULT = ("anchorwords-readers", "anchorwords", "tomotopy-lda", "sklearn-lda-online", "sklearn-nmf", "anchortopics")
WEIGHT = 0.6


class Judge:
    """NPMI and diversity of topics K x N, by both rules."""

    def __init__(self, counts) -> None:
        import numpy as np

        from anchorwords.metrics import Reference

        self.reference = Reference(counts)
        tokens = np.asarray(counts.sum(axis=0)).ravel()
        self.p = tokens / tokens.sum()

    def __call__(self, topics) -> dict:
        """By name, of topics in any scale."""
        import numpy as np

        from anchorwords import metrics

        phi = topics / topics.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            relevance = np.log(phi) - (1.0 - WEIGHT) * np.log(np.maximum(self.p, np.finfo(float).tiny))
        found = {}
        for rule, scores in (("probability", phi), ("relevance", relevance)):
            top = [np.argsort(-row, kind="stable")[:25] for row in scores]
            found[f"npmi_{rule}"] = float(metrics.npmi_coherence(None, self.reference, 10, top=top))
            found[f"diversity_{rule}"] = float(metrics.topic_diversity(None, 25, top=top))
        return found


def measured(name: str, options) -> list[dict]:
    """A row a system for one corpus."""
    import numpy as np
    import scipy.sparse as sp

    from anchorwords.metrics.matching import match_topics

    corpus = real_corpus(options.data, name)
    if options.quick:
        import anchorwords as aw

        corpus = aw.Corpus(corpus.counts[::8], corpus.vocabulary)
    corpus = corpus.prune(n_words=1000 if options.quick else 5000, stop_words="english" if name == "20ng" else None)
    judge = Judge(corpus.counts)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        counts_file = Path(folder) / "counts.npz"
        sp.save_npz(counts_file, sp.csr_matrix(corpus.counts), compressed=False)
        for system in options.systems:
            runs, topics = [], []
            for seed in range(options.seeds if system == "anchorwords-readers" else options.peer_seeds):
                job = {
                    "system": system, "counts": str(counts_file), "K": options.topics, "cores": options.jobs,
                    "seed": seed, "settings": settings_of(SYSTEMS[system], options),
                }  # fmt: skip
                python = sys.executable if system.startswith("anchorwords") else options.python
                run, arrays = run_apart(python, job, options.limit)
                if run["status"] != "ok":
                    break
                runs.append({"seconds": run["seconds"], **judge(arrays["topics"])})
                topics.append(arrays["topics"] / arrays["topics"].sum(axis=1, keepdims=True))
                print(name, system, seed, runs[-1], flush=True)
            row = {
                "corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "K": options.topics,
                "system": system, "title": SYSTEMS[system].title.format(**settings_of(SYSTEMS[system], options)),
                "status": "ok" if runs else run["status"], "runs": runs,
            }  # fmt: skip
            if runs:
                row["seconds"] = median(run["seconds"] for run in runs)
                row |= {key: mean(run[key] for run in runs) for key in runs[0] if key != "seconds"}
            if len(topics) > 1:
                apart = [match_topics(topics[0].T, other.T).total_variation for other in topics[1:]]
                row["seeds_apart"] = float(np.mean(apart))
            rows.append(row)
    return rows


def markdown(records: list[dict]) -> str:
    record = records[0]
    quick = " Few iterations and documents (--quick): not for comparison." if record["quick"] else ""
    seeds = f"{record['seeds']} seeds of the preset, {record['peer_seeds']} of the others"
    parts = [f"K {record['K']}, {seeds}.{quick} {described(record)}"]
    for name in dict.fromkeys(row["corpus"] for row in record["rows"]):
        rows = [row for row in record["rows"] if row["corpus"] == name]
        ours = next((row.get("seconds") for row in rows if row["system"] == "anchorwords-readers"), None)
        columns = [
            f"{name}: {rows[0]['documents']:,} documents, {rows[0]['words']:,} words", "seconds", "times ours",
            "NPMI, by probability", "diversity", "NPMI, by relevance", "diversity ", "seeds apart",
        ]  # fmt: skip
        parts.append(markdown_table(columns, [_line(row, ours) for row in rows]))
    return "\n".join(parts)


def _line(row: dict, ours: float | None) -> list[str]:
    if row["status"] != "ok":
        return [row["title"], row["status"], *["-"] * 6]
    return [
        row["title"], f"{row['seconds']:.1f}", f"{row['seconds'] / ours:.1f}" if ours else "-",
        *(f"{row[key]:.3f}" for key in
          ("npmi_probability", "diversity_probability", "npmi_relevance", "diversity_relevance")),
        f"{row['seeds_apart']:.2g}" if "seeds_apart" in row else "-",
    ]  # fmt: skip


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default="nips12,kos,20ng")
    parser.add_argument("--systems", default=",".join(DEFAULT))
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the other packages")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--peer-seeds", type=int, default=1, help="seeds of the other systems")
    parser.add_argument("--jobs", type=int, default=len(usable_cores()))
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds a process may take in all")
    parser.add_argument("--quick", action="store_true", help="every 8th document of kos, K 10, few iterations")
    options = parser.parse_args()
    options.systems = options.systems.split(",")
    if options.quick:
        options.corpora, options.topics, options.seeds = "kos", 10, 1
    host = circumstances()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, usable_cores()[: options.jobs])
    rows = [row for name in options.corpora.split(",") for row in measured(name, options)]
    record = {
        "K": options.topics,
        "seeds": options.seeds,
        "peer_seeds": options.peer_seeds,
        "quick": options.quick,
        **host,
        "rows": rows,
    }
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
