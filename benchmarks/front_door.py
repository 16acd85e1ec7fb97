"""Topics of raw texts before and after the second release: cleaning, and a stop list that keeps content words.

    python benchmarks/front_door.py [--quick] [--topics 20,50] [--draws 10] [--corpora cve,20ng]
                                    [--data ../shared/data] [--output docs/tables/front_door]

"Before" reads texts as the first release did: scikit-learn's whole English stop list and no cleaning. "After" is the default
of TextTopicModel. Each of the two changes is also measured alone. All fits use the preset for readers, and topics are judged
by the words that readers see, ranked by relevance: NPMI of the top 10 words and diversity of the top 25.

NPMI depends on the documents in which words are counted. The common reference is therefore the same for all readings: all
documents, in which a word occurs if it occurs in the text as it is or in the cleaned text. "Own" NPMI counts in the
documents that the model was learned from, as that model reads them. The draws repeat both readings on random four fifths of
the documents, with the common reference unchanged, and show how much of a difference is chance.

cve has raw texts. 20ng exists only as counts with stop words kept: each text repeats every word as often as it was counted,
in a pseudo-random order with a fixed seed. These texts have no punctuation, so that cleaning has nothing to remove from
them.

The last table adds debris to texts of cve with a fixed seed, and counts how much of it reaches the top words.
"""

from __future__ import annotations

import gzip
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import scipy.sparse as sp
from common import arguments, circumstances, commit, described, real_corpus, seconds_of, table, write_tables
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

import anchorwords as aw
from anchorwords import Cleaning, TextTopicModel, TextVectorizer, metrics
from anchorwords.corpus.stopwords import stop_words

OLD_LIST = sorted(ENGLISH_STOP_WORDS)
READINGS: dict[str, Callable[[], TextVectorizer]] = {
    "before": lambda: TextVectorizer(stop_words=OLD_LIST, cleaning=False),
    "new stop list alone": lambda: TextVectorizer(cleaning=False),
    "cleaning alone": lambda: TextVectorizer(stop_words=OLD_LIST),
    "after": lambda: TextVectorizer(),
}
SHOWN_WORDS = 8
SEED = 0


# ---- Texts.


def texts_of(data: Path, name: str) -> list[str]:
    if name == "20ng":
        return texts_of_counts(real_corpus(data, name))
    path = data / name / f"{name}.tsv.gz"
    if not path.is_file():
        sys.exit(f"{path} is not there: name the folder that holds the corpora with --data.")
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as stream:
        return [line.rstrip("\n").split("\t")[1] for line in stream]


def texts_of_counts(corpus: aw.Corpus) -> list[str]:
    """Each word as often as it was counted, in a pseudo-random order."""
    rng = np.random.default_rng(SEED)
    words, counts = np.array(corpus.vocabulary), sp.csr_array(corpus.counts)
    texts = []
    for start, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        tokens = np.repeat(words[counts.indices[start:end]], counts.data[start:end].astype(np.int64))
        texts.append(" ".join(rng.permutation(tokens)))
    return texts


# ---- Models and how they are judged.


def fitted(texts: list[str], reading: str, K: int) -> TextTopicModel:
    return TextTopicModel(K, vectorizer=READINGS[reading]()).fit(texts)


def best_words(model: TextTopicModel, n: int) -> list[list[str]]:
    return aw.top_words(model.model_, n, ranking="relevance")


class CommonReference:
    """Documents in which a word occurs if it occurs in the text or in the cleaned text."""

    def __init__(self, texts: list[str]) -> None:
        readings = [aw.read_corpus(texts, cleaning=cleaning) for cleaning in (False, True)]
        self._counts = [sp.csc_array(one.counts) for one in readings]
        self._columns = [{word: i for i, word in enumerate(one.vocabulary)} for one in readings]

    def npmi(self, top: list[list[str]]) -> np.ndarray:
        """NPMI of each topic."""
        words = list(dict.fromkeys(word for topic in top for word in topic))
        place = {word: i for i, word in enumerate(words)}
        parts = [self._occurrences(number, words) for number in range(2)]
        reference = metrics.Reference(sp.csr_array(parts[0].maximum(parts[1])))
        indices = [[place[word] for word in topic] for topic in top]
        return metrics.npmi_coherence(None, reference, 10, top=indices, per_topic=True)

    def _occurrences(self, number: int, words: list[str]) -> sp.csc_array:
        """Documents x words; a word that this reading does not have occurs nowhere."""
        counts, columns = self._counts[number], self._columns[number]
        known = [i for i, word in enumerate(words) if word in columns]
        some = sp.csc_array(counts[:, [columns[words[i]] for i in known]])
        spread = sp.csc_array((np.ones(len(known)), (np.arange(len(known)), known)), shape=(len(known), len(words)))
        return sp.csc_array(some @ spread)


