"""What each part of the preset for readers does, on text and on other data.

    python benchmarks/refinement.py [--quick] [--corpora nips12,kos,...] [--topics 50]
                                    [--data ../shared/data] [--output docs/tables/refinement]

The best 5,000 words (10,000 of imdb100k, 7,000 songs of spotify; 20ng without english stop words), all documents but every
tenth. Algorithm 6, plain EM, the preset of the first release (EM with decorrelation, topics split by likelihood), then the
preset with one part changed at a time, and the preset. Words are ranked as the model lists them: by keyword weights where
it has any, else by probability. NPMI of the first 10, diversity of the first 25 and C_v of the first 10 from boolean
documents that were fitted; the same by probability; perplexity by completion of the documents that were held out.
"""

from __future__ import annotations

import time
import warnings
from contextlib import contextmanager
from dataclasses import replace

from common import arguments, circumstances, commit, described, table, write_tables
from readers import CORPORA, Judge, corpus_of


@contextmanager
def replaced(place: str, value):
    """Another value of an attribute of the package, such as a function, for a while."""
    from importlib import import_module

    module, name = place.rsplit(":", 1)
    owner = import_module(f"anchorwords.{module}")
    *path, last = name.split(".")
    for step in path:
        owner = getattr(owner, step)
    before = getattr(owner, last)
    setattr(owner, last, value)
    try:
        yield
    finally:
        setattr(owner, last, before)


def weighted(damp: bool, weight):
    """Damped counts with or without the logarithm, and with other weights of words: a function of log(M / df)."""
    import numpy as np

    from anchorwords.refine.least_squares import DampedCounts

    class Weighted(DampedCounts):
        def __init__(self, *args) -> None:
            super().__init__(*args)
            self.informative = np.where(self.informative > 0.0, weight(self.informative), 0.0)
            if self._held is not None:
                self._held = list(map(self._both, self._pieces))

        def _damped(self, documents):
            if damp:
                return super()._damped(documents)
            indptr, indices, counts = documents.by_row
            x = counts * self.informative[indices]
            rows = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
            lengths = np.sqrt(np.bincount(rows, weights=x * x, minlength=indptr.size - 1))
            return x / np.where(lengths > 0.0, lengths, 1.0)[rows]

    return Weighted


def variants() -> dict[str, tuple[dict, dict]]:
    """By name: parameters of the estimator, and what is replaced in the package."""
    import numpy as np

    from anchorwords import ENN, Refinement
    from anchorwords.presets import preset

    ours = preset("readers")
    squares = "refine.least_squares:"

    def changed(**options) -> dict:
        return ours | {"refinement": replace(ours["refinement"], **options)}

    def none_loose(together, carriers):  # noqa: ARG001
        return np.zeros(carriers.size, dtype=bool), np.zeros(carriers.size)

    def none_common(joint, *others):  # noqa: ARG001
        return np.zeros(joint.shape[0], dtype=bool)

    def unsplit(self, places) -> None:
        pass

    return {
        "Algorithm 6": ({}, {}),
        "plain EM": ({"refinement": Refinement()}, {}),
        "preset of the first release": (ours | {"rectifier": ENN(tol=1e-2), "refinement": Refinement(6, 4, 3.0)}, {}),
        "preset, counts not damped": (ours, {squares + "DampedCounts": weighted(False, lambda idf: idf)}),
        "preset, all words alike": (ours, {squares + "DampedCounts": weighted(True, np.ones_like)}),
        "preset, words by idf + 1": (ours, {squares + "DampedCounts": weighted(True, lambda idf: idf + 1.0)}),
        "preset, topics not split": (ours, {squares + "_Descent.split": unsplit}),
        "preset, no column refused": (ours, {squares + "incoherent": none_loose, squares + "boilerplate": none_common}),
        "preset, no background in EM": (changed(background=0.0), {}),
        "preset, no decorrelation": (changed(decorrelation=0.0), {}),
        "preset": (ours, {}),
    }


def measure(name: str, options) -> list[dict]:
    """A row a variant."""
    from contextlib import ExitStack

    import anchorwords as aw

    corpus, held_out = corpus_of(name, options)
    fitted, kept = corpus.counts[~held_out], corpus.counts[held_out]
    judge = Judge(fitted)
    rows = []
    for variant, (parameters, patches) in variants().items():
        row = {"corpus": name, "documents": fitted.shape[0], "variant": variant}
        with ExitStack() as stack:
            for place, value in patches.items():
                stack.enter_context(replaced(place, value))
            begin = time.perf_counter()
            model = aw.AnchorTopicModel(options.topics, n_jobs=1, **parameters).fit(fitted)
            row["seconds"] = time.perf_counter() - begin
        weights = model.model_.keyword_weights
        row |= judge(model.components_, None if weights is None else weights.T)
        row["perplexity"] = model.perplexity(kept)
        rows.append(row)
        print(row, flush=True)
    return rows


def markdown(records: list[dict]) -> str:
    record = records[0]
    keys = ("npmi_own", "diversity_own", "c_v", "npmi_probability", "diversity_probability")
    parts = [f"K {record['K']}, one run each, one thread. {described(record)}"]
    for name in dict.fromkeys(row["corpus"] for row in record["rows"]):
        rows = [row for row in record["rows"] if row["corpus"] == name]
        columns = [
            f"{name}: {rows[0]['documents']:,} documents", "seconds", "NPMI, as listed", "diversity", "C_v",
            "NPMI, by probability", "diversity ", "perplexity",
        ]  # fmt: skip
        lines = [
            [
                row["variant"],
                f"{row['seconds']:.1f}",
                *(f"{row[key]:.3f}" for key in keys),
                f"{row['perplexity']:,.0f}",
            ]
            for row in rows
        ]
        parts.append(table(columns, lines))
    return "\n".join(parts)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default=CORPORA)
    parser.add_argument("--topics", type=int, default=50)
    parser.add_argument("--quick", action="store_true", help="every 4th document of kos, K 10")
    options = parser.parse_args()
    if options.quick:
        options.corpora, options.topics = "kos", 10
    record = {"K": options.topics, "quick": options.quick, "commit": commit(), **circumstances(), "rows": []}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in options.corpora.split(","):
            record["rows"] += measure(name, options)
            write_tables(options.output, [record], markdown)
    print(markdown([record]))


if __name__ == "__main__":
    main()
