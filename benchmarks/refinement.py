"""What each part of the refinement does for readers, on text and on other data.

    python benchmarks/refinement.py [--quick] [--corpora nips12,kos,...] [--topics 50]
                                    [--data ../shared/data] [--output docs/tables/refinement]

The best 5,000 words (20ng without english stop words). Algorithm 6, then with anchors in 1 % of the documents or more,
with plain EM, with the decorrelation, and with the split: the last is the preset. NPMI of the top 10 words on boolean
documents, diversity of the top 25 (words by probability, and by relevance 0.6) and dissimilarity of the top 20 (by
probability); perplexity by completion of documents that were held out (every tenth).
"""

from __future__ import annotations

import time
import warnings

from common import arguments, circumstances, commit, described, real_corpus, table, write_tables
from readers import Judge

CORPORA = "nips12,kos,20ng,ml1m,spotify,imdb100k,cve"


def variants() -> dict[str, dict]:
    """Parameters by name."""
    from anchorwords import Refinement
    from anchorwords.presets import preset

    return {
        "Algorithm 6": {},
        "anchors in 1 %": {"min_anchor_docs": 0.01},
        "plain EM": {"refinement": Refinement()},
        "anchors in 1 %, plain EM": {"min_anchor_docs": 0.01, "refinement": Refinement()},
        "and decorrelation": {"min_anchor_docs": 0.01, "refinement": Refinement(12, 0, 3.0)},
        "and split": {key: value for key, value in preset("readers").items() if key != "rectifier"},
        "and ENN to 1 %: preset": preset("readers"),
    }


def measure(name: str, options) -> list[dict]:
    """A row a variant."""
    import numpy as np

    import anchorwords as aw

    corpus = real_corpus(options.data, name).prune(n_words=5000, stop_words="english" if name == "20ng" else None)
    counts = corpus.counts[::8] if options.quick else corpus.counts
    judge = Judge(counts)
    held_out = np.arange(counts.shape[0]) % 10 == 9
    rows = []
    for variant, parameters in variants().items():
        row = {"corpus": name, "documents": counts.shape[0], "variant": variant}
        try:
            begin = time.perf_counter()
            model = aw.AnchorTopicModel(options.topics, **parameters).fit(counts)
            row["seconds"] = time.perf_counter() - begin
            row |= judge(model.components_)
            row["dissimilarity"] = float(aw.metrics.dissimilarity(model.model_, 20))
            part = aw.AnchorTopicModel(options.topics, **parameters).fit(counts[~held_out])
            row["perplexity"] = part.perplexity(counts[held_out])
        except aw.InputError as error:  # too few words in so many documents
            row["error"] = str(error)
        rows.append(row)
        print(row, flush=True)
    return rows


def markdown(records: list[dict]) -> str:
    record = records[0]
    keys = ("npmi_probability", "diversity_probability", "npmi_relevance", "diversity_relevance")
    parts = [f"K {record['K']}, one run each. {described(record)}"]
    for name in dict.fromkeys(row["corpus"] for row in record["rows"]):
        rows = [row for row in record["rows"] if row["corpus"] == name]
        columns = [
            f"{name}: {rows[0]['documents']:,} documents", "seconds", "NPMI, by probability", "diversity",
            "NPMI, by relevance", "diversity ", "dissimilarity", "perplexity",
        ]  # fmt: skip
        lines = [
            [row["variant"], "too few words", *["-"] * 6]
            if "error" in row
            else [
                row["variant"], f"{row['seconds']:.1f}", *(f"{row[key]:.3f}" for key in keys), f"{row['dissimilarity']:.1f}",
                f"{row['perplexity']:,.0f}",
            ]
            for row in rows
        ]  # fmt: skip
        parts.append(table(columns, lines))
    return "\n".join(parts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default=CORPORA)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="every 8th document of kos, K 10")
    options = parser.parse_args()
    if options.quick:
        options.corpora, options.topics = "kos", 10
    host = circumstances()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = [row for name in options.corpora.split(",") for row in measure(name, options)]
    record = {"K": options.topics, "quick": options.quick, "commit": commit(), **host, "rows": rows}
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
