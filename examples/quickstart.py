"""Topics of the docstrings on this machine, and what a new sentence is about.

python examples/quickstart.py
"""

from __future__ import annotations

import anchorwords as aw
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts


def main() -> None:
    texts = list(docstring_texts().values())
    vectorizer = aw.TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS))
    model = aw.TextTopicModel(n_components=20, vectorizer=vectorizer).fit(texts)
    table = aw.topic_table(model, n=6)
    for row in table:
        print(f"{row['prevalence']:.3f}  {row['anchor']:<14} {' '.join(row['words'])}")

    sentence = "singular value decomposition of a sparse symmetric matrix"
    weights = model.transform([sentence])[0]
    best = int(weights.argmax())
    words = next(row["words"] for row in table if row["topic"] == best)
    print(f"\n{sentence!r} is {weights[best]:.0%} about: {' '.join(words)}")


if __name__ == "__main__":
    main()
