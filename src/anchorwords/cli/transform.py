"""``anchorwords transform``."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Jobs, Json, Quiet, Source, opened, with_reading

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..estimator import AnchorTopicModel

_DIGITS = 6


@with_reading
def transform(
    model: Annotated[Path, typer.Argument(help="Model folder written by fit.")],
    source: Source,
    reading: dict[str, Any],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File to write (.csv, .tsv, .jsonl or .npy); standard output else."),
    ] = None,
    jobs: Jobs = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the topics of documents: a row a document, a column a topic, rows that sum to one.

    Text is split into words as it was for the fit. Words the model does not know are left out.

    Example: anchorwords transform kos-model docword.kos.txt.gz -o kos-topics.csv
    """
    from .. import load_model
    from .._folders import write_file_whole
    from .console import remark

    suffix = ".csv" if output is None else output.suffix.lower()
    if as_json and output is None:
        suffix = ".jsonl"
    if suffix not in (".csv", ".tsv", ".jsonl", ".npy"):
        raise typer.BadParameter(f"--output must end in .csv, .tsv, .jsonl or .npy, but is {output}")
    fitted = load_model(model)
    fitted.n_jobs = jobs
    with opened(source, _as_fitted(fitted, reading), quiet, jobs) as corpus:
        if suffix == ".npy":
            assert output is not None
            _write_array(output, fitted.transform(corpus))
        else:
            text = "".join(_lines(fitted, corpus, suffix))
            if output is None:
                typer.echo(text, nl=False)
            else:
                write_file_whole(output, text)
        if output is not None:
            summary = {
                "model": str(model),
                "documents": corpus.n_docs,
                "topics": fitted.n_components,
                "written": str(output),
            }
            if as_json:
                typer.echo(json.dumps(summary))
            else:
                remark(f"topics of {corpus.n_docs:,} documents written to {output}", quiet)


def _as_fitted(fitted: AnchorTopicModel, reading: dict[str, Any]) -> dict[str, Any]:
    """The rule by which the text of the fit was split, and its words."""
    from ..corpus.counting import TextRule

    record = getattr(fitted, "text_rule_", None)
    if record is None:
        return reading
    rule = TextRule.from_dict(record, reading["tokenizer"])
    own = {name: getattr(rule, name) for name in record if name != "stop_words"}
    return reading | own | {"stop_words": rule.stop_words, "vocabulary": fitted.model_.vocabulary}


def _lines(fitted: AnchorTopicModel, corpus: Corpus, suffix: str) -> Iterator[str]:
    weights = fitted.transform(corpus)
    names = corpus.doc_ids or tuple(str(m) for m in range(1, corpus.n_docs + 1))
    if suffix == ".jsonl":
        for name, row in zip(names, weights, strict=True):
            yield (
                json.dumps({"document": name, "topics": [round(float(w), _DIGITS) for w in row]}, ensure_ascii=False)
                + "\n"
            )
        return
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter="," if suffix == ".csv" else "\t", lineterminator="\n")
    writer.writerow(["document", *(f"topic_{k}" for k in range(weights.shape[1]))])
    for name, row in zip(names, weights, strict=True):
        writer.writerow([name, *(f"{w:.{_DIGITS}f}" for w in row)])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _write_array(path: Path, array: Any) -> None:
    """Write an .npy file whole or not at all."""
    import os
    import tempfile

    import numpy as np

    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.absolute().parent) as folder:
        np.save(Path(folder) / "array.npy", array, allow_pickle=False)
        os.replace(Path(folder) / "array.npy", path)
