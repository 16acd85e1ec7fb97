"""Every experiment on every corpus, one after the other, and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from .._validation import check_n_jobs
from ..corpus.corpus import Corpus
from ..linalg.parallel import limited_threads
from .corpora import Source, find_sources, fingerprint, load
from .methods import Experiment, warm_up
from .plan import FULL, METHODS, QUICK, Plan, vocabulary_steps
from .series import first_series, second_series, space, word_table
from .store import Store

# Called with what is being done, and how many of all experiments are done.
Progress: TypeAlias = Callable[[str, int, int], None]


class Task(NamedTuple):
    """An experiment that is computed or read as a whole.

    Attributes
    ----------
    series : str
        "first", "second", "space" or "table".
    n_words : int
        Words of the vocabulary; all of them where that is the corpus's number.
    options : dict
        What else it depends on.
    """

    series: str
    n_words: int
    options: dict[str, Any]


class Results(NamedTuple):
    """What all experiments gave.

    Attributes
    ----------
    plan : Plan
    corpora : list of dict
        Name, documents, words, tokens, whether stop words were taken out.
    first, second : list of dict
        Records of the two series.
    spaces : list of dict
        Panels of Figure 2, with their corpus and row.
    tables : list of dict
        Corpus, words and rows of Table 1.
    n_jobs : int or None
        Threads.
    """

    plan: Plan
    corpora: list[dict[str, Any]]
    first: list[dict[str, Any]]
    second: list[dict[str, Any]]
    spaces: list[dict[str, Any]]
    tables: list[dict[str, Any]]
    n_jobs: int | None = 1


def reproduce(
    data: str | Path,
    output: str | Path,
    *,
    quick: bool = False,
    corpora: Sequence[str] | None = None,
    report: bool = True,
    progress: Progress | None = None,
    n_jobs: int | None = 1,
) -> Results:
    """Run the paper's experiments on UCI corpora and write a report of them.

    Parameters
    ----------
    data : path
        Folder with ``docword.NAME.txt(.gz)`` and ``vocab.NAME.txt``, or folders of them.
    output : path
        Folder for ``report.md``, ``figures`` and tables as CSV. Results are kept under ``cache`` by configuration: a run
        that was stopped goes on where it was, and one that is asked for again is at once there.
    quick : bool
        Small vocabularies and few K: minutes.
    corpora : sequence of str, optional
        Names of those to use; by default the stand-ins for the paper's four where they are there, else all.
    report : bool
        Write the report; without it the results are only computed and kept.
    progress : callable, optional
        Called with what is being done, and how many of all experiments are done.
    n_jobs : int or None
        Threads; one by default, as times are those of the processor, all threads together. None is all cores.

    Returns
    -------
    Results
    """
    plan = QUICK if quick else FULL
    sources = find_sources(Path(data), None if corpora is None else list(corpora))
    folder = Path(output)
    store = Store(folder / "cache")
    jobs = check_n_jobs(n_jobs)
    results = Results(plan, [], [], [], [], [], jobs)
    with limited_threads(jobs):
        for number, source in enumerate(sources):
            _run_corpus(source, plan, store, results, _part_of(progress, number, len(sources)), jobs)
    if report:
        from .report import write_report

        write_report(results, folder)
    return results


def _run_corpus(
    source: Source, plan: Plan, store: Store, results: Results, progress: Callable[[str, float], None], jobs: int | None
) -> None:
    progress(f"{source.name}: reading", 0.0)
    corpus, is_text = load(source)
    results.corpora.append(
        {
            "corpus": source.name,
            "documents": corpus.n_docs,
            "words": corpus.n_words,
            "tokens": corpus.n_tokens,
            "entries": int(corpus.counts.nnz),
            "stop_words": is_text,
        }
    )
    name = fingerprint(corpus)
    tasks = list(_tasks(source.name, corpus, plan))
    experiment, size = Experiment(corpus, jobs), corpus.n_words
    for done, task in enumerate(tasks):
        label = f"{source.name}: {_described(task)}"
        progress(label, done / len(tasks))
        configuration = {
            "series": task.series, "corpus": source.name, "data": name, "n_words": task.n_words, "n_jobs": jobs,
            **task.options,
        }  # fmt: skip
        result = store.read(configuration)
        if result is None:
            if size != task.n_words:
                experiment, size = Experiment(_with_words(corpus, task.n_words), jobs), task.n_words
            warm_up()
            result = _compute(task, experiment, plan)
            store.write(configuration, result)
        _collect(results, source.name, task, result)
    progress(f"{source.name}: done", 1.0)


def _tasks(name: str, corpus: Corpus, plan: Plan) -> Iterator[Task]:
    """Experiments on a corpus, those of one vocabulary next to each other."""
    sizes = [min(size, corpus.n_words) for size in plan.n_words]
    for n_words in sizes:
        for K in plan.every_k:
            methods = METHODS if K in plan.slow_k else ("ENN+LAW", "LR-JSMF")
            yield _first(n_words, K, methods, plan)
        for method in METHODS:
            yield Task("space", n_words, {"method": method, "n_components": plan.space_k, "ap_steps": plan.ap_steps})
    for n_words in vocabulary_steps(corpus.n_words, plan.n_steps, max(plan.every_k) + 1):
        for K in plan.fewer_k.get(name, plan.every_k):
            yield Task("second", n_words, {"n_components": K, "largest_k": max(plan.every_k)})
        yield Task("space", n_words, {"method": "LR-JSMF", "n_components": plan.space_k, "ap_steps": plan.ap_steps})
    small, large = sizes[0], min(plan.table_words, corpus.n_words)
    for n_words in dict.fromkeys((small, large)):
        yield Task("table", n_words, {"n_components": plan.table_k})
    for n_words, every_k in plan.more_words.get(name, {}).items():
        for K in every_k:
            yield _first(min(n_words, corpus.n_words), K, METHODS, plan)


def _first(n_words: int, K: int, methods: tuple[str, ...], plan: Plan) -> Task:
    return Task(
        "first",
        n_words,
        {"n_components": K, "methods": list(methods), "n_seeds": plan.n_seeds, "ap_steps": plan.ap_steps},
    )


def _compute(task: Task, experiment: Experiment, plan: Plan) -> Any:
    if task.series == "first":
        return first_series(experiment, task.options["n_components"], tuple(task.options["methods"]), plan)
    if task.series == "second":
        return second_series(experiment, task.options["n_components"], task.options["largest_k"])
    if task.series == "space":
        return space(experiment, task.options["method"], task.options["n_components"], plan)
    return word_table(experiment, task.options["n_components"])


def _collect(results: Results, corpus: str, task: Task, result: Any) -> None:
    names = {"corpus": corpus, "n_words": task.n_words}
    if task.series == "first":
        results.first.extend({**names, **record} for record in result)
    elif task.series == "second":
        results.second.append({**names, **result})
    elif task.series == "space":
        results.spaces.append({**names, **result})
    else:
        results.tables.append({**names, "rows": result})


def _with_words(corpus: Corpus, n_words: int) -> Corpus:
    return corpus if n_words >= corpus.n_words else corpus.prune(n_words=n_words)


def _described(task: Task) -> str:
    size = f"{task.n_words:,} words"
    if task.series == "first":
        return f"methods, {size}, K {task.options['n_components']}"
    if task.series == "second":
        return f"growing vocabulary, {size}, K {task.options['n_components']}"
    if task.series == "space":
        return f"co-occurrence space, {size}, {task.options['method']}"
    return f"table of words, {size}"


def _part_of(progress: Progress | None, number: int, n_sources: int) -> Callable[[str, float], None]:
    """Progress within one corpus of several."""

    def report(label: str, share: float) -> None:
        if progress is not None:
            progress(label, round(1000 * (number + share)), 1000 * n_sources)

    return report
