"""How much topics depend on rounding: those of imdb100k from the same eigenpairs, with E computed in different ways.

    python benchmarks/precision.py [--quick] [--data ../shared/data] [--output docs/tables/precision]

ENN and LAW, all words, K 100, every word a candidate for an anchor. The rows:

- default: pairs are found in single precision, their entries are computed in double precision, and the negative ones kept;
- another seed: the same from eigenpairs that started at another probe and differ by their tolerance, 1e-6;
- tiles: the same E, as matrix products over tiles instead of a list of pairs;
- doubtful pairs: all pairs that the sweep could not prove positive are kept as long as the violation is above 1e-5, as in an
  earlier version. Those that are not negative add nothing to E, but conjugate gradients count them among the pairs that a
  move may change.

Each is compared with the default: anchors in common, and the total variation of the topics that have them.
"""

from __future__ import annotations

import sys
import warnings
from time import perf_counter
from unittest.mock import patch

import numpy as np
from common import arguments, circumstances, commit, described, real_corpus, table, write_tables

import anchorwords as aw
from anchorwords.anchors.lowrank import low_rank_anchor_words
from anchorwords.kernels import numba_kernels, pairs
from anchorwords.kernels.pairs import SparseCorrection
from anchorwords.kernels.tiled import TiledCorrection
from anchorwords.rectify.start import starting_eigenpairs

# The violation down to which an earlier version kept them.
KEPT_ABOVE = 1e-5


def all_likely(first: int, indptr, likely, Y):
    """In place of the choice of negative pairs: all of them, with an entry of zero if they are positive."""
    entries = np.empty(likely.size)
    pairs._pair_entries(indptr, likely, Y, first, entries)
    return pairs.span_of(first, indptr, likely, np.maximum(-entries, 0.0))


def with_doubtful(Y, n_checked: int, *, n_jobs=None):
    with patch.object(pairs, "_exact", all_likely):
        E = SparseCorrection(Y, n_checked, n_jobs)
    far = E.squares**0.5 > KEPT_ABOVE * float(np.linalg.norm(Y.T @ Y))
    return E if far else pairs.negative_part(Y, n_checked, n_jobs=n_jobs)


def tiles(Y, n_checked: int, *, n_jobs=None):
    E = pairs.negative_part(Y, n_checked, n_jobs=n_jobs)
    filled = E.nnz / (2.0 * n_checked * Y.shape[0]) if isinstance(E, SparseCorrection) else 1.0
    return (
        TiledCorrection(Y, n_checked, n_jobs) if filled > 0.02 else E
    )  # few pairs: the finite end asks for their list


def rectified(eigenpairs, K: int, negative_part) -> dict:
    begin = perf_counter()
    with patch.object(numba_kernels, "negative_part", negative_part):
        found = aw.rectify_enn((eigenpairs.vectors, eigenpairs.values), K)
    return {"seconds": perf_counter() - begin, "steps": found.n_iter, "model": low_rank_anchor_words(found.Y)}


def compared(row: dict, default: dict) -> dict:
    model, other = row.pop("model"), default["model"]
    place = {word: k for k, word in enumerate(other.anchors.tolist())}
    distances = [
        np.abs(model.B[:, k] - other.B[:, place[word]]).sum() / 2.0
        for k, word in enumerate(model.anchors.tolist())
        if word in place
    ]
    return {**row, "anchors": len(distances), "mean": float(np.mean(distances)), "largest": float(np.max(distances))}


def markdown(records: list[dict]) -> str:
    (record,) = records
    rows = [
        [row["form"], f"{row['seconds']:.1f}", str(row["steps"]), f"{row['anchors']} of {record['K']}", f"{row['mean']:.1e}",
         f"{row['largest']:.1e}"]
        for row in record["rows"]
    ]  # fmt: skip
    head = f"{record['corpus']}, {record['words']:,} words, K {record['K']}; {described(record)}\n"
    return head + table(["E", "ENN s", "steps", "same anchors", "mean distance", "largest"], rows)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="kos, K 20")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    aw.warmup()
    name, K = ("kos", 20) if options.quick else ("imdb100k", 100)
    C = aw.CooccurrenceOperator(real_corpus(options.data, name))
    first, second = (starting_eigenpairs(C, K, seed) for seed in (0, 1))
    forms = {
        "default: negative pairs": (first, pairs.negative_part),
        "default, another seed": (second, pairs.negative_part),
        "tiles": (first, tiles),
        "doubtful pairs too, at first": (first, with_doubtful),
    }
    found = {form: rectified(*given[:1], K, given[1]) for form, given in forms.items()}
    default = {**next(iter(found.values()))}
    rows = [{"form": form, **compared(row, default)} for form, row in found.items()]
    record = {**circumstances(), "commit": commit(), "corpus": name, "words": C.shape[0], "K": K, "rows": rows}
    print(markdown([record]), end="", file=sys.stdout)
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
