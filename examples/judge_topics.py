"""How good topics are, which one hangs together best, and what it is about.

python examples/judge_topics.py
"""

from __future__ import annotations

import anchorwords as aw
from anchorwords.datasets import load_docstrings
from anchorwords.metrics import METRICS


def main() -> None:
    corpus = load_docstrings().prune(min_df=15)
    model = aw.AnchorTopicModel(n_components=20).fit(corpus)

    result = aw.evaluate(model, corpus)
    for metric in METRICS:
        print(f"{metric.title:<34} {result[metric.name]:>10.4g}   {metric.direction}")

    best = int(result["per_topic"]["mst_incoherence"].argmin())
    words = next(row for row in aw.topic_table(model, n=6) if row["topic"] == best)
    print(f"\nmost coherent: topic {best}: {' '.join(words['prominent'])}")
    print(f"anchor {words['anchor']!r}, often together with: {' '.join(words['characteristic'])}")
    for document in aw.top_documents(model, corpus, n=3, min_tokens=20)[best]:
        print(f"  {document['share']:.0%} of {document['document']}")


if __name__ == "__main__":
    main()
