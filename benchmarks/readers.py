"""What readers see: the words that each system lists by default, on seven corpora of text and other data.

    python benchmarks/readers.py [--quick] [--python PATH] [--corpora nips12,kos,...] [--topics 20,50,100]
                                 [--systems anchorwords-readers,sklearn-nmf,...] [--seeds 0,1,2] [--again]
                                 [--jobs 1] [--output docs/tables/readers]

Each run is a fresh process, as in peers.py, on the best 5,000 words of a corpus (10,000 of imdb100k, 7,000 songs of
spotify; 20ng without english stop words) and on all documents but every tenth. The topics of all systems are judged by the
same functions:

- NPMI of the first 10 words and diversity of the first 25, and C_v of the first 10, from boolean documents that were fitted;
- word intrusion without people: to the first 5 words of a topic comes the first word of another topic, if it is not among
  the first 50 of this one. The odd word out is the one whose mean NPMI with the others, in the documents that were held
  out, is the least. The share of times that this is the intruder, over all other topics; at random it is 1/6.

OUTPUT_in_short.md has the comparison with NMF. Seconds on all cores of a quiet machine are measured apart, one seed each:

    python benchmarks/readers.py --seconds --jobs 2 --seeds 0 [--output docs/tables/readers_seconds]

which judges no words. Runs that OUTPUT.json holds already are not repeated (unless --again says so), so that a long
comparison can be made piece by piece: each is kept as soon as it is there.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import mean, median

from common import arguments, circumstances, described, real_corpus, usable_cores, write_tables
from common import table as markdown_table
from peers import SYSTEMS, run_apart, settings_of

CORPORA = "nips12,kos,20ng,ml1m,spotify,cve,imdb100k"
WORDS = {"imdb100k": 10_000, "spotify": 7_000}
OURS = "anchorwords-readers"
FORMS_OF_NMF = ("sklearn-nmf", "sklearn-nmf-log")
DEFAULT = (OURS, *FORMS_OF_NMF, "tomotopy-lda", "sklearn-lda-online", "anchortopics")
SHORT = {
    OURS: "preset", "sklearn-nmf": "NMF, tf-idf", "sklearn-nmf-log": "NMF, 1 + log tf", "tomotopy-lda": "tomotopy",
    "sklearn-lda-online": "scikit-learn LDA", "anchortopics": "anchortopics", "anchorwords": "Algorithm 6",
}  # fmt: skip
BOTH = "{:.3f} / {:.2f}"
MARGIN = 0.01  # what the preset's NPMI and diversity may be below NMF's and still count as no worse


class Judge:
    """Quality of topics K x N, from the documents that were fitted and those held out."""

    def __init__(self, counts, held_out=None) -> None:
        import numpy as np

        from anchorwords.metrics import Reference

        self.reference = Reference(counts)
        self.fitted = _present(counts)
        self.held_out = None if held_out is None else _present(held_out)
        tokens = np.asarray(counts.sum(axis=0)).ravel()
        self.p = tokens / tokens.sum()

    def __call__(self, topics, listed=None) -> dict:
        """By name, of topics in any scale; ``listed`` is what the system ranks words by, if not these."""
        import numpy as np

        from anchorwords import metrics

        phi = topics / topics.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore"):
            relevance = np.log(phi) - 0.4 * np.log(np.maximum(self.p, np.finfo(float).tiny))
        scores = {"own": phi if listed is None else listed, "probability": phi, "relevance": relevance}
        found = {}
        for rule, weights in scores.items():
            top = [np.argsort(-row, kind="stable")[:50] for row in weights]
            shown = [row[:25] for row in top]
            found[f"npmi_{rule}"] = float(metrics.npmi_coherence(None, self.reference, 10, top=shown))
            found[f"diversity_{rule}"] = float(metrics.topic_diversity(None, 25, top=shown))
            if rule == "own":
                found["c_v"] = c_v(self.fitted, [row[:10] for row in top])
                if self.held_out is not None:
                    found["intrusion"] = intrusion(self.held_out, top)
        return found


def _present(counts):
    import scipy.sparse as sp

    present = sp.csc_array(counts)
    present.data = (present.data > 0).astype(float)
    return present


def _npmi(present, words):
    """NPMI of all pairs of the words, from boolean documents; -1 for those never together."""
    import numpy as np

    own = present[:, words]
    both = (own.T @ own).toarray() / present.shape[0]
    single = np.diagonal(both)
    with np.errstate(divide="ignore", invalid="ignore"):
        scores = np.log(both / np.outer(single, single)) / -np.log(both)
    return np.where(both > 0, np.where(both < 1, scores, 1.0), -1.0)


def c_v(present, tops) -> float:
    """C_v of Roeder et al. (2015) with documents in place of windows: each word's NPMI vector beside the sum of all."""
    import numpy as np

    values = []
    for top in tops:
        vectors = _npmi(present, top)
        whole = vectors.sum(axis=0)
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(whole)
        values.append(float(np.mean(vectors @ whole / np.where(lengths > 0, lengths, 1.0))))
    return mean(values)


