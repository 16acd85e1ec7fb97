"""Compositions of 100,000 documents: time beside scikit-learn's LDA with the same topics, and memory from disk.

    python benchmarks/transform.py [--quick] [--topics 50] [--output docs/tables/transform]

The model is fitted once on imdb100k, all words. scikit-learn's transform is given its topics, and the default prior and
number of threads; anchorwords uses all cores, and one. Then the same from a corpus on disk, in a process of its own, to
an .npz file, with its peak memory beside that of the command on the first thousand documents.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from common import arguments, circumstances, command_line, described, real_corpus, seconds_of, table, write_tables


def main() -> None:
    import numpy as np
    import scipy.sparse as sp
    from composition_error import variational

    import anchorwords as aw

    parser = arguments(__doc__)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="kos, K 10")
    options = parser.parse_args()
    corpus = real_corpus(options.data, "kos" if options.quick else "imdb100k")
    K = 10 if options.quick else options.topics
    model = aw.AnchorTopicModel(K).fit(corpus)
    counts = sp.csr_matrix(corpus.counts, dtype=float)
    B = np.array(model.model_.B)
    model.transform(counts[:50])
    rows = [
        {"way": "anchorwords, all cores", "seconds": min(seconds_of(lambda: model.transform(counts)) for _ in range(3))}
    ]
    model.n_jobs = 1
    rows.append({"way": "anchorwords, one thread", "seconds": seconds_of(lambda: model.transform(counts))})
    rows.append({"way": "scikit-learn LDA", "seconds": seconds_of(lambda: variational(B, None, counts))})
    model.n_jobs = None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.save(folder / "model")
        corpus.save(folder / "corpus")
        aw.Corpus(corpus.counts[:1000], corpus.vocabulary).save(folder / "few")
        for source, way in (("corpus", "from disk to .npz, whole command"), ("few", "the same of 1,000 documents")):
            files = (str(folder / "model"), str(folder / source), "-o", str(folder / f"{source}.npz"))
            done = command_line("transform", *files, "--json", "--quiet")
            rows.append({"way": way, "seconds": done["seconds"], "peak_mb": done["peak_mb"]})
    record = {**circumstances(), "documents": corpus.n_docs, "words": corpus.n_words, "K": K, "rows": rows}
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


def markdown(records: list[dict]) -> str:
    record = records[0]
    ours = record["rows"][0]["seconds"]
    lines = [
        [
            row["way"], f"{row['seconds']:.2f}", f"{row['seconds'] / ours:.1f}" if "peak_mb" not in row else "-",
            f"{row['peak_mb']:,.0f}" if "peak_mb" in row else "-",
        ]
        for row in record["rows"]
    ]  # fmt: skip
    about = f"{record['documents']:,} documents, {record['words']:,} words, K {record['K']}. {described(record)}"
    return f"{about}\n{table(['way', 'seconds', 'times ours', 'peak MB'], lines)}"


if __name__ == "__main__":
    main()
