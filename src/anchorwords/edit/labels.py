"""Files of topic labels, which the explorer's page exports."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..exceptions import InputError

FORMAT = "anchorwords-topic-labels"
_EXAMPLE = '{"format": "anchorwords-topic-labels", "format_version": 1, "labels": {"3": "space flight"}}'


def read_labels(path: str | os.PathLike[str]) -> dict[int, str]:
    """Read the labels of topics by id, for :func:`rename_topics`.

    Parameters
    ----------
    path : path
        A JSON file ``{"format": "anchorwords-topic-labels", "format_version": 1, "labels": {"3": "space flight"}}``.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise InputError(f"the file of topic labels {path} cannot be read: {why}.") from error
    try:
        content = json.loads(text)
        known = content["format"] == FORMAT and content["format_version"] == 1
        found = {int(topic): label for topic, label in content["labels"].items()}
        if known and all(isinstance(label, str) for label in found.values()):
            return found
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise InputError(
        f"{path} is not a file of topic labels, such as the explorer's page exports: it must be JSON like {_EXAMPLE}."
    )
