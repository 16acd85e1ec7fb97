"""Ten times imdb100k: text of a million documents imported and fitted in bounded memory, in time that grows with documents.

    python benchmarks/large.py [--quick] [--documents 250000 500000 1000000] [--topics 50] [--folder DIR]
                               [--data ../shared/data] [--output docs/tables/large]

A document is made of halves of two random reviews: of the tokens of each, every one is taken with probability a half.
Import and fit run as a user runs them, ``anchorwords import`` and ``anchorwords fit``, each in a process of its own whose
peak memory is read at its end; words in at least two documents are kept, so that the vocabulary is that of the corpus.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, command_line, commit, described, real_corpus, table, write_tables

_BATCH = 5_000


def write_text(corpus, n_docs: int, path: Path) -> None:
    """Documents of halves of two random reviews, one a line."""
    rng = np.random.default_rng(0)
    counts = sp.csr_array(corpus.counts).astype(np.int64)
    words = np.array(corpus.vocabulary)
    with path.open("w", encoding="utf-8") as stream:
        for start in range(0, n_docs, _BATCH):
            size = min(_BATCH, n_docs - start)
            halves = []
            for _ in range(2):
                part = counts[rng.integers(0, counts.shape[0], size)]
                halves.append(sp.csr_array((rng.binomial(part.data, 0.5), part.indices, part.indptr), shape=part.shape))
            rows = sp.csr_array(halves[0] + halves[1])
            for m in range(size):
                entry = slice(rows.indptr[m], rows.indptr[m + 1])
                stream.write(" ".join(np.repeat(words[rows.indices[entry]], rows.data[entry])) + "\n")


def measure(corpus, n_docs: int, K: int, folder: Path) -> dict:
    text = folder / "documents.txt"
    write_text(corpus, n_docs, text)
    size = text.stat().st_size
    imported = command_line("import", str(text), "-o", str(folder / "corpus"), "--json", "--quiet", "--numbers")
    text.unlink()
    fitted = command_line(
        "fit", "--preset", "paper", str(folder / "corpus"), "-k", str(K), "-o", str(folder / "model"), "--json", "--quiet",
        "--min-df", "2", "--max-df", "1.0", "--stop-words", "none", "--n-words", "10000000",
    )  # fmt: skip
    shutil.rmtree(folder / "corpus")
    shutil.rmtree(folder / "model")
    return {"documents": n_docs, "megabytes": size / 1e6, "import": imported, "fit": fitted}


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        rows = [
            [
                f"{row['documents']:,}", f"{row['megabytes']:,.0f}", f"{row['import']['counts']:,}",
                f"{row['fit']['words']:,}", f"{row['import']['seconds']:.0f}", f"{row['import']['peak_mb']:,.0f}",
                f"{row['fit']['seconds']:.0f}", f"{row['fit']['peak_mb']:,.0f}",
                f"{(row['import']['seconds'] + row['fit']['seconds']) / row['documents'] * 1e6:.0f}",
            ]
            for row in record["rows"]
        ]  # fmt: skip
        text.append(
            described(record) + f"\nK {record['K']}.\n\n"
            + table(
                ["documents", "text MB", "counts", "words", "import s", "import peak MB", "fit s", "fit peak MB",
                 "s a million documents"], rows,
            )
        )  # fmt: skip
        if record["exponent"] is not None:
            text.append(f"Time grows as documents to the power of {record['exponent']:.2f}.\n")
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[250_000, 500_000, 1_000_000])
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--folder", type=Path, help="where to put the text and the corpus, about 1.5 GB")
    parser.add_argument("--quick", action="store_true", help="kos, at most 20,000 documents, K 10")
    options = parser.parse_args()
    corpus = real_corpus(options.data, "kos" if options.quick else "imdb100k")
    sizes = [5_000, 20_000] if options.quick else options.documents
    K = 10 if options.quick else options.topics
    rows = []
    for n_docs in sizes:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            rows.append(measure(corpus, n_docs, K, Path(folder)))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    total = [row["import"]["seconds"] + row["fit"]["seconds"] for row in rows]
    exponent = float(np.polyfit(np.log(sizes), np.log(total), 1)[0]) if len(rows) > 1 else None
    record = {**circumstances(), "commit": commit(), "K": K, "rows": rows, "exponent": exponent}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
