"""The first minute: what the first run of each command takes in a fresh environment, beside the second.

    python benchmarks/first_use.py [--quick] [--rounds 3] [--output docs/tables/first_use]

Makes a virtual environment, installs the package there as a user does, writes 4,000 short texts, and times whole commands,
from the call to the end of the process. Each round begins with an empty cache of kernels, and measures the first and the
second fit and transform, all kernels compiled by ``warmup`` from another empty cache, and commands that compute little: the
topics of the model, and the page of a model as ``anchorwords demo`` fits it. What pip compiles when it installs, Python's
byte code, is compiled; nothing else is. With --quick the environment is the one that runs the script.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path
from statistics import median

from common import arguments, circumstances, commit, described, table, write_tables

ROOT = Path(__file__).resolve().parents[1]
_COLUMNS = ["", "first s", "second s", "difference s", "aim s"]
_TEXTS, _WORDS, _SUBJECTS = 4000, 6000, 20

# Fits what `anchorwords demo` fits, and keeps it.
_DEMO = """
import sys
import anchorwords as aw
from anchorwords.datasets import DOCSTRING_STOP_WORDS, docstring_texts
texts = docstring_texts()
model = aw.TextTopicModel(20, vectorizer=aw.TextVectorizer(stop_words=list(DOCSTRING_STOP_WORDS)), random_state=0)
model.fit(list(texts.values())).save(sys.argv[1])
"""


def short_texts(path: Path, n: int) -> None:
    """Texts of some 30 words, one per line: half of the words of a text are from its subject, the others from all."""
    chance = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=chance.randint(3, 10))) for _ in range(_WORDS)]
    weights = [1.0 / (rank + 10.0) for rank in range(_WORDS)]
    subjects = [chance.sample(words, 120) for _ in range(_SUBJECTS)]
    lines = []
    for _ in range(n):
        subject = chance.choice(subjects)
        text = chance.choices(subject, k=chance.randint(5, 25)) + chance.choices(
            words, weights, k=chance.randint(5, 25)
        )
        chance.shuffle(text)
        lines.append(" ".join(text))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def environment(folder: Path) -> Path:
    """Folder of programs of a new virtual environment with the package."""
    venv.create(folder, with_pip=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    # From a copy: building leaves nothing in the checkout.
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build"))
    subprocess.run([programs / "python", "-m", "pip", "install", "--quiet", source], check=True)
    return programs


def measure(programs: Path, folder: Path, rounds: int, n_texts: int) -> dict[str, list[float]]:
    """Seconds of each command, round by round."""
    texts, model, demo = folder / "texts.txt", folder / "model", folder / "demo"
    short_texts(texts, n_texts)
    caches = iter(folder / f"kernels-{number}" for number in range(2 * rounds))
    seconds: dict[str, list[float]] = {}

    def run(what: str | None, cache: Path, *command: str | Path) -> None:
        # Away from the checkout, so that nothing of it is imported.
        begin = time.perf_counter()
        process = subprocess.run(
            list(map(str, command)), cwd=folder, env=os.environ | {"NUMBA_CACHE_DIR": str(cache)}, capture_output=True,
            text=True,
        )  # fmt: skip
        spent = time.perf_counter() - begin
        if process.returncode != 0:
            sys.exit(f"{' '.join(map(str, command))} failed: {process.stderr}")
        if what is not None:
            seconds.setdefault(what, []).append(round(spent, 3))
            print(f"{what}: {spent:.2f} s", file=sys.stderr, flush=True)

    ours = programs / "anchorwords"
    for number in range(rounds):
        cache = next(caches)
        for turn in ("first", "second"):
            shutil.rmtree(model, ignore_errors=True)
            run(f"fit {turn}", cache, ours, "fit", texts, "-o", model, "--topics", "20", "--quiet")
        for turn in ("first", "second"):
            run(f"transform {turn}", cache, ours, "transform", model, texts, "-o", folder / "topics.csv", "--quiet")
        run("warmup", next(caches), ours, "warmup")
        if number == 0:
            run(None, cache, programs / "python", "-c", _DEMO, demo)
        run("topics", cache, ours, "topics", model)
        run("explore", cache, ours, "explore", demo, "-o", folder / "page.html")
        run("--help", cache, ours, "--help")
        run("import anchorwords", cache, programs / "python", "-c", "import anchorwords")
    return seconds


def markdown(records: list[dict]) -> str:
    """Medians of the first and the second run of each command."""
    text = []
    for record in records:
        found = {what: median(values) for what, values in record["seconds"].items()}
        rows = []
        for name, aim in (("fit", 6.0), ("transform", 4.0)):
            first, second = found[f"{name} first"], found[f"{name} second"]
            rows.append([f"`{name}`", f"{first:.1f}", f"{second:.1f}", f"{first - second:.1f}", f"{aim:.0f}"])
        rows.append(["`warmup`: all kernels", f"{found['warmup']:.1f}", "", "", "15"])
        for name, words, aim in (
            ("topics", "`topics`", "0.6"),
            ("explore", "`explore` of the demo's model", "1.5"),
            ("--help", "`--help`", "0.3"),
            ("import anchorwords", "`import anchorwords`", ""),
        ):
            rows.append([words, "", f"{found[name]:.2f}", "", aim])
        where = "a fresh environment" if record["fresh"] else "the environment of a developer"
        text += [
            described(record),
            f"{record['texts']:,} texts of some 30 words, 20 topics, {where}. Medians of {record['rounds']} rounds, each "
            "with an empty cache of kernels; whole processes, in seconds. The first two aims are for the difference.\n",
            table(_COLUMNS, rows),
        ]
    return "\n".join(text)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one round of 1,000 texts, in the environment at hand")
    options = parser.parse_args()
    rounds, n_texts = (1, 1000) if options.quick else (options.rounds, _TEXTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        programs = Path(sys.executable).parent if options.quick else environment(folder / "environment")
        seconds = measure(programs, folder, rounds, n_texts)
    record = {
        **circumstances(), "commit": commit(), "fresh": not options.quick, "texts": n_texts, "rounds": rounds,
        "seconds": seconds,
    }  # fmt: skip
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
