"""Models read from disk, as the estimators that saved them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from .estimator import AnchorTopicModel, estimator_of
from .exceptions import InputError, ModelFormatError
from .storage.model_folder import read_model
from .text_model import TextTopicModel


def load_model(
    path: str | os.PathLike[str], *, tokenizer: Callable[[str], Iterable[str]] | None = None
) -> AnchorTopicModel | TextTopicModel:
    """Read a model that ``anchorwords fit`` or the method ``save`` of an estimator wrote.

    Parameters
    ----------
    path : path
        The model folder.
    tokenizer : callable, optional
        The tokenizer of the fit, if there was one: a model knows it by name only, and never imports what it names.

    Returns
    -------
    TextTopicModel or AnchorTopicModel
        The estimator that was saved. That of ``anchorwords fit`` is a TextTopicModel, whose ``transform`` takes texts,
        unless it was fitted on a sketch.
    """
    model = read_model(path)
    estimator = estimator_of(model, path)
    if model.provenance.text is None:
        if tokenizer is not None:
            raise InputError(f"{path} was fitted on counts, which need no tokenizer: give it to read_corpus instead.")
        return estimator
    try:
        return TextTopicModel.from_saved(estimator, model.provenance.text, tokenizer)
    except (KeyError, TypeError, ValueError) as error:
        why = str(error)[:300]
        raise ModelFormatError(f"{path} does not describe a text model ({why}): save it again.") from error
