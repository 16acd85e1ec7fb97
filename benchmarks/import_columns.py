"""Peak memory of an import with and without columns, against what the columns hold.

    python benchmarks/import_columns.py [--quick] [--documents 40000 160000 640000] [--rounds 3]
                                        [--data ../shared/data] [--output docs/tables/import_columns]

The texts of cve are written to a TSV file with three more columns: a date and a number, taken from the id CVE-YEAR-NUMBER,
and a category. The title, the first 60 characters of the text, stands for columns in which nearly all values differ. More
documents than cve has repeat its texts. Each import runs in a fresh process. "Held" is the size of the arrays of the columns
in memory, once the corpus is opened again; their file differs from that by its header. The peak of the resident memory
varies by some megabytes from run to run. One more import is therefore traced: tracemalloc counts what Python and NumPy
allocate.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from statistics import median

from common import arguments, circumstances, commit, described, program, table, write_tables

CHOICES = {
    "no columns": (),
    "three columns": ("date", "category", "number"),
    "and titles": ("date", "category", "number", "title"),
}
_IMPORT = """
import json
import anchorwords as aw
source, folder, *columns = sys.argv[1:]
chosen = {"columns": columns} if columns else {}
corpus = aw.import_corpus(source, folder, text_column="text", id_column="id", **chosen)
print(json.dumps({"documents": corpus.n_docs}))
"""
_TRACED = """
import json, tracemalloc
import anchorwords as aw
source, folder, *columns = sys.argv[1:]
chosen = {"columns": columns} if columns else {}
aw.read_corpus(["load the kernels"])
tracemalloc.start()
aw.import_corpus(source, folder, text_column="text", id_column="id", **chosen)
print(json.dumps({"traced_mb": tracemalloc.get_traced_memory()[1] / 1e6}))
"""
# In a process of its own: reading the columns must not count as importing them.
_HELD = """
import json
from pathlib import Path
import anchorwords as aw
documents = aw.open_corpus(sys.argv[1]).documents
columns = {name: documents.column(name) for name in documents}
held = sum(array.nbytes for column in columns.values() for array in column.tensors().values())
file = Path(sys.argv[1]) / "documents.safetensors"
print(json.dumps({"held": held, "file": file.stat().st_size if file.is_file() else 0,
                  "kinds": {name: column.kind for name, column in columns.items()}}))
"""


def write_table(source: Path, n_docs: int, path: Path) -> None:
    """Write the first documents of cve, again and again if there are not enough, with columns."""
    done = 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write("id\tdate\tcategory\tnumber\ttitle\ttext\n")
        while done < n_docs:
            with gzip.open(source, "rt", encoding="utf-8", newline="\n") as lines:
                for line in lines:
                    name, text = line.rstrip("\n").split("\t")
                    _, year, number = name.split("-")
                    day = int(number) % 336
                    date = f"{year}-{day // 28 + 1:02d}-{day % 28 + 1:02d}"
                    category = f"category {int(number) % 25 + 1}"
                    stream.write(f"{name}/{done}\t{date}\t{category}\t{int(number)}\t{text[:60]}\t{text}\n")
                    done += 1
                    if done == n_docs:
                        break


def measure(source: Path, n_docs: int, rounds: int) -> list[dict]:
    """A row for each choice of columns; the choices take turns."""
    peaks: dict[str, list[float]] = {name: [] for name in CHOICES}
    seconds: dict[str, list[float]] = {name: [] for name in CHOICES}
    held: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "documents.tsv"
        write_table(source, n_docs, path)
        for _ in range(rounds):
            for name, columns in CHOICES.items():
                corpus = Path(folder) / "corpus"
                run = program(_IMPORT, str(path), str(corpus), *columns)
                peaks[name].append(run["peak_mb"])
                seconds[name].append(run["seconds"])
                held[name] = program(_HELD, str(corpus))
        traced = {name: program(_TRACED, str(path), str(corpus), *own)["traced_mb"] for name, own in CHOICES.items()}
    least, least_traced = median(peaks["no columns"]), traced["no columns"]
    return [
        {
            "documents": n_docs, "columns": name, "peaks_mb": peaks[name], "peak_mb": median(peaks[name]),
            "seconds": median(seconds[name]), "extra_mb": median(peaks[name]) - least, "held_mb": held[name]["held"] / 1e6,
            "file_mb": held[name]["file"] / 1e6, "kinds": held[name]["kinds"],
            "traced_mb": traced[name], "traced_extra_mb": traced[name] - least_traced,
        }
        for name in CHOICES
    ]  # fmt: skip


def markdown(records: list[dict]) -> str:
    text = []
    for record in records:
        rows = record["rows"]
        lines = [
            [
                row["columns"], f"{row['documents']:,}", f"{row['seconds']:.1f}", f"{row['peak_mb']:,.1f}",
                f"{max(row['peaks_mb']) - min(row['peaks_mb']):.1f}", f"{row['file_mb']:.1f}", f"{row['held_mb']:.1f}",
                *(("-",) * 4 if not row["held_mb"] else (
                    f"{row['extra_mb']:.1f}", f"{row['extra_mb'] / row['held_mb']:.1f}",
                    f"{row['traced_extra_mb']:.1f}", f"{row['traced_extra_mb'] / row['held_mb']:.1f}",
                )),
            ]
            for row in rows
        ]  # fmt: skip
        columns = [
            "import of cve with", "documents", "seconds", "peak MB", "range of peaks MB", "file MB", "held MB", "extra MB",
            "extra / held", "traced extra MB", "traced extra / held",
        ]  # fmt: skip
        text.append(
            f"Commit {record['commit']}. {described(record)}\nEach import runs in a fresh process; medians of "
            f'{record["rounds"]} rounds. "Extra" is the peak minus the peak without columns.\n\n{table(columns, lines)}'
        )
        if len(growth := growths(rows)) > 0:
            columns = [
                "from the smallest to the largest size",
                "held grows by MB",
                "extra / held",
                "traced extra / held",
            ]
            lines = [
                [name, f"{held:.1f}", f"{extra / held:.1f}", f"{traced / held:.1f}"]
                for name, extra, traced, held in growth
            ]
            text.append(table(columns, lines))
    return "\n".join(text)


def growths(rows: list[dict]) -> list[tuple[str, float, float, float]]:
    """By how much extra, traced and held memory grow with documents, for each choice of columns."""
    found = []
    for name in CHOICES:
        own = [row for row in rows if row["columns"] == name and row["held_mb"]]
        if len(own) > 1:
            extra, traced, held = (own[-1][key] - own[0][key] for key in ("extra_mb", "traced_extra_mb", "held_mb"))
            found.append((name, extra, traced, held))
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=int, nargs="+", default=[40_000, 160_000, 640_000], help="sizes, ascending")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="10,000 documents, one round")
    options = parser.parse_args()
    source = options.data / "cve" / "cve.tsv.gz"
    if not source.is_file():
        sys.exit(f"{source} is not there: name the folder that holds the corpora with --data.")
    sizes, rounds = ([10_000], 1) if options.quick else (options.documents, options.rounds)
    rows = []
    for n_docs in sizes:
        rows += measure(source, n_docs, rounds)
        print(json.dumps(rows[-len(CHOICES) :]), file=sys.stderr, flush=True)
    record = {**circumstances(), "commit": commit(), "rounds": rounds, "rows": rows}
    print(markdown([record]), end="")
    write_tables(options.output, [record], markdown)


if __name__ == "__main__":
    main()