def judged(model: TextTopicModel, common: CommonReference) -> dict:
    top = best_words(model, 25)
    per_topic = common.npmi([words[:10] for words in top])
    record = model.model_
    ranked = aw.top_indices(record, 25, ranking="relevance")
    return {
        "npmi_common": float(per_topic.mean()),
        "npmi_own": float(metrics.npmi_coherence(record, model.corpus_, 10, top=ranked)),
        "npmi_common_probability": float(common.npmi(aw.top_words(record, 10)).mean()),
        "diversity": float(metrics.topic_diversity(record, 25, top=ranked)),
        "diversity_probability": float(metrics.topic_diversity(record, 25)),
    }


def measured(name: str, texts: list[str], options) -> dict:
    """Everything about one corpus but the debris."""
    common = CommonReference(texts)
    rows, models = [], {}
    for K in options.topics:
        for reading in READINGS:
            found: list[TextTopicModel] = []
            seconds = seconds_of(lambda r=reading, k=K, into=found: into.append(fitted(texts, r, k)))
            model = found[0]
            if options.topics[0] == K and reading in ("before", "after"):
                models[reading] = model
            counts = model.corpus_.counts
            rows.append({
                "K": K, "reading": reading, "seconds": seconds, "documents": counts.shape[0], "words": counts.shape[1],
                "tokens": int(counts.sum()), **judged(model, common),
            })  # fmt: skip
            print(name, rows[-1], file=sys.stderr, flush=True)
    return {
        "corpus": name, "documents": len(texts), "rows": rows, "lists": stop_lists(texts),
        "cleaned": sum(Cleaning()(text) != text for text in texts),
        "draws": [drawn(name, texts, common, K, options.draws) for K in options.topics],
        "topics": side_by_side(models["before"], models["after"], common),
        "restored": restored(models["after"]),
    }  # fmt: skip