def intrusion(present, tops, n: int = 5) -> float:
    """Share of intruders found: see the module."""
    import numpy as np

    words = np.unique(np.concatenate([top[:n] for top in tops]))
    scores = _npmi(present, words)
    np.fill_diagonal(scores, 0.0)
    place = {int(word): at for at, word in enumerate(words)}
    shares = []
    for k, top in enumerate(tops):
        own = [place[int(word)] for word in top[:n]]
        known = {int(word) for word in top}
        for other, its in enumerate(tops):
            if other == k or int(its[0]) in known:
                continue
            group = np.array([*own, place[int(its[0])]])
            fit = scores[np.ix_(group, group)].sum(axis=1)
            odd = np.flatnonzero(fit <= fit.min() + 1e-12)
            shares.append(float(n in odd) / odd.size)
    return mean(shares) if shares else float("nan")


# ---- The runs.


def corpus_of(name: str, options):
    """A corpus with its best words, and which documents are held out."""
    import numpy as np

    import anchorwords as aw

    corpus = real_corpus(options.data, name)
    if options.quick:
        corpus = aw.Corpus(corpus.counts[::4], corpus.vocabulary)
    n_words = 1000 if options.quick else WORDS.get(name, 5000)
    corpus = corpus.prune(n_words=n_words, stop_words="english" if name == "20ng" else None)
    return corpus, np.arange(corpus.n_docs) % 10 == 9


def measure(name: str, options, record: dict, keep) -> None:
    """All runs of one corpus that are not in the record yet."""
    import scipy.sparse as sp

    known = {(run["corpus"], run["K"], run["system"], run["seed"]) for run in record["runs"]}
    wanted = [
        (name, K, system, seed) for seed in options.seeds for system in options.systems for K in options.topics
        if options.again or (name, K, system, seed) not in known
    ]  # fmt: skip
    if not wanted:
        return
    corpus, held_out = corpus_of(name, options)
    fitted = sp.csr_matrix(corpus.counts[~held_out])
    judge = None if options.seconds else Judge(fitted, corpus.counts[held_out])
    record["corpora"][name] = {"documents": int((~held_out).sum()), "words": corpus.n_words}
    with tempfile.TemporaryDirectory() as folder:
        counts_file = Path(folder) / "counts.npz"
        sp.save_npz(counts_file, fitted, compressed=False)
        for _, K, system, seed in wanted:
            job = {
                "system": system, "counts": str(counts_file), "K": K, "cores": options.jobs, "seed": seed,
                "settings": settings_of(SYSTEMS[system], options),
            }  # fmt: skip
            python = sys.executable if system.startswith("anchorwords") else options.python
            run, arrays = run_apart(python, job, options.limit)
            kept = {
                "corpus": name, "K": K, "system": system, "seed": seed, "cores": options.jobs,
                "date": time.strftime("%Y-%m-%d"), "load": os.getloadavg()[0], "status": run["status"],
            }  # fmt: skip
            if run["status"] == "ok":
                kept |= {"seconds": run["seconds"], "peak_mb": run["peak_mb"], "versions": run["versions"]}
                kept |= {} if judge is None else judge(arrays["topics"], arrays.get("listed"))
            print({key: value for key, value in kept.items() if key != "versions"}, flush=True)
            if run["status"] != "not installed":
                keep(kept)


# ---- The tables.


