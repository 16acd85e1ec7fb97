"""``anchorwords fit``."""

from __future__ import annotations

import warnings
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..records.table import counted
from .guidance import Guidance, with_guiding
from .options import (
    AnySeed,
    Device,
    Jobs,
    Json,
    Quiet,
    Source,
    Topics,
    chosen,
    opened,
    pruned_by,
    require_device,
    rule_as_json,
    vectorizer_of,
    with_choosing,
    with_reading,
    with_stop_words,
)
from .output import print_json, written_to

if TYPE_CHECKING:
    from ..corpus.corpus import Corpus
    from ..corpus.text_rule import TextRule
    from ..estimator import AnchorTopicModel
    from ..model import TopicModel
    from ..text_model import TextTopicModel
    from ..text_vectorizer import TextVectorizer


# Topics to look at twice that are named after a fit.
_FLAGS = 5


class RectifierName(StrEnum):
    """Rectifiers by name."""

    enn = "enn"
    palm = "palm"
    ap = "ap"
    none = "none"


@with_reading
@with_choosing
@with_guiding
def fit(
    source: Source,
    reading: dict[str, Any],
    choosing: dict[str, Any],
    guiding: Guidance,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Model folder to write; without it, topics are only shown.")
    ] = None,
    topics: Topics = 20,
    rectifier: Annotated[RectifierName, typer.Option(help="enn is LR-JSMF; ap, palm, none as in the paper.")] = (
        RectifierName.enn
    ),
    tol: Annotated[
        float | None, typer.Option(min=0.0, help="Convergence tolerance of the rectifier. Default: that of the preset.")
    ] = None,
    max_iter: Annotated[int | None, typer.Option(min=1, help="Maximum number of iterations of the rectifier.")] = None,
    words: Annotated[int, typer.Option("--words", "-n", min=1, help="Words to show per topic.")] = 8,
    seed: AnySeed = None,
    jobs: Jobs = None,
    device: Device = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Learn topics from documents, a corpus or a sketch, and show them or write a model folder.

    For text a vocabulary rule is applied; the rule and what it removed are printed. Of matrices and baskets every word is
    kept. Documents with fewer than 5 tokens or 3 distinct words are left out, as in the paper. Data larger than memory are
    read from disk in several passes. The default preset is made for readers; --preset paper gives the topics of the paper.
    Words of refined topics are listed by relevance, those of others by probability. A word that is given but does not occur
    is reported with close matches.

    Example: anchorwords fit cve.tsv.gz --text-column 2 -k 50

    Example: anchorwords fit docword.kos.txt.gz -o kos-model --topics 20 --min-df 15

    Example: anchorwords fit reviews.csv --anchor plot,story --anchor music --forbid film --replicates 20 -o reviews
    """
    from time import perf_counter

    from ..interpret.topic_words import ranking_for
    from ..storage.model_folder import require_writable_target
    from ..storage.sketch_folder import is_sketch_folder

    if output is not None:
        require_writable_target(output)
    replacing = output is not None and (output / "model.json").exists()
    if guiding.replicates and rectifier is not RectifierName.enn:
        raise typer.BadParameter("--replicates are rectified by ENN: they belong to --rectifier enn")
    if rectifier is RectifierName.none and (tol is not None or max_iter is not None):
        raise typer.BadParameter("--tol and --max-iter belong to a rectifier, but --rectifier is none")
    own = _Own(rectifier, tol, max_iter, {"random_state": seed, "n_jobs": jobs, "device": device})
    require_device(device, quiet)
    begin = perf_counter()
    text_model = None
    if is_sketch_folder(Path(source)):
        guiding = guiding.without_documents()
        model, summary = _fit_sketch(Path(source), topics, choosing, guiding, own, quiet)
    else:
        with opened(source, with_stop_words(reading, choosing), quiet, jobs) as corpus:
            vectorizer = vectorizer_of(reading, choosing)
            text_model, summary = _fit_documents(corpus, topics, vectorizer, guiding, own, quiet)
            model = text_model.estimator_
    if output is not None:
        _save(model if text_model is None else text_model, output)
    summary = {
        "model": None if output is None else str(output), "topics": topics, **summary, "preset": guiding.preset,
        "rectifier": rectifier.value, "steps": model.n_iter_, "converged": model.converged_, **_learned(model),
        "seconds": round(perf_counter() - begin, 3),
    }  # fmt: skip
    _show(model, summary, ranking_for(model), words, replacing, as_json, quiet)


def _save(model: AnchorTopicModel | TextTopicModel, output: Path) -> None:
    """Save a model; if it cannot be saved there any more, save it elsewhere and say so: the fit may have taken hours."""
    import secrets
    import tempfile

    from ..exceptions import ModelFormatError, OutputError

    try:
        model.save(output)
    except (OSError, ModelFormatError) as error:
        elsewhere = Path(tempfile.gettempdir()) / f"anchorwords-model-{secrets.token_hex(6)}"
        try:
            model.save(elsewhere)
        except Exception:
            raise error from None
        raise OutputError(
            f"{error} The model was saved in {elsewhere} instead: move it to where you want it."
        ) from error


class _Own(NamedTuple):
    """What is asked for beside the preset: the rectifier with its options, and further parameters."""

    rectifier: RectifierName
    tol: float | None
    max_iter: int | None
    others: dict[str, Any]

    def added_to(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Parameters of the estimator; what is not said of ENN stays as the preset has it."""
        from dataclasses import replace

        from ..rectify.rectifiers import resolve_rectifier

        if self.rectifier is RectifierName.none:
            return parameters | self.others | {"rectifier": None}
        name = self.rectifier.value
        options: Any = resolve_rectifier(parameters.get("rectifier", name) if name == "enn" else name)
        assert options is not None
        changed = replace(
            options,
            tol=options.tol if self.tol is None else self.tol,
            max_iter=options.max_iter if self.max_iter is None else self.max_iter,
        )
        return parameters | self.others | {"rectifier": changed}


