"""The report: Markdown, figures and CSV files."""

from __future__ import annotations

import csv
import os
import platform
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from .._markdown import markdown_escaped, markdown_table, separator_of
from .._version import __version__
from ..storage.writing import file_written_whole
from .claim import Claim
from .claims import all_claims
from .figures import draw
from .plan import STAND_INS


def write_report(results: Any, folder: Path) -> None:
    """Write ``report.md``, ``figures``, ``first.csv``, ``second.csv`` and ``words.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = draw(results, folder / "figures")
    claims = all_claims(results.first, results.second, results.tables)
    _write_csv(folder / "first.csv", results.first)
    _write_csv(folder / "second.csv", results.second)
    _write_csv(folder / "words.csv", _flat_words(results.tables))
    text = "\n\n".join(
        [
            _opening(results),
            _verdicts(claims),
            _corpora(results.corpora),
            "## Claim by claim",
            *(_claim(number, claim) for number, claim in enumerate(claims, start=1)),
            _pictures(figures),
            *(_words(table) for table in results.tables),
            _notes(results),
        ]
    )
    with file_written_whole(folder / "report.md") as partial:
        partial.write_text(text + "\n", encoding="utf-8")


def _opening(results: Any) -> str:
    names = ", ".join(
        f"`{info['corpus'].replace('`', '')}`"
        + (f" (for {STAND_INS[info['corpus']]})" if info["corpus"] in STAND_INS else "")
        for info in results.corpora
    )
    return (
        "# The paper's experiments, run again\n\n"
        '"On-the-Fly Rectification for Robust Large-Vocabulary Topic Inference" (Lee, Cho, Dong, Mimno and Bindel, ICML '
        f"2021), section 5, on {names}. Written by `anchorwords reproduce`, version {__version__}, on "
        f"{date.today().isoformat()}: {_machine()}; Python {platform.python_version()}, NumPy {np.__version__}, SciPy "
        f"{scipy.__version__}. The records behind it are in `first.csv` (methods by K), `second.csv` (growing vocabularies) "
        "and `words.csv` (Table 1)."
    )


def _machine() -> str:
    """Processor and cores, as far as the system says."""
    model = platform.processor() or platform.machine()
    information = Path("/proc/cpuinfo")
    if information.is_file():
        names = [
            line.split(":", 1)[1].strip()
            for line in information.read_text(encoding="utf-8", errors="replace").splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} cores"


def _verdicts(claims: Sequence[Claim]) -> str:
    rows = [
        [str(number), claim.title, claim.verdict, claim.summary] for number, claim in enumerate(claims, start=1)
    ]  # fmt: skip
    return "## What holds\n\n" + markdown_table(["", "the paper says", "here", "numbers"], rows)


def _corpora(corpora: Sequence[dict[str, Any]]) -> str:
    rows = [
        [
            markdown_escaped(info["corpus"]), STAND_INS.get(info["corpus"], ""), f"{info['documents']:,}",
            f"{info['words']:,}", f"{info['tokens']:,}", "yes" if info["stop_words"] else "no, held few or none",
        ]
        for info in corpora
    ]  # fmt: skip
    columns = ["corpus", "stands in for", "documents", "words", "tokens", "English stop words taken out"]
    return "## Corpora\n\nAfter the paper's curation, before words are chosen by tf-idf.\n\n" + markdown_table(
        columns, rows
    )


def _claim(number: int, claim: Claim) -> str:
    text = f"### {number}. {claim.title}\n\n**{claim.verdict}**: {claim.summary or 'no data'}. Rule: {claim.rule}."
    rows = [[markdown_escaped(row[0]), *row[1:]] for row in claim.rows]
    return text if not rows else f"{text}\n\n{markdown_table(claim.columns, rows)}"


_CAPTIONS = {
    "figure3": "methods by number of topics (the paper's Figure 3). Lines are means over seeds, bands reach from the "
    "smallest to the largest.",
    "figure4": "LR-JSMF as the vocabulary grows (the paper's Figure 4). Means over the K of a group, with standard "
    "errors.",
    "figure2": "the co-occurrence space in its first two principal axes (the paper's Figure 2): words are dots, anchors "
    "triangles, the line is the hull of the projected anchors; above, the methods at one vocabulary, below, LR-JSMF "
    "with more and more words.",
}


def _pictures(figures: dict[str, list[str]]) -> str:
    parts = ["## Figures"]
    for kind, caption in _CAPTIONS.items():
        for name in figures.get(kind, []):
            parts.append(f"![{name}](figures/{name}.png)\n\n`{name}`: {caption} [SVG](figures/{name}.svg)")
    return "\n\n".join(parts)


def _words(stored: dict[str, Any]) -> str:
    rows = [
        [
            markdown_escaped(row["anchor"]),
            _joined(row["prominent"], ()),
            _joined(row["characteristic"], set(row["characteristic"]) - set(row["prominent"])),
        ]
        for row in stored["rows"]
    ]  # fmt: skip
    return (
        f"## Words of {markdown_escaped(stored['corpus'])}, {stored['n_words']:,} words (the paper's Table 1)\n\n"
        "Characteristic words that are not prominent are bold.\n\n"
        + markdown_table(["anchor", "prominent words", "characteristic words"], rows)
    )


def _joined(words: Sequence[str], bold: Any) -> str:
    return separator_of(words).join(
        f"**{markdown_escaped(word)}**" if word in bold else markdown_escaped(word) for word in words
    )


def _notes(results: Any) -> str:
    plan = results.plan
    more = "".join(
        f"; {name} with {n_words:,} words and all methods at K = {_listed(every_k)} too"
        for name, sizes in plan.more_words.items()
        for n_words, every_k in sizes.items()
    )
    fewer = "".join(f", on {name} only K = {_listed(every_k)}" for name, every_k in plan.fewer_k.items())
    return f"""## How it was run