def drawn(name: str, texts: list[str], common: CommonReference, K: int, n_draws: int) -> dict:
    """Differences between after and before on random four fifths of the documents."""
    rng = np.random.default_rng(SEED)
    keys = ("npmi_common", "diversity")
    differences: dict[str, list[float]] = {key: [] for key in keys}
    for _ in range(n_draws):
        rows = np.sort(rng.choice(len(texts), len(texts) * 4 // 5, replace=False))
        some = [texts[row] for row in rows]
        before, after = (judged(fitted(some, reading, K), common) for reading in ("before", "after"))
        for key in keys:
            differences[key].append(after[key] - before[key])
        print(name, K, {key: values[-1] for key, values in differences.items()}, file=sys.stderr, flush=True)
    return {"K": K, "n_draws": n_draws, **differences}


def stop_lists(texts: list[str]) -> dict:
    """How many words and tokens of the uncleaned texts each list removes."""
    corpus = aw.read_corpus(texts, cleaning=False)
    tokens = dict(zip(corpus.vocabulary, np.asarray(corpus.counts.sum(axis=0)).ravel().tolist(), strict=True))
    old, new = frozenset(OLD_LIST), stop_words("english")
    kinds = {"before": old, "after": new, "before only": old - new, "after only": new - old}
    found = {
        name: {
            "listed": len(words),
            "words": sum(word in tokens for word in words),
            "tokens": int(sum(tokens.get(word, 0.0) for word in words)),
            "commonest": sorted((word for word in words if word in tokens), key=lambda w: (-tokens[w], w))[:8],
        }
        for name, words in kinds.items()
    }
    return {"all_words": len(tokens), "all_tokens": int(sum(tokens.values())), **found}


def side_by_side(before: TextTopicModel, after: TextTopicModel, common: CommonReference) -> list[dict]:
    """Topics of the two models, matched, in the order of their prevalence before."""
    matched = aw.align_topics(before.model_, after.model_, max_distance=1.0)
    words = [best_words(model, 10) for model in (before, after)]
    npmi = [common.npmi(top).tolist() for top in words]
    rows = [
        {
            "before": words[0][old][:SHOWN_WORDS], "after": words[1][new][:SHOWN_WORDS], "total_variation": distance,
            "npmi_before": npmi[0][old], "npmi_after": npmi[1][new], "prevalence_before": share[0],
            "prevalence_after": share[1],
        }
        for (old, new), distance, *share in zip(
            matched.pairs, matched.total_variation.tolist(), matched.prevalence_old.tolist(),
            matched.prevalence_new.tolist(), strict=True,
        )
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row["prevalence_before"])


def restored(model: TextTopicModel) -> list[str]:
    """Words among the top 10 that only the old list removes."""
    gone = frozenset(OLD_LIST) - stop_words("english")
    return sorted({word for words in best_words(model, 10) for word in words} & gone)


# ---- Debris.

# Shares of the documents that get debris, of these documents for each kind of it, and of long words that are divided.
NOISY, EACH_KIND, DIVIDED = 0.25, 0.5, 0.1
SITES = ("quickpress", "dailywire", "mailhub", "sharebox", "linkfarm")
PEOPLE = ("jsmith", "mmuller", "akumar", "lchen", "pgarcia")
AROUND = ("{}", "({})", "<{}>", "{}.")  # what an address may stand between
_LONG_WORD = re.compile(r"\b[a-z]{8,}\b")
# What the debris below is split into if nothing is removed from it, without words of a single character.
DEBRIS = frozenset((
    "http", "https", "www", "com", "org", "utm_source", "newsletter", *SITES, *PEOPLE, "div", "class", "href",
    "br", "nbsp", "amp", "rsquo", "span", "cid",
))  # fmt: skip


def with_debris(text: str, rng: random.Random, fragments: set[str]) -> str:
    """The text as web pages, mails and PDF files often give it; adds the halves of divided words to ``fragments``."""

    def added(what: str) -> None:
        nonlocal text
        at = rng.randrange(len(text) + 1)
        at = text.find(" ", at) if " " in text[at:] else len(text)
        text = f"{text[:at]} {what}{text[at:]}"

    def divided(found: re.Match[str]) -> str:
        word = found[0]
        if rng.random() >= DIVIDED:
            return word
        at = rng.randrange(3, len(word) - 2)
        fragments.update((word[:at], word[at:]))
        return f"{word[:at]}-\n{word[at:]}"

    kinds = [rng.random() < EACH_KIND for _ in range(6)]
    if kinds[0]:
        text = _LONG_WORD.sub(divided, text)
    if kinds[1]:
        added(rng.choice(AROUND).format(f"https://www.{rng.choice(SITES)}.com/?utm_source=newsletter"))
        added(rng.choice(AROUND).format(f"http://{rng.choice(SITES)}.org/{rng.randrange(10**6)}"))
    if kinds[2]:
        added(rng.choice(AROUND).format(f"{rng.choice(PEOPLE)}@{rng.choice(SITES)}.com"))
    if kinds[3]:
        added(f"@{rng.choice(PEOPLE)}")
    if kinds[4]:
        added("(cid:127)")
    if kinds[5]:
        added(f'<a href="https://www.{rng.choice(SITES)}.com/"><span>&rsquo;</span></a><br/>')
        text = f'<div class="text">{text}&nbsp;&amp;</div>'
    return text


def debris(texts: list[str], K: int, n_docs: int) -> dict:
    """How much debris reaches the top words, and how far topics move."""
    rng = random.Random(SEED)
    clean = [texts[row] for row in sorted(rng.sample(range(len(texts)), min(n_docs, len(texts))))]
    fragments: set[str] = set()
    noisy = [with_debris(text, rng, fragments) if rng.random() < NOISY else text for text in clean]
    common = CommonReference(clean)
    # Halves such as "over" and "flow" are words of their own.
    fragments -= DEBRIS.union(TextVectorizer(cleaning=False).fit(clean).vocabulary_)
    rows = []
    for reading in ("before", "after"):
        models = {kind: fitted(own, reading, K) for kind, own in (("as they are", clean), ("with debris", noisy))}
        for kind, model in models.items():
            top = best_words(model, 10)
            vocabulary = set(model.model_.vocabulary)
            matched = aw.align_topics(models["as they are"].model_, model.model_, max_distance=1.0)
            # Words that only debris has occur nowhere in the reference, where NPMI is -1: the topic pays for them.
            rows.append({
                "texts": kind, "reading": reading, "words": len(vocabulary),
                "debris_vocabulary": len(vocabulary & DEBRIS), "fragments_vocabulary": len(vocabulary & fragments),
                "debris_listed": sum(word in DEBRIS for words in top for word in words),
                "fragments_listed": sum(word in fragments for words in top for word in words),
                "topics_hit": sum(not DEBRIS.isdisjoint(words) for words in top),
                "which": sorted({word for words in top for word in words} & (DEBRIS | fragments)),
                "npmi_common": float(common.npmi(top).mean()),
                "total_variation": float(matched.total_variation.mean()),
            })  # fmt: skip
            print(rows[-1], file=sys.stderr, flush=True)
    return {
        "documents": len(clean),
        "noisy": sum(a is not b for a, b in zip(clean, noisy, strict=True)),
        "K": K,
        "rows": rows,
    }


# ---- Tables.


def markdown(records: list[dict]) -> str:
    record = records[0]
    quick = " Few documents (--quick): not for comparison." if record["quick"] else ""
    parts = [
        f"Commit {record['commit']}. {described(record)}{quick}",
        '"Before" is the reading of the first release: the whole English stop list of scikit-learn, no cleaning. "After" is '
        "the default. Preset for readers; words are ranked by relevance; NPMI of the top 10 words, diversity of the top 25. "
        "The common reference is the same for every reading: all documents, in which a word occurs if it occurs in the text "
        "or in the cleaned text.\n",
    ]
    for corpus in record["corpora"]:
        parts += _of_corpus(corpus)
    if record["debris"]:
        parts += _of_debris(record["debris"])
    for corpus in record["corpora"]:
        parts += _of_topics(corpus)
    return "\n".join(parts)


def _of_corpus(corpus: dict) -> list[str]:
    name = corpus["corpus"]
    made = (
        " Its texts are made of counts: every word as often as it was counted, in a pseudo-random order with a fixed seed."
        if name == "20ng"
        else ""
    )
    parts = [
        f"## {name}: {corpus['documents']:,} documents\n",
        f"Cleaning changes {corpus['cleaned']:,} of them.{made}\n",
    ]
    columns = [
        "reading", "topics", "documents kept", "words kept", "tokens kept", "NPMI, common reference", "NPMI, own documents",
        "diversity", "NPMI, common, by probability", "diversity, by probability",
    ]  # fmt: skip
    keys = ("npmi_common", "npmi_own", "diversity", "npmi_common_probability", "diversity_probability")
    lines = [
        [row["reading"], str(row["K"]), *(f"{row[key]:,}" for key in ("documents", "words", "tokens")),
         *(f"{row[key]:.3f}" for key in keys)]
        for row in corpus["rows"]
    ]  # fmt: skip
    parts.append(table(columns, lines))
    if any(draw["n_draws"] > 1 for draw in corpus["draws"]):
        columns = ["after minus before, on draws of four fifths", "draws", "NPMI, common reference", "diversity"]
        lines = [
            [f"{draw['K']} topics", str(draw["n_draws"]), *(_spread(draw[key]) for key in ("npmi_common", "diversity"))]
            for draw in corpus["draws"]
        ]
        parts += [
            "Mean of the differences, and its standard error, which is somewhat too small because the draws overlap:\n",
            table(columns, lines),
        ]
    lists = corpus["lists"]
    columns = ["stop list", "listed", "words removed", "tokens removed", "share of tokens", "commonest"]
    lines = [
        [title, f"{row['listed']:,}", f"{row['words']:,}", f"{row['tokens']:,}",
         f"{row['tokens'] / lists['all_tokens']:.2%}", " ".join(row["commonest"])]
        for title, row in (
            ("before", lists["before"]), ("after", lists["after"]),
            ("removed before, kept after", lists["before only"]), ("kept before, removed after", lists["after only"]),
        )
    ]  # fmt: skip
    parts.append(table(columns, lines))
    shown = " ".join(corpus["restored"]) or "none"
    parts.append(
        f"Words that only the old list removes and that are among the top 10 words of the topics after: {shown}.\n"
    )
    return parts


def _spread(values: list[float]) -> str:
    return f"{mean(values):+.4f} ± {stdev(values) / len(values) ** 0.5:.4f}"


def _of_debris(found: dict) -> list[str]:
    columns = [
        "texts", "reading", "words kept", "debris in the vocabulary", "fragments in the vocabulary",
        "debris in the top 10", "fragments in the top 10", "topics with debris", "NPMI on the texts as they are",
        "moved by debris", "which",
    ]  # fmt: skip
    lines = [
        [row["texts"], row["reading"], f"{row['words']:,}",
         *(str(row[key]) for key in ("debris_vocabulary", "fragments_vocabulary", "debris_listed", "fragments_listed",
                                     "topics_hit")),
         f"{row['npmi_common']:.3f}", "-" if row["texts"] == "as they are" else f"{row['total_variation']:.3f}",
         " ".join(row["which"]) or "-"]
        for row in found["rows"]
    ]  # fmt: skip
    return [
        "## Texts with debris\n",
        f"{found['documents']:,} documents of cve, {found['K']} topics. A quarter of the documents ({found['noisy']:,}) "
        "have debris of the kinds that cleaning is made for, each kind with probability one half: two web addresses, an "
        "e-mail address, a name that begins with @, `(cid:127)`, HTML tags and entities, and words of eight or more letters "
        "of which one in ten is divided by a hyphen and a line break. The debris words are "
        f"{' '.join(sorted(DEBRIS))}; some, such as http, also occur in the texts themselves. Fragments are halves of "
        'divided words that are not words of the texts. "Moved by debris" is the mean total variation between the topics of '
        "the two versions of the texts.\n",
        table(columns, lines),
    ]  # fmt: skip


def _of_topics(corpus: dict) -> list[str]:
    columns = ["before", "after", "total variation", "NPMI before", "NPMI after"]
    lines = [
        [" ".join(row["before"]), " ".join(row["after"]),
         *(f"{row[key]:.2f}" for key in ("total_variation", "npmi_before", "npmi_after"))]
        for row in corpus["topics"]
    ]  # fmt: skip
    return [
        f"## Topics of {corpus['corpus']}, matched\n",
        f"The top {SHOWN_WORDS} words of {len(lines)} topics, in the order of their prevalence before; NPMI of the top 10 "
        "words on the common reference.\n",
        table(columns, lines).replace("| --- | ---: |", "| --- | --- |"),
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default="cve,20ng")
    parser.add_argument(
        "--topics", default="20,50", help="numbers of topics; the first is that of the tables of topics"
    )
    parser.add_argument("--draws", type=int, default=10, help="random draws of the documents; 0 leaves them out")
    parser.add_argument("--debris-documents", type=int, default=40_000)
    parser.add_argument("--quick", action="store_true", help="every 10th document, 10 topics, two draws")
    options = parser.parse_args()
    options.topics = [10] if options.quick else [int(number) for number in options.topics.split(",")]
    options.draws = min(options.draws, 2) if options.quick else options.draws
    record = {**circumstances(), "commit": commit(), "quick": options.quick, "corpora": [], "debris": None}
    for name in options.corpora.split(","):
        texts = texts_of(options.data, name)[:: 10 if options.quick else 1]
        record["corpora"].append(measured(name, texts, options))
        if name == "cve":
            record["debris"] = debris(texts, options.topics[0], options.debris_documents)
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
