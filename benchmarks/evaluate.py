"""Every metric of a large model: time and memory beside those of its fit, in memory and from disk.

    python benchmarks/evaluate.py [--quick] [--topics 100] [--data ../shared/data] [--output docs/tables/evaluate]

All words of imdb100k. In memory: counts that were read before, ``fit`` and ``evaluate`` in processes of their own, their
seconds without reading. From disk: the commands ``anchorwords fit`` and ``anchorwords evaluate`` on a corpus folder, which
is too large to be loaded and read block by block; their seconds are those of the whole process.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from common import (
    arguments,
    circumstances,
    command_line,
    commit,
    described,
    program,
    real_corpus,
    table,
    write_tables,
)

FIT = """
import json, sys, time
import scipy.sparse as sp
import anchorwords as aw
from common import warm_up_counts
X, K = sp.load_npz(sys.argv[1]), int(sys.argv[3])
aw.AnchorTopicModel(5).fit(warm_up_counts())
begin = time.perf_counter()
model = aw.AnchorTopicModel(K).fit(X)
seconds = time.perf_counter() - begin
model.save(sys.argv[2])
print(json.dumps({"seconds": seconds, "words": model.n_features_in_, "documents": X.shape[0]}))
"""
EVALUATE = """
import json, sys, time
import scipy.sparse as sp
import anchorwords as aw
from common import warm_up_counts
X, small = sp.load_npz(sys.argv[1]), warm_up_counts()
aw.evaluate(aw.AnchorTopicModel(5).fit(small), small)
model = aw.load_model(sys.argv[2])
begin = time.perf_counter()
result = aw.evaluate(model, X)
seconds = time.perf_counter() - begin
print(json.dumps({"seconds": seconds, "estimates": sorted(result["standard_error"]),
    "relative_approximation": result["relative_approximation"],
    "standard_error": result["standard_error"].get("relative_approximation", 0.0)}))
"""


def measure(corpus, K: int, folder: Path) -> list[dict]:
    import scipy.sparse as sp

    counts = folder / "counts.npz"
    sp.save_npz(counts, sp.csr_matrix(corpus.counts))
    corpus.save(folder / "corpus")
    memory = {
        "way": "in memory",
        "fit": program(FIT, str(counts), str(folder / "model"), str(K)),
        "evaluate": program(EVALUATE, str(counts), str(folder / "model")),
    }
    fit = command_line(
        "fit", str(folder / "corpus"), "--preset", "paper", "-k", str(K), "-o", str(folder / "streamed"),
        "--json", "--quiet",
    )  # fmt: skip
    judged = command_line("evaluate", str(folder / "streamed"), str(folder / "corpus"), "--json", "--quiet")
    kept = {name: judged[name] for name in ("seconds", "peak_mb", "relative_approximation")}
    kept |= {"estimates": sorted(judged["standard_error"])}
    kept |= {"standard_error": judged["standard_error"].get("relative_approximation", 0.0)}
    disk = {"way": "from disk", "fit": {name: fit[name] for name in ("seconds", "peak_mb")}, "evaluate": kept}
    return [memory, disk]


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        rows = [
            [
                row["way"], f"{row['fit']['seconds']:.0f}", f"{row['evaluate']['seconds']:.0f}",
                f"{row['evaluate']['seconds'] / row['fit']['seconds']:.2f}", f"{row['fit']['peak_mb']:,.0f}",
                f"{row['evaluate']['peak_mb']:,.0f}",
                f"{row['evaluate']['relative_approximation']:.5f} ± {row['evaluate']['standard_error']:.1g}",
            ]
            for row in record["rows"]
        ]  # fmt: skip
        text.append(
            described(record) + f"\n{record['corpus']}, {record['words']:,} words, K {record['K']}.\n\n"
            + table(
                ["", "fit s", "evaluate s", "ratio", "fit peak MB", "evaluate peak MB", "RelativeApproximation"], rows
            )
        )  # fmt: skip
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--topics", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="kos, K 10")
    options = parser.parse_args()
    name, K = ("kos", 10) if options.quick else ("imdb100k", options.topics)
    corpus = real_corpus(options.data, name)
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(corpus, K, Path(folder))
    print(json.dumps(rows), file=sys.stderr)
    record = {**circumstances(), "commit": commit(), "corpus": name, "words": corpus.n_words, "K": K, "rows": rows}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
