"""A labelled task: newsgroups told apart by the topics of their posts.

    python benchmarks/labelled.py [--quick] [--python PATH] [--topics 50,100] [--jobs 2] [--output docs/tables/labelled]

20ng in its split by date, best 5,000 words without english stop words (counted on all documents). Each system learns
topics on the training posts and gives compositions of training and test posts; a logistic regression (scikit-learn, its
penalty chosen by three-fold cross-validation on the training posts alone) is the same for all. Test posts that lose all
their words keep their place.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import arguments, circumstances, described, real_corpus, table, usable_cores, write_tables

# ---- Systems: (training counts, test counts, K, cores, quick) -> compositions of both, and the topics.


def anchorwords(train, test, K, cores, quick, preset="paper", method="posterior-mean"):  # noqa: ARG001
    from anchorwords import AnchorTopicModel

    model = AnchorTopicModel.from_preset(preset, K, composition=method, n_jobs=cores).fit(train)
    return model.transform(train), model.transform(test)


def plain_refinement(train, test, K, cores, quick):  # noqa: ARG001
    from anchorwords import AnchorTopicModel, Refinement

    model = AnchorTopicModel(K, refinement=Refinement(), n_jobs=cores).fit(train)
    return model.transform(train), model.transform(test)


def sklearn_lda(train, test, K, cores, quick):
    from sklearn.decomposition import LatentDirichletAllocation

    options = {"max_iter": 1 if quick else 10, "learning_method": "online", "random_state": 0, "n_jobs": cores}
    model = LatentDirichletAllocation(K, **options).fit(train)
    return model.transform(train), model.transform(test)


def anchortopics(train, test, K, cores, quick):  # noqa: ARG001
    """Its package has no transform: documents are projected on its topics by least squares, as its notebooks do."""
    import numpy as np
    from anchortopics import OTFR

    B = OTFR(K, random_state=0).fit(train).components_.T
    inverse = np.linalg.pinv(B)

    def projected(counts):
        weights = np.maximum(counts @ inverse.T, 0.0)
        return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)

    return projected(train), projected(test)


SYSTEMS = {
    "anchorwords": ("anchorwords, paper", anchorwords, {}, True),
    "anchorwords-aware": ("anchorwords, paper, prior-aware", anchorwords, {"method": "prior-aware"}, True),
    "anchorwords-refined": ("anchorwords, refined by plain EM", plain_refinement, {}, True),
    "anchorwords-readers": ("anchorwords, preset for readers", anchorwords, {"preset": "readers"}, True),
    "sklearn-lda": ("scikit-learn LDA, online, 10 epochs", sklearn_lda, {}, False),
    "anchortopics": ("anchortopics, projected", anchortopics, {}, False),
}


def run_here(folder: Path) -> None:
    """One system in a process of its own."""
    import numpy as np
    import scipy.sparse as sp

    job = json.loads((folder / "job.json").read_text())
    _, function, settings, _ = SYSTEMS[job["system"]]
    train, test = (sp.csr_matrix(sp.load_npz(folder / f"{part}.npz")) for part in ("train", "test"))
    begin = time.perf_counter()
    features = function(train, test, job["K"], job["cores"], job["quick"], **settings)
    seconds = time.perf_counter() - begin
    for part, weights in zip(("train", "test"), features, strict=True):
        np.save(folder / f"{part}.npy", weights)
    (folder / "result.json").write_text(json.dumps({"seconds": seconds}))


def accuracy(train, test, labels, held) -> float:
    """Share of test posts put in the right group."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    # Square roots make compositions comparable by ordinary distance (Hellinger); the same for every system.
    grid = GridSearchCV(LogisticRegression(max_iter=300), {"C": [1.0, 10.0, 100.0]}, cv=3)
    return float(grid.fit(np.sqrt(train), labels).score(np.sqrt(test), held))


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        run_here(Path(sys.argv[2]))
        return
    import numpy as np
    import scipy.sparse as sp

    parser = arguments(__doc__)
    parser.add_argument("--topics", default="50,100")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--python", default=sys.executable, help="interpreter that has the other packages")
    parser.add_argument("--jobs", type=int, default=len(usable_cores()))
    parser.add_argument("--quick", action="store_true", help="every 8th post, K 10")
    options = parser.parse_args()
    corpus = real_corpus(options.data, "20ng")
    lines = (options.data / "20ng" / "labels.20ng.tsv").read_text().splitlines()
    split, group = zip(
        *(line.split("\t")[-2:] for line in lines if line.split("\t")[-2] in ("train", "test")), strict=True
    )
    split, group = np.array(split), np.array(group)
    if split.size != corpus.n_docs:
        sys.exit(f"labels of {split.size} posts, but {corpus.n_docs} posts.")
    counts = corpus.prune(n_words=5000, stop_words="english", min_tokens=0, min_types=0).counts
    if options.quick:
        counts, split, group, options.topics = counts[::8], split[::8], group[::8], "10"
    record = {**circumstances(), "quick": options.quick, "rows": []}
    parts = {part: sp.csr_matrix(counts[np.flatnonzero(split == part)]) for part in ("train", "test")}
    for K in map(int, options.topics.split(",")):
        for system in options.systems.split(","):
            title, _, _, ours = SYSTEMS[system]
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                for part, matrix in parts.items():
                    sp.save_npz(folder / f"{part}.npz", matrix, compressed=False)
                job = {"system": system, "K": K, "cores": options.jobs, "quick": options.quick}
                (folder / "job.json").write_text(json.dumps(job))
                python = sys.executable if ours else options.python
                process = subprocess.run([python, __file__, "--run", name], capture_output=True, text=True)
                if process.returncode != 0:
                    said = (process.stderr.strip().splitlines() or ["failed"])[-1]
                    record["rows"].append({"title": title, "K": K, "status": said[:100]})
                    print(system, K, said, flush=True)
                    continue
                features = [np.load(folder / f"{part}.npy") for part in ("train", "test")]
                score = accuracy(*features, group[split == "train"], group[split == "test"])
                seconds = json.loads((folder / "result.json").read_text())["seconds"]
            record["rows"].append({"title": title, "K": K, "status": "ok", "accuracy": score, "seconds": seconds})
            print(system, K, f"{score:.4f}", f"{seconds:.1f} s", flush=True)
    print(markdown([record]))
    write_tables(options.output, [record], markdown)


def markdown(records: list[dict]) -> str:
    record = records[0]
    rows = record["rows"]
    sizes = list(dict.fromkeys(row["K"] for row in rows))
    lines = []
    for title in dict.fromkeys(row["title"] for row in rows):
        own = {row["K"]: row for row in rows if row["title"] == title}
        cells = [cell for K in sizes for cell in _cells(own[K])]
        lines.append([title, *cells])
    columns = ["features", *(text for K in sizes for text in (f"accuracy, K {K}", f"seconds, K {K}"))]
    quick = "Every 8th post (--quick): not for comparison. " if record["quick"] else ""
    return f"{quick}{described(record)}\n{table(columns, lines)}"


def _cells(row: dict) -> list[str]:
    if row["status"] != "ok":
        return [row["status"], "-"]
    return [f"{row['accuracy']:.3f}", f"{row['seconds']:.1f}"]


if __name__ == "__main__":
    main()