def _fit_documents(
    corpus: Corpus, topics: int, vectorizer: TextVectorizer, guiding: Guidance, own: _Own, quiet: bool
) -> tuple[TextTopicModel, dict[str, Any]]:
    from .. import TextTopicModel
    from ..exceptions import UnknownWordWarning
    from .console import fit_progress, remark, remark_on_anchors

    pruned = pruned_by(corpus, vectorizer, quiet)
    options = own.added_to(guiding.parameters(set(pruned.vocabulary), lowercase=_lowercases(pruned.text_rule)))
    named = {
        name: options.pop(name) for name in (*own.others, "anchors", "forbidden_anchors", "strength") if name in options
    }
    model = TextTopicModel(topics, preset=guiding.preset, vectorizer=vectorizer, options=options, **named)
    with fit_progress(quiet) as progress:
        model.fit_chosen(vectorizer, pruned, progress)
    remark_on_anchors(model.model_.provenance.anchor_threshold, quiet)
    for topic in model.model_.provenance.forbidden_topics:
        remark(f"forbidden: {topic.sentence(model.model_.vocabulary)}", quiet)
    if guiding.prior_aware:
        remark(_prior_sentence(model.estimator_), quiet)
    if guiding.replicates:
        with fit_progress(quiet) as progress, warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownWordWarning)  # the fit has said it
            model.measure_stability(pruned, n_replicates=guiding.replicates, progress=progress)
    repeated = vectorizer.duplicates_
    n_repeated = 0 if repeated is None else repeated.n_repeats
    return model, {
        "documents": pruned.n_docs, "documents_left_out": corpus.n_docs - n_repeated - pruned.n_docs,
        "duplicates_left_out": n_repeated, "words": pruned.n_words,
        "tokens": pruned.n_tokens,
        "vocabulary_rule": rule_as_json(pruned.vocabulary_rule) if pruned.vocabulary_rule else None,
        "left_out": pruned.dropped._asdict() if pruned.dropped else {},
    }  # fmt: skip


def _remark_on_flags(model: TopicModel, quiet: bool) -> None:
    """Name topics to look at twice; where there are many, the first."""
    from .console import remark

    for flag in model.flags[:_FLAGS]:
        remark(flag.sentence(model.vocabulary), quiet)
    if len(model.flags) > _FLAGS:
        remark(f"{len(model.flags) - _FLAGS} more such remarks stand below the table of topics", quiet)


