"""What the strength of guidance does: ranks of seed words in their topics, and what it costs in likelihood.

    python benchmarks/guidance.py [--quick] [--data ../shared/data] [--output docs/tables/guidance]

The preset for readers with 20 topics, five of which have seeds, on the best 5,000 words of kos and nips12. A rank is the
place of a seed among the words that the model lists for its topic.
"""

from __future__ import annotations

import warnings

from common import arguments, circumstances, described, real_corpus, table, write_tables

SEEDS = {
    "kos": [["iraq", "war"], ["poll", "voters"], ["gay"], ["climate"], ["tax", "economy"]],
    "nips12": [["spike", "firing"], ["speech", "word"], ["policy", "reinforcement"], ["kernel", "margin"], ["chip", "vlsi"]],
}  # fmt: skip
STRENGTHS = (0.0, 0.01, 0.1, 1.0)
K = 20


def measure(name: str, options) -> list[dict]:
    """A row per strength."""
    import numpy as np

    import anchorwords as aw
    from anchorwords.exceptions import GuidanceWarning

    corpus = real_corpus(options.data, name)
    if options.quick:
        corpus = aw.Corpus(corpus.counts[::4], corpus.vocabulary)
    words = [word for group in SEEDS[name] for word in group]
    corpus = corpus.prune(n_words=1000 if options.quick else 5000, keep_words=words)
    column = {word: place for place, word in enumerate(corpus.vocabulary)}
    rows = []
    for strength in (0.0, 0.01) if options.quick else STRENGTHS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GuidanceWarning)
            model = aw.AnchorTopicModel.from_preset("readers", K, anchors=SEEDS[name], strength=strength).fit(corpus)
        listed = [list(np.argsort(-weights, kind="stable")) for weights in model.model_.keyword_weights.T]
        ranks = [[listed[k].index(column[word]) + 1 for word in group] for k, group in enumerate(SEEDS[name])]
        rows.append({
            "corpus": name, "strength": strength, "ranks": ranks, "log_likelihood": model.model_.log_likelihood[-1],
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def markdown(records: list[dict]) -> str:
    rows = records[0]["rows"]
    corpora = list(dict.fromkeys(row["corpus"] for row in rows))
    columns = ["strength"]
    for name in corpora:
        columns += [f"{name}: {'; '.join(' '.join(group) for group in SEEDS[name])}", "log-likelihood per token"]
    lines = []
    for strength in dict.fromkeys(row["strength"] for row in rows):
        cells = [f"{strength:g}"]
        for name in corpora:
            row = next(row for row in rows if (row["corpus"], row["strength"]) == (name, strength))
            cells += ["; ".join(" ".join(f"{rank:,}" for rank in group) for group in row["ranks"])]
            cells += [f"{row['log_likelihood']:.4f}"]
        lines.append(cells)
    quick = "Few documents (--quick): not for comparison. " if records[0]["quick"] else ""
    return f"{quick}{described(records[0])}\n{table(columns, lines)}"


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="every 4th document of kos, two strengths")
    options = parser.parse_args()
    corpora = ["kos"] if options.quick else list(SEEDS)
    rows = [row for name in corpora for row in measure(name, options)]
    record = {"quick": options.quick, **circumstances(), "rows": rows}
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
