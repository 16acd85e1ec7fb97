"""How a fit is steered: a preset, anchors of the user's own, and what is learned beside the topics."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .options import gathered

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..corpus.corpus import Corpus

GUIDING = "Guiding topics"
# Anchors to choose among for each topic, below which the preset's threshold is dropped: with two or three, coherence suffers
# (docs/tables/threshold.md, 20ng and kos at 10 %).
_CANDIDATES_A_TOPIC = 5
# But where most words are left there are no better ones to be had.
_FEW = 0.5


class PresetName(StrEnum):
    """Presets by name, as in anchorwords.presets."""

    readers = "readers"
    paper = "paper"


class Guidance(NamedTuple):
    """What the user says about the topics.

    Attributes
    ----------
    preset : str
    anchors : tuple of str
        One a topic, as they were typed: a word, or several with commas between them.
    forbidden : tuple of str
    min_anchor_docs : int, float or None
        None is the preset's, as is ``refine``.
    refine : bool or None
    prior_aware : bool
    replicates : int
    """

    preset: str
    anchors: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    min_anchor_docs: float | None = None
    refine: bool | None = None
    prior_aware: bool = False
    replicates: int = 0

    def parameters(self, words: Collection[str]) -> dict[str, Any]:
        """Arguments of AnchorTopicModel; ``words`` are those of the documents."""
        from ..presets import preset

        chosen: dict[str, Any] = {}
        if self.anchors:
            chosen["anchors"] = [as_anchor(entry, words) for entry in self.anchors]
        if self.forbidden:
            chosen["forbidden_anchors"] = list(self.forbidden)
        if self.min_anchor_docs is not None:
            chosen["min_anchor_docs"] = self.min_anchor_docs
        if self.refine is not None:
            chosen["refinement"] = preset(PresetName.readers)["refinement"] if self.refine else None
        if self.prior_aware:
            chosen["composition"] = "prior-aware"
        return preset(self.preset, **chosen)

    def without_documents(self) -> Guidance:
        """The same for a sketch, or BadParameter for what needs documents."""
        needs = {"--refine": self.refine, "--prior-aware": self.prior_aware, "--replicates": self.replicates}
        if given := [name for name, value in needs.items() if value]:
            raise typer.BadParameter(f"{', '.join(given)} goes over the documents again, which a sketch does not hold")
        return self._replace(preset=PresetName.paper.value)


def _guiding(
    preset: Annotated[
        PresetName,
        typer.Option(
            help="readers: anchors in at least 1 % of the documents, and topics refined by likelihood, as measured best to "
            "read; paper: the paper's Algorithm 6.",
            rich_help_panel=GUIDING,
        ),
    ] = PresetName.readers,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD[,WORD...]",
            help="Anchor of a topic of its own; several words with commas between them are one topic's together. May be "
            "given several times; the other anchors are chosen.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD",
            help="Never choose this word as an anchor; may be given several times.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    min_anchor_docs: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|SHARE",
            help="Fewest documents of a word that is chosen as an anchor, such as 20 or 0.01; the preset's by default.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Whether to refine topics by sweeps over the documents; as the preset says by default.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    prior_aware: Annotated[
        bool,
        typer.Option(
            "--prior-aware",
            help="Learn what transform needs to give documents' topics the correlations of the model.",
            rich_help_panel=GUIDING,
        ),
    ] = False,
    replicates: Annotated[
        int,
        typer.Option(
            min=0,
            help="Learn topics again on so many draws of the documents, to say how sure each is; 20 is enough, 0 is not at "
            "all.",
            rich_help_panel=GUIDING,
        ),
    ] = 0,
) -> Guidance:
    """What the user says about the topics."""
    return Guidance(
        preset.value, tuple(anchor or ()), tuple(forbid or ()), documents_or_share(min_anchor_docs), refine, prior_aware,
        checked_replicates(replicates),
    )  # fmt: skip


with_guiding = gathered("guiding", _guiding)


def checked_replicates(replicates: int) -> int:
    """Their number, or BadParameter."""
    if replicates == 1:
        raise typer.BadParameter(
            "--replicates must be at least 2, as one says nothing about differences, or 0 for none"
        )
    return replicates


def documents_or_share(text: str | None) -> float | None:
    """A whole number of documents, or a share of them, or BadParameter."""
    if text is None:
        return None
    try:
        number = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        number = 0
    if (isinstance(number, int) and number >= 1) or 0.0 < number < 1.0:
        return number
    raise typer.BadParameter(
        f"--min-anchor-docs must be a whole number of documents, or a share between 0 and 1, but is {text!r}"
    )


def as_anchor(entry: str, words: Collection[str]) -> str | list[str]:
    """A word, or the words between commas; names of songs hold commas themselves."""
    parts = [part for piece in entry.split(",") if (part := piece.strip())]
    if not parts:
        raise typer.BadParameter(f"--anchor must name a word, or several with commas between them, but is {entry!r}")
    return entry if entry in words else (parts if len(parts) > 1 else parts[0])


def with_enough_candidates(
    parameters: dict[str, Any], corpus: Corpus, n_topics: int
) -> tuple[dict[str, Any], str | None]:
    """The same, without the preset's threshold where it leaves too few words to choose anchors among; then also why."""
    import numpy as np

    from ..corpus.prune import document_limit

    share = parameters.get("min_anchor_docs", 1)
    fewest = document_limit(share, corpus.n_docs, "min_anchor_docs")
    df = dict(zip(corpus.vocabulary, corpus.document_frequencies, strict=True))
    groups = [[entry] if isinstance(entry, str) else entry for entry in parameters.get("anchors", [])]
    wanted = n_topics - sum(any(word in df for word in group) for group in groups)
    for word in {*parameters.get("forbidden_anchors", []), *(word for group in groups for word in group)}:
        df.pop(word, None)
    candidates = sum(n >= fewest for n in df.values())
    few = candidates < _CANDIDATES_A_TOPIC * wanted and candidates < _FEW * len(df)
    if not few and (candidates >= wanted or len(df) < wanted):  # the fit says what is wrong with more topics than words
        return parameters, None
    return parameters | {"min_anchor_docs": 1}, (
        f"anchors: only {candidates:,} words are in at least {int(np.ceil(fewest)):,} documents ({share:.0%} of them, as "
        "the preset asks), so that any word may be an anchor; --min-anchor-docs says otherwise"
    )