def summary(record: dict) -> dict:
    """Means over seeds (the median of seconds) by corpus, K and system."""
    groups: dict[tuple, list[dict]] = {}
    for run in record["runs"]:
        groups.setdefault((run["corpus"], run["K"], run["system"]), []).append(run)
    found = {}
    for key, runs in groups.items():
        done = [run for run in runs if run["status"] == "ok"]
        if not done:
            found[key] = {"status": runs[-1]["status"]}
            continue
        found[key] = {"status": "ok", "seeds": len(done), "seconds": median(run["seconds"] for run in done)}
        names = [name for name in done[0] if name.startswith(("npmi", "diversity")) or name in ("c_v", "intrusion")]
        found[key] |= {name: mean(run[name] for run in done) for name in names}
    return found


def better_form(found: dict, corpus: str, K: int) -> dict | None:
    """Of the two forms of NMF that of the larger NPMI times diversity."""
    forms = [found.get((corpus, K, form), {"status": "missing"}) for form in FORMS_OF_NMF]
    done = [form for form in forms if form["status"] == "ok"]
    return max(done, key=lambda form: form["npmi_own"] * form["diversity_own"], default=None)


def measured(record: dict) -> tuple[dict, list[str], list[int]]:
    """The summary of a record, and the corpora and numbers of topics that are in it."""
    found = summary(record)
    corpora = [name for name in CORPORA.split(",") if any(key[0] == name for key in found)]
    return found, corpora, sorted({K for _, K, _ in found})


def markdown(records: list[dict]) -> str:
    record = records[0]
    found, corpora, sizes = measured(record)
    systems = [name for name in SHORT if any(key[2] == name for key in found)]
    quick = "Few documents and iterations (--quick): not for comparison.\n\n" if record["quick"] else ""
    named = "; ".join(
        f"{name}: {record['corpora'][name]['documents']:,} documents, {record['corpora'][name]['words']:,} words"
        for name in corpora
    )
    cores = max(run["cores"] for run in record["runs"])
    parts = [
        f"{quick}{record['machine']['cpu']}, {cores} core{'s' if cores > 1 else ''} for each system. "
        f"{_seeds(found, systems)} {named}.\n",
        f"The preset compared with NMF, whichever form has the larger NPMI x diversity; no worse means within {MARGIN}.\n",
        _against_nmf(found, corpora, sizes),
    ]
    tables = (
        ("NPMI of 10 words / diversity of 25, each by its own ranking", ("npmi_own", "diversity_own"), BOTH),
        ("C_v of 10 words", ("c_v",), "{:.3f}"),
        ("Intruders found in documents held out, of 100", ("intrusion",), "{:.0f}"),
        ("NPMI of 10 words / diversity of 25 by probability", ("npmi_probability", "diversity_probability"), BOTH),
        ("NPMI of 10 words / diversity of 25 by relevance 0.6", ("npmi_relevance", "diversity_relevance"), BOTH),
        ("Seconds", ("seconds",), "{:.1f}"),
    )  # fmt: skip
    for title, keys, form in tables:
        lines = []
        for corpus in corpora:
            for K in sizes:
                cells = [_cell(found.get((corpus, K, system)), keys, form) for system in systems]
                lines.append([f"{corpus}, K {K}", *cells])
        parts.append(markdown_table([title, *(SHORT[system] for system in systems)], lines))
    return "\n".join(parts)


def seconds_table(records: list[dict]) -> str:
    """Seconds of the preset and of both forms of NMF, and how they compare."""
    record = records[0]
    found, corpora, sizes = measured(record)
    lines = []
    for corpus in corpora:
        for K in sizes:
            own, *forms = (found.get((corpus, K, system), {}).get("seconds") for system in (OURS, *FORMS_OF_NMF))
            if own is None:
                continue
            done = [form for form in forms if form is not None]
            cells = ["-" if value is None else f"{value:.2f}" for value in (own, *forms)]
            ratio = f"{own / min(done):.2f}, {own / max(done):.2f}" if done else "-"
            lines.append([f"{corpus}, K {K}", *cells, ratio])
    columns = [
        "seconds",
        *(SHORT[system] for system in (OURS, *FORMS_OF_NMF)),
        "relative to the faster and to the slower form",
    ]
    return f"{described(record)}\n{markdown_table(columns, lines)}"