- First series: {", ".join(f"{n:,}" for n in plan.n_words)} words by tf-idf; ENN+LAW and LR-JSMF at K = \
{_listed(plan.every_k)}, the others at K = {_listed(plan.slow_k)}{more}; {plan.n_seeds} seeds of LR-JSMF.
- AP makes {plan.ap_steps} steps (its authors make 150) and has no other rule; PALM makes at most 100, ENN runs until it \
has converged. {_convergence([*results.first, *results.second])} ENN+LAW starts from exact eigenpairs of the explicit \
C, LR-JSMF from randomised products with the implicit one.
- Seconds are of the processor, all threads together, so that other work on the machine does not count. \
{_threads(results)} In the first series those of LR-JSMF include Eq. 1; those of the others begin with the explicit C, \
whose making is not counted. The start of ENN+LAW is counted.
- Second series: vocabularies in {plan.n_steps} steps up to all words, K = {_listed(plan.every_k)}{fewer}; the eigenpairs \
of the largest K serve every K of a vocabulary. Seconds are those of ENN and of LAW.
- Recovery is measured in the rectified space (for the Baseline that is C itself). Approximation is measured against \
the original C, in the first series with A as the anchors give it (raw), in the second normalised. Specificity and \
Dissimilarity do not compare across vocabularies, and are left out of the second series.
- Verdicts follow rules that stand beside each claim; they are about metrics and times, and the tables show how far \
topics and anchors are apart."""


def _convergence(records: Sequence[dict[str, Any]]) -> str:
    """How many runs of the methods that have a stop rule met it."""
    parts = []
    for method in dict.fromkeys(record["method"] for record in records):
        judged = [r["converged"] for r in records if r["method"] == method and r.get("converged") is not None]
        if judged:
            parts.append(f"{method} in {sum(judged):,} of {len(judged):,} runs")
    return f"Converged: {', '.join(parts)}; the others did not converge within their steps." if parts else ""


def _threads(results: Any) -> str:
    jobs = results.n_jobs
    return "One thread each." if jobs == 1 else f"Threads: {'all cores' if jobs is None else jobs}."


def _listed(numbers: Sequence[int]) -> str:
    steps = {b - a for a, b in pairwise(numbers)}
    if len(numbers) > 4 and len(steps) == 1:
        return f"{numbers[0]}, {numbers[1]}, ..., {numbers[-1]}"
    return ", ".join(map(str, numbers))


def _flat_words(tables: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "corpus": stored["corpus"], "n_words": stored["n_words"], "topic": row["topic"],
            "prevalence": row["prevalence"], "anchor": row["anchor"], "prominent": "; ".join(row["prominent"]),
            "characteristic": "; ".join(row["characteristic"]),
        }
        for stored in tables
        for row in stored["rows"]
    ]  # fmt: skip


def _write_csv(path: Path, records: Sequence[dict[str, Any]]) -> None:
    columns = list(dict.fromkeys(key for record in records for key in record))
    with file_written_whole(path) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: _cell(value) for key, value in record.items()} for record in records)


def _cell(value: Any) -> Any:
    return f"{value:.6g}" if isinstance(value, float) else value
