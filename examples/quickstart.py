"""Topics of the docstrings on this machine, and what a new sentence is about.

python examples/quickstart.py
"""

from __future__ import annotations

from sklearn.feature_extraction.text import CountVectorizer

import anchorwords as aw
from anchorwords.datasets import load_docstrings


def main() -> None:
    corpus = load_docstrings().prune(min_df=15)
    model = aw.AnchorTopicModel(n_components=20).fit(corpus)
    table = aw.topic_table(model, n=6)
    for row in table:
        print(f"{row['prevalence']:.3f}  {row['anchor']:<14} {' '.join(row['prominent'])}")

    sentence = "singular value decomposition of a sparse symmetric matrix"
    counts = CountVectorizer(vocabulary=list(corpus.vocabulary)).transform([sentence])
    weights = model.transform(counts)[0]
    best = int(weights.argmax())
    words = next(row["prominent"] for row in table if row["topic"] == best)
    print(f"\n{sentence!r} is {weights[best]:.0%} about: {' '.join(words)}")


if __name__ == "__main__":
    main()