def in_short(records: list[dict]) -> str:
    """What fits on one screen: the comparison with NMF, and the words at the middle number of topics."""
    found, corpora, sizes = measured(records[0])
    systems = [name for name in SHORT if any(key[2] == name for key in found)]
    K = sizes[len(sizes) // 2]
    lines = [
        [corpus, *(_cell(found.get((corpus, K, name)), ("npmi_own", "diversity_own"), BOTH) for name in systems)]
        for corpus in corpora
    ]
    columns = [f"K {K}: NPMI / diversity", *(SHORT[name] for name in systems)]
    return "\n".join([_against_nmf(found, corpora, sizes), markdown_table(columns, lines)])


def _cell(row: dict | None, keys: tuple[str, ...], form: str) -> str:
    if row is None:
        return "-"
    if row["status"] != "ok":
        return row["status"].replace("|", "/")
    return form.format(*(row[key] * (100 if key == "intrusion" else 1) for key in keys))


def _seeds(found: dict, systems: list[str]) -> str:
    """How many seeds each system was run with."""
    said = []
    for system in systems:
        numbers = sorted({row["seeds"] for key, row in found.items() if key[2] == system and row["status"] == "ok"})
        if numbers:
            said.append(f"{SHORT[system]} {' or '.join(map(str, numbers))}")
    return f"Seeds: {', '.join(said)}."


def _against_nmf(found: dict, corpora: list[str], sizes: list[int]) -> str:
    lines = []
    for K in sizes:
        pairs = [
            (found[corpus, K, OURS], form)
            for corpus in corpora
            if found.get((corpus, K, OURS), {}).get("status") == "ok" and (form := better_form(found, corpus, K))
        ]
        own = [(a["npmi_own"] * a["diversity_own"], b["npmi_own"] * b["diversity_own"]) for a, b in pairs]
        ratios = sorted(a["seconds"] / b["seconds"] for a, b in pairs)
        lines.append([
            f"K {K} ({len(pairs)} corpora)",
            str(sum(a["npmi_own"] >= b["npmi_own"] - MARGIN and a["diversity_own"] >= b["diversity_own"] - MARGIN
                    for a, b in pairs)),
            str(sum(a > b for a, b in own)),
            str(sum(a["c_v"] > b["c_v"] for a, b in pairs)),
            str(sum(a["intrusion"] > b["intrusion"] for a, b in pairs)),
            f"{ratios[0]:.2f} to {ratios[-1]:.2f}" if ratios else "-",
            str(sum(ratio <= 0.2 for ratio in ratios)),
        ])  # fmt: skip
    columns = [
        "number of corpora on which the preset has", "NPMI and diversity no worse", "NPMI x diversity higher", "C_v higher",
        "intruders found more often", "time relative to NMF", "at most a fifth of NMF's time",
    ]  # fmt: skip
    return markdown_table(columns, lines)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--corpora", default=CORPORA)
    parser.add_argument("--systems", default=",".join(DEFAULT))
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the other packages")
    parser.add_argument("--topics", default="20,50,100")
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--jobs", type=int, default=1, help="cores of each run")
    parser.add_argument("--limit", type=float, default=3600.0, help="seconds a process may take in all")
    parser.add_argument("--again", action="store_true", help="repeat runs that the output holds")
    parser.add_argument("--seconds", action="store_true", help="measure seconds alone, of the preset and of NMF")
    parser.add_argument("--quick", action="store_true", help="every 4th document of kos, K 10, few iterations")
    options = parser.parse_args()
    options.systems = [OURS, *FORMS_OF_NMF] if options.seconds else options.systems.split(",")
    options.topics = list(map(int, options.topics.split(",")))
    options.seeds = list(map(int, options.seeds.split(",")))
    if options.quick:
        options.corpora, options.topics, options.seeds = "kos", [10], [0]
    record = {"quick": options.quick, **circumstances(), "corpora": {}, "runs": []}
    before = options.output.with_suffix(".json") if options.output else None
    if before is not None and before.is_file() and not options.quick:
        record |= {key: json.loads(before.read_text())[0][key] for key in ("corpora", "runs")}
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, usable_cores()[-options.jobs :])

    def keep(run: dict) -> None:
        same = ("corpus", "K", "system", "seed")
        record["runs"] = [old for old in record["runs"] if any(old[key] != run[key] for key in same)] + [run]
        if options.output:
            write_tables(options.output, [record], seconds_table if options.seconds else markdown)
        if options.output and not options.seconds:
            options.output.with_name(f"{options.output.name}_in_short.md").write_text(in_short([record]))

    for name in options.corpora.split(","):
        measure(name, options, record, keep)
    print((seconds_table if options.seconds else markdown)([record]))


if __name__ == "__main__":
    main()
