"""The explorer's page beside the fit it shows, and beside pyLDAvis: seconds, size, and what the page asks the network for.

    python benchmarks/explorer.py [--quick] [--data ../shared/data] [--output docs/tables/explorer]

Pages are made with the documents of the fit, topics of the preset for readers. pyLDAvis (pip install pyLDAvis) is given the
same model by ``export.pyldavis_data`` and writes its page with default settings; its row is left out where it is not
installed. The seconds of both begin with a model in memory. What a page asks the network for is counted in its source:
scripts and styles with an address of their own.
"""

from __future__ import annotations

import importlib.util
import re
import tempfile
import time
from pathlib import Path

from common import arguments, circumstances, described, real_corpus, table, write_tables

# Corpus, words, topics.
CASES = [("nips12", 5000, 20), ("spotify", 20000, 50), ("imdb100k", None, 100)]
QUICK = [("kos", 1000, 10)]
_OUTSIDE = re.compile(r"""["'](https?://[^"']+\.(?:js|css))["']""")


def measure(data: Path, cases: list) -> list[dict]:
    import anchorwords as aw

    rows = []
    for number, (name, n_words, K) in enumerate(cases):
        stop_words = "english" if name == "imdb100k" else None
        corpus = real_corpus(data, name).prune(n_words=n_words, stop_words=stop_words)
        if number == 0:
            _warm_up(corpus)
        begin = time.perf_counter()
        model = aw.AnchorTopicModel.from_preset("readers", K).fit(corpus)
        fit = time.perf_counter() - begin
        about = {"corpus": name, "documents": corpus.n_docs, "words": corpus.n_words, "topics": K, "fit": fit}
        with tempfile.TemporaryDirectory() as folder:
            for maker, write in _makers().items():
                page = Path(folder) / f"{maker}.html"
                begin = time.perf_counter()
                write(model, corpus, page)
                seconds = time.perf_counter() - begin
                text = page.read_text(encoding="utf-8")
                asked = len(set(_OUTSIDE.findall(text)))
                rows.append(about | {"page": maker, "seconds": seconds, "bytes": page.stat().st_size, "asked": asked})
                print(rows[-1], flush=True)
    rows[0] |= circumstances()
    return rows


def _makers() -> dict:
    import anchorwords as aw

    makers = {"explorer": lambda model, corpus, page: aw.explorer(model, page, corpus)}
    if importlib.util.find_spec("pyLDAvis"):
        makers["pyLDAvis"] = _pyldavis
    return makers


def _pyldavis(model, corpus, page: Path) -> None:
    import pyLDAvis

    from anchorwords.export import pyldavis_data

    pyLDAvis.save_html(pyLDAvis.prepare(**pyldavis_data(model, corpus)), str(page))


def _warm_up(corpus) -> None:
    """Kernels compiled and libraries loaded."""
    import anchorwords as aw

    small = aw.Corpus(corpus.counts[:400], corpus.vocabulary).prune(n_words=300)
    model = aw.AnchorTopicModel.from_preset("readers", 5).fit(small)
    with tempfile.TemporaryDirectory() as folder:
        for maker, write in _makers().items():
            write(model, small, Path(folder) / f"{maker}.html")


def markdown(rows: list[dict]) -> str:
    cells = [
        [
            f"{row['corpus']}: {row['documents']:,} documents, {row['words']:,} words, K {row['topics']}",
            row["page"],
            f"{row['seconds']:.1f}",
            f"{row['seconds'] / row['fit']:.2f}",
            f"{row['bytes'] / 1e6:.2f}",
            str(row["asked"]),
        ]
        for row in rows
    ]
    columns = ["model", "page", "seconds", "times the fit", "MB", "files it asks the network for"]
    return described(rows[0]) + "\n" + table(columns, cells)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--quick", action="store_true", help="a small corpus only")
    options = parser.parse_args()
    rows = measure(options.data, QUICK if options.quick else CASES)
    print(markdown(rows))
    write_tables(options.output, rows, markdown)


if __name__ == "__main__":
    main()
