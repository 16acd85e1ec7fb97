"""Small corpora as UCI files, a plan that takes seconds, and a count of what is computed."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from anchorwords.reproduce import figures, run
from anchorwords.reproduce.plan import Plan

TINY = Plan(
    every_k=(5, 6), slow_k=(5,), n_words=(80,), n_seeds=2, n_steps=2, ap_steps=20, space_k=3, table_k=3
)  # fmt: skip
# Keys of a record that are measured by a clock, and so differ from run to run.
TIMES = ("seconds", "seconds_start", "seconds_rectification", "seconds_factorisation")


def write_uci(folder: Path, name: str, corpus: Any) -> Path:
    """Write docword.NAME.txt and vocab.NAME.txt; returns the former."""
    folder.mkdir(parents=True, exist_ok=True)
    counts = sp.coo_array(corpus.counts)
    lines = [str(counts.shape[0]), str(counts.shape[1]), str(counts.nnz)]
    lines += [f"{i + 1} {j + 1} {int(v)}" for i, j, v in zip(counts.row, counts.col, counts.data, strict=True)]
    file = folder / f"docword.{name}.txt"
    file.write_text("\n".join(lines) + "\n")
    (folder / f"vocab.{name}.txt").write_text("\n".join(corpus.vocabulary) + "\n", encoding="utf-8")
    return file


def use_tiny(monkeypatch: Any, plan: Plan = TINY) -> None:
    """Let --quick mean this plan."""
    monkeypatch.setattr(run, "QUICK", plan)


def draw_little(monkeypatch: Any) -> None:
    """Every figure, but few panels of each: drawing takes most of the time of a tiny run."""
    panels = figures._panels
    monkeypatch.setattr(figures, "FIRST", ("seconds",))
    monkeypatch.setattr(figures, "BESIDE", ("log_relative_volume",))
    monkeypatch.setattr(figures, "SECOND", ("mst_incoherence",))
    monkeypatch.setattr(figures, "_panels", lambda *arguments: panels(*arguments)[-2:])


def count_computed(monkeypatch: Any) -> Counter[str]:
    """Experiments computed from now on, by series; those from the cache are not among them."""
    computed: Counter[str] = Counter()
    compute = run._compute

    def counted(task: Any, *rest: Any) -> Any:
        computed[task.series] += 1
        return compute(task, *rest)

    monkeypatch.setattr(run, "_compute", counted)
    return computed


def cached(output: Path, start: str = "") -> list[Path]:
    return sorted((output / "cache").glob(f"{start}*.json"))


def without_times(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in record.items() if key not in TIMES} for record in records]


def links(markdown: str) -> list[str]:
    """Destinations of the links and pictures of a text."""
    return re.findall(r"\]\(([^)]*)\)", markdown)


def bars(line: str) -> int:
    """Bars that separate cells: those of words stand behind a backslash."""
    return len(re.findall(r"(?<!\\)(?:\\\\)*\|", line))


def tables(markdown: str) -> list[list[str]]:
    """Tables of a text, line by line."""
    parts = [part.splitlines() for part in markdown.split("\n\n")]
    return [part for part in parts if part and part[0].startswith("|")]
