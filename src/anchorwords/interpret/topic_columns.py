"""Names of the columns that hold proportions of topics in tables of documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NAME = re.compile(r"topic_[0-9]+")


def topic_columns(topics: Sequence[int]) -> list[str]:
    """Return the names of the columns of topics with these ids."""
    return [f"topic_{topic}" for topic in topics]


def is_topic_column(name: str) -> bool:
    """Whether a column of this name holds proportions of a topic."""
    return _NAME.fullmatch(name) is not None
