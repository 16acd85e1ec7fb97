"""Options that guide a fit: the preset, the user's own anchors, and what is learned in addition to topics."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from .options import gathered

if TYPE_CHECKING:
    from collections.abc import Collection

GUIDING = "Guiding topics"


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
        As they were typed, like ``anchors``.
    min_anchor_docs : int, float, "auto" or None
        None is the preset's, as is ``refine``.
    refine : bool or None
    prior_aware : bool
    replicates : int
    strength : float or None
        How strongly topics are held to their anchors; None is the default of the estimator.
    """

    preset: str
    anchors: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    min_anchor_docs: float | str | None = None
    refine: bool | None = None
    prior_aware: bool = False
    replicates: int = 0
    strength: float | None = None

    def parameters(self, words: Collection[str], *, lowercase: bool = False) -> dict[str, Any]:
        """Arguments of AnchorTopicModel; ``words`` are those of the documents, which are in lower case or not."""
        from ..presets import READERS, named_preset

        chosen: dict[str, Any] = {}
        if self.anchors:
            chosen["anchors"] = [as_anchor(entry, words, lowercase) for entry in self.anchors]
        if self.forbidden:
            named = [words_of(entry, words, "--forbid", lowercase) for entry in self.forbidden]
            chosen["forbidden_anchors"] = [word for several in named for word in several]
        if self.strength is not None:
            chosen["strength"] = self.strength
        if self.min_anchor_docs is not None:
            chosen["min_anchor_docs"] = self.min_anchor_docs
        if self.refine is not None:
            chosen["refinement"] = READERS.refinement if self.refine else None
        if self.prior_aware:
            chosen["composition"] = "prior-aware"
        return named_preset(self.preset).parameters(**chosen)

    def without_documents(self) -> Guidance:
        """The same for a sketch, or BadParameter for what needs documents."""
        needs = {
            "--refine": self.refine,
            "--strength": self.strength,
            "--prior-aware": self.prior_aware,
            "--replicates": self.replicates,
        }
        if given := [name for name, value in needs.items() if value]:
            raise typer.BadParameter(f"{', '.join(given)} goes over the documents again, which a sketch does not hold")
        return self._replace(preset=PresetName.paper.value)


def _guiding(
    preset: Annotated[
        PresetName,
        typer.Option(
            help="readers: anchors in at least 1% of the documents, and topics refined by likelihood, which measured best "
            "for reading; paper: Algorithm 6 of the paper.",
            rich_help_panel=GUIDING,
        ),
    ] = PresetName.readers,
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD[,WORD...]",
            help="Anchor of one topic; several words, separated by commas, are the anchor of one topic together. May be "
            "repeated; the other anchors are chosen.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    forbid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORD[,WORD...]",
            help="Never choose these words as anchors, nor other words of the topics that they mostly belong to. May be "
            "repeated.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="Hold topics to the words of --anchor while they are refined: pseudo-tokens of these words, relative to "
            "the tokens of the topic. Default: 0.01; 0 gives the words no weight.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    min_anchor_docs: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER|SHARE|auto",
            help="Fewest documents of a word that is chosen as an anchor, such as 20 or 0.01; auto is 1% of the documents "
            "unless that leaves too few words. Default: that of the preset.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    refine: Annotated[
        bool | None,
        typer.Option(
            "--refine/--no-refine",
            help="Refine topics by sweeps over the documents, or do not. Default: that of the preset.",
            rich_help_panel=GUIDING,
        ),
    ] = None,
    prior_aware: Annotated[
        bool,
        typer.Option(
            "--prior-aware",
            help="Learn what transform needs for topic proportions that follow the correlations of the model.",
            rich_help_panel=GUIDING,
        ),
    ] = False,
    replicates: Annotated[
        int,
        typer.Option(
            min=0,
            help="Learn topics again on this many bootstrap replicates, to measure how stable each is; 20 is usually "
            "enough, 0 disables it.",
            rich_help_panel=GUIDING,
        ),
    ] = 0,
) -> Guidance:
    """What the user says about the topics."""
    if strength is not None and not anchor:
        raise typer.BadParameter("--strength holds topics to the words of --anchor: give both")
    if strength is not None and not (preset is PresetName.readers if refine is None else refine):
        raise typer.BadParameter("--strength matters while topics are refined, which they are not: add --refine")
    return Guidance(
        preset.value, tuple(anchor or ()), tuple(forbid or ()), documents_or_share(min_anchor_docs), refine, prior_aware,
        checked_replicates(replicates), strength,
    )  # fmt: skip


with_guiding = gathered("guiding", _guiding)


def checked_replicates(replicates: int) -> int:
    """Their number, or BadParameter."""
    if replicates == 1:
        raise typer.BadParameter(
            "--replicates must be at least 2, as one says nothing about differences, or 0 for none"
        )
    return replicates


def documents_or_share(text: str | None) -> float | str | None:
    """A whole number of documents, a share of them or "auto", or BadParameter."""
    if text is None or text == "auto":
        return text
    try:
        number = int(text) if text.strip().isdecimal() else float(text)
    except ValueError:
        number = 0
    if (isinstance(number, int) and number >= 1) or 0.0 < number < 1.0:
        return number
    raise typer.BadParameter(
        f"--min-anchor-docs must be a whole number of documents, or a share between 0 and 1, but is {text!r}"
    )


def as_anchor(entry: str, words: Collection[str], lowercase: bool = False) -> str | list[str]:
    """A word, or the words between commas."""
    found = words_of(entry, words, "--anchor", lowercase)
    return found if len(found) > 1 else found[0]


def words_of(entry: str, words: Collection[str], option: str, lowercase: bool = False) -> list[str]:
    """The words between commas, or the entry itself if it is a word: names of songs hold commas themselves.

    With ``lowercase``, words that are not there are brought to lower case, as the text was.
    """
    if entry in words:
        return [entry]
    parts = [part for piece in entry.split(",") if (part := piece.strip())]
    if not parts:
        raise typer.BadParameter(f"{option} must name a word, or several with commas between them, but is {entry!r}")
    return [part.lower() if lowercase and part not in words else part for part in parts]
