"""Texts to counts: TextVectorizer against scikit-learn's CountVectorizer, fit_transform and transform.

    python benchmarks/vectorizer.py [--quick] [--rounds 5] [--data ../shared/data] [--output docs/tables/vectorizer]

All of them get the same list of strings in memory and return a sparse matrix. They take turns, so that a busy minute slows
all of them. Kernels are compiled, and everything is imported, before the first round: compilation is not measured.

TextVectorizer also does what CountVectorizer does not: it removes web addresses, HTML tags and hyphenation, composes Unicode
characters, and warns of text in another language. CountVectorizer is measured with its defaults, which keep every word, and
with the rule of TextVectorizer as far as it has the options for it: English stop words, and the same min_df and max_df.
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from common import arguments, circumstances, commit, described, seconds_of, table, usable_cores, write_tables
from sklearn.feature_extraction.text import CountVectorizer

import anchorwords as aw
from anchorwords.datasets import docstring_texts

PLAIN, RULED = "CountVectorizer", "CountVectorizer, stop words, min_df, max_df"


def cve(path: Path) -> list[str]:
    """Short documents: descriptions of vulnerabilities, one sentence or a few each."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split("\t")[1] for line in stream]


def modules() -> list[str]:
    """Long documents: the prose of the docstrings of installed packages, those of a module or subpackage together."""
    together: dict[str, list[str]] = {}
    for name, text in docstring_texts().items():
        together.setdefault(".".join(name.split(".")[:3]), []).append(text)
    return ["\n\n".join(texts) for texts in together.values()]


def measured(name: str, texts: list[str], rounds: int) -> dict:
    """Seconds of every way, round by round."""
    ours = aw.TextVectorizer().fit(texts)
    rule = ours.vocabulary_rule_
    ruled = {"stop_words": "english", "min_df": rule.min_df, "max_df": rule.max_df}
    plain_fitted, ruled_fitted = CountVectorizer().fit(texts), CountVectorizer(**ruled).fit(texts)
    alone = aw.TextVectorizer(n_jobs=1).fit(texts)
    threads = f"TextVectorizer, {len(usable_cores())} threads"
    ways: dict[str, dict[str, Callable[[], object]]] = {
        "fit_transform": {
            PLAIN: lambda: CountVectorizer().fit_transform(texts),
            RULED: lambda: CountVectorizer(**ruled).fit_transform(texts),
            threads: lambda: aw.TextVectorizer().fit_transform(texts),
            "TextVectorizer, 1 thread": lambda: aw.TextVectorizer(n_jobs=1).fit_transform(texts),
        },
        "transform": {
            PLAIN: lambda: plain_fitted.transform(texts),
            RULED: lambda: ruled_fitted.transform(texts),
            threads: lambda: ours.transform(texts),
            "TextVectorizer, 1 thread": lambda: alone.transform(texts),
        },
    }
    seconds: dict[str, dict[str, list[float]]] = {task: {way: [] for way in calls} for task, calls in ways.items()}
    for _ in range(rounds):
        for task, calls in ways.items():
            for way, call in calls.items():
                seconds[task][way].append(seconds_of(call))
                print(f"{name}, {task}, {way}: {seconds[task][way][-1]:.2f} s", file=sys.stderr, flush=True)
    return {
        **circumstances(), "commit": commit(), "name": name, "documents": len(texts), "rounds": rounds,
        "megabytes": sum(len(text.encode()) for text in texts) / 1e6, "words": len(ours.vocabulary_),
        "words_of_count_vectorizer": {PLAIN: len(plain_fitted.vocabulary_), RULED: len(ruled_fitted.vocabulary_)},
        "seconds": seconds,
    }  # fmt: skip


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        rows = []
        for task, times in record["seconds"].items():
            plain, ruled = median(times[PLAIN]), median(times[RULED])
            for way, values in times.items():
                middle = median(values)
                speed = f"{record['megabytes'] / middle:.0f}"
                rows.append(
                    [f"{task}: {way}", f"{middle:.2f}", f"{min(values):.2f}", speed]
                    + [f"{base / middle:.1f}" for base in (plain, ruled)]
                )
        words = record["words_of_count_vectorizer"]
        text.append(
            described(record)
            + f"\n{record['name']}: {record['documents']:,} documents, {record['megabytes']:.0f} MB. Words kept: "
            + f"{record['words']:,} by TextVectorizer, {words[PLAIN]:,} and {words[RULED]:,} by CountVectorizer. "
            + f"{record['rounds']} interleaved rounds; kernels were compiled before.\n\n"
            + table(
                ["", "median s", "fastest s", "MB/s", "times as fast as plain", "times as fast with stop words"], rows
            )
        )
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the first 20,000 descriptions, one round")
    options = parser.parse_args()
    rounds = 1 if options.quick else options.rounds
    path = options.data / "cve" / "cve.tsv.gz"
    records = []
    if path.is_file():
        texts = cve(path)
        records.append(measured("cve", texts[:20_000] if options.quick else texts, rounds))
    else:
        print(f"{path} is not there, so cve is left out: name its folder with --data.", file=sys.stderr)
    records.append(measured("docstrings by module", modules(), rounds))
    print(markdown(records), end="")
    write_tables(options.output, records, markdown)


if __name__ == "__main__":
    main()
