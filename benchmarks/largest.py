"""The ten largest topics of the preset for readers, which people read first, as a table to be read by eye.

    python benchmarks/largest.py [--quick] [--corpora 20ng,cve,nips12] [--topics 50] [--before earlier.json]
                                 [--output docs/tables/largest]

The best 5,000 words (20ng and cve without english stop words), each topic with its share and the first ten words that the
preset lists; below them the background, which is in no topic. Another version of anchorwords, say that of an earlier
commit, is measured by the same script when it comes first on PYTHONPATH; --before sets its tables beside the new ones.
"""

from __future__ import annotations

import json
from pathlib import Path

from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

STOP_WORDS = {"20ng": "english", "cve": "english"}


def measure(name: str, options) -> dict:
    """The topics of one corpus."""
    import anchorwords as aw

    corpus = real_corpus(options.data, name)
    if options.quick:
        corpus = aw.Corpus(corpus.counts[::8], corpus.vocabulary)
    corpus = corpus.prune(n_words=5000, stop_words=STOP_WORDS.get(name))
    model = aw.AnchorTopicModel.from_preset("readers", options.topics).fit(corpus)
    weights = getattr(model.model_, "keyword_weights", None)  # missing in earlier versions, which list by relevance
    rows = aw.topic_table(model, 10, ranking="relevance" if weights is None else "keywords")
    return {
        "corpus": name, "documents": corpus.n_docs,
        "topics": [{"topic": row["topic"], "prevalence": row["prevalence"], "words": row["words"]} for row in rows[:10]],
        "background": getattr(rows, "background", None), "flags": list(getattr(rows, "flags", ())),
    }  # fmt: skip


def markdown(records: list[dict]) -> str:
    parts = [f"K {records[-1]['K']}. {described(records[-1])}"]
    for place in range(len(records[-1]["corpora"])):
        for number, record in enumerate(records):
            found = record["corpora"][place]
            lines = [[", ".join(row["words"]), f"{100 * row['prevalence']:.1f}"] for row in found["topics"]]
            if found["background"]:
                common = found["background"]
                lines.append([f"*Background: {', '.join(common['words'])}*", f"*{100 * common['share']:.1f}*"])
            when = "" if len(records) == 1 else (", before", ", after")[number]
            parts.append(table([f"{found['corpus']}: {found['documents']:,} documents{when}", "share, %"], lines))
    return "\n".join(parts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default="20ng,cve,nips12")
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="every 8th document of kos, K 10")
    parser.add_argument("--before", type=Path, help="what another version wrote, OUTPUT.json")
    options = parser.parse_args()
    if options.quick:
        options.corpora, options.topics = "kos", 10
    found = [measure(name, options) for name in options.corpora.split(",")]
    record = {"K": options.topics, "quick": options.quick, "commit": commit(), **circumstances(), "corpora": found}
    earlier = [] if options.before is None else json.loads(options.before.read_text())[-1:]
    print(markdown([*earlier, record]))
    write_tables(options.output, [*earlier, record], markdown)


if __name__ == "__main__":
    main()