def _fit_sketch(
    folder: Path, topics: int, choosing: dict[str, Any], guiding: Guidance, own: _Own, quiet: bool
) -> tuple[AnchorTopicModel, dict[str, Any]]:
    from .. import AnchorTopicModel, load_sketch
    from ..corpus.vocabulary_rule import VocabularyRule
    from ..kernels.ahead import LEARNING
    from .compiling import compile_now
    from .console import fit_progress, remark

    given = sorted(name for name, value in choosing.items() if value is not None and name != "min_df")
    if given:
        option = "keep-word" if given[0] == "keep_words" else given[0].replace("_", "-")
        raise typer.BadParameter(f"--{option} cannot be applied to a sketch, whose words were chosen when it was built")
    sketch = load_sketch(folder)
    min_df = int(VocabularyRule.for_corpus(sketch, **chosen(choosing)).min_df)
    remark(
        f"vocabulary: that of the sketch, words in at least {min_df:,} of {counted(sketch.n_docs, 'document')}", quiet
    )
    remark("a sketch holds no documents to refine topics on: these are the paper's", quiet)
    parameters = own.added_to(guiding.parameters(set(sketch.words(min_df)), lowercase=_lowercases(sketch.text_rule)))
    model = AnchorTopicModel.from_preset(guiding.preset, topics, **parameters)
    compile_now(*LEARNING, quiet=quiet)
    with fit_progress(quiet) as progress:
        model.fit(sketch, progress=progress, min_df=min_df)
    return model, {
        "documents": sketch.n_docs, "documents_left_out": sketch.n_skipped, "words": model.n_features_in_,
        "tokens": sketch.n_tokens,
    }  # fmt: skip


def _lowercases(rule: TextRule | None) -> bool:
    """Whether text was brought to lower case; the words of counts are as they are."""
    return rule is not None and rule.lowercase


def _learned(model: AnchorTopicModel) -> dict[str, Any]:
    """What else there is to say of a model, for JSON."""
    record = model.model_
    prior = getattr(model, "composition_prior_", None)
    sure, threshold = record.stability, record.provenance.anchor_threshold
    return {
        "min_anchor_docs": None if threshold is None else threshold.value,
        "refined": record.log_likelihood is not None,
        "log_likelihood": record.log_likelihood[-1] if record.log_likelihood else None,
        "composition": model.composition,
        "prior_mismatch": None if prior is None else float(prior.mismatch),
        "flags": [flag.sentence(record.vocabulary) for flag in record.flags],
        "stability": None if sure is None else float(sure.similarity.mean()),
        "replicates": 0 if sure is None else sure.n_replicates,
    }


def _prior_sentence(model: AnchorTopicModel) -> str:
    prior = model.composition_prior_
    return (
        f"prior of compositions: learned on {prior.n_docs:,} documents, whose second moment is then within "
        f"{100 * prior.mismatch:.2g}% of the topics' correlations"
    )


def _show(
    model: AnchorTopicModel,
    summary: dict[str, Any],
    ranking: str,
    words: int,
    replacing: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    from .. import topic_table
    from .console import remark, say
    from .tables import print_topics

    output = summary["model"]
    if as_json:
        shown = {} if output is not None else {"table": topic_table(model, words, ranking=ranking)}
        print_json(summary | {"ranking": ranking} | shown)
        return
    where = (
        "" if output is None
        else f", {written_to(output, replacing)}; read them with: "
        f"anchorwords topics {output}, look at them with: anchorwords explore {output}"
    )  # fmt: skip
    say(
        f"{counted(summary['topics'], 'topic')} of {counted(summary['documents'], 'document')} "
        f"({summary['documents_left_out']:,} too short) and {counted(summary['words'], 'word')} in "
        f"{summary['seconds']:.1f} s{where}"
    )
    if output is not None:
        _remark_on_flags(model.model_, quiet)
    else:
        say()
        print_topics(topic_table(model, words, ranking=ranking), ranking)
        remark("nothing was written: add -o FOLDER to keep the model", quiet)
