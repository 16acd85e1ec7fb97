"""Raw text to counts: our reader against scikit-learn's CountVectorizer, on the same documents and the same cores.

    python benchmarks/reading.py [--quick] [--rounds 5] [--data ../shared/data] [--output docs/tables/reading]

Both get the documents as a list of strings and give a sparse matrix; they take turns, so that a busy minute hits both. The
rules are the same: lower case, runs of two or more letters, digits and underscores. Ours counts the marks that belong to
letters (of Thai, Telugu, a dotted Turkish i) as parts of words; the comparison of counts therefore gives CountVectorizer a
pattern that does too, and the timed one its own, faster default.
"""

from __future__ import annotations

import gzip
import sys
import unicodedata
from statistics import median

from common import arguments, circumstances, commit, described, seconds_of, table, usable_cores, write_tables
from sklearn.feature_extraction.text import CountVectorizer

import anchorwords as aw

# The rule of CountVectorizer: no stop words, numbers count, no limit on the length.
RULE = {"numbers": True, "min_length": 2, "max_length": 10_000}


def marks() -> str:
    """A class of characters: the word characters of Python, and marks and joiners."""
    points = [p for p in range(sys.maxunicode + 1) if unicodedata.category(chr(p))[0] == "M"]
    return r"[\w" + "".join(map(chr, points)) + "\u200c\u200d]"


def documents(path, quick: bool) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        texts = [line.rstrip("\n").split("\t")[1] for line in stream]
    return texts[:20_000] if quick else texts


def same_counts(texts: list[str]) -> bool:
    """Whether the two agree, word by word and document by document, under the same rule."""
    composed = [unicodedata.normalize("NFC", text) for text in texts]
    vectorizer = CountVectorizer(token_pattern=rf"{marks()}{{2,}}")
    expected = vectorizer.fit_transform(composed)
    ours = aw.read_corpus(texts, **RULE)
    return list(vectorizer.get_feature_names_out()) == list(ours.vocabulary) and (expected != ours.counts).nnz == 0


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        times = record["seconds"]
        base = median(times["CountVectorizer"])
        rows = [
            [
                name,
                f"{median(values):.2f}",
                f"{record['megabytes'] / median(values):.0f}",
                f"{base / median(values):.1f}",
            ]
            for name, values in times.items()
        ]
        text.append(
            described(record)
            + f"\n{record['documents']:,} documents, {record['megabytes']:.0f} MB, {record['words']:,} words, median of "
            + f"{record['rounds']} rounds; the same counts under the same rule: {'yes' if record['same'] else 'NO'}.\n\n"
            + table(["reader", "seconds", "MB/s", "times CountVectorizer"], rows)
        )
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="the first 20,000 documents, one round")
    options = parser.parse_args()
    path = options.data / "cve" / "cve.tsv.gz"
    if not path.is_file():
        sys.exit(f"{path} is not there: name the folder that holds the corpora with --data.")
    texts = documents(path, options.quick)
    aw.read_corpus(texts[:100], **RULE)  # loads the kernels
    rounds = 1 if options.quick else options.rounds
    cores = len(usable_cores())
    ways = {
        "CountVectorizer": lambda: CountVectorizer().fit_transform(texts),
        f"anchorwords, {cores} threads": lambda: aw.read_corpus(texts, **RULE),
        "anchorwords, 1 thread": lambda: aw.read_corpus(texts, **RULE, n_jobs=1),
        "anchorwords, from the gzip file": lambda: aw.read_corpus(path, text_column=2, **RULE),
    }
    if options.quick:
        ways.pop("anchorwords, from the gzip file")
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            seconds[name].append(seconds_of(way))
            print(f"{name}: {seconds[name][-1]:.2f} s", file=sys.stderr, flush=True)
    record = {
        **circumstances(), "commit": commit(), "documents": len(texts), "rounds": rounds, "seconds": seconds,
        "megabytes": sum(len(text.encode()) for text in texts) / 1e6, "words": aw.read_corpus(texts, **RULE).n_words,
        "same": same_counts(texts),
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
