"""The paper's methods side by side on data whose topics are known.

python examples/compare_rectifiers.py
"""

from __future__ import annotations

import warnings

import anchorwords as aw
from anchorwords.datasets import make_topics
from anchorwords.exceptions import ConvergenceWarning, DegenerateWarning
from anchorwords.metrics.matching import match_topics


def main() -> None:
    data = make_topics(n_docs=1000, n_words=400, n_topics=8, doc_length=80, n_anchors=3, random_state=0)
    print("error of the topics (total variation to the truth, mean over topics) and raw sum of A")
    for name, rectifier in [
        ("baseline", None),
        ("PALM + LAW", aw.PALM(max_iter=500)),
        ("AP + AW", "ap"),
        ("LR-JSMF", "enn"),
    ]:
        with warnings.catch_warnings():
            for category in (ConvergenceWarning, DegenerateWarning):
                warnings.simplefilter("ignore", category)
            model = aw.AnchorTopicModel(8, rectifier=rectifier).fit(data.corpus).model_
        error = match_topics(data.B, model.B).total_variation.mean()
        print(f"{name:<12} {error:.3f}   {model.A_raw_sum:.2f}")


if __name__ == "__main__":
    main()
